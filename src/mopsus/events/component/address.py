"""Stage 4: to whom a message goes: the addresses of queues, connections and of whatever else takes messages.

A queue belongs to the component that was declared to be its owner, or to the only one that ever took something from it.
Any other is a *channel*, with an identifier of its own. An address that was told as a channel's stays one: a property
may have remembered it. So does a mailbox in a message stand for its address, as an identifier in a message of Erlang
does.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from mopsus.events.component.identity import Component, new_component
from mopsus.events.component.occurrence import Function
from mopsus.model.term import Atom, Pid, Reference

Resolver: TypeAlias = "Callable[[Any], Pid | None]"

PLAIN: Final[frozenset[type]] = frozenset({int, str, float, bool, bytes, type(None), Pid, Atom, Reference})
_DEPTH: Final = 8


class Mailbox:
    """Where messages of one queue go."""

    __slots__ = ("_declared", "_name", "consumer", "to")

    def __init__(self, name: str, channel: Pid | None = None) -> None:
        self._name = name
        self._declared = False
        self.to: Pid | None = channel
        """To whom messages go, if that was asked for or declared."""
        self.consumer: Pid | None = None
        """Who took messages from it first."""

    def declare(self, owner: Pid) -> None:
        """Let messages go to this component."""
        self.to, self._declared = owner, True

    def taken_by(self, consumer: Pid) -> None:
        """A component takes messages from it."""
        if self.consumer is None:
            self.consumer = consumer
        elif self.consumer != consumer and self.to in (None, self.consumer) and not self._declared:
            self.to = new_component(self._name).pid  # it is not the only one

    def address(self) -> Pid:
        """To whom messages go that are put there now."""
        if self.to is None:
            self.to = self.consumer or new_component(self._name).pid
        return self.to


class Mailboxes:
    """The mailboxes of objects, for as long as these live."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[weakref.ref[Any], Mailbox]] = {}
        """By the identity of the object."""

    def of(self, queue: object) -> Mailbox:
        """The mailbox of an object."""
        found = self.known.get(id(queue))
        return found[1] if found is not None else self.add(queue, Mailbox(type(queue).__name__))

    def find(self, queue: object) -> Mailbox | None:
        """The mailbox of an object, if it has one."""
        found = self.known.get(id(queue))
        return None if found is None else found[1]

    def add(self, queue: object, box: Mailbox) -> Mailbox:
        """Let an object have this mailbox."""
        number = id(queue)
        self.known[number] = (weakref.ref(queue, lambda _: self.known.pop(number, None)), box)
        return box


MAILBOXES: Final = Mailboxes()


# ---- components behind objects


class Components:
    """The components behind objects (threads, tasks, processes, actors), for as long as these live."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Any, Component] = weakref.WeakKeyDictionary()

    def of(self, body: object, name: str | None = None) -> Component:
        """The component that an object is, or will be."""
        found = self._known.get(body)
        if found is None:
            found = self._known[body] = new_component(name or type(body).__name__)
        return found

    def add(self, body: object, component: Component) -> None:
        """Let an object be this component."""
        self._known[body] = component

    def find(self, body: object) -> Component | None:
        """The component that an object is, if that is known."""
        return self._known.get(body)


COMPONENTS: Final = Components()


# ---- messages

_resolvers: dict[type, Resolver] = {}
RESOLVERS: Final[dict[type, Resolver | None]] = {}
"""By type of an object, as far as it was asked for; None: such objects stand for no address."""


def stands_for_address(kind: type, resolver: Resolver) -> None:
    """Let objects of this type, in messages, stand for what the resolver says of them."""
    _resolvers[kind] = resolver
    RESOLVERS.clear()


def address_of(value: object) -> Pid | None:
    """The address that an object stands for, if it does for any."""
    if isinstance(value, Component):
        return value.pid
    if isinstance(value, Pid):
        return value
    resolver = _resolver(type(value))
    return None if resolver is None else resolver(value)


def told(message: Any, depth: int = _DEPTH) -> Any:  # noqa: ANN401 - whatever is sent
    """A message as monitors see it: mailboxes and components in it are their identifiers.

    It is the same object if there are none.
    """
    kind = type(message)
    if kind in PLAIN or not depth:
        return message
    if kind is tuple:
        for item in message:
            if type(item) not in PLAIN:
                break
        else:
            return message
        items = tuple([told(item, depth - 1) for item in message])
        return items if any(new is not old for new, old in zip(items, message, strict=True)) else message
    if kind is list:
        listed = [told(item, depth - 1) for item in message]
        return listed if any(new is not old for new, old in zip(listed, message, strict=True)) else message
    if kind is dict:
        values = {key: told(value, depth - 1) for key, value in message.items()}
        return values if any(values[key] is not message[key] for key in values) else message
    resolver = RESOLVERS[kind] if kind in RESOLVERS else _resolver(kind)
    if resolver is None:
        return message
    address = resolver(message)
    return message if address is None else address


def told_function(function: Function) -> Function:
    """What a component runs, as monitors see it."""
    keywords = None if function.keywords is None else told(dict(function.keywords))
    return Function(function.module, function.name, told(function.arguments), keywords)


def _resolver(kind: type) -> Resolver | None:
    found = next((_resolvers[base] for base in kind.__mro__ if base in _resolvers), None)
    RESOLVERS[kind] = found
    return found
