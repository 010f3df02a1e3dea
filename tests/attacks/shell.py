"""A real shell in a real terminal, with a log of every byte that was typed into it: `@typed=...` a line.

At SIGUSR1 what stands on the shell's line is thrown away, and `@pong=again` is written.
"""

import os
import pty
import select
import signal
import sys
import termios
import tty

out = open(sys.argv[1], "a", buffering=1)


def start():
    """A fresh shell; the terminal stays when one ends."""
    child, shell = pty.fork()
    if child == 0:
        os.execvp("bash", ["bash", "--norc", "--noprofile"])
    return shell


def again(*_):
    os.write(shell, b"\x03")
    out.write("@pong=again\n")


shell = start()
signal.signal(signal.SIGUSR1, again)
tty.setraw(0, termios.TCSANOW)
out.write(f"@pid={os.getpid()}\n@ready=shell\n")
while True:
    ready, _, _ = select.select([0, shell], [], [])
    if 0 in ready:
        typed = os.read(0, 4096)
        if not typed:
            break
        out.write(f"@typed={typed!r}\n")
        os.write(shell, typed)
    if shell in ready:
        try:
            os.write(1, os.read(shell, 4096))
        except OSError:
            shell = start()
