"""Orders, in GTK 4."""

import os

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk  # noqa: E402

import gtks  # noqa: E402
import orders  # noqa: E402
from gtks import scrolled  # noqa: E402
from orders import log  # noqa: E402


class Window(gtks.Fields):
    def __init__(self, number):
        self.actions = Gio.SimpleActionGroup()
        super().__init__(number)
        self.window.insert_action_group("orders", self.actions)

    def name(self, widget, name):
        self.named[name] = widget
        widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
        return widget

    @staticmethod
    def more(inside):
        return Gtk.MenuButton(label="More", popover=Gtk.Popover(child=inside))

    def canvas(self):
        canvas = Gtk.Label(label="Canvas", height_request=30)
        click = Gtk.GestureClick(button=3)
        click.connect("pressed", lambda _, __, x, y: self.context(canvas, x, y))
        canvas.add_controller(click)
        return canvas

    @staticmethod
    def radios(labels):
        first = Gtk.CheckButton(label=labels[0], active=True)
        return [first, *(Gtk.CheckButton(label=label, group=first) for label in labels[1:])]

    def fruit(self):
        fruit = Gtk.DropDown.new_from_strings(orders.FRUIT)
        fruit.connect("notify::selected", lambda d, _: self.tell("fruit", d.get_selected_item().get_string()))
        return fruit

    @staticmethod
    def secret():
        return Gtk.PasswordEntry()

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
        about.append("Ask", self.action("Ask", self.ask))
        bar.append_submenu("Help", about)
        return Gtk.PopoverMenuBar.new_from_model(bar)

    def about(self):
        dialog = Gtk.MessageDialog(
            transient_for=self.window, modal=True, buttons=Gtk.ButtonsType.CLOSE, text="Orders 1.0", title="About Orders"
        )
        dialog.connect("response", lambda dialog, _: (dialog.destroy(), log("dialog", "closed")))
        dialog.present()
        log("dialog", "open")

    def ask(self):
        dialog = Gtk.Dialog(title="Answers", transient_for=self.window, modal=True)
        answer = self.name(Gtk.Entry(), "Answer")
        answer.connect("changed", lambda entry: self.tell("answer", entry.get_text()))
        dialog.get_content_area().append(answer)
        dialog.add_button("Fine", Gtk.ResponseType.OK)
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


Gtk.init()
keep = gtks.App(Window)
GLib.MainLoop().run()
