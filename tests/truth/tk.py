"""A form in Tk, which tells the accessibility tree nothing: `@place=NAME KIND X Y WIDTH HEIGHT` for what can be
clicked without a text of its own, and for one button with a text, then `@ready=1`, then a line for each thing that was done.

python3 tk.py LOG
"""

import sys
import tkinter as tk

sys.stdout = open(sys.argv[1], "a", buffering=1)

from orders import log  # noqa: E402

root = tk.Tk(className="Form")
root.title("Form")
root.geometry("620x470+40+60")
root.option_add("*font", "{DejaVu Sans} 11")
shown = []


def at(widget, x, y, kind=None, name=None):
    widget.place(x=x, y=y)
    if kind:
        shown.append((name, kind, widget))
    return widget


def field(name, y):
    text = tk.StringVar()
    text.trace_add("write", lambda *_: log(name, text.get()))
    at(tk.Label(text=name), 20, y)
    return at(tk.Entry(textvariable=text, width=24), 120, y, "field", name)


def press(name):
    return lambda: log("pressed", name)


def log_once_drawn(name, value):
    """What Tk draws when it is idle is on the screen once the server has answered a question after it."""
    root.update_idletasks()
    root.winfo_pointerxy()
    log(name, value)


def checks():
    for row, name in enumerate(["Agree", "Deliver"]):
        on = tk.IntVar()
        tell = lambda name=name, on=on: log_once_drawn(name, "on" if on.get() else "off")
        at(tk.Checkbutton(text=name, variable=on, command=tell), 20, 110 + 32 * row, "mark", name).on = on
    size = tk.StringVar(value="none")
    for row, name in enumerate(["Small", "Large"]):
        tell = lambda: log("size", size.get())
        at(tk.Radiobutton(text=name, value=name, variable=size, command=tell), 200, 110 + 32 * row, "mark", name)


def pictures():
    for column, name in enumerate(["error", "hourglass", "info", "question", "warning"]):
        at(tk.Button(bitmap=name, width=26, height=26, command=press(name)), 370 + 46 * column, 18, "button", name)
    for column, name in enumerate(["questhead", "gray50"]):
        icon = at(tk.Label(bitmap=name), 380 + 46 * column, 74, "icon", name)
        icon.bind("<Button-1>", lambda _, name=name: log("pressed", name))


def places():
    """Once more where a window manager has moved the window since."""
    for name, kind, widget in shown:
        width = 28 if kind == "mark" else widget.winfo_width()
        log("place", f"{name} {kind} {widget.winfo_rootx()} {widget.winfo_rooty()} {width} {widget.winfo_height()}")
    log("ready", 1)


field("Name", 20)
field("Street", 62)
checks()
pictures()
at(tk.Label(text="Notes"), 20, 184)
notes = at(tk.Text(width=34, height=5), 120, 184, "area", "Notes")
notes.bind("<KeyRelease>", lambda _: log("Notes", notes.get("1.0", "end-1c")))
chosen = at(tk.Listbox(height=4, width=14), 440, 184)
chosen.insert("end", "Apple", "Banana", "Cherry")
chosen.bind("<<ListboxSelect>>", lambda _: log("fruit", chosen.get(chosen.curselection())))
at(tk.Frame(width=580, height=2, relief="sunken", borderwidth=1), 20, 380)
at(tk.Button(text="Send", width=16, command=press("Send")), 20, 400, "button", "Send")
at(tk.Button(text="Cancel", command=press("Cancel")), 240, 400)
root.bind("<Configure>", lambda event: event.widget is root and root.after_idle(places))
root.mainloop()
