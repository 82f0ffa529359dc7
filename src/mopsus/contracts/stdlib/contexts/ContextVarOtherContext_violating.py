"""A value is set in one context and to be restored in another."""

from contextvars import ContextVar, copy_context

language = ContextVar("language", default="en")
token = copy_context().run(language.set, "la")
try:
    language.reset(token)  # violation
except ValueError:
    pass
