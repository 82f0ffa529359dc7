"""Stage 0: values that components exchange and that Python has no type of its own for.

Messages in logs of other systems hold atoms, identifiers of components and references beside numbers, texts, tuples and
lists. They are texts with a type, so that they print, compare and hash as what is written in the log.
"""

from __future__ import annotations


class Atom(str):
    """A name that stands for itself: `ok`, `undefined`, `'hello world'`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Atom({str(self)!r})"


class Pid(str):
    """The identifier of a component, `<node.serial.incarnation>`. It is never used again for another one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Pid({str(self)!r})"


class Reference(str):
    """A unique mark, `#Ref<0.1.2.3>`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Reference({str(self)!r})"


class String(str):
    """A text of a system that tells texts from atoms: `"ok"` in a log is not the atom `ok`.

    A plain `str` is a text of Python, which has no atoms; it equals an atom and a string of the same spelling.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"String({str(self)!r})"
