"""The memory of a program, for an editor that shows bytes."""

from __future__ import annotations

import base64

from mopsus.interactive.dap.arguments import Arguments, RequestError
from mopsus.interactive.dap.channel import Message
from mopsus.interactive.debugger import Debugger, DebuggerError

_PAGE = 4096
_MOST = 1 << 20
_END = 1 << 64
"""No address is so large."""


def address_of(arguments: Arguments) -> int:
    """Where in memory a request means."""
    reference = arguments.text("memoryReference")
    try:
        address = int(reference, 0) + (arguments.maybe_number("offset") or 0)
    except ValueError as error:
        raise RequestError(f"`memoryReference`: {reference} is no address") from error
    if not 0 <= address < _END:
        raise RequestError(f"there is no address {address}")
    return address


def read_memory(arguments: Arguments, debugger: Debugger) -> Message:
    """What is in memory, as far as it can be read."""
    start, length = address_of(arguments), arguments.number("count")
    if not 0 <= length <= _MOST:
        raise RequestError(f"there are no {length} bytes at {start}", hint=f"ask for {_MOST} at most")
    data, end = b"", min(start + length, _END)
    while (at := start + len(data)) < end:
        try:
            data += debugger.get_memory(at, min(end, at - at % _PAGE + _PAGE) - at)
        except DebuggerError:
            if not data:
                raise
            break
    body: Message = {"address": hex(start), "data": base64.b64encode(data).decode()}
    return body | ({"unreadableBytes": length - len(data)} if len(data) < length else {})
