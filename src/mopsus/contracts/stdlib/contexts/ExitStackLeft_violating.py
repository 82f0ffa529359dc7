"""What is to be done at the end is never done."""

from contextlib import ExitStack


def work():
    stack = ExitStack()
    stack.callback(print, "over")  # violation


work()
