"""Orders, in GTK 3."""

import os

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402

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


keep = gtks.App(Window)
Gtk.main()
