"""A block, a call of close(), and a stack that hands over what it holds."""

from contextlib import ExitStack

with ExitStack() as stack:
    stack.callback(print, "over")
    kept = stack.pop_all()
kept.close()
empty = ExitStack()
del empty, stack, kept
