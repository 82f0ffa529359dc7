"""A token for every value."""

from contextvars import ContextVar

user = ContextVar("user")
first = user.set("ada")
second = user.set("grace")
user.reset(second)
user.reset(first)
