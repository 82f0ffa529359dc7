"""The value before is asked for twice."""

from contextvars import ContextVar

user = ContextVar("user")
token = user.set("ada")
user.reset(token)
try:
    user.reset(token)  # violation
except RuntimeError:
    pass
