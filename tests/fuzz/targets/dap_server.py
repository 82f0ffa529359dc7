"""Requests of an editor to the debugger's process, about a program that stands still.

The program and its debugger are made up; what is tried is everything that reads arguments and keeps numbers.
"""

from __future__ import annotations

import contextlib
import io
from signal import Signals
from types import SimpleNamespace
from typing import Any

from fuzz.choices import Choices

from mopsus.interactive.dap.conditions import LogMessage, hits
from mopsus.interactive.dap.server import Server
from mopsus.interactive.dap.workbench import (
    Answer,
    Caught,
    Completion,
    Data,
    Frame,
    Inside,
    Placed,
    Scope,
    Source,
    Stopped,
    Thread,
    Variable,
    Workbench,
)
from mopsus.interactive.debugger import DebuggerError


class Many(Inside):
    """Something with members and elements."""

    named, indexed = 2, 1000

    def members(self) -> list[Variable]:
        return [Variable("x", "1", "int", Many()), Variable("y", "2")]

    def elements(self, start: int, count: int) -> list[Variable]:
        assert start >= 0, "elements before the first"
        assert 0 <= count <= 1000 - start, "more elements than there are"
        return [Variable(f"[{number}]", "0") for number in range(start, min(start + count, start + 5))]


class Bench(Workbench):
    """A program with two threads."""

    def __init__(self) -> None:
        self.session: Any = SimpleNamespace(
            watches=[], checkpoints=[], checkpoint=lambda: 1, restore=self._restore, debugger=self
        )

    def _restore(self, number: int) -> None:
        if number != 1:
            raise DebuggerError("there is no such checkpoint")

    def get_memory(self, at: int, length: int) -> bytes:
        assert 0 <= at < at + length <= 1 << 64, "no such memory"
        if at > 1 << 32:
            raise DebuggerError("no memory")
        return bytes(length)

    def threads(self) -> list[Thread]:
        return [Thread(1, "main"), Thread(2, "other")]

    def stack(self, thread: int, start: int, count: int | None) -> tuple[list[Frame], int | None]:
        assert start >= 0, "frames before the first"
        assert count is None or count > 0, "no frames"
        return [Frame(0, "f", Source("a.c", None, "text"), 3, address=16), Frame(1, "g", None, 0)], 2

    def scopes(self, frame: Frame) -> list[Scope]:
        return [Scope("Locals", Many(), "locals"), Scope("Registers", Many(), "registers", True)]

    def evaluate(self, text: str, frame: Frame | None) -> Variable:
        return Variable("", text, inside=Many())

    def assign(self, text: str, value: str, frame: Frame | None) -> Variable:
        return Variable(text, value)

    def command(self, text: str, frame: Frame | None) -> Answer:
        return Answer(Variable("", text), ran=False)

    def completions(self, text: str, frame: Frame | None) -> list[Completion]:
        return [Completion(text, 0, len(text))]

    def signal(self, number: Signals) -> None:
        """It has come."""

    def set_breakpoints(self, path: str, wanted: Any) -> list[Placed]:
        return self.set_function_breakpoints(wanted)

    def set_function_breakpoints(self, wanted: Any) -> list[Placed]:
        for each in wanted:
            if each.hits is not None:
                hits(each.hits)(3)
            if each.log is not None:
                LogMessage(each.log).say(lambda text: text)
        return [Placed(number, True, each.line) for number, each in enumerate(wanted, 1)]

    set_data_breakpoints = set_function_breakpoints

    def set_filters(self, filters: Any) -> list[Placed]:
        return [Placed(None, False, message=each.name) for each in filters]

    def data(self, name: str, inside: Inside | None, frame: Frame | None) -> Data:
        return Data(name, name)


STOP = Stopped("exception", 1, caught=Caught("E", "message"))
POINT = {"line": 3, "name": "f", "dataId": "d", "accessType": "read", "condition": "x", "hitCondition": "% 2"}
COMMANDS: dict[str, dict[str, Any]] = {
    "threads": {},
    "stackTrace": {"threadId": 1, "startFrame": 0, "levels": 20},
    "scopes": {"frameId": 1},
    "variables": {"variablesReference": 3, "filter": "indexed", "start": 2, "count": 3},
    "setVariable": {"variablesReference": 3, "name": "x", "value": "1"},
    "setExpression": {"expression": "x", "value": "1", "frameId": 1},
    "evaluate": {"expression": "x", "frameId": 1, "context": "repl"},
    "completions": {"text": "ab", "column": 2, "frameId": 1},
    "source": {"source": {"sourceReference": 2}, "sourceReference": 2},
    "setBreakpoints": {"source": {"path": "a.c"}, "breakpoints": [POINT, {"line": 4, "logMessage": "{x} {{"}]},
    "setFunctionBreakpoints": {"breakpoints": [POINT]},
    "setExceptionBreakpoints": {"filters": ["raised"], "filterOptions": [{"filterId": "raised", "condition": "E"}]},
    "setDataBreakpoints": {"breakpoints": [POINT]},
    "dataBreakpointInfo": {"name": "x", "variablesReference": 3, "frameId": 1},
    "exceptionInfo": {"threadId": 1},
    "readMemory": {"memoryReference": "0x10", "offset": 4, "count": 8},
    "pause": {"threadId": 1},
    "cancel": {"requestId": 3},
    "mopsus/checkpoint": {},
    "mopsus/restore": {"number": 1},
    "mopsus/monitors": {},
    "next": {"threadId": 1, "granularity": "instruction"},
    "configurationDone": {},
}
BEFORE = (("stackTrace", {"threadId": 1}), ("scopes", {"frameId": 1}), ("variables", {"variablesReference": 3}))


class Line:
    """A channel that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def tell(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    def hear(self) -> None:
        return None


def one(data: bytes) -> None:
    choices = Choices(data)
    line = Line()
    server = Server(line, Bench())
    server.stand(STOP)
    messages = [{"command": command, "arguments": given} for command, given in BEFORE]
    for _ in range(1 + choices.below(6)):
        command = choices.pick(list(COMMANDS))
        messages.append({"command": command, "arguments": choices.damaged(COMMANDS[command])})
    for number, message in enumerate(messages, 1):
        line.sent.clear()
        with contextlib.redirect_stderr(io.StringIO()) as trace:
            server.handle({"seq": number, "type": "request", **message})
        assert not trace.getvalue(), f"{message}\n{trace.getvalue()}"
        answers = [each for each in line.sent if each["type"] == "response"]
        assert [each["request_seq"] for each in answers] == [number], "each request is answered once"
