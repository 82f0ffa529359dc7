"""Nobody closes the file."""

import os


def note(text):
    open(os.devnull, "w").write(text)  # violation


note("one")
