"""Orders, in GTK 4."""

import os

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk  # noqa: E402

import gtks  # noqa: E402
import orders  # noqa: E402
from orders import log  # noqa: E402


def column(*widgets):
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
    for widget in widgets:
        box.append(widget)
    return box


def row(*widgets):
    box = Gtk.Box(spacing=4, homogeneous=True)
    for widget in widgets:
        box.append(widget)
    return box


def scrolled(widget, height):
    return Gtk.ScrolledWindow(min_content_height=height, child=widget)


class Window(gtks.Fields):
    def __init__(self, number):
        self.tell = orders.Logged()
        self.named = {}
        self.reverting = False
        self.actions = Gio.SimpleActionGroup()
        self.window = Gtk.Window(title="Orders", default_width=900, default_height=640)
        self.window.insert_action_group("orders", self.actions)
        self.spacer = Gtk.Label(height_request=1)
        columns = row(
            column(self.buttons(), self.marks(), self.choices(), self.texts()),
            column(self.numbers(), self.animals(), self.places(), self.stock(), self.tabs()),
        )
        self.window.set_child(column(self.spacer, self.menus(), self.tools(), columns))
        self.window.connect("map", lambda *_: GLib.idle_add(lambda: log("ready", number) and False))
        self.window.present()

    def name(self, widget, name):
        self.named[name] = widget
        widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
        return widget

    def press(self, label, key="pressed"):
        button = Gtk.Button(label=label)
        button.connect("clicked", lambda button: log(key, button.get_label()))
        self.named[label] = button
        return button

    def buttons(self):
        chosen = Gtk.Button(label="Open...")
        chosen.connect("clicked", lambda _: self.choose())
        canvas = Gtk.Label(label="Canvas", height_request=30)
        click = Gtk.GestureClick(button=3)
        click.connect("pressed", lambda _, __, x, y: self.context(canvas, x, y))
        canvas.add_controller(click)
        more = Gtk.MenuButton(label="More")
        more.set_popover(Gtk.Popover(child=column(*(self.press(label, "more") for label in ("Export", "Share")))))
        return column(
            row(self.press("Press me"), self.press("Archive"), self.press("Quiet")), row(chosen, more), canvas
        )

    def marks(self):
        agree = Gtk.CheckButton(label="Agree")
        agree.connect("toggled", lambda check: log("agree", "on" if check.get_active() else "off"))
        self.named["Agree"] = agree
        radios = [Gtk.CheckButton(label=label) for label in ("Small", "Medium", "Large")]
        radios[0].set_active(True)
        for radio in radios[1:]:
            radio.set_group(radios[0])
        for radio in radios:
            radio.connect("toggled", lambda radio: radio.get_active() and log("size", radio.get_label()))
        return row(agree, *radios)

    def choices(self):
        fruit = self.name(Gtk.DropDown.new_from_strings(orders.FRUIT), "Fruit")
        fruit.connect("notify::selected", lambda d, _: self.tell("fruit", d.get_selected_item().get_string()))
        city = self.name(Gtk.ComboBoxText.new_with_entry(), "City")
        for label in orders.CITIES:
            city.append_text(label)
        city.connect("changed", lambda combo: self.tell("city", combo.get_active_text()))
        return row(fruit, city)

    def texts(self):
        name = self.name(Gtk.Entry(), "Name")
        name.connect("changed", lambda entry: self.tell("name", entry.get_text()))
        secret = self.name(Gtk.PasswordEntry(), "Secret")
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
            box.append(Gtk.Label(label=animal, xalign=0))
        box.connect("row-selected", lambda _, row: row and self.tell("animal", row.get_child().get_label()))
        return scrolled(box, 90)

    def places(self):
        regions = {"Europe": orders.EUROPE, "Asia": orders.ASIA}
        below = lambda item: Gtk.StringList.new(regions[item.get_string()]) if item.get_string() in regions else None
        rows = Gtk.TreeListModel.new(Gtk.StringList.new(list(regions)), False, False, below)
        chosen = Gtk.SingleSelection(model=rows, autoselect=False, can_unselect=True)
        chosen.set_selected(Gtk.INVALID_LIST_POSITION)
        chosen.connect("notify::selected-item", lambda s, _: self.place(s.get_selected_item()))
        factory = Gtk.SignalListItemFactory()
        factory.connect("setup", lambda _, item: item.set_child(Gtk.TreeExpander(child=Gtk.Label(xalign=0))))
        factory.connect("bind", self.show_place)
        return scrolled(self.name(Gtk.ListView(model=chosen, factory=factory), "Places"), 100)

    def show_place(self, _, item):
        row = item.get_item()
        row.connect("notify::expanded", lambda row, _: row.get_expanded() and self.tell("expanded", row.get_item().get_string()))
        item.get_child().set_list_row(row)
        item.get_child().get_child().set_label(row.get_item().get_string())

    def place(self, row):
        if row:
            self.tell("place", row.get_item().get_string())

    def stock(self):
        parts = Gio.ListStore(item_type=Gtk.StringObject)
        for item in orders.ROWS:
            parts.append(Gtk.StringObject.new(",".join(item)))
        chosen = Gtk.SingleSelection(model=parts, autoselect=False, can_unselect=True)
        chosen.set_selected(Gtk.INVALID_LIST_POSITION)
        chosen.connect("notify::selected-item", lambda s, _: self.part(s.get_selected_item()))
        table = self.name(Gtk.ColumnView(model=chosen), "Stock")
        for at, title in enumerate(("Part", "Left")):
            factory = Gtk.SignalListItemFactory()
            factory.connect("setup", lambda _, item: item.set_child(Gtk.Label(xalign=0)))
            factory.connect("bind", self.show, at)
            table.append_column(Gtk.ColumnViewColumn(title=title, factory=factory))
        return table

    @staticmethod
    def show(_, item, at):
        item.get_child().set_label(item.get_item().get_string().split(",")[at])

    def part(self, item):
        if item:
            self.tell("part", item.get_string().split(",")[0])

    def tabs(self):
        tabs = Gtk.Notebook()
        for label in ("First", "Second", "Third"):
            tabs.append_page(Gtk.Label(label=f"{label} page"), Gtk.Label(label=label))
        tabs.connect("switch-page", lambda book, page, _: self.tell("tab", book.get_tab_label_text(page)))
        return tabs

    def action(self, label, do):
        name = label.lower().replace(" ", "-")
        action = Gio.SimpleAction.new(name, None)
        action.connect("activate", lambda *_: do())
        self.actions.add_action(action)
        return f"orders.{name}"

    def item(self, key, label):
        return Gio.MenuItem.new(label, self.action(label, lambda: log(key, label)))

    def menu(self, key, labels):
        menu = Gio.Menu()
        for label in labels:
            menu.append_item(self.item(key, label))
        return menu

    def menus(self):
        bar = Gio.Menu()
        bar.append_submenu("File", self.menu("menu", ["Save copy", "Print"]))
        edit = self.menu("menu", ["Undo all"])
        edit.append_submenu("Style", self.menu("menu", ["Bold", "Italic"]))
        bar.append_submenu("Edit", edit)
        about = Gio.Menu()
        about.append("About", self.action("About", self.about))
        bar.append_submenu("Help", about)
        return Gtk.PopoverMenuBar.new_from_model(bar)

    def about(self):
        dialog = Gtk.MessageDialog(
            transient_for=self.window, modal=True, buttons=Gtk.ButtonsType.CLOSE, text="Orders 1.0", title="About Orders"
        )
        dialog.connect("response", lambda dialog, _: (dialog.destroy(), log("dialog", "closed")))
        dialog.present()
        log("dialog", "open")

    def choose(self):
        dialog = Gtk.FileChooserDialog(title="Open a file", transient_for=self.window, modal=True)
        dialog.add_button("Cancel", Gtk.ResponseType.CANCEL)
        dialog.add_button("Open", Gtk.ResponseType.OK)
        dialog.set_current_folder(Gio.File.new_for_path(os.getcwd()))
        dialog.connect("response", self.chosen)
        dialog.present()

    @staticmethod
    def chosen(dialog, answer):
        if answer == Gtk.ResponseType.OK:
            file = dialog.get_file()
            log("file", file.get_basename() if file else "")
        dialog.destroy()

    def context(self, canvas, x, y):
        popover = Gtk.PopoverMenu.new_from_model(self.menu("context", ["Paint red", "Paint blue"]))
        popover.set_parent(canvas)
        popover.popup()

    def tools(self):
        bar = Gtk.Box(css_classes=["toolbar"])
        for label in ("Cut", "Stamp"):
            bar.append(self.press(label, "tool"))
        return bar

    def push(self):
        self.spacer.set_size_request(-1, 70)

    def modal(self):
        dialog = Gtk.MessageDialog(
            transient_for=self.window, modal=True, buttons=Gtk.ButtonsType.OK, text="Really?", title="Question"
        )
        dialog.connect("response", lambda *_: log("modal", "answered"))
        self.above = dialog
        dialog.present()


Gtk.init()
keep = gtks.App(Window)
GLib.MainLoop().run()
