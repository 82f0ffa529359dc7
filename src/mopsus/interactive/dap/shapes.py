"""Parts of messages, as the protocol writes them: what is read from them, and what is left out of them."""

from __future__ import annotations

from mopsus.interactive.dap.arguments import Arguments, RequestError
from mopsus.interactive.dap.channel import Message
from mopsus.interactive.dap.workbench import ACCESSES, Wanted

_NULLABLE = "dataId"
"""What is null when data cannot be watched."""


def wanted_points(arguments: Arguments, *, data: bool = False) -> list[Wanted]:
    """Breakpoints that an editor asks for: at data, or anywhere else."""
    return [
        Wanted(
            each.maybe_count("line") or 0,
            each.maybe_text("name") or "",
            each.text("dataId") if data else "",
            _access(each) if data else "",
            each.maybe_text("condition"),
            each.maybe_text("hitCondition"),
            each.maybe_text("logMessage"),
        )
        for each in arguments.each("breakpoints")
    ]


def _access(arguments: Arguments) -> str:
    access = arguments.maybe_text("accessType") or ACCESSES[0]
    if access not in ACCESSES:
        raise RequestError(f"data is used by one of {', '.join(ACCESSES)}, and not by {access}")
    return access


def there(body: Message) -> Message:
    """Without members that are None: the protocol knows no null, but for one."""
    return {name: _inner(value) for name, value in body.items() if value is not None or name == _NULLABLE}


def _inner(value: object) -> object:
    if isinstance(value, dict):
        return there(value)
    return [_inner(each) for each in value] if isinstance(value, list) else value
