"""Answers an editor's requests, in the process of the debugger, by what its workbench finds in the program.

While the program stands still, `stand` serves one request after the other, until one lets the program go on. While it
runs, whoever hears of a request asks `answer_running` first; if that is not enough the program is held for a moment,
and `handle` does it.
"""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from mopsus.interactive.dap.arguments import Arguments, RequestError
from mopsus.interactive.dap.channel import EditorLine, Message
from mopsus.interactive.dap.memory import address_of, read_memory
from mopsus.interactive.dap.monitors import Monitors, checkpoints_of, monitors_of
from mopsus.interactive.dap.shapes import there, wanted_points
from mopsus.interactive.dap.terminal import HANG_UP, SIGNAL, SIGNALS
from mopsus.interactive.dap.workbench import (
    ACCESSES,
    RESTORED,
    Course,
    Filtered,
    Frame,
    Go,
    Inside,
    Instruction,
    Placed,
    Scope,
    Source,
    Stopped,
    Thread,
    Variable,
    Workbench,
)
from mopsus.interactive.telling import refusal
from mopsus.model import MopsusError

if TYPE_CHECKING:
    from mopsus.interactive.session import Session

T = TypeVar("T")

_GOING = {
    "continue": Go.CONTINUE,
    "next": Go.NEXT,
    "stepIn": Go.STEP_IN,
    "stepOut": Go.STEP_OUT,
}
_BEGUN = {*_GOING, "pause", "stackTrace", "scopes", "mopsus/checkpoint", "mopsus/restore", SIGNAL}
"""Requests that make no sense before the program has begun."""
_AT_ONCE = {"threads", "cancel", SIGNAL}
"""Requests that need nothing of a program that runs."""
_HOLDING = {
    "pause",
    "setBreakpoints",
    "setFunctionBreakpoints",
    "setExceptionBreakpoints",
    "setDataBreakpoints",
    "disconnect",
    "terminate",
    "source",
    "mopsus/monitors",
}
"""Those that are done while it is held for a moment. All others are for a program that stands still."""
_MOST_INSTRUCTIONS = 10_000
"""To show at once, and to count from where they are asked for."""


class Server:
    """The debugger's end of the channel. It knows what the editor was told since the program stood still."""

    def __init__(
        self,
        channel: EditorLine,
        bench: Workbench,
        receive: Callable[[], Message | None] | None = None,
        *,
        attached: bool = False,
    ) -> None:
        """`receive` is where requests come from, if not from the channel itself. A program that the debugger has
        `attached` to lives on when the editor is gone."""
        self.channel = channel
        self.pending: Message | None = None
        """The request that is being handled. If the process ends over it, another one has to `answer`."""
        self.pausing = False
        """The editor wants the program to stay where it is held."""
        self.configured = False
        """The editor has said what it wants before the program begins."""
        self.gone = Course(Go.LEAVE if attached else Go.END)
        """What becomes of the program when the editor is gone."""
        self._bench = bench
        self._receive = receive or channel.hear
        self._kept: dict[int, object] = {}
        self._numbers = count(1)
        self._threads: Sequence[Thread] = ()
        self._stop: Stopped | None = None
        self._cancelled: set[int] = set()
        self._moved = False
        self._requests: dict[str, Callable[[Arguments], Message | None]] = {
            "threads": self._show_threads,
            "stackTrace": self._stack_trace,
            "scopes": self._scopes,
            "variables": self._variables,
            "setVariable": self._set_variable,
            "setExpression": self._set_expression,
            "evaluate": self._evaluate,
            "completions": self._completions,
            "source": self._source,
            "setBreakpoints": self._set_breakpoints,
            "setFunctionBreakpoints": self._set_function_breakpoints,
            "setExceptionBreakpoints": self._set_exception_breakpoints,
            "setDataBreakpoints": self._set_data_breakpoints,
            "dataBreakpointInfo": self._data_breakpoint_info,
            "exceptionInfo": self._exception_info,
            "readMemory": lambda arguments: read_memory(arguments, self._session.debugger),
            "disassemble": self._disassemble,
            "pause": self._pause,
            "cancel": self._cancel,
            SIGNAL: self._signal,
            "mopsus/checkpoint": self._checkpoint,
            "mopsus/restore": self._restore,
            "mopsus/monitors": self._monitors,
        }

    # ---- for the debugger

    def prepare(self) -> Course:
        """The program is loaded and has not begun: hear what the editor wants before it does."""
        self.event("initialized")
        while not self.configured:
            message = self._receive()
            if message is None or _hangs_up(message):
                return self.gone
            if message["command"] in _BEGUN:
                self.refuse(message, "the program has not begun", "notStopped")
            elif (course := self.handle(message)) is not None:
                return course
        return Course(Go.CONTINUE)

    def stand(self, stop: Stopped) -> Course:
        """The program has stopped: tell the editor, and do what it asks for, until it lets the program go on."""
        self._tell_stopped(stop)
        while True:
            message = self._receive()
            if message is None:
                return self.gone
            if (course := self.handle(message)) is not None:
                self._forget()
                self.pausing = False  # it was standing still when that was asked for
                return course

    def _tell_stopped(self, stop: Stopped) -> None:
        if stop.reason == RESTORED:
            self.event("invalidated", {"areas": ["all"]})
        self._stop = stop
        self.see_threads()
        body = {
            "reason": stop.reason,
            "description": stop.description,
            "text": stop.text,
            "threadId": stop.thread,
            "hitBreakpointIds": list(stop.breakpoints) or None,
            "allThreadsStopped": True,
        }
        self.event("stopped", body)

    def see_threads(self) -> None:
        """What threads there are, for an editor that asks while they run."""
        self._threads = self._bench.threads()

    def answer_running(self, message: Message) -> bool:
        """A request that comes while the program runs. True: it is answered. False: hold the program, and `handle` it.
        Any thread may call this."""
        command = message["command"]
        if command in _HOLDING:
            return False
        if command in _AT_ONCE:
            self._handle(message)
        else:
            self.refuse(message, "the program runs", "notStopped")
        return True

    def handle(self, message: Message) -> Course | None:
        """Answer a request. If it lets the program go on: how."""
        self.pending = message
        try:
            return self._handle(message)
        finally:
            self.pending = None

    def answer(self, message: Message, body: Message | None = None) -> None:
        """Say that it is done."""
        self._respond(message, {"success": True} | ({"body": there(body)} if body is not None else {}))

    def _handle(self, message: Message) -> Course | None:
        command: str = message["command"]
        if message["seq"] in self._cancelled:
            self.refuse(message, "the request was cancelled", "cancelled")
            return None
        try:
            arguments = Arguments(message.get("arguments") or {})
            if command in _GOING:
                course = Course(_GOING[command], arguments.number("threadId"), _by_instruction(arguments))
                self.answer(message, {"allThreadsContinued": True} if course.go is Go.CONTINUE else None)
                return course
            if command in ("disconnect", "terminate"):
                ending = command == "terminate" or arguments.flag("terminateDebuggee", True)
                self.answer(message)
                return Course(Go.END if ending else Go.LEAVE)
            if command == "configurationDone":
                self.configured = True
                self.answer(message)
                return None
            if command not in self._requests:
                raise RequestError(f"there is no request `{command}` here")
            self._moved = False
            self.answer(message, self._requests[command](arguments))
            if self._moved:
                return Course(Go.NOWHERE)
        except _GoneError as error:
            self.refuse(message, f"{error.message} ({error.hint})", shown=False)
        except MopsusError as error:
            self.refuse(message, refusal(error, "{} ({})"))
        except Exception as error:  # whatever goes wrong here, the program and the editor are not to suffer from it
            traceback.print_exc(file=sys.stderr)
            self.refuse(message, f"{command} failed: {type(error).__name__}: {error}")
        return None

    def event(self, name: str, body: Message | None = None) -> None:
        """Tell the editor. Any thread may call this."""
        self.channel.tell({"type": "event", "event": name} | ({"body": there(body)} if body else {}))

    def output(self, text: str, category: str = "console") -> None:
        """Words for the developer. Any thread may call this."""
        self.event("output", {"category": category, "output": text})

    def refuse(self, message: Message, why: str, short: str | None = None, *, shown: bool = True) -> None:
        """Answer that it cannot be. `short` is a word of the protocol, if it has one for this. It is `shown` to the
        developer, unless it is a matter between the editor and us."""
        error = {"id": 1, "format": why.replace("{", "(").replace("}", ")"), "showUser": shown and short is None}
        self._respond(message, {"success": False, "message": short or why, "body": {"error": error}})

    # ---- looking

    def _show_threads(self, _: Arguments) -> Message:
        if self._bench.sees_running:
            self._threads = self._bench.threads()
        return {"threads": [{"id": each.number, "name": each.name} for each in self._threads]}

    def _stack_trace(self, arguments: Arguments) -> Message:
        start, most = arguments.maybe_count("startFrame") or 0, arguments.maybe_count("levels") or None
        frames, total = self._bench.stack(arguments.number("threadId"), start, most)
        body: Message = {"stackFrames": [self._shown_frame(each) for each in frames]}
        return body | ({"totalFrames": total} if total is not None else {})

    def _shown_frame(self, frame: Frame) -> Message:
        return there(
            {
                "id": self._keep(frame),
                "name": frame.function,
                "source": frame.source and self._shown_source(frame.source),
                "line": frame.line,
                "column": frame.column,
                "instructionPointerReference": None if frame.address is None else hex(frame.address),
                "presentationHint": "subtle" if frame.subtle else None,
            }
        )

    def _shown_source(self, source: Source) -> Message:
        number = self._keep(source) if source.path is None else None
        return there({"name": source.name, "path": source.path, "sourceReference": number})

    def _scopes(self, arguments: Arguments) -> Message:
        frame = self._kept_at(arguments.number("frameId"), Frame, "frame")
        monitors = Scope("Monitors", Monitors(self._session), expensive=False)
        scopes = [*self._bench.scopes(frame), monitors]
        scopes.sort(key=lambda scope: scope.expensive)  # editors that show all at once show what is long at the end
        return {"scopes": [self._shown_scope(each) for each in scopes]}

    def _shown_scope(self, scope: Scope) -> Message:
        return there(
            {
                "name": scope.name,
                "presentationHint": scope.kind,
                "variablesReference": self._keep(scope.inside),
                "namedVariables": scope.inside.named or None,
                "indexedVariables": scope.inside.indexed or None,
                "expensive": scope.expensive,
            }
        )

    def _variables(self, arguments: Arguments) -> Message:
        inside = self._inside_of(arguments)
        kind = arguments.maybe_text("filter")
        start, most = arguments.maybe_count("start") or 0, arguments.maybe_count("count") or None
        found: list[Variable] = []
        if kind != "indexed":
            found += inside.members()
        if kind != "named" and inside.indexed > start:
            rest = inside.indexed - start
            found += inside.elements(start, rest if most is None else min(most, rest))
        if kind == "named":
            found = found[start:] if most is None else found[start : start + most]
        return {"variables": [self._shown_variable(each) for each in found]}

    def _shown_variable(self, variable: Variable) -> Message:
        return {"name": variable.name, "evaluateName": variable.expression} | self._shown_value(variable)

    def _shown_value(self, variable: Variable) -> Message:
        inside = variable.inside
        hint = there({"kind": variable.kind, "attributes": ["readOnly"] if variable.constant else None})
        return {
            "value": variable.value,
            "type": variable.type,
            "variablesReference": 0 if inside is None else self._keep(inside),
            "namedVariables": (inside.named or None) if inside is not None else None,
            "indexedVariables": (inside.indexed or None) if inside is not None else None,
            "memoryReference": None if variable.address is None else hex(variable.address),
            "presentationHint": hint or None,
        }

    def _set_variable(self, arguments: Arguments) -> Message:
        inside = self._inside_of(arguments)
        return self._shown_value(inside.set(arguments.text("name"), arguments.text("value")))

    def _set_expression(self, arguments: Arguments) -> Message:
        frame = self._frame_of(arguments)
        return self._shown_value(self._bench.assign(arguments.text("expression"), arguments.text("value"), frame))

    def _evaluate(self, arguments: Arguments) -> Message:
        text, frame = arguments.text("expression"), self._frame_of(arguments)
        if arguments.maybe_text("context") != "repl":
            return self._result(self._bench.evaluate(text, frame))
        answer = self._bench.command(text, frame)
        self._moved = answer.ran
        return self._result(answer.value)

    def _result(self, variable: Variable) -> Message:
        shown = self._shown_value(variable)
        return {"result": shown.pop("value")} | shown

    def _completions(self, arguments: Arguments) -> Message:
        text = arguments.text("text")[: max(0, arguments.number("column") - 1)]
        found = self._bench.completions(text, self._frame_of(arguments))
        return {
            "targets": [{"label": each.text, "start": each.start, "length": each.length} for each in found],
        }

    def _source(self, arguments: Arguments) -> Message:
        number = arguments.within("source").maybe_number("sourceReference") or arguments.number("sourceReference")
        return {"content": self._bench.source(self._kept_at(number, Source, "source"))}

    def _exception_info(self, _: Arguments) -> Message:
        caught = self._stop.caught if self._stop is not None else None
        if caught is None:
            raise RequestError("no exception and no verdict stopped the program")
        return {
            "exceptionId": caught.name,
            "description": caught.message,
            "breakMode": "unhandled" if caught.uncaught else "always",
            "details": {"message": caught.message, "typeName": caught.name, "stackTrace": caught.details},
        }

    def _disassemble(self, arguments: Arguments) -> Message:
        address, count = address_of(arguments), arguments.count("instructionCount")
        if count > _MOST_INSTRUCTIONS:
            raise RequestError(f"there are too many instructions in {count}", hint=f"ask for {_MOST_INSTRUCTIONS}")
        start = arguments.maybe_number("instructionOffset") or 0
        if abs(start) > _MOST_INSTRUCTIONS:
            raise RequestError(f"the {start}th instruction is too far away", hint=f"ask for {_MOST_INSTRUCTIONS}")
        return {"instructions": list(map(self._shown_instruction, self._bench.instructions(address, start, count)))}

    def _shown_instruction(self, instruction: Instruction) -> Message:
        return there(
            {
                "address": hex(instruction.address),
                "instruction": instruction.text or "??",
                "instructionBytes": instruction.data.hex(" ") or None,
                "symbol": instruction.function,
                "location": instruction.source and self._shown_source(instruction.source),
                "line": instruction.line,
                "presentationHint": None if instruction.text else "invalid",
            }
        )

    # ---- points

    def _set_breakpoints(self, arguments: Arguments) -> Message:
        path = arguments.within("source").text("path")
        return self._placed(self._bench.set_breakpoints(path, wanted_points(arguments)))

    def _set_function_breakpoints(self, arguments: Arguments) -> Message:
        return self._placed(self._bench.set_function_breakpoints(wanted_points(arguments)))

    def _set_exception_breakpoints(self, arguments: Arguments) -> Message:
        plain = [Filtered(name) for name in arguments.texts("filters")]
        further = [
            Filtered(each.text("filterId"), each.maybe_text("condition")) for each in arguments.each("filterOptions")
        ]
        return self._placed(self._bench.set_filters([*plain, *further]))

    def _set_data_breakpoints(self, arguments: Arguments) -> Message:
        return self._placed(self._bench.set_data_breakpoints(wanted_points(arguments, data=True)))

    def _data_breakpoint_info(self, arguments: Arguments) -> Message:
        inside = self._inside_of(arguments) if arguments.maybe_number("variablesReference") else None
        data = self._bench.data(arguments.text("name"), inside, self._frame_of(arguments))
        body: Message = {"dataId": data.key, "description": data.description}
        return body if data.key is None else body | {"accessTypes": list(ACCESSES), "canPersist": data.lasting}

    def _placed(self, placed: Sequence[Placed]) -> Message:
        return {"breakpoints": [self.shown_breakpoint(each) for each in placed]}

    def shown_breakpoint(self, placed: Placed) -> Message:
        """As the protocol has it, also for its `breakpoint` event."""
        return there(
            {
                "id": placed.number,
                "verified": placed.verified,
                "line": placed.line,
                "message": placed.message,
                "source": placed.source and self._shown_source(placed.source),
            }
        )

    # ---- its course

    def _pause(self, _: Arguments) -> None:
        self.pausing = True

    def _cancel(self, arguments: Arguments) -> None:
        number = arguments.maybe_number("requestId")
        if number is not None:
            self._cancelled.add(number)

    def _signal(self, arguments: Arguments) -> None:
        name = arguments.text("name")
        if name not in SIGNALS:
            raise RequestError(f"no terminal makes the signal {name}")
        self._bench.signal(signal.Signals[name])

    def _checkpoint(self, _: Arguments) -> Message:
        number = self._session.checkpoint()
        return {"number": number, "checkpoints": checkpoints_of(self._session)}

    def _restore(self, arguments: Arguments) -> None:
        self._session.restore(arguments.number("number"))
        self._moved = True

    def _monitors(self, _: Arguments) -> Message:
        return {"monitors": monitors_of(self._session), "checkpoints": checkpoints_of(self._session)}

    # ---- how it works

    @property
    def _session(self) -> Session:
        return self._bench.session

    def _respond(self, message: Message, result: Message) -> None:
        request = {"request_seq": message["seq"], "command": message["command"]}
        self.channel.tell({"type": "response"} | request | result)

    def _frame_of(self, arguments: Arguments) -> Frame | None:
        number = arguments.maybe_number("frameId")
        return None if number is None else self._kept_at(number, Frame, "frame")

    def _inside_of(self, arguments: Arguments) -> Inside:
        found = self._kept.get(number := arguments.number("variablesReference"))
        if not isinstance(found, Inside):
            raise _gone("variable", number)
        return found

    def _keep(self, thing: object) -> int:
        number = next(self._numbers)
        self._kept[number] = thing
        return number

    def _kept_at(self, number: int, kind: type[T], what: str) -> T:
        found = self._kept.get(number)
        if not isinstance(found, kind):
            raise _gone(what, number)
        return found

    def _forget(self) -> None:
        self._kept.clear()
        self._stop = None


class _GoneError(RequestError):
    """Something that the editor was told of is asked for too late."""


def _gone(what: str, number: int) -> _GoneError:
    return _GoneError(f"there is no {what} {number}", hint="the program has gone on since")


def _hangs_up(message: Message) -> bool:
    """Is it said that the program has lost its terminal?"""
    return bool(message["command"] == SIGNAL and message.get("arguments") == {"name": HANG_UP})


def _by_instruction(arguments: Arguments) -> bool:
    return arguments.maybe_text("granularity") == "instruction"
