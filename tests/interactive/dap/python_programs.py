"""Python programs for an editor to debug, and what an editor does with them again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from interactive.dap.client import Client, Message
from interactive.python.debugged import BOUND

QUEUE = """\
import sys

class Queue:
    def __init__(self, size):
        self.size, self.items = size, []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        return self.items.pop(0)

def fill(q, items):
    for item in items:
        q.push(item)
    return len(items)

def main():
    q = Queue(2)
    n = fill(q, ["a", "b"])
    print("popped", q.pop(), n)
    q.push("c")
    q.push("d")
    print("left", q.items, sys.argv[1:])
    return 3

if __name__ == "__main__":
    sys.exit(main())
"""
"""One push too many."""


def write(folder: Path, text: str) -> Path:
    program = folder / "program.py"
    program.write_text(text)
    return program


def begun(client: Client, folder: Path, text: str, *lines: int | Message, **arguments: Any) -> list[Message]:
    """Launch a program with breakpoints; what became of them."""
    program = write(folder, text)
    wanted = [each if isinstance(each, dict) else {"line": each} for each in lines]
    return client.begin("launch", {program: wanted}, program=str(program), **arguments)


def watched(folder: Path, **more: str) -> Message:
    """What a launch needs to have the queue watched."""
    file = folder / "watched.prop"
    file.write_text(BOUND)
    return {"properties": [{"file": str(file), "quiet": True, **more}]}


def go(client: Client, how: str = "continue", thread: int = 1) -> None:
    client.request(how, threadId=thread)


def line(client: Client, reason: str | None = None) -> int:
    """Where the program stops next."""
    found: int = client.stopped(reason)["frame"]["line"]
    return found


def value(client: Client, text: str, frame: Message, **more: Any) -> str:
    found: str = client.request("evaluate", expression=text, frameId=frame["id"], **more)["result"]
    return found
