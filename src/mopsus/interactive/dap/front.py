"""Speaks with the editor: starts a debugger as it is asked to, hands on what the two have to say to each other, and
sees to it that neither is left alone when the other is gone.

What needs the program is answered by `server`, in the debugger's process. What is done here is what comes before a
debugger, after it, or instead of it.
"""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable
from itertools import count
from typing import Any

from mopsus.interactive.dap.arguments import Arguments, RequestError
from mopsus.interactive.dap.channel import Message
from mopsus.interactive.dap.console import Console, Output
from mopsus.interactive.dap.debuggee import Debuggee, told
from mopsus.interactive.dap.launching import Launch, read_launch
from mopsus.interactive.dap.terminal import HANG_UP, SIGNAL, Terminal, TerminalError
from mopsus.interactive.dap.wire import Wire
from mopsus.interactive.dap.workbench import FILTERS, Filter
from mopsus.interactive.outcome import Outcome
from mopsus.interactive.scenario.syntax import load_scenario
from mopsus.logics import compile_spec
from mopsus.model import MopsusError
from mopsus.report.summary import count as counted
from mopsus.spec import load_file, render

_REMEMBERED = {"setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints", "setDataBreakpoints"}
"""What a program that is started again is to have, too."""


class Front:
    """One editor, and at most one debugger at a time."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._debuggee: Debuggee | None = None
        self._launch: Launch | None = None
        self._ready: Callable[[str | None], None] | None = None
        """What to do when the debugger can be asked, or cannot, for which there is a reason then."""
        self._readying = threading.Lock()
        self._history: list[Message] = []
        self._configured = False
        self._knows_invalidated = self._opens_terminals = False
        """Does the editor know of that event? Can it run something in a terminal?"""
        self._own = count(-1, -1)
        self._awaited: dict[int, Callable[[Message], None]] = {}
        """What to do with the answers to requests that the editor was sent, by their numbers."""
        self._requests: dict[str, Callable[[Message, Arguments], None]] = {
            "initialize": self._initialize,
            "launch": lambda message, arguments: self._begin(message, read_launch(arguments, attach=False)),
            "attach": lambda message, arguments: self._begin(message, read_launch(arguments, attach=True)),
            "restart": self._restart,
        }

    def run(self) -> None:
        """Until the editor has had enough."""
        try:
            while (message := self._wire.read()) is not None:
                if message.get("type") != "request":
                    self._hear_answer(message)
                    continue
                if not isinstance(message.get("seq"), int) or not isinstance(message.get("command"), str):
                    raise RequestError("a request has no number or no command")
                if not self._take(message):
                    return
        except RequestError as error:
            self._wire.note(f"the editor cannot be understood: {error.message}")
            self._output("stderr", f"mopsus: {error.message}\n")
        finally:
            self._let_go()

    def _take(self, message: Message) -> bool:
        """Answer a request, or have it answered. False: it was the last one."""
        command = message["command"]
        try:
            arguments = Arguments(message.get("arguments") or {})
            if command in self._requests:
                self._requests[command](message, arguments)
            elif command == "disconnect":
                attached = self._launch is not None and self._launch.attaches
                self._end(arguments.flag("terminateDebuggee", not attached))
                self._answer(message)
                return False
            else:
                self._hand_on(message)
        except MopsusError as error:
            self._refuse(message, "\n".join([render(each) for each in error.diagnostics]) or told(error))
        except Exception as error:  # one request that nobody has thought of is not the end of a session
            self._wire.note(traceback.format_exc())
            self._refuse(message, f"{command} failed: {type(error).__name__}: {error}")
        return True

    # ---- before the program runs

    def _initialize(self, message: Message, arguments: Arguments) -> None:
        if not arguments.flag("linesStartAt1", True) or not arguments.flag("columnsStartAt1", True):
            raise RequestError("lines and columns are counted from 1 here")
        if arguments.maybe_text("pathFormat") not in (None, "path"):
            raise RequestError("files are named by their paths here")
        self._knows_invalidated = arguments.flag("supportsInvalidatedEvent")
        self._opens_terminals = arguments.flag("supportsRunInTerminalRequest")
        self._answer(message, CAPABILITIES)

    def _begin(self, message: Message, launch: Launch) -> None:
        if self._debuggee is not None:
            raise RequestError("a program is being debugged already", hint="restart it, or end it first")
        self._check(launch)
        self._launch = launch

        def ready(why_not: str | None) -> None:
            if why_not is not None:
                self._refuse(message, why_not)
                self._event("terminated")
                return
            self._answer(message)
            self._event("process", _process(launch))
            self._event("initialized")

        self._start(launch, ready)

    def _restart(self, message: Message, arguments: Arguments) -> None:
        launch = self._launch
        if launch is None:
            raise RequestError("there is no program yet")
        if launch.attaches:
            raise RequestError("a process that was attached to cannot be started again")
        if arguments.table("arguments"):
            launch = read_launch(arguments.within("arguments"), attach=False)
            self._check(launch)
        self._end(True)
        self._launch = launch

        def ready(why_not: str | None) -> None:
            if why_not is not None:
                self._refuse(message, why_not)
                self._event("terminated")
                return
            self._answer(message)
            for each in self._history:
                self._order(each["command"], each.get("arguments"))
            if self._configured:
                self._order("configurationDone")

        self._start(launch, ready)

    def _start(self, launch: Launch, ready: Callable[[str | None], None]) -> None:
        console = self._console(launch, lambda name: self._signal(made, name))
        made = Debuggee(launch, console, self._heard, self._unheard, lambda outcome: self._over(made, outcome))
        self._debuggee, self._ready = made, ready
        made.start()

    def _console(self, launch: Launch, on_signal: Callable[[str], None]) -> Console:
        """Where the program reads and writes; if that is a terminal, the editor is asked for it."""
        if launch.terminal is None:
            return Output(launch.input, self._output)
        terminal = Terminal(on_signal)
        arguments = terminal.request(launch.terminal, f"mopsus: {os.path.basename(launch.name)}", launch.folder)
        number = self._wire.write({"type": "request", "command": "runInTerminal", "arguments": arguments})
        self._awaited[number] = terminal.answered
        return terminal

    def _check(self, launch: Launch) -> None:
        """What is wrong with properties and scenarios is better said here, with its place, than from within a
        debugger."""
        if launch.terminal is not None and not self._opens_terminals:
            raise TerminalError("this editor opens no terminals for programs")
        for each in launch.setup.properties:
            read = load_file(each.file)
            for spec in read.specs.values():
                compile_spec(spec, read.source)
            if each.scenario is not None:
                load_scenario(each.scenario)

    # ---- while it runs

    def _hand_on(self, message: Message) -> None:
        command, debuggee = message["command"], self._debuggee
        if command in _REMEMBERED:
            self._history.append(message)
        if command == "configurationDone":
            self._configured = True
        if debuggee is None or not debuggee.ask(message):
            self._unheard(message)
        elif command == "terminate":
            debuggee.give_up()

    def _heard(self, message: Message) -> None:
        """From the debugger."""
        if message.get("request_seq", 0) < 0:
            self._tell_lost(message)
            return  # nobody but us has asked
        if message.get("event") == "invalidated" and not self._knows_invalidated:
            return
        if message.get("event") == "initialized" and (ready := self._take_ready()) is not None:
            ready(None)
        else:
            self._wire.write(message)

    def _tell_lost(self, answer: Message) -> None:
        """What a program that was started again could not have, though the editor believes that it has it."""
        placed = answer.get("body", {}).get("breakpoints", ()) if answer["command"] in _REMEMBERED else ()
        for each in placed:
            if "id" in each and not each["verified"]:
                self._event("breakpoint", {"reason": "changed", "breakpoint": each})

    def _unheard(self, message: Message) -> None:
        """A request for a program that is not there, or that has ended over it."""
        command = message["command"]
        if message["seq"] < 0:
            return  # it was ours
        if command == "terminate":
            self._answer(message)
        elif command == "threads":  # which editors ask for when they please
            self._answer(message, {"threads": []})
        elif self._launch is None:
            self._refuse(message, f"there is no program that `{command}` could be done in (launch or attach first)")
        else:
            self._refuse(message, f"there is no program any more that `{command}` could be done in", shown=False)

    def _hear_answer(self, message: Message) -> None:
        """To what the editor was asked for, if it was."""
        number = message.get("request_seq")
        if message.get("type") == "response" and isinstance(number, int) and number in self._awaited:
            self._awaited.pop(number)(message)

    def _signal(self, debuggee: Debuggee, name: str) -> None:
        """The terminal of a program has a signal for it; the last one says that the terminal is gone."""
        if debuggee is not self._debuggee:
            return
        if name == HANG_UP and self._ready is not None:
            debuggee.fail("the terminal was closed before the program began")
            return
        if name == HANG_UP:
            self._output("console", "the terminal of the program was closed\n")
        self._order_to(debuggee, SIGNAL, {"name": name})

    # ---- its end

    def _over(self, debuggee: Debuggee, outcome: Outcome) -> None:
        """The debugger has ended, and so has the program, or it was let go."""
        if debuggee is not self._debuggee:
            return  # another one is there by now, or the editor has had enough
        if (ready := self._take_ready()) is not None:
            self._debuggee = None
            ready(outcome.error or "the program ended before it began")
            return
        self._output("console", f"{_summary(outcome)}\n")
        if outcome.status is not None:
            self._event("exited", {"exitCode": outcome.status})
        self._event("terminated")

    def _end(self, terminate: bool) -> None:
        """End the debugger, and with it the program, unless that is to live on."""
        debuggee, self._debuggee = self._debuggee, None
        if (ready := self._take_ready()) is not None:
            ready("the session was ended before the program began")
        if debuggee is not None:
            order = {"terminateDebuggee": terminate}
            if terminate:
                self._order_to(debuggee, "disconnect", order)
                debuggee.end()
            else:
                debuggee.keep_console()
                self._order_to(debuggee, "disconnect", order)
                debuggee.leave()

    def _let_go(self) -> None:
        """The editor is gone: the debugger hears of it, and does what is right."""
        debuggee, self._debuggee = self._debuggee, None
        if debuggee is not None:
            debuggee.channel.shut()
            debuggee.end()

    # ---- how it is said

    def _take_ready(self) -> Callable[[str | None], None] | None:
        with self._readying:
            ready, self._ready = self._ready, None
        return ready

    def _order(self, command: str, arguments: Any = None) -> None:  # noqa: ANN401 - as an editor has sent them
        if self._debuggee is not None:
            self._order_to(self._debuggee, command, arguments)

    def _order_to(self, debuggee: Debuggee, command: str, arguments: Any = None) -> None:  # noqa: ANN401
        """A request of our own, whose answer the editor does not see."""
        message = {"type": "request", "seq": next(self._own), "command": command, "arguments": arguments or {}}
        debuggee.ask(message)

    def _output(self, category: str, text: str) -> None:
        self._event("output", {"category": category, "output": text})

    def _event(self, name: str, body: Message | None = None) -> None:
        self._wire.write({"type": "event", "event": name} | ({"body": body} if body else {}))

    def _answer(self, message: Message, body: Message | None = None) -> None:
        self._respond(message, {"success": True} | ({"body": body} if body is not None else {}))

    def _refuse(self, message: Message, why: str, *, shown: bool = True) -> None:
        error = {"id": 2, "format": why.replace("{", "(").replace("}", ")"), "showUser": shown}
        self._respond(message, {"success": False, "message": why, "body": {"error": error}})

    def _respond(self, message: Message, result: Message) -> None:
        request = {"request_seq": message["seq"], "command": message["command"]}
        self._wire.write({"type": "response"} | request | result)


def _process(launch: Launch) -> Message:
    setup = launch.setup
    if setup.process is not None:
        return {"name": str(setup.process), "systemProcessId": setup.process, "startMethod": "attach"}
    return {"name": launch.name, "isLocalProcess": True, "startMethod": "launch"}


def _summary(outcome: Outcome) -> str:
    """What is left to say when all is over."""
    violations = sum(verdict.violation for verdict in outcome.verdicts)
    events = sum(stats["events"] for stats in outcome.stats.values())
    lines = [outcome.error] if outcome.error is not None else []
    if outcome.stats:
        lines.append(f"{counted(violations, 'violation')} in {counted(events, 'event')}")
    if outcome.status is not None:
        how = f"with status {outcome.status}" if outcome.status >= 0 else f"by signal {-outcome.status}"
        lines.append(f"the program ended {how}")
    return "\n".join(lines) or "the session is over"


def _filter(given: Filter) -> Message:
    shown: Message = {"filter": given.name, "label": given.label, "default": given.default}
    if given.conditions is not None:
        shown |= {"supportsCondition": True, "conditionDescription": given.conditions}
    return shown


CAPABILITIES: Message = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsDataBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsSetVariable": True,
    "supportsSetExpression": True,
    "supportsCompletionsRequest": True,
    "supportsExceptionInfoRequest": True,
    "supportsReadMemoryRequest": True,
    "supportsDisassembleRequest": True,
    "supportsExceptionFilterOptions": True,
    "supportsExceptionOptions": False,
    "supportsDelayedStackTraceLoading": True,
    "supportsValueFormattingOptions": False,
    "supportsSteppingGranularity": True,
    "supportsTerminateRequest": True,
    "supportTerminateDebuggee": True,
    "supportsRestartRequest": True,
    "supportsCancelRequest": True,
    "exceptionBreakpointFilters": [_filter(each) for filters in FILTERS.values() for each in filters],
}
"""What an editor may ask for."""
