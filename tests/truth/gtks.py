"""What GTK 3 and GTK 4 have in common. Who imports it has said which."""

from gi.repository import GLib, Gtk

import orders
from orders import log

IS_4 = Gtk.get_major_version() == 4


def line(orientation, fill, widgets):
    box = Gtk.Box(orientation=orientation, spacing=4, homogeneous=fill)
    for widget in widgets:
        box.append(widget) if IS_4 else box.pack_start(widget, fill, fill, 0)
    return box


def column(*widgets):
    return line(Gtk.Orientation.VERTICAL, False, widgets)


def row(*widgets):
    return line(Gtk.Orientation.HORIZONTAL, True, widgets)


def scrolled(widget, height):
    return Gtk.ScrolledWindow(min_content_height=height, child=widget)


class Fields:
    """The window, but for what each version has of its own: `name`, `canvas`, `more`, `radios`, `fruit`, `secret`,
    `places`, `stock`, `menus`, `tools`, `about`, `choose`."""

    def __init__(self, number):
        self.tell = orders.Logged()
        self.named = {}
        self.reverting = False
        self.window = Gtk.Window(title="Orders", default_width=900, default_height=640)
        self.spacer = Gtk.Label(height_request=1)
        said = Gtk.Label()
        orders.say = said.set_label
        columns = row(
            column(self.buttons(), self.marks(), self.choices(), self.texts(), self.day()),
            column(self.numbers(), self.animals(), self.places(), self.stock(), self.tabs()),
        )
        self.window.set_property("child", column(self.spacer, self.menus(), self.tools(), columns, said))
        shown = "map" if IS_4 else "map-event"
        self.window.connect(shown, lambda *_: GLib.idle_add(lambda: log("ready", number) and False) and False)
        if not IS_4:
            self.window.show_all()
            self.window.move(20, 30)
        self.window.present()

    def press(self, label, key="pressed"):
        button = Gtk.Button(label=label)
        button.connect("clicked", lambda button: log(key, button.get_label()))
        self.named[label] = button
        return button

    def buttons(self):
        chosen = Gtk.Button(label="Open...")
        chosen.connect("clicked", lambda _: self.choose())
        own = (self.press(label) for label in ("Press me", "Archive", "Quiet"))
        inside = column(*(self.press(label, "more") for label in ("Export", "Share")))
        return column(row(*own), row(chosen, self.more(inside)), self.canvas())

    def marks(self):
        agree = Gtk.CheckButton(label="Agree")
        agree.connect("toggled", lambda check: log("agree", "on" if check.get_active() else "off"))
        self.named["Agree"] = agree
        radios = self.radios(["Small", "Medium", "Large"])
        for radio in radios:
            radio.connect("toggled", lambda radio: radio.get_active() and log("size", radio.get_label()))
        beta = Gtk.CheckButton(label="Beta")
        is_on = lambda check: "on" if check.get_active() else "off"
        beta.connect("toggled", lambda check: self.take_back("beta", is_on(check), "off", check.set_active, False))
        return row(agree, *radios, beta)

    def choices(self):
        city = Gtk.ComboBoxText.new_with_entry()
        for label in orders.CITIES:
            city.append_text(label)
        self.name(city if IS_4 else city.get_child(), "City")
        city.connect("changed", lambda combo: self.tell("city", combo.get_active_text()))
        return row(self.name(self.fruit(), "Fruit"), city)

    def texts(self):
        name = self.name(Gtk.Entry(), "Name")
        name.connect("changed", lambda entry: self.tell("name", entry.get_text()))
        secret = self.name(self.secret(), "Secret")
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
        limit = self.name(Gtk.SpinButton.new_with_range(0, 100, 1), "Limit")
        limit.connect("value-changed", lambda s: self.take_back("limit", s.get_value_as_int(), 0, s.set_value, 0))
        return row(count, limit, volume)

    def animals(self):
        box = self.name(Gtk.ListBox(), "Animals")
        for animal in orders.ANIMALS:
            box.insert(Gtk.Label(label=animal, xalign=0), -1)
        box.connect("row-selected", lambda _, row: row and self.tell("animal", row.get_child().get_label()))
        return scrolled(box, 90)

    def day(self):
        day = self.name(Gtk.Calendar(), "Day")
        if IS_4:
            day.select_day(GLib.DateTime.new_utc(2026, 1, 1, 0, 0, 0))
            day.connect("day-selected", lambda day: self.tell("day", day.get_date().format("%F")))
        else:
            day.select_month(0, 2026)
            day.select_day(1)
            day.connect("day-selected", lambda day: self.tell("day", "{}-{:02}-{:02}".format(
                day.get_date().year, day.get_date().month + 1, day.get_date().day)))
        return day

    def tabs(self):
        tabs = Gtk.Notebook()
        pages = {"First": Gtk.Label(label="First page"), "Second": self.rows(), "Third": Gtk.Label(label="Third page")}
        for label, page in pages.items():
            tabs.append_page(page, Gtk.Label(label=label))
        tabs.connect("switch-page", lambda book, page, _: self.tell("tab", book.get_tab_label_text(page)))
        return tabs

    def rows(self):
        rows = Gtk.ListBox()
        for number in range(80):
            rows.insert(self.press(f"Row {number}", "row"), -1)
        return scrolled(rows, 90)

    def push(self):
        self.spacer.set_size_request(-1, 70)

    def modal(self):
        self.above = Gtk.MessageDialog(
            transient_for=self.window, modal=True, buttons=Gtk.ButtonsType.OK, text="Really?", title="Question"
        )
        self.above.connect("response", lambda *_: log("modal", "answered"))
        self.above.present()

    def upper(self, entry):
        text = entry.get_text()
        if text != text.upper():
            GLib.idle_add(lambda: entry.set_text(text.upper()) and False)
        else:
            self.tell("code", text)

    def revert(self, entry):
        self.tell("price", entry.get_text())
        if not self.reverting and entry.get_text() != "100":
            self.reverting = True
            GLib.timeout_add(300, self.back, entry)

    def back(self, entry):
        entry.set_text("100")
        self.reverting = False

    def take_back(self, key, value, first, put, what):
        self.tell(key, value)
        if value != first:
            GLib.timeout_add(300, lambda: put(what) and False)

    def relabel(self, old, new):
        self.named[old].set_label(new)

    def disable(self, name):
        self.named[name].set_sensitive(False)

    def close(self):
        if getattr(self, "above", None):
            self.above.destroy()
        self.window.destroy()


class App:
    """`more` are commands besides those that all toolkits have."""

    def __init__(self, window, **more):
        self.window = window
        self.number = 0
        self.open = None
        commands = {name: lambda *a, name=name: getattr(self.open, name)(*a) for name in
                    ("relabel", "disable", "push", "modal", "close")}
        orders.obey(self.soon, {**commands, **more, "reset": self.reset, "ping": lambda at: log("pong", at)})

    @staticmethod
    def soon(do):
        GLib.idle_add(lambda: do() and False)

    def reset(self):
        self.number += 1
        if self.open:
            self.open.close()
        self.open = self.window(self.number)
