"""A function that does not know the object."""

import weakref


class Box:
    pass


def closed(name):
    pass


box = Box()
weakref.finalize(box, closed, "box")
