"""What GTK 3 and GTK 4 have in common."""

from gi.repository import GLib

import orders
from orders import log


class Fields:
    """What is done with the widgets in `named`, in any version."""

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

    def relabel(self, old, new):
        self.named[old].set_label(new)

    def disable(self, name):
        self.named[name].set_sensitive(False)

    def close(self):
        if getattr(self, "above", None):
            self.above.destroy()
        self.window.destroy()


class App:
    def __init__(self, window):
        self.window = window
        self.number = 0
        self.open = None
        commands = {name: lambda *a, name=name: getattr(self.open, name)(*a) for name in
                    ("relabel", "disable", "push", "modal", "close")}
        orders.obey(self.soon, {**commands, "reset": self.reset, "ping": lambda at: log("pong", at)})

    @staticmethod
    def soon(do):
        GLib.idle_add(lambda: do() and False)

    def reset(self):
        self.number += 1
        if self.open:
            self.open.close()
        self.open = self.window(self.number)
