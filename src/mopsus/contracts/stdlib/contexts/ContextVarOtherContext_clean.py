"""Set and restored in the same context."""

from contextvars import ContextVar, copy_context

language = ContextVar("language", default="en")


def visit():
    token = language.set("la")
    language.reset(token)


copy_context().run(visit)
visit()
