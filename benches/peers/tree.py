"""Peer of the elements: pyatspi walking an application's whole tree, role, name, states and extents of each object."""

from serve import serve

import pyatspi


def application(name):
    desktop = pyatspi.Registry.getDesktop(0)
    for one in desktop:
        if one is not None and name in one.name.lower():
            return one
    raise LookupError(f"no application named {name} is on the accessibility bus")


def walk(name):
    root = application(name)
    # What it read the last time may have changed: nothing tells a program without a main loop.
    root.clear_cache()
    waiting, count = [root], 0
    while waiting:
        one = waiting.pop()
        one.getRole(), one.name, one.getState().getStates()
        try:
            one.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
        except NotImplementedError:
            pass  # an application has no place
        waiting.extend(child for child in one if child is not None)
        count += 1
    return count


serve({"walk": walk})
