from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Literal

Instance = tuple[int, int, int, int]
Stamp = tuple[int, int | float | None, str | None, bool]
"""Row (0: none), time, location, whether the location is a whole trace."""

def use_errors(closed: type[Exception], values: type[Exception]) -> None: ...
def hide(code: CodeType) -> None: ...

class Emitter:
    def __call__(self, *values: object, **named: object) -> None: ...

class Monitor:
    def __init__(
        self,
        *,
        parameters: Sequence[str],
        modes: Sequence[str],
        events: Sequence[tuple[str, Sequence[int], bool, bool, Sequence[int]]],
        machines: Sequence[tuple[str, tuple[Any, ...]]],
        binding: str,
        connected: bool,
        immediate: bool,
        variables: bool,
        history: int,
        per_thread: bool,
        synchronized: bool,
        decentralized: bool,
        report: Callable[..., None] | None,
        admit: Callable[[int, Instance, Any, tuple[Any, ...]], bool] | None,
        fork: Callable[[Any], Any] | None,
        save: Callable[[Any], str] | None,
        load: Callable[[str], Any] | None,
        fault: Callable[[BaseException], None] | None,
    ) -> None: ...
    def emitter(self, event: int) -> Emitter: ...
    def emit(self, event: int, values: tuple[object, ...]) -> None: ...
    def row(
        self,
        event: int,
        values: tuple[object, ...],
        time: object,
        thread: object,
        location: str,
        is_source: bool,
        number: int,
    ) -> None: ...
    def release(self, values: dict[int, object], thread: object) -> None: ...
    def run(
        self, data: object, source: str, first_row: int, skip_bad_rows: bool
    ) -> tuple[Literal["null", "missing", "type", "no-event", "dictionary"], int, str, str, str] | None: ...
    def reset(self, instance: Instance) -> bool: ...
    def ignore(self) -> None: ...
    def stats(self) -> dict[str, Any]: ...
    def snapshot(self) -> list[int | str]: ...
    def restore(self, items: list[int | str]) -> None: ...
    def close(self) -> None: ...
