"""Stage 0: what a picture of a machine shows, whatever the machine's kind and the picture's form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Node:
    """A place in a drawing: a state of a table, a set of grammar items, an operator of a formula."""

    name: str
    note: str = ""
    """What more to say of it, without brackets."""
    reports: bool = False
    """Being there is a verdict that someone handles."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from one node to another, both by their number."""

    source: int
    label: str
    target: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """Nodes and the ways between them, in the order in which a person should read them."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    initial: int | None
    """The number of the node where the machine starts, where it starts in one."""
    summary: str
    """One line: how large it is, where it starts, what it reports."""
    remarks: tuple[str, ...] = ()
    """Further lines, such as the rules of a rewriting system."""


class Drawable(Protocol):
    """Whatever can be drawn."""

    def drawing(self) -> Drawing:
        """What a picture of it shows."""
