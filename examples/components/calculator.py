"""A calculator that runs as a thread and is asked through a queue. Its mode says how well it does.

python calculator.py right        python calculator.py wrong        python calculator.py twice
"""

from __future__ import annotations

import sys
import threading
from queue import Queue
from typing import Any


def serve(mode: str, inbox: Queue[Any], replies: dict[str, Queue[Any]]) -> None:
    """Answer requests until one says to stop: `wrong` forgets one when it adds, `twice` answers additions twice."""
    answered = 0
    while True:
        client, request = inbox.get()
        reply = replies[client]
        match request:
            case ("add", a, b):
                reply.put((client, ("ok", a + b - (mode == "wrong"))))
                if mode == "twice":
                    reply.put((client, ("ok", a + b)))
            case ("multiply", a, b):
                reply.put((client, ("ok", a * b)))
            case "stop":
                reply.put((client, ("bye", answered)))
                return
        answered += 1


def ask(client: str, inbox: Queue[Any], replies: dict[str, Queue[Any]], request: object) -> object:
    """Send a request, and wait for what comes back."""
    inbox.put((client, request))
    _, (_, result) = replies[client].get()
    return result


def main(mode: str) -> None:
    """A session of two clients."""
    inbox: Queue[Any] = Queue()
    replies: dict[str, Queue[Any]] = {"ada": Queue(), "bob": Queue()}
    server = threading.Thread(target=serve, args=(mode, inbox, replies), name="calculator")
    server.start()
    print(ask("ada", inbox, replies, ("add", 10, 97)))
    print(ask("bob", inbox, replies, ("multiply", 6, 7)))
    print(ask("ada", inbox, replies, "stop"))
    server.join()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "right")
