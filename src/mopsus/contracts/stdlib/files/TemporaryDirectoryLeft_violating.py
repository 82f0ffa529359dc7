"""When the function is over, nobody knows the folder any more."""

import os
import tempfile


def count():
    folder = tempfile.TemporaryDirectory()  # violation
    return len(os.listdir(folder.name))


count()
