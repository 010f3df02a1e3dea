"""What the applications of this folder share: the same widgets in each toolkit, and a line for what is done to each.

A line `@key=value` on the output for each thing that happened; a line on the input for each thing that is to happen:
`reset`, `ping`, `relabel OLD|NEW`, `disable NAME`, `push`, `modal`, `close`. Never speaks to Miki.
"""

import sys
import threading

FRUIT = ["Apple", "Banana", "Cherry", "Damson"]
CITIES = ["Paris", "London", "Rome"]
ANIMALS = ["Ant", "Bear", "Cat", "Dog", "Eel", "Fox", "Goat", "Hare", "Ibis", "Jay", "Kite", "Lynx", "Mole", "Newt"]
EUROPE = ["France", "Norway"]
ASIA = ["Japan", "Nepal"]
ROWS = [("Bolt", "12"), ("Gear", "7"), ("Nut", "30")]


# What an application does where it is told to is in its status line, too; but for one button that shows nothing.
SAID = ["pressed", "tool", "menu", "context", "more", "dialog", "file"]
SILENT = "Quiet"


def log(key, value):
    line = str(value).replace("\\", "\\\\").replace("\n", "\\n")
    sys.stdout.write(f"@{key}={line}\n")
    sys.stdout.flush()
    if key in SAID and value != SILENT:
        say(f"{key}: {value}")


def say(_):
    """Shows a line as the last thing that happened; each toolkit has its own."""


class Logged:
    """Says a value only where it is another one than before: toolkits tell some twice."""

    def __init__(self):
        self.last = {}

    def __call__(self, key, value):
        if self.last.get(key) != value:
            self.last[key] = value
            log(key, value)


def obey(on_main, commands):
    """Reads the input in a thread; each command is carried out by `on_main`, in the toolkit's own loop."""

    def read():
        for line in sys.stdin:
            name, _, rest = line.strip().partition(" ")
            on_main(lambda name=name, rest=rest: commands[name](*rest.split("|")) if rest else commands[name]())

    threading.Thread(target=read, daemon=True).start()
