"""One after the other, or in a copy."""

from contextvars import copy_context

context = copy_context()
context.run(print, "first")
context.run(lambda: context.copy().run(print, "second"))
