"""The object is to be told of its own end."""

import weakref


class Box:
    def close(self):
        pass


box = Box()
weakref.finalize(box, box.close)  # violation
