"""What an editor writes: bytes as they come, or messages that are framed well and ask for odd things.

No debugger is started: a launch that is read well stops short of it.
"""

from __future__ import annotations

import io
import json
from typing import Any

from fuzz.choices import Choices
from fuzz.files import file_of, folder

from mopsus.interactive.dap import front
from mopsus.interactive.dap.front import Front
from mopsus.interactive.dap.wire import Wire
from mopsus.interactive.outcome import Outcome


class NoDebuggee:
    """In the place of a debugger: it begins, answers everything, and ends when it is told to."""

    def __init__(self, launch: Any, console: Any, on_message: Any, on_unanswered: Any, on_end: Any) -> None:
        self._on_message, self._on_end = on_message, on_end
        self.channel = self
        console.finish()

    def start(self) -> None:
        self._on_message({"type": "event", "event": "initialized"})

    def ask(self, request: dict[str, Any]) -> bool:
        answer = {"request_seq": request["seq"], "command": request["command"], "success": True, "body": {}}
        self._on_message({"type": "response", **answer})
        return True

    def shut(self) -> None:
        """The editor is gone."""

    give_up = keep_console = leave = shut

    def fail(self, why: str) -> None:
        self._on_end(Outcome(error=why))

    def end(self) -> None:
        self._on_end(Outcome(status=0))


front.Debuggee = NoDebuggee
PROGRAM = file_of("program.py", b"pass\n")
file_of("fine.prop", b"state init { transition { event main() success init } }\n")
REQUESTS: list[dict[str, Any]] = [
    {"command": "initialize", "arguments": {"adapterID": "m", "linesStartAt1": True, "pathFormat": "path"}},
    {
        "command": "launch",
        "arguments": {
            **{
                "program": str(PROGRAM),
                "args": ["a"],
                "cwd": str(folder()),
                "env": {"A": "1", "B": None},
                "history": 4,
            },
            **{"properties": ["fine.prop", {"file": "fine.prop", "quiet": True}], "followFork": "child"},
            **{"console": "internalConsole", "stopOnEntry": True, "allowCode": False},
        },
    },
    {"command": "attach", "arguments": {"pid": "12", "properties": []}},
    {"command": "restart", "arguments": {"arguments": {"program": str(PROGRAM), "cwd": str(folder())}}},
    {"command": "setBreakpoints", "arguments": {"source": {"path": "a.c"}, "breakpoints": [{"line": 3}]}},
    {"command": "setExceptionBreakpoints", "arguments": {"filters": ["raised"]}},
    {"command": "configurationDone"},
    {"command": "threads"},
    {"command": "terminate"},
    {"command": "disconnect", "arguments": {"terminateDebuggee": True}},
]


def one(data: bytes) -> None:
    choices = Choices(data)
    if choices.flag():
        stream = choices.rest()
    else:
        stream = b"".join(framed(choices, number) for number in range(1, 2 + choices.below(6)))
    told = io.BytesIO()
    Front(Wire(io.BytesIO(stream), told)).run()
    told.seek(0)
    answers = Wire(told, io.BytesIO())
    while (answer := answers.read()) is not None:
        # What was foreseen is refused with words of its own.
        assert " failed: " not in str(answer.get("message", "")), answer


def framed(choices: Choices, number: int) -> bytes:
    message = choices.damaged({"seq": number, "type": "request", **choices.pick(REQUESTS)})
    data = json.dumps(message).encode()
    if choices.below(8) == 0:
        data = data.replace(b'"', choices.pick((b"[", b"{", b"\xff", b"")), 1)
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)
