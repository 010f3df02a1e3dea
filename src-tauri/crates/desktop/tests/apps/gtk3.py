"""A window of GTK 3 whose log says what was really done to it: a line for each thing that happened.

python3 gtk3.py LOG
"""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

PLACES = ["Home", "Desktop", "Attic"]
TASKS = ["Sow", "Water", "Harvest"]


class Window(Gtk.Window):
    def __init__(self, log):
        super().__init__(title="Garden", default_width=420, default_height=560)
        self.log = log
        self.connect("destroy", Gtk.main_quit)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
        self.add(box)
        box.add(self.menus())
        box.add(self.buttons())
        box.add(self.places())
        box.add(self.tasks())

        name = Gtk.Entry(placeholder_text="Name")
        name.connect("changed", lambda it: log(f"name {it.get_text()}"))
        box.add(name)
        loud = Gtk.Entry(placeholder_text="Loud")
        loud.connect("changed", self.shout)
        box.add(loud)
        self.show_all()

    def menus(self):
        bar, file, menu = Gtk.MenuBar(), Gtk.MenuItem(label="File"), Gtk.Menu()
        for label, done in [("New", lambda: self.log("new")), ("Twin", self.twin), ("Ask...", self.ask)]:
            item = Gtk.MenuItem(label=label)
            item.connect("activate", lambda _, done=done: done())
            menu.append(item)
        file.set_submenu(menu)
        bar.append(file)
        return bar

    def buttons(self):
        self.shy = Gtk.Button(label="Shy")
        self.shy.connect("clicked", lambda _: self.log("pressed Shy"))
        self.press = Gtk.Button(label="Press me")
        self.press.connect("clicked", lambda it: self.log(f"pressed {it.get_label()}"))
        acts = {
            "Relabel": lambda: self.press.set_label("Delete all"),
            "Hide": lambda: self.shy.hide(),
            "Ask...": self.ask,
            "Open...": self.open,
        }
        rows = Gtk.Grid()
        rows.attach(self.press, 0, 0, 1, 1)
        rows.attach(self.shy, 1, 0, 1, 1)
        for column, (label, done) in enumerate(acts.items()):
            button = Gtk.Button(label=label)
            button.connect("clicked", lambda _, done=done: done())
            rows.attach(button, column, 1, 1, 1)
        doze = Gtk.CheckButton(label="Doze")
        doze.connect("toggled", lambda _: (self.log("dozes"), GLib.usleep(4_000_000)))
        rows.attach(doze, 4, 0, 1, 1)
        flow, button = Gtk.FlowBox(), Gtk.Button(label="Afloat")
        button.connect("clicked", lambda _: self.log("pressed Afloat"))
        flow.add(button)
        rows.attach(flow, 2, 0, 2, 1)
        return rows

    def places(self):
        rows = Gtk.ListBox()
        for place in PLACES:
            row = Gtk.ListBoxRow()
            inner = Gtk.Box()
            inner.add(Gtk.Image(icon_name="folder"))
            inner.add(Gtk.Label(label=place))
            row.add(inner)
            row.place = place
            rows.add(row)
        rows.connect("row-activated", lambda _, row: self.log(f"went to {row.place}"))
        return rows

    def tasks(self):
        store = Gtk.ListStore(bool, str, str)
        for task in TASKS:
            store.append([False, "text-x-generic", task])
        view = Gtk.TreeView(model=store)
        toggle = Gtk.CellRendererToggle()

        def toggled(_, path):
            store[path][0] = not store[path][0]
            self.log(f"{store[path][2]} {store[path][0]}")

        toggle.connect("toggled", toggled)
        view.append_column(Gtk.TreeViewColumn("Done?", toggle, active=0))
        column, icon, text = Gtk.TreeViewColumn("Task"), Gtk.CellRendererPixbuf(), Gtk.CellRendererText()
        column.pack_start(icon, False)
        column.add_attribute(icon, "icon-name", 1)
        column.pack_start(text, True)
        column.add_attribute(text, "text", 2)
        view.append_column(column)
        return view

    def shout(self, entry):
        text = entry.get_text()
        if text != text.upper():
            entry.set_text(text.upper())
        else:
            self.log(f"loud {text}")

    def twin(self):
        Window(lambda line: self.log(f"twin {line}"))

    def ask(self):
        dialog = Gtk.Dialog(title="Question", transient_for=self, modal=True)
        answer = Gtk.Entry(activates_default=True)
        dialog.get_content_area().add(answer)
        dialog.add_button("Fine", Gtk.ResponseType.OK)
        dialog.set_default_response(Gtk.ResponseType.OK)
        dialog.show_all()
        self.log("asked")
        dialog.run()
        self.log(f"answered {answer.get_text()}")
        dialog.destroy()

    def open(self):
        dialog = Gtk.FileChooserDialog(title="Open", transient_for=self, action=Gtk.FileChooserAction.OPEN)
        dialog.add_buttons("Cancel", Gtk.ResponseType.CANCEL, "Take it", Gtk.ResponseType.OK)
        dialog.set_current_folder(GLib.get_home_dir() + "/shed")
        if dialog.run() == Gtk.ResponseType.OK:
            self.log(f"opened {GLib.path_get_basename(dialog.get_filename())}")
        dialog.destroy()


def main():
    GLib.set_prgname("garden3")
    file = open(sys.argv[1], "a", buffering=1)
    Window(lambda line: file.write(line + "\n"))
    Gtk.main()


main()
