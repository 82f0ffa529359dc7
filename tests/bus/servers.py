"""Real NATS servers for tests."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import urllib.request

TOKEN = "a token for tests"


def program() -> str:
    """Where the server is; Debian installs it where only administrators look."""
    found = shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin")
    assert found, "nats-server is needed: make setup installs it"
    return found


class Server:
    """A running server: where it is, and what it counts."""

    def __init__(self, process: subprocess.Popen[str], url: str, monitoring: str) -> None:
        self.process = process
        self.url = url
        self.monitoring = monitoring

    def counted(self) -> dict[str, int]:
        """`in_msgs`, `in_bytes` and so on, as the server counts them."""
        with urllib.request.urlopen(f"{self.monitoring}/varz") as answer:
            return json.load(answer)


@contextlib.contextmanager
def nats_server(address: str = "127.0.0.1", token: str | None = TOKEN, prefix: tuple[str, ...] = ()):
    """A server on ports that are free, while this is entered. `prefix` runs it elsewhere: in another network, say."""
    auth = () if token is None else ("--auth", token)
    command = [*prefix, program(), "-a", address, "-p", "-1", "-m", "-1", *auth]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = ""
            while "Server is ready" not in said:
                line = process.stderr.readline()
                assert line, f"the server did not start: {said}"
                said += line
            monitoring = re.search(r"http monitor on (\S+)", said)[1]
            yield Server(process, f"nats://{address}:{_port(said)}", f"http://{monitoring}")
        finally:
            process.terminate()
            process.stderr.read()


def _port(said: str) -> str:
    return re.search(r"client connections on \S+:(\d+)", said)[1]
