"""Stage 4: actors of pykka: a fork when one is started, an init before `on_start`, an exit when it has stopped.

`tell` and `ask` send; an actor receives when it begins to handle a message. The reply to `ask` is sent when the future
gets it, and received when it is read there. Requests to stop, and to get or set attributes through a proxy, are the
library's own business.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import pykka
from pykka import messages
from pykka._envelope import Envelope

from mopsus.events.component import reasons
from mopsus.events.component.address import COMPONENTS, stands_for_address, told, told_function
from mopsus.events.component.hooks.hub import Hub
from mopsus.events.component.hooks.wiring import (
    ERROR,
    RESULT,
    SELF,
    Emit,
    Undo,
    argument,
    before,
    put,
    raising,
    returning,
    spying,
)
from mopsus.events.component.identity import OUTSIDE, Component, current, enter, module_name
from mopsus.events.component.occurrence import Function, Kind
from mopsus.events.weave.joinpoints import Advised
from mopsus.model.term import Pid

_INTERNAL = (messages._ActorStop, messages.ProxyGetAttr, messages.ProxySetAttr)


def install(hub: Hub) -> Undo:
    """Tell of actors from now on."""
    emit = hub.emit
    actors, asked = _Actors(emit), _Asked(emit)
    stands_for_address(pykka.ActorRef, _address)
    message = argument(0, "message")
    return put(
        [
            Advised(
                pykka.Actor, "start", (spying(actors.starting), returning(actors.started), raising(actors.started))
            ),
            Advised(pykka.ThreadingActor, "_start_actor_loop", (before(actors.fork, SELF),)),
            Advised(pykka.Actor, "_actor_loop", (before(actors.begin, SELF), returning(actors.end, SELF))),
            Advised(pykka.Actor, "_handle_failure", (before(actors.failed, SELF, argument(1, "exception_value")),)),
            Advised(
                pykka.Actor,
                "_handle_receive",
                (before(actors.received, SELF, message), raising(actors.stopped, SELF, ERROR)),
            ),
            Advised(pykka.ActorRef, "tell", (before(actors.asked, SELF, message),)),
            Advised(pykka.ActorRef, "ask", (before(actors.asked, SELF, message),)),
            Advised(Envelope, "__init__", (returning(asked.ask, message, argument(1, "reply_to")),)),
            Advised(pykka.ThreadingFuture, "set", (before(asked.replying, SELF, argument(0, "value")),)),
            Advised(pykka.ThreadingFuture, "set_exception", (returning(asked.refuse, SELF),)),
            Advised(
                pykka.ThreadingFuture, "get", (returning(asked.read, SELF, RESULT), raising(asked.raised, SELF, ERROR))
            ),
        ]
    )


class _Starting(threading.local):
    """The arguments of the actors that are being started in a thread, the innermost last."""

    arguments: tuple[tuple[tuple[Any, ...], Mapping[str, Any]], ...] = ()


class _Actors:
    """Tells of actors and of what is sent to them."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._starting = _Starting()
        self._forked: WeakKeyDictionary[pykka.Actor, tuple[Component, Pid, Function]] = WeakKeyDictionary()
        self._failures: WeakKeyDictionary[pykka.Actor, BaseException] = WeakKeyDictionary()
        self._before: WeakKeyDictionary[pykka.Actor, Component | None] = WeakKeyDictionary()

    def starting(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """An actor is to be made, and then started."""
        self._starting.arguments = (*self._starting.arguments, (arguments[1:], named))

    def started(self) -> None:
        """It was, or that has failed."""
        self._starting.arguments = self._starting.arguments[:-1]

    def fork(self, actor: pykka.Actor) -> None:
        """An actor is started."""
        parent = current()
        component = COMPONENTS.of(actor.actor_ref, type(actor).__name__)
        arguments, named = self._starting.arguments[-1] if self._starting.arguments else ((), {})
        kind = type(actor)
        function = told_function(Function(module_name(kind.__module__), kind.__qualname__, arguments, named or None))
        self._forked[actor] = component, OUTSIDE if parent is None else parent.pid, function
        if parent is not None:
            self._emit(Kind.FORK, parent.pid, component.pid, function)

    def begin(self, actor: pykka.Actor) -> None:
        """An actor begins, in its own thread."""
        known = self._forked.get(actor)
        if known is not None:
            self._before[actor] = enter(known[0])
            self._emit(Kind.INIT, known[0].pid, known[1], known[2])

    def end(self, actor: pykka.Actor) -> None:
        """An actor has ended, in its own thread."""
        known = self._forked.pop(actor, None)
        if known is not None:
            error = self._failures.pop(actor, None)
            reason = reasons.NORMAL if error is None else reasons.of_exception(error)
            self._emit(Kind.EXIT, known[0].pid, None, reason)
            enter(self._before.pop(actor))

    def failed(self, actor: pykka.Actor, error: BaseException) -> None:
        """An actor will end because of an error."""
        self._failures.setdefault(actor, error)

    def stopped(self, actor: pykka.Actor, error: BaseException) -> None:
        """Handling a message has failed; what is no ordinary error ends the actor."""
        if not isinstance(error, Exception):
            self._failures.setdefault(actor, error)

    def received(self, actor: pykka.Actor, message: object) -> None:
        """An actor begins to handle a message."""
        known = self._forked.get(actor)
        if known is not None and not isinstance(message, _INTERNAL):
            self._emit(Kind.RECV, known[0].pid, None, told(message))

    def sent(self, reference: pykka.ActorRef[Any], message: object) -> None:
        """A message was sent to an actor."""
        component = current()
        if component is not None and not isinstance(message, _INTERNAL):
            receiver = COMPONENTS.of(reference, reference.actor_class.__name__).pid
            self._emit(Kind.SEND, component.pid, receiver, told(message))

    def asked(self, reference: pykka.ActorRef[Any], message: object) -> None:
        """A message is sent to an actor, if there still is one."""
        if reference.is_alive():
            self.sent(reference, message)


class _Asked:
    """Tells of replies: whose they are is known from who asked."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._askers: WeakKeyDictionary[pykka.Future[Any], Pid] = WeakKeyDictionary()
        self._read: WeakSet[pykka.Future[Any]] = WeakSet()

    def ask(self, message: object, future: pykka.Future[Any] | None) -> None:
        """A message is put into an envelope, maybe with a future for the reply."""
        asker = current()
        if future is not None and asker is not None and not isinstance(message, _INTERNAL):
            self._askers[future] = asker.pid

    def replying(self, future: Any, value: Any) -> None:  # noqa: ANN401 - its attributes are nobody's business
        """A reply is given, unless there was one; told before anybody can read it."""
        if getattr(future, "_result", None) is None:
            self.reply(future, value)

    def reply(self, future: pykka.Future[Any], value: object) -> None:
        """A reply was given."""
        component, asker = current(), self._askers.get(future)
        if component is not None and asker is not None:
            self._emit(Kind.SEND, component.pid, asker, told(value))

    def refuse(self, future: Any) -> None:  # noqa: ANN401 - its attributes are nobody's business
        """An error was given as a reply."""
        result = getattr(future, "_result", None)
        if result is not None and result.exc_info is not None and result.exc_info[1] is not None:
            self.reply(future, reasons.of_exception(result.exc_info[1]))

    def read(self, future: pykka.Future[Any], value: object) -> None:
        """A reply was read; it is received once."""
        component = current()
        if component is not None and future in self._askers and future not in self._read:
            self._read.add(future)
            self._emit(Kind.RECV, component.pid, None, told(value))

    def raised(self, future: pykka.Future[Any], error: BaseException) -> None:
        """A reply was read that is an error, or there is none yet."""
        if not isinstance(error, pykka.Timeout):
            self.read(future, reasons.of_exception(error))


def _address(reference: pykka.ActorRef[Any]) -> Pid:
    return COMPONENTS.of(reference, reference.actor_class.__name__).pid
