"""Producers in any language, over a local socket."""

from __future__ import annotations

import os
import re
import socket
import stat
from contextlib import suppress

import pytest
from events.component.outline.outline_support import end_all, report, start, write

SPEC = """
with jobs:worker(_) monitor
  max(X. and([_ <- _, jobs:worker(_)]X, [_ ? {prio, K} when K > 3]ff, [_ ? _]X)).
"""
LINES = [
    "fork(<0.10.0>,<0.20.0>,{jobs,worker,[3]})",
    "init(<0.20.0>,<0.10.0>,{jobs,worker,[3]})",
    "recv(<0.20.0>,{prio,3})",
    "recv(<0.20.0>,{prio,4})",
]


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "jobs.hml", SPEC)
    yield tmp_path
    end_all()


def listening(folder, *words):
    command = start("component", "listen", "jobs.hml", "--json", *words, cwd=folder)
    found = re.search(r"listening at (\S+), token (\w+)", command.stderr.readline())
    return command, found[1], found[2]


def connected(address, folder):
    if ":" in address:
        host, port = address.split(":")
        assert host == "127.0.0.1"
        return socket.create_connection((host, int(port)), 10)
    made = socket.socket(socket.AF_UNIX)
    made.connect(str(folder / address))
    return made


@pytest.mark.parametrize("words", [(), ("--socket", "events.sock")])
def test_lines_of_a_producer_are_checked(folder, words):
    command, address, token = listening(folder, *words)
    if words:
        assert stat.S_IMODE(os.stat(folder / address).st_mode) == 0o600
    with connected(address, folder) as wrong:
        wrong.sendall(b"no token\n" + "\n".join(LINES).encode() + b"\n")
        with suppress(ConnectionResetError):
            assert wrong.recv(10) == b""
    with connected(address, folder) as early, connected(address, folder) as late:
        early.sendall(f"{token}\n{LINES[0]}\n".encode())
        text = "\n".join([token, *LINES[1:]]).encode()
        for at in range(0, len(text), 7):
            late.sendall(text[at : at + 7])
        late.sendall(b"\nrecv(<0.20.0>,{prio,cut off")
    out, err = command.communicate(timeout=30)
    assert command.returncode == 1, err
    (folder / "report.json").write_text(out)
    (verdict,) = report(folder)["verdicts"]
    assert "LOG-008" in [warning["code"] for warning in report(folder)["warnings"]]
    assert (verdict["category"], verdict["binding"]) == ("rejection", {"component": "<0.20.0>"})
    assert not words or not (folder / address).exists()


def test_a_socket_that_is_taken_is_refused(folder):
    (folder / "events.sock").touch()
    command = start("component", "listen", "jobs.hml", "--socket", "events.sock", cwd=folder)
    _, err = command.communicate(timeout=30)
    assert command.returncode == 2
    assert "cannot listen" in err
