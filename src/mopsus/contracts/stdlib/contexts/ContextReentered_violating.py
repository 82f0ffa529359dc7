"""What runs in a context uses it once more."""

from contextvars import copy_context

context = copy_context()


def outer():
    context.run(print, "inner")  # violation


try:
    context.run(outer)
except RuntimeError:
    pass
