"""A scripted editor: it starts `mopsus dap`, speaks the Debug Adapter Protocol with it, and looks at the shape of
everything that comes back."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Self

Message = dict[str, Any]

PATIENCE_S = 120.0
"""Longer than anything takes on a machine that is busy with other things."""

_BODIES: dict[str, dict[str, type | tuple[type, ...]]] = {
    "initialized": {},
    "stopped": {"reason": str, "allThreadsStopped": bool},
    "continued": {"threadId": int},
    "exited": {"exitCode": int},
    "terminated": {},
    "output": {"category": str, "output": str},
    "breakpoint": {"reason": str, "breakpoint": dict},
    "process": {"name": str},
    "invalidated": {"areas": list},
    "threads": {"threads": list},
    "stackTrace": {"stackFrames": list},
    "scopes": {"scopes": list},
    "variables": {"variables": list},
    "evaluate": {"result": str, "variablesReference": int},
    "setVariable": {"value": str},
    "setExpression": {"value": str},
    "setBreakpoints": {"breakpoints": list},
    "setFunctionBreakpoints": {"breakpoints": list},
    "completions": {"targets": list},
    "source": {"content": str},
    "exceptionInfo": {"exceptionId": str, "breakMode": str},
    "setDataBreakpoints": {"breakpoints": list},
    "dataBreakpointInfo": {"dataId": (str, type(None)), "description": str},
    "readMemory": {"address": str, "data": str},
    "disassemble": {"instructions": list},
    "runInTerminal": {"kind": str, "title": str, "cwd": str, "args": list},
}
"""What the body of an event or an answer, or what a request to the editor must have."""
_PARTS: dict[str, dict[str, type]] = {
    "threads": {"id": int, "name": str},
    "stackFrames": {"id": int, "name": str, "line": int, "column": int},
    "scopes": {"name": str, "variablesReference": int, "expensive": bool},
    "variables": {"name": str, "value": str, "variablesReference": int},
    "breakpoints": {"verified": bool},
    "targets": {"label": str},
    "instructions": {"address": str, "instruction": str},
}
"""What each object in a list of a body must have."""


class Refused(Exception):
    """A request was answered by an error."""

    def __init__(self, message: Message) -> None:
        super().__init__(message["message"])
        self.message = message


class Client:
    """One session. `request` waits for its answer, `until` for an event."""

    def __init__(self, *options: str, cwd: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mopsus", "dap", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
        )
        self.abilities: Message = {"supportsInvalidatedEvent": True}
        """What it tells of itself."""
        self.run_in_terminal: Callable[[Message], Message] | None = None
        """What it does to run something in a terminal; None: it refuses to."""
        self.events: list[Message] = []
        """All that came so far."""
        self._taken = 0
        self._numbers = count(1)
        self._answers: dict[int, Message] = {}
        self._asked: dict[int, str] = {}
        self._writing = threading.Lock()
        self._news = threading.Condition()
        self._over = False
        self._wrong: list[str] = []
        self.errors = b""
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close()
        assert kind is not None or not self._wrong, self._wrong

    # ---- asking

    def send(self, command: str, **arguments: Any) -> int:
        """Ask, and do not wait."""
        return self.send_raw(command, arguments)

    def send_raw(self, command: str, arguments: object) -> int:
        """Ask with whatever arguments."""
        number = next(self._numbers)
        self._asked[number] = command
        message = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        self.write(json.dumps(message).encode())
        return number

    def write(self, data: bytes) -> None:
        """Any bytes as a message."""
        assert self.process.stdin is not None
        with self._writing:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
            self.process.stdin.flush()

    def answer(self, number: int) -> Message:
        """The answer to what was asked, as it is."""
        return self._wait(lambda: self._answers.get(number), f"the answer to {self._asked.get(number)}")

    def request(self, command: str, **arguments: Any) -> Message:
        """Ask, and have the body of the answer; `Refused` if it is an error."""
        message = self.answer(self.send(command, **arguments))
        if not message["success"]:
            raise Refused(message)
        body: Message = message.get("body", {})
        return body

    def until(self, event: str, fits: Callable[[Message], bool] = lambda body: True) -> Message:
        """The body of the next event of this kind, after the one that was waited for last."""

        def find() -> Message | None:
            for at in range(self._taken, len(self.events)):
                found = self.events[at]
                if found["event"] == event and fits(found.get("body", {})):
                    self._taken = at + 1
                    return found
            return None

        body: Message = self._wait(find, f"the event {event}").get("body", {})
        return body

    def output(self, category: str) -> str:
        """All of it so far."""
        with self._news:
            bodies = [each["body"] for each in self.events if each["event"] == "output"]
        return "".join(body["output"] for body in bodies if body["category"] == category)

    # ---- what editors do often

    def launch(self, breakpoints: dict[Path, list[Message]] | None = None, **arguments: Any) -> None:
        """From the first word to the moment when the program runs."""
        self.begin("launch", breakpoints, **arguments)

    def begin(
        self, command: str, breakpoints: dict[Path, list[Message]] | None = None, **arguments: Any
    ) -> list[Message]:
        """Launch or attach; what became of the breakpoints."""
        self.request("initialize", adapterID="mopsus", clientID="test", linesStartAt1=True, **self.abilities)
        number = self.send(command, **arguments)
        self.until("initialized")
        placed = []
        for path, wanted in (breakpoints or {}).items():
            placed += self.request("setBreakpoints", source={"path": str(path)}, breakpoints=wanted)["breakpoints"]
        self.request("configurationDone")
        assert self.answer(number)["success"]
        return placed

    def stopped(self, reason: str | None = None) -> Message:
        """Where the program stops next: the event, with the innermost frame as `frame`."""
        body = self.until("stopped")
        assert reason is None or body["reason"] == reason, body
        return body | {"frame": self.frames(body["threadId"], levels=1)[0]}

    def frames(self, thread: int, **more: Any) -> list[Message]:
        found: list[Message] = self.request("stackTrace", threadId=thread, **more)["stackFrames"]
        return found

    def scope(self, frame: Message, name: str) -> int:
        scopes = self.request("scopes", frameId=frame["id"])["scopes"]
        number: int = next(each["variablesReference"] for each in scopes if each["name"] == name)
        return number

    def variables(self, number: int, **more: Any) -> dict[str, Message]:
        found = self.request("variables", variablesReference=number, **more)["variables"]
        return {each["name"]: each for each in found}

    def finish(self) -> int:
        """To the end of the program; its status."""
        status: int = self.until("exited")["exitCode"]
        self.until("terminated")
        return status

    def close(self) -> None:
        """Let go, as an editor that is done."""
        if not self._over and self.process.poll() is None:
            try:
                self.answer(self.send("disconnect"))
            except (AssertionError, OSError):
                self.process.kill()
        self.vanish()

    def vanish(self) -> None:
        """Be gone without a word."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except OSError:
            self.process.stdin = None
        self.process.wait(PATIENCE_S)
        for thread in self._threads:
            thread.join(PATIENCE_S)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    # ---- hearing

    def _wait(self, find: Callable[[], Message | None], what: str) -> Message:
        with self._news:
            found = self._news.wait_for(lambda: find() or self._over, PATIENCE_S)
            assert isinstance(found, dict), f"{what} did not come; {self.errors.decode()} {self.events[-5:]}"
            return found

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        last = 0
        while header := stream.readline():
            assert header.lower().startswith(b"content-length:"), header
            assert stream.readline() == b"\r\n"
            message = json.loads(stream.read(int(header.split(b":")[1])))
            with self._news:
                self._look_at(message, last)
                last = message.get("seq", 0)
                if message["type"] == "event":
                    self.events.append(message)
                elif message["type"] == "response":
                    self._answers[message["request_seq"]] = message
                self._news.notify_all()
            if message["type"] == "request":
                self._serve(message)
        with self._news:
            self._over = True
            self._news.notify_all()

    def _serve(self, message: Message) -> None:
        """What the adapter asks of an editor."""
        answer = {"seq": next(self._numbers), "type": "response", "request_seq": message["seq"], "success": False}
        answer |= {"command": message["command"], "message": "no room for it"}
        if self.run_in_terminal is not None:
            answer |= {"success": True, "body": self.run_in_terminal(message["arguments"])}
        with suppress(OSError, ValueError):  # of an editor that vanishes meanwhile
            self.write(json.dumps(answer).encode())

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()

    def _look_at(self, message: Message, last: int) -> None:
        """What is wrong with the shape of a message."""
        if message.get("seq") != last + 1:
            self._wrong.append(f"number {message.get('seq')} after {last}")
        if _has_null(message):
            self._wrong.append(f"null in {message}")
        if message["type"] == "event":
            self._look_inside(message["event"], message.get("body", {}), message["event"] in _BODIES)
        elif message["type"] == "response":
            asked = self._asked.get(message["request_seq"])
            if message["command"] != asked or message["request_seq"] in self._answers:
                self._wrong.append(f"{message} answers {asked}")
            if message["success"]:
                self._look_inside(message["command"], message.get("body", {}), True)
            elif not message["message"] or "format" not in message["body"]["error"] or "Traceback" in str(message):
                self._wrong.append(f"no good error: {message}")
        elif message["type"] == "request" and message["command"] == "runInTerminal":
            self._look_inside("runInTerminal", message["arguments"], self.abilities["supportsRunInTerminalRequest"])
        else:
            self._wrong.append(f"no such message: {message}")

    def _look_inside(self, name: str, body: Message, known: bool) -> None:
        if not known:
            self._wrong.append(f"no such event: {name}")
        for member, kind in _BODIES.get(name, {}).items():
            if not isinstance(body.get(member), kind):
                self._wrong.append(f"{name}: {member} in {body}")
        for member, parts in _PARTS.items():
            for part in body.get(member, ()) if name in _BODIES else ():
                for each, kind in parts.items():
                    if not isinstance(part.get(each), kind):
                        self._wrong.append(f"{name}: {member}.{each} in {part}")


def _has_null(value: object) -> bool:
    """The protocol knows none, but where data cannot be watched."""
    if isinstance(value, dict):
        return any(_has_null(each) for name, each in value.items() if name != "dataId")
    inner = value if isinstance(value, list) else ()
    return value is None or any(map(_has_null, inner))
