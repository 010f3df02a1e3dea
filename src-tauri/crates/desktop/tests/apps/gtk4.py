"""A window of GTK 4 whose log says what was really done to it: a line for each thing that happened.

python3 gtk4.py LOG
"""

import sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk  # noqa: E402

FRUIT = ["Apple", "Banana", "Cherry", "Damson", "Elder"]
ROWS = 200


class Window(Gtk.ApplicationWindow):
    def __init__(self, application, log):
        super().__init__(application=application, title="Orchard", default_width=420, default_height=560)
        self.log = log
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
        self.set_child(box)

        tools = Gio.Menu()
        tools.append("Rake", "win.pick('Rake')")
        more = Gio.Menu()
        more.append("Spade", "win.pick('Spade')")
        tools.append_submenu("More", more)
        bar = Gio.Menu()
        bar.append_submenu("Tools", tools)
        box.append(Gtk.PopoverMenuBar.new_from_model(bar))

        fruit = Gtk.DropDown.new_from_strings(FRUIT)
        fruit.connect("notify::selected", lambda it, _: log(f"fruit {FRUIT[it.get_selected()]}"))
        box.append(fruit)

        entry = Gtk.Entry(placeholder_text="Your name")
        entry.connect("changed", lambda it: log(f"entry {it.get_text()}"))
        box.append(entry)

        loud = Gtk.Entry(placeholder_text="Loud")
        loud.connect("changed", self.shout)
        box.append(loud)

        secret = Gtk.PasswordEntry()
        secret.connect("changed", lambda it: log(f"secret {it.get_text()}"))
        box.append(secret)

        spin = Gtk.SpinButton.new_with_range(0, 10, 1)
        spin.connect("value-changed", lambda it: log(f"spin {it.get_value_as_int()}"))
        box.append(spin)

        check = Gtk.CheckButton(label="Ripe")
        check.connect("toggled", lambda it: log(f"check {it.get_active()}"))
        box.append(check)

        menu = Gio.Menu()
        for name in FRUIT:
            menu.append(f"Pick {name}", f"win.pick('{name}')")
        pick = Gio.SimpleAction.new("pick", GLib.VariantType.new("s"))
        pick.connect("activate", lambda _, name: log(f"menu {name.get_string()}"))
        self.add_action(pick)
        box.append(Gtk.MenuButton(label="Harvest", menu_model=menu))

        ask = Gtk.Button(label="Ask")
        ask.connect("clicked", self.ask)
        box.append(ask)

        beds = {"North": ["Fern", "Moss"], "South": ["Thyme"]}
        below = lambda item: Gtk.StringList.new(beds[item.get_string()]) if item.get_string() in beds else None
        tree = Gtk.TreeListModel.new(Gtk.StringList.new(list(beds)), False, False, below)
        factory = Gtk.SignalListItemFactory()
        factory.connect("setup", lambda _, it: it.set_child(Gtk.TreeExpander(child=Gtk.Label(xalign=0))))
        factory.connect("bind", self.bed)
        view = Gtk.ListView(model=Gtk.NoSelection(model=tree), factory=factory)
        box.append(Gtk.ScrolledWindow(child=view, min_content_height=70))

        rows = Gtk.ListBox()
        for number in range(ROWS):
            button = Gtk.Button(label=f"Tree {number}")
            button.connect("clicked", lambda it: log(f"row {it.get_label()}"))
            rows.append(button)
        scrolled = Gtk.ScrolledWindow(child=rows, vexpand=True)
        box.append(scrolled)

    def bed(self, _, item):
        row = item.get_item()
        row.connect("notify::expanded", lambda it, _: self.log(f"expanded {it.get_item().get_string()} {it.get_expanded()}"))
        item.get_child().set_list_row(row)
        item.get_child().get_child().set_label(row.get_item().get_string())

    def shout(self, entry):
        text = entry.get_text()
        if text != text.upper():
            entry.set_text(text.upper())
        else:
            self.log(f"loud {text}")

    def ask(self, _):
        dialog = Gtk.Dialog(title="Question", transient_for=self, modal=True)
        answer = Gtk.Entry(placeholder_text="Answer")
        answer.connect("changed", lambda it: self.log(f"answer {it.get_text()}"))
        dialog.get_content_area().append(answer)
        dialog.add_button("Fine", Gtk.ResponseType.OK)
        dialog.connect("response", lambda it, _: (self.log("dialog closed"), it.destroy()))
        dialog.present()
        self.log("dialog opened")


def main():
    GLib.set_prgname("orchard4")
    file = open(sys.argv[1], "a", buffering=1)

    def log(line):
        file.write(line + "\n")

    application = Gtk.Application(application_id="test.Orchard", flags=Gio.ApplicationFlags.NON_UNIQUE)
    application.connect("activate", lambda it: Window(it, log).present())
    application.run([])


main()
