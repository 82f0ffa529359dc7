"""What code and commands may ask of a monitor, and do to it, while its program stands still."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mopsus.interactive import telling
from mopsus.interactive.messages import MonitorError
from mopsus.model.guarded import INITIAL

if TYPE_CHECKING:
    from mopsus.interactive.session import Session
    from mopsus.interactive.watch import Move, Watch
    from mopsus.monitor import Slice

EVENT_TYPES = ("state_changed", "transition_taken", "event_applied")


class MonitorInterface:
    """A stable view of one monitor. A slice is given by itself, by its number in `get_slices`, or, as None, is the one
    without parameters."""

    def __init__(self, session: Session, watch: Watch) -> None:
        self._session, self._watch = session, watch
        self._callbacks: dict[str, list[Callable[..., object]]] = {kind: [] for kind in EVENT_TYPES}

    # ---- states

    def get_states(self) -> set[str]:
        """The states of the property."""
        return set(self._watch.states())

    def get_current_states(self) -> set[str]:
        """The states that its slices are in."""
        return {each.state for each in self._watch.monitor.slices()}

    def set_current_state(self, state: str) -> None:
        """Put the slice without parameters into a state, whatever led there."""
        self._known(state)
        self._watch.monitor.put(self._slice(None), state)
        self._watch.moved()
        self._session.instrument()

    def print_monitor_state(self) -> None:
        """Every slice, its state and its environment."""
        self._session.tell(telling.current_state(self._watch))

    # ---- slices and their variables

    def get_slices(self) -> list[Slice]:
        """The instances."""
        self._watch.lent = True
        return self._watch.monitor.slices()

    def get_slice_bindings(self) -> list[dict[str, object]]:
        """The values of the parameters of each instance."""
        return [dict(each.binding) for each in self._watch.monitor.slices()]

    def get_env(self, s: Slice | int | None = None) -> dict[str, Any]:
        """The variables of a slice; changes are its own."""
        self._watch.lent = True
        return self._variables(s)

    get_env_dict = get_env

    def get_env_keys(self, s: Slice | int | None = None, as_iterator: bool = True) -> Iterator[str] | list[str]:
        """The names of the variables of a slice."""
        names = list(self._variables(s))
        return iter(names) if as_iterator else names

    def get_env_value(self, s: Slice | int | None, key: str) -> object:
        """One variable; `MonitorError` if there is none of that name."""
        environment = self._variables(s)
        if key not in environment:
            known = ", ".join(environment) or "nothing"
            raise MonitorError(f"there is no variable `{key}`", hint=f"there is {known}")
        return environment[key]

    def set_env_value(self, s: Slice | int | None, key: str, value: object) -> None:
        """Assign one variable."""
        self._variables(s)[key] = value
        self._watch.moved()

    def set_env_dict(self, s: Slice | int | None, new_env: Mapping[str, object]) -> None:
        """Replace all variables."""
        environment = self._variables(s)
        environment.clear()
        environment.update(new_env)
        self._watch.moved()

    def set_globals(self, g: dict[str, Any]) -> None:
        """Where the names of functions are looked up."""
        self._watch.use_functions(g)

    # ---- being told

    @property
    def has_callbacks(self) -> bool:
        return any(self._callbacks.values())

    def register_event(self, type: str, callback: Callable[..., object]) -> None:
        """Call this at each `state_changed(new_states)`, `transition_taken(transition, point)` with `point` either
        `success` or `failure`, or `event_applied(event)`."""
        self._of_type(type).append(callback)
        self._watch.attend()

    def unregister_event(self, type: str, callback: Callable[..., object]) -> None:
        """Do not any more."""
        registered = self._of_type(type)
        if callback not in registered:
            raise MonitorError(f"this was not registered for {type}: {callback!r}")
        registered.remove(callback)
        self._watch.attend()

    def set_transition_debug_function(self, fun_name: str | Callable[..., object] | None = None) -> None:
        """Call this function with each event, by name and values, that no state takes into account; None: no more."""
        function: Any = fun_name
        if isinstance(fun_name, str):
            function = self._watch.functions.get(fun_name)
            if not callable(function):
                hint = "load it by `verde load-functions FILE`"
                raise MonitorError(f"there is no function `{fun_name}`", hint=hint)
        self._watch.on_unmatched(function)

    def set_quiet(self, b: bool = True) -> None:
        """Say nothing at its events."""
        self._watch.quiet = b
        self._watch.attend()

    def step_by_step(self, b: bool = True) -> None:
        """Stop the program at each of its events."""
        self._watch.step_by_step = b

    # ---- the program

    def stop_execution(self) -> None:
        """Stop the program here, and this monitor for good."""
        self._watch.active = False
        self.debugger_shell()

    def debugger_shell(self) -> None:
        """Stop the program here, and give the developer the prompt."""
        self._session.suspend(f"monitor #{self._watch.number} asks for the prompt")

    # ---- for the session

    def applied(self, event: str, moves: Sequence[Move]) -> None:
        """Tell those who registered what an event did."""
        if not any(self._callbacks.values()):
            return
        for move in moves:
            if move.change is not None:
                self._call("transition_taken", move.change.transition, move.change.end)
        if any(move.old != move.new for move in moves):
            self._call("state_changed", self.get_current_states())
        self._call("event_applied", event)

    def _call(self, kind: str, *arguments: object) -> None:
        for callback in list(self._callbacks[kind]):
            try:
                callback(*arguments)
            except Exception as error:
                self._session.fault_in(error, self._watch.spec.name, f"callback of monitor #{self._watch.number}")

    def _of_type(self, kind: str) -> list[Callable[..., object]]:
        if kind not in self._callbacks:
            raise MonitorError(f"there is no event type `{kind}`", hint=f"there are {', '.join(EVENT_TYPES)}")
        return self._callbacks[kind]

    def _variables(self, s: Slice | int | None) -> dict[str, Any]:
        variables: dict[str, Any] = self._slice(s).environment
        return variables

    def _slice(self, s: Slice | int | None) -> Slice:
        slices = self._watch.monitor.slices()
        if isinstance(s, int):
            if not 0 <= s < len(slices):
                raise MonitorError(f"there is no slice {s}", hint=f"there are {len(slices)}, counted from 0")
            return slices[s]
        if s is not None:
            return s
        for each in slices:
            if not each.binding:
                return each
        raise MonitorError("no slice is without parameters yet", hint="give the number of one")

    def _known(self, state: str) -> None:
        states = self.get_states() or {INITIAL}
        if state not in states:
            raise MonitorError(f"there is no state `{state}`", hint=f"there are {', '.join(sorted(states))}")
