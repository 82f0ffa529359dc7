"""Stage 4: an Erlang node that tells its events: one that runs already, or one that is started for it.

A helper node, hidden from the others, loads the tracer (`mopsus_tracer.erl`) and sends lines in the log format over a
local connection, which begins with a token that only the helper was told.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType

from mopsus.events.component.erlang.messages import ErlangError

_TRACER = Path(__file__).with_name("mopsus_tracer.erl")
_PATIENCE = 20.0
"""Seconds that the helper has to start and to connect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is observed: the running node `node`, or a new one that calls `entry` (`module:function(arguments)`)."""

    node: str | None = None
    cookie: str | None = None
    """The secret that nodes of one system share; None: the one in the user's home folder."""
    roots: tuple[str, ...] = ()
    """Registered names of the processes to begin with; none: all that do not belong to Erlang itself."""
    entry: str | None = None
    path: tuple[Path, ...] = ()
    """Folders of compiled modules, for `entry`."""


class ErlangNode:
    """The events of a target as lines of text, while this is entered.

    The lines end when the connection does: the node or the system that was started is gone. Leaving ends the tracing; a
    node that ran before goes on running.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._closing = ExitStack()

    def __enter__(self) -> ErlangNode:
        folder = compiled_tracer()
        # What the helper writes to its standard error, unless that belongs to the system.
        self._said = self._closing.enter_context(TemporaryFile())
        token = secrets.token_hex(16)
        with socket.create_server(("127.0.0.1", 0)) as server:
            self._process = self._start(folder, server.getsockname()[1], token)
            try:
                self._connection = _accept(server, token, self._alive)
            except BaseException:
                self.close()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def chunks(self) -> Iterator[bytes]:
        """What the node tells, in pieces that need not end with a line."""
        connection = self._connection
        if connection is None:
            raise ErlangError("the node is not connected", hint="use it as a context manager")
        while data := connection.recv(1 << 16):
            yield data
        self._check()

    def close(self) -> None:
        """End the tracing. Another thread that reads comes to the end of the lines."""
        if self._connection is not None:
            with suppress(OSError):
                self._connection.shutdown(
                    socket.SHUT_RDWR
                )  # a thread may be waiting in `recv`, which `close` does not end
            self._connection.close()
            self._connection = None
        if self._process is not None:
            try:
                self._process.wait(3)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        self._closing.close()

    def _start(self, folder: Path, port: int, token: str) -> subprocess.Popen[bytes]:
        target = self._target
        order = {
            "MOPSUS_PORT": str(port),
            "MOPSUS_TOKEN": token,
            "MOPSUS_ROOTS": " ".join(target.roots),
        }
        command = [
            "erl",
            "-noshell",
            "-pa",
            str(folder),
            *(word for path in target.path for word in ("-pa", str(path))),
        ]
        if target.node is not None:
            order["MOPSUS_NODE"] = target.node
            host = target.node.partition("@")[2]
            # A node with a dot in its host's name has a long one, and only nodes of one sort can talk.
            command += ["-hidden", "-name" if "." in host else "-sname", f"mopsus-{secrets.token_hex(4)}"]
        else:
            order["MOPSUS_ENTRY"] = target.entry or ""
        if target.cookie is not None:  # not on the command line, which every user can read
            order["ERL_FLAGS"] = f"{os.environ.get('ERL_FLAGS', '')} -setcookie {target.cookie}"
        return subprocess.Popen(
            [*command, "-run", "mopsus_tracer", "main"],
            env={**os.environ, **order},
            stdin=subprocess.DEVNULL,
            stderr=self._said if target.node is not None else None,
        )

    def _alive(self) -> None:
        """Raise an error if the helper has ended."""
        if self._process is not None and self._process.poll() is not None:
            raise self._failure(self._process.returncode)

    def _check(self) -> None:
        """Raise an error if the helper has failed."""
        if self._process is None:
            return
        try:
            status = self._process.wait(3)
        except subprocess.TimeoutExpired:
            return
        if status != 0:
            raise self._failure(status)

    def _failure(self, status: int) -> ErlangError:
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return ErlangError(lines[-1] if lines else f"the node ended with status {status}")


def compiled_tracer() -> Path:
    """The folder that has the compiled tracer; it is compiled once for each version of it and of Erlang."""
    compiler, erl = shutil.which("erlc"), shutil.which("erl")
    if compiler is None or erl is None:
        raise ErlangError(
            "there is no Erlang here", hint="install it (on Debian or Ubuntu: apt-get install erlang-base)"
        )
    about = f"{erl} {os.stat(os.path.realpath(erl)).st_mtime_ns}".encode()
    mark = hashlib.sha256(_TRACER.read_bytes() + about).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "mopsus" / "erlang" / mark
    if not (folder / "mopsus_tracer.beam").exists():
        building = folder.with_name(f"{mark}.{secrets.token_hex(4)}")
        building.mkdir(parents=True)
        done = subprocess.run(
            [compiler, "-o", str(building), str(_TRACER)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            shutil.rmtree(building)
            said = (done.stdout + done.stderr).strip()
            raise ErlangError(f"the tracer does not compile: {said}", code="ERLANG-001")
        try:
            building.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(building)
    return folder


def _accept(server: socket.socket, token: str, check: Callable[[], None]) -> socket.socket:
    """The connection of whoever knows the token; `check` raises an error when waiting is in vain."""
    server.settimeout(0.2)
    for _ in range(int(_PATIENCE / 0.2)):
        try:
            connection, _address = server.accept()
        except TimeoutError:
            check()
            continue
        connection.settimeout(_PATIENCE)
        said = _first_line(connection, len(token))
        connection.settimeout(None)
        if hmac.compare_digest(said, token.encode()):
            return connection
        connection.close()
    raise ErlangError("the helper node did not connect", hint="is the name service epmd allowed to run?")


def _first_line(connection: socket.socket, length: int) -> bytes:
    """Read just that line: what comes after it is for others."""
    said = b""
    while len(said) <= length:
        byte = connection.recv(1)
        if byte in (b"", b"\n"):
            break
        said += byte
    return said
