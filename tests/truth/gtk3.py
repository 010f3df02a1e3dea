"""Orders, in GTK 3."""

import os

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

import gtks  # noqa: E402
import orders  # noqa: E402
from orders import log  # noqa: E402


def column(*widgets):
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
    for widget in widgets:
        box.pack_start(widget, False, False, 0)
    return box


def row(*widgets):
    box = Gtk.Box(spacing=4)
    for widget in widgets:
        box.pack_start(widget, True, True, 0)
    return box


def scrolled(widget, height):
    around = Gtk.ScrolledWindow(min_content_height=height)
    around.add(widget)
    return around


class Window(gtks.Fields):
    def __init__(self, number):
        self.tell = orders.Logged()
        self.named = {}
        self.reverting = False
        self.window = Gtk.Window(title="Orders", default_width=900, default_height=640)
        self.spacer = Gtk.Label(height_request=1)
        columns = row(
            column(self.buttons(), self.marks(), self.choices(), self.texts()),
            column(self.numbers(), self.animals(), self.places(), self.stock(), self.tabs()),
        )
        self.window.add(column(self.spacer, self.menus(), self.tools(), columns))
        self.window.connect("map-event", lambda *_: GLib.idle_add(lambda: log("ready", number) and False) and False)
        self.window.show_all()
        self.window.move(20, 30)

    def name(self, widget, name):
        self.named[name] = widget
        widget.get_accessible().set_name(name)
        return widget

    def press(self, label, key="pressed"):
        button = Gtk.Button(label=label)
        button.connect("clicked", lambda button: log(key, button.get_label()))
        self.named[label] = button
        return button

    def buttons(self):
        chosen = Gtk.Button(label="Open...")
        chosen.connect("clicked", lambda _: self.choose())
        canvas = Gtk.EventBox(height_request=30)
        canvas.add(Gtk.Label(label="Canvas"))
        canvas.connect("button-press-event", self.context)
        more = Gtk.MenuButton(label="More", use_popover=True)
        inside = column(*(self.press(label, "more") for label in ("Export", "Share")))
        inside.show_all()
        popover = Gtk.Popover()
        popover.add(inside)
        more.set_popover(popover)
        return column(
            row(self.press("Press me"), self.press("Archive"), self.press("Quiet")), row(chosen, more), canvas
        )

    def marks(self):
        agree = Gtk.CheckButton(label="Agree")
        agree.connect("toggled", lambda check: log("agree", "on" if check.get_active() else "off"))
        self.named["Agree"] = agree
        radios = [Gtk.RadioButton(label=label) for label in ("Small", "Medium", "Large")]
        for radio in radios[1:]:
            radio.join_group(radios[0])
        for radio in radios:
            radio.connect("toggled", lambda radio: radio.get_active() and log("size", radio.get_label()))
        return row(agree, *radios)

    def choices(self):
        fruit = self.name(Gtk.ComboBoxText(), "Fruit")
        for label in orders.FRUIT:
            fruit.append_text(label)
        fruit.set_active(0)
        fruit.connect("changed", lambda combo: self.tell("fruit", combo.get_active_text()))
        city = self.name(Gtk.ComboBoxText.new_with_entry(), "City")
        for label in orders.CITIES:
            city.append_text(label)
        city.get_child().get_accessible().set_name("City")
        city.connect("changed", lambda combo: self.tell("city", combo.get_active_text()))
        return row(fruit, city)

    def texts(self):
        name = self.name(Gtk.Entry(), "Name")
        name.connect("changed", lambda entry: self.tell("name", entry.get_text()))
        secret = self.name(Gtk.Entry(visibility=False), "Secret")
        secret.connect("changed", lambda entry: self.tell("secret", entry.get_text()))
        code = self.name(Gtk.Entry(), "Code")
        code.connect("changed", self.upper)
        price = self.name(Gtk.Entry(text="100"), "Price")
        price.connect("changed", self.revert)
        notes = self.name(Gtk.TextView(), "Notes")
        buffer = notes.get_buffer()
        buffer.connect("changed", lambda b: self.tell("notes", b.get_text(b.get_start_iter(), b.get_end_iter(), True)))
        return column(row(name, secret), row(code, price), scrolled(notes, 60))

    def numbers(self):
        count = self.name(Gtk.SpinButton.new_with_range(0, 100, 1), "Count")
        count.connect("value-changed", lambda spin: self.tell("count", spin.get_value_as_int()))
        volume = self.name(Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1), "Volume")
        volume.connect("value-changed", lambda scale: self.tell("volume", int(scale.get_value())))
        return row(count, volume)

    def animals(self):
        box = self.name(Gtk.ListBox(), "Animals")
        for animal in orders.ANIMALS:
            box.add(Gtk.Label(label=animal, xalign=0))
        box.connect("row-selected", lambda _, row: row and self.tell("animal", row.get_child().get_label()))
        return scrolled(box, 90)

    def places(self):
        store = Gtk.TreeStore(str)
        for region, countries in (("Europe", orders.EUROPE), ("Asia", orders.ASIA)):
            parent = store.append(None, [region])
            for country in countries:
                store.append(parent, [country])
        tree = self.name(Gtk.TreeView(model=store), "Places")
        tree.append_column(Gtk.TreeViewColumn("Place", Gtk.CellRendererText(), text=0))
        tree.connect("row-expanded", lambda _, at, __: self.tell("expanded", store[at][0]))
        tree.get_selection().connect("changed", lambda s: self.selected(s, "place"))
        return scrolled(tree, 100)

    def stock(self):
        store = Gtk.ListStore(str, str)
        for item in orders.ROWS:
            store.append(item)
        table = self.name(Gtk.TreeView(model=store), "Stock")
        table.append_column(Gtk.TreeViewColumn("Part", Gtk.CellRendererText(), text=0))
        table.append_column(Gtk.TreeViewColumn("Left", Gtk.CellRendererText(), text=1))
        table.get_selection().connect("changed", lambda s: self.selected(s, "part"))
        return table

    def selected(self, selection, key):
        model, at = selection.get_selected()
        if at:
            self.tell(key, model[at][0])

    def tabs(self):
        tabs = Gtk.Notebook()
        for label in ("First", "Second", "Third"):
            tabs.append_page(Gtk.Label(label=f"{label} page"), Gtk.Label(label=label))
        tabs.connect("switch-page", lambda book, page, _: self.tell("tab", book.get_tab_label_text(page)))
        return tabs

    def menu(self, key, labels):
        menu = Gtk.Menu()
        for label in labels:
            item = Gtk.MenuItem(label=label)
            item.connect("activate", lambda item: log(key, item.get_label()))
            menu.append(item)
        return menu

    def menus(self):
        bar = Gtk.MenuBar()
        about = Gtk.MenuItem(label="About")
        about.connect("activate", lambda _: self.about())
        style = Gtk.MenuItem(label="Style")
        style.set_submenu(self.menu("menu", ["Bold", "Italic"]))
        for label, menu in (
            ("File", self.menu("menu", ["Save copy", "Print"])),
            ("Edit", self.menu("menu", ["Undo all"])),
            ("Help", Gtk.Menu()),
        ):
            item = Gtk.MenuItem(label=label)
            item.set_submenu(menu)
            bar.append(item)
            if label == "Edit":
                menu.append(style)
            if label == "Help":
                menu.append(about)
        return bar

    def about(self):
        dialog = Gtk.MessageDialog(
            transient_for=self.window, modal=True, buttons=Gtk.ButtonsType.CLOSE, text="Orders 1.0", title="About Orders"
        )
        log("dialog", "open")
        dialog.run()
        dialog.destroy()
        log("dialog", "closed")

    def choose(self):
        dialog = Gtk.FileChooserDialog(title="Open a file", transient_for=self.window)
        dialog.add_buttons("Cancel", Gtk.ResponseType.CANCEL, "Open", Gtk.ResponseType.OK)
        dialog.set_current_folder(os.getcwd())
        if dialog.run() == Gtk.ResponseType.OK:
            log("file", os.path.basename(dialog.get_filename() or ""))
        dialog.destroy()

    def context(self, _, event):
        if event.button == 3:
            menu = self.menu("context", ["Paint red", "Paint blue"])
            self.popup = menu
            menu.show_all()
            menu.popup_at_pointer(event)
        return False

    def tools(self):
        bar = Gtk.Toolbar()
        for label in ("Cut", "Stamp"):
            item = Gtk.ToolButton(label=label)
            item.connect("clicked", lambda item: log("tool", item.get_label()))
            bar.insert(item, -1)
        return bar

    def push(self):
        self.spacer.set_size_request(-1, 70)

    def modal(self):
        dialog = Gtk.MessageDialog(
            transient_for=self.window, modal=True, buttons=Gtk.ButtonsType.OK, text="Really?", title="Question"
        )
        dialog.connect("response", lambda *_: log("modal", "answered"))
        self.above = dialog
        dialog.show_all()


keep = gtks.App(Window)
Gtk.main()
