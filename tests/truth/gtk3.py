"""Orders, in GTK 3; and by the command `garden` a window of what only GTK 3 does in its way."""

import os

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

import gtks  # noqa: E402
import orders  # noqa: E402
from gtks import scrolled  # noqa: E402
from orders import log  # noqa: E402


class Window(gtks.Fields):
    def name(self, widget, name):
        self.named[name] = widget
        widget.get_accessible().set_name(name)
        return widget

    @staticmethod
    def more(inside):
        inside.show_all()
        return Gtk.MenuButton(label="More", use_popover=True, popover=Gtk.Popover(child=inside))

    def canvas(self):
        canvas = Gtk.EventBox(height_request=30, child=Gtk.Label(label="Canvas"))
        canvas.connect("button-press-event", self.context)
        return canvas

    @staticmethod
    def radios(labels):
        first = Gtk.RadioButton(label=labels[0])
        return [first, *(Gtk.RadioButton(label=label, group=first) for label in labels[1:])]

    def fruit(self):
        fruit = Gtk.ComboBoxText()
        for label in orders.FRUIT:
            fruit.append_text(label)
        fruit.set_active(0)
        fruit.connect("changed", lambda combo: self.tell("fruit", combo.get_active_text()))
        return fruit

    @staticmethod
    def secret():
        return Gtk.Entry(visibility=False)

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


class Garden(Gtk.Window):
    """Dialogs that run within the call that opens them, rows that are known by their labels, cells with a check box, and
    what becomes hidden, another, busy, or stands there twice."""

    def __init__(self, log=log, title="Garden"):
        super().__init__(title=title, default_width=420, default_height=480)
        self.log = log
        self.connect("destroy", Gtk.main_quit)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
        for part in (self.menus(), self.buttons(), self.places(), self.tasks()):
            box.add(part)
        self.add(box)
        self.show_all()

    def menus(self):
        bar, file, menu = Gtk.MenuBar(), Gtk.MenuItem(label="File"), Gtk.Menu()
        twin = lambda: Garden(lambda key, value: self.log("twin", f"{key} {value}"))
        meadow = lambda: Garden(lambda key, value: self.log("meadow", f"{key} {value}"), "Meadow")
        new = lambda: self.log("menu", "New")
        for label, done in [("New", new), ("Twin", twin), ("Meadow", meadow), ("Ask...", self.ask)]:
            item = Gtk.MenuItem(label=label)
            item.connect("activate", lambda _, done=done: done())
            menu.append(item)
        file.set_submenu(menu)
        bar.append(file)
        return bar

    def press(self, label):
        button = Gtk.Button(label=label)
        button.connect("clicked", lambda button: self.log("pressed", button.get_label()))
        return button

    def buttons(self):
        shy, press = self.press("Shy"), self.press("Press me")
        acts = {"Relabel": lambda: press.set_label("Delete all"), "Hide": shy.hide, "Ask...": self.ask}
        acts["Colours"] = self.palette
        rows, flow, doze = Gtk.Grid(), Gtk.FlowBox(), Gtk.CheckButton(label="Doze")
        rows.attach(press, 0, 0, 1, 1)
        rows.attach(shy, 1, 0, 1, 1)
        for column, (label, done) in enumerate(acts.items()):
            button = Gtk.Button(label=label)
            button.connect("clicked", lambda _, done=done: done())
            rows.attach(button, column, 1, 1, 1)
        doze.connect("toggled", lambda _: (self.log("doze", "begun"), GLib.usleep(4_000_000)))
        rows.attach(doze, 3, 0, 1, 1)
        flow.add(self.press("Afloat"))
        rows.attach(flow, 2, 0, 1, 1)
        return rows

    def palette(self):
        """A window that belongs to this one and lies over the whole of it."""
        inside, above = Gtk.Label(label="Red"), Gtk.WindowPosition.CENTER_ON_PARENT
        palette = Gtk.Window(title="Palette", transient_for=self, child=inside, window_position=above)
        palette.set_default_size(440, 520)
        palette.show_all()

    def places(self):
        rows = Gtk.ListBox()
        for place in ("Home", "Desktop", "Attic"):
            row, inner = Gtk.ListBoxRow(), Gtk.Box()
            inner.add(Gtk.Image(icon_name="folder"))
            inner.add(Gtk.Label(label=place))
            row.add(inner)
            row.place = place
            rows.add(row)
        rows.connect("row-activated", lambda _, row: self.log("place", row.place))
        return rows

    def tasks(self):
        store = Gtk.ListStore(bool, str, str)
        for task in ("Sow", "Water", "Harvest"):
            store.append([False, "text-x-generic", task])
        view, toggle = Gtk.TreeView(model=store), Gtk.CellRendererToggle()

        def toggled(_, path):
            store[path][0] = not store[path][0]
            self.log(store[path][2], store[path][0])

        toggle.connect("toggled", toggled)
        view.append_column(Gtk.TreeViewColumn("Done?", toggle, active=0))
        column, icon, text = Gtk.TreeViewColumn("Task"), Gtk.CellRendererPixbuf(), Gtk.CellRendererText()
        column.pack_start(icon, False)
        column.add_attribute(icon, "icon-name", 1)
        column.pack_start(text, True)
        column.add_attribute(text, "text", 2)
        view.append_column(column)
        return view

    def ask(self):
        dialog = Gtk.Dialog(title="Question", transient_for=self, modal=True)
        answer = Gtk.Entry(activates_default=True)
        dialog.get_content_area().add(answer)
        dialog.add_button("Fine", Gtk.ResponseType.OK)
        dialog.set_default_response(Gtk.ResponseType.OK)
        dialog.show_all()
        self.log("asked", "once")
        dialog.run()
        self.log("answered", answer.get_text())
        dialog.destroy()


keep = gtks.App(Window, garden=Garden)
Gtk.main()
