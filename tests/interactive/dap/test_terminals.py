"""Programs in terminals that the editor opens: people type to them, press keys that make signals, close them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from interactive.dap.client import PATIENCE_S, Client, Refused
from interactive.dap.screens import Desk, Screen
from interactive.gdb.programs import build

from mopsus.interactive.dap import terminal
from mopsus.interactive.dap.terminal import Terminal, TerminalError

GREETS = """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void hear(int number) { write(1, number == SIGINT ? "stop it!\\n" : "resized.\\n", 9); }
int main(int argc, char **argv) {
    char name[80] = "";
    struct sigaction action = {.sa_handler = hear, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, 0);
    sigaction(SIGWINCH, &action, 0);
    printf("%d%d%d %s %d?\\n", isatty(0), isatty(1), isatty(2), getenv("TERM"), getpid());
    fflush(stdout);
    if (!fgets(name, sizeof name, stdin)) return 9;
    name[strcspn(name, "\\n")] = 0;
    printf("hello %s\\n", name);
    return 3;
}
"""
GREETS_PYTHON = """\
import os, sys
def main():
    print(*(os.isatty(each) for each in range(3)), os.environ["TERM"], os.getpid(), end="?\\n", flush=True)
    try:
        name = input()
    except EOFError:
        sys.exit(9)
    print("hello", name)
    return 3
sys.exit(main())
"""
ASKS = 14
"""The line in the first program where it has asked, and waits for an answer; in the second one it is the fifth."""
HANDED = "integratedTerminal"


@pytest.fixture(params=["c", "python"])
def program(request, tmp_path):
    if request.param == "c":
        return build(GREETS)
    script = tmp_path / "greets.py"
    script.write_text(GREETS_PYTHON)
    return script


@pytest.fixture
def leaves_nothing(monkeypatch):
    """Whatever a session has written down is gone with it."""
    with tempfile.TemporaryDirectory(prefix="desk-") as folder:  # a short name: it is part of that of a socket
        monkeypatch.setenv("TMPDIR", folder)
        yield
        assert os.listdir(folder) == []


def source(program):
    return program if program.suffix == ".py" else program.with_name("program.c")


def line_of(program):
    return {source(program): [{"line": 5 if program.suffix == ".py" else ASKS}]}


def asked(screen):
    """Wait until the program asks; its process."""
    screen.until("?")
    return int(screen.text.split("?")[0].split()[-1])


def is_gone(process):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{process}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_somebody_types_to_the_program(program, leaves_nothing):
    with Desk() as desk:
        desk.editor.launch(program=str(program), console=HANDED, cwd="/", env={"WORD": "yes"})
        asked(desk.screen)
        desk.screen.type("ada\n")
        assert desk.editor.finish() == 3
        assert desk.screen.ended() == 0
        assert desk.screen.is_as_before()
        desk.screen.until("hello ada")
        assert "111 screen-of-a-test" in desk.screen.text or "True True True screen-of-a-test" in desk.screen.text
        assert (desk.editor.output("stdout"), desk.editor.output("stderr")) == ("", "")
        assert len(desk.asked) == 1
        assert desk.asked[0]["kind"] == "integrated"
        assert desk.asked[0]["title"] == f"mopsus: {program.name}"
        assert desk.asked[0]["cwd"] == "/"
        assert all(isinstance(each, str) for each in desk.asked[0]["args"])


def test_what_the_terminal_is_called_can_be_said_otherwise(program):
    with Desk() as desk:
        desk.editor.launch(program=str(program), console="externalTerminal", env={"TERM": "dumb"})
        assert desk.asked[0]["kind"] == "external"
        desk.screen.type("eve\n")
        assert desk.editor.finish() == 3
        desk.screen.until("hello eve")
        assert " dumb " in desk.screen.text


def test_what_is_typed_waits_while_the_program_stands(program):
    with Desk() as desk:
        desk.editor.launch(line_of(program), program=str(program), console=HANDED)
        stop = desk.editor.stopped("breakpoint")
        desk.screen.type("ada\n")
        desk.editor.request("next", threadId=stop["threadId"])
        stop = desk.editor.stopped("step")
        desk.editor.request("continue", threadId=stop["threadId"])
        assert desk.editor.finish() == 3
        desk.screen.until("hello ada")


def test_what_nobody_has_read_is_not_left_for_the_shell(program):
    with Desk() as desk:
        desk.editor.launch(line_of(program), program=str(program), console=HANDED)
        desk.editor.stopped("breakpoint")
        desk.screen.type("rm -rf precious\n")
        desk.screen.until("precious")
        desk.editor.request("terminate")
        desk.editor.until("terminated")
        assert desk.screen.ended() == 0
        os.set_blocking(desk.screen._slave, False)
        with pytest.raises(BlockingIOError):
            os.read(desk.screen._slave, 100)


def test_keys_that_make_signals_reach_a_compiled_program():
    with Desk() as desk:
        desk.editor.launch(program=str(build(GREETS)), console=HANDED)
        asked(desk.screen)
        desk.screen.type("\x03")
        stop = desk.editor.stopped("exception")
        assert stop["description"] == "SIGINT"
        assert "stop it!" not in desk.screen.text
        desk.editor.request("continue", threadId=stop["threadId"])
        desk.screen.until("stop it!")
        desk.screen.resize(50, 100)
        desk.screen.until("resized.")
        desk.screen.type("\x1a")  # which would stop it under a shell
        desk.screen.type("ada\n")
        assert desk.editor.finish() == 3


def test_ctrl_c_pauses_a_python_program(tmp_path):
    script = tmp_path / "greets.py"
    script.write_text(GREETS_PYTHON)
    with Desk() as desk:
        desk.editor.launch(program=str(script), console=HANDED)
        asked(desk.screen)
        desk.screen.await_raw()  # before that, Python itself would not hear it at once
        desk.screen.type("\x03")
        stop = desk.editor.stopped("pause")
        assert stop["frame"]["line"] == 5
        desk.editor.request("continue", threadId=stop["threadId"])
        desk.screen.type("ada\n")
        assert desk.editor.finish() == 3
        assert desk.screen.ended() == 0
        assert desk.screen.is_as_before()


def test_a_program_that_is_started_again_has_a_terminal_of_its_own(program):
    with Desk() as desk:
        desk.editor.launch(program=str(program), console=HANDED)
        first = asked(desk.screen)
        desk.editor.request("restart")
        assert desk.screens[0].ended() == 0
        assert is_gone(first)
        assert len(desk.screens) == 2
        asked(desk.screen)
        desk.screen.type("ada\n")
        assert desk.editor.finish() == 3
        desk.editor.request("restart", arguments={"program": str(program)})  # in none
        desk.editor.until("terminated")
        assert len(desk.screens) == 2


def test_a_terminal_that_is_closed_is_a_signal_for_a_compiled_program():
    with Desk() as desk:
        desk.editor.launch(line_of(build(GREETS)), program=str(build(GREETS)), console=HANDED)
        stop = desk.editor.stopped("breakpoint")
        process = asked(desk.screen)
        desk.screen.close()
        desk.editor.until("output", lambda body: "was closed" in body["output"])
        assert desk.editor.request("evaluate", expression="argc", context="watch")["result"] == "1"
        desk.editor.request("continue", threadId=stop["threadId"])
        stop = desk.editor.stopped("exception")
        assert stop["description"] == "SIGHUP"
        desk.editor.request("continue", threadId=stop["threadId"])
        assert desk.editor.finish() == -signal.SIGHUP
        assert is_gone(process)


@pytest.mark.parametrize("stopped", [True, False])
def test_a_terminal_that_is_closed_ends_a_python_program(tmp_path, stopped):
    script = tmp_path / "waits.py"
    script.write_text(
        "import os, time\nprint(os.getpid(), end='?\\n', flush=True)\nwhile True:\n    time.sleep(0.01)\n"
    )
    with Desk() as desk:
        desk.editor.launch({script: [{"line": 4}]} if stopped else None, program=str(script), console=HANDED)
        process = asked(desk.screen)
        if stopped:
            desk.editor.stopped("breakpoint")
        desk.screen.close()
        assert desk.editor.finish() == -signal.SIGHUP
        assert is_gone(process)


def test_a_keeper_that_is_killed_is_a_terminal_that_is_closed():
    with Desk() as desk:
        desk.editor.launch(program=str(build(GREETS)), console=HANDED)
        asked(desk.screen)
        desk.screen.process.kill()
        stop = desk.editor.stopped("exception")
        assert stop["description"] == "SIGHUP"
        desk.editor.request("continue", threadId=stop["threadId"])
        assert desk.editor.finish() == -signal.SIGHUP


def test_a_program_that_is_let_go_keeps_its_terminal(program):
    with Desk() as desk:
        desk.editor.launch(program=str(program), console=HANDED)
        process = asked(desk.screen)
        desk.editor.request("disconnect", terminateDebuggee=False)
        desk.editor.vanish()
        if program.suffix != ".py":
            desk.screen.type("\x03")
            desk.screen.until("stop it!")
        desk.screen.type("ada\n")
        desk.screen.until("hello ada")
        assert desk.screen.ended() == 0
        assert is_gone(process)


@pytest.mark.parametrize("killed", [True, False])
def test_an_editor_that_is_gone_takes_program_and_keeper_with_it(program, killed):
    with Desk() as desk:
        desk.editor.launch(program=str(program), console=HANDED)
        process = asked(desk.screen)
        if killed:
            desk.editor.process.kill()
        desk.editor.vanish()
        assert is_gone(process)
        assert desk.screen.ended() == 0
        assert desk.screen.is_as_before()


def test_what_a_program_does_to_its_terminal_as_it_dies_is_put_right():
    # The keeper ended with the session, and put the terminal right before the program had ended.
    console = Terminal(lambda _: None)
    screen = Screen(console.request("integrated", "a program", os.getcwd()))
    try:
        terminal = console.open()[0]
        with subprocess.Popen(
            [sys.executable, "-c", "import tty; input(); tty.setraw(1)"],
            stdin=subprocess.PIPE,
            stdout=terminal,
            start_new_session=True,
        ) as dying:
            os.close(terminal)
            console.serve(dying.pid)
            console.finish()
            with pytest.raises(subprocess.TimeoutExpired):
                screen.process.wait(0.5)
            dying.communicate(b"\n")
        assert screen.ended() == 0
        assert screen.is_as_before()
    finally:
        screen.close()
        screen.process.kill()


def test_checkpoints_in_a_terminal(program):
    with Desk() as desk:
        desk.editor.launch(line_of(program), program=str(program), console=HANDED)
        desk.editor.stopped("breakpoint")
        desk.editor.request("mopsus/checkpoint")
        desk.editor.request("next", threadId=1)
        desk.screen.type("ada\n")
        desk.editor.stopped("step")
        desk.editor.request("mopsus/restore", number=0)
        desk.editor.stopped("goto")
        desk.screen.type("eve\n")
        desk.editor.request("continue", threadId=1)
        assert desk.editor.finish() == 3
        desk.screen.until("hello eve")
        assert desk.screen.ended() == 0


# ---- when there is none


def test_an_editor_without_terminals_is_told_what_to_do_instead(program):
    with Client() as editor:
        editor.request("initialize", adapterID="mopsus")
        with pytest.raises(Refused, match=r"opens no terminals.*`stdin`.*`console`"):
            editor.request("launch", program=str(program), console=HANDED)
        editor.launch(program=str(program), stopOnEntry=True)
        editor.stopped("entry")
        with pytest.raises(Refused, match="opens no terminals"):
            editor.request("restart", arguments={"program": str(program), "console": HANDED})
        assert editor.request("threads")["threads"]  # the old one is as it was


def test_an_editor_that_refuses(program, leaves_nothing):
    with Desk() as desk:
        desk.editor.run_in_terminal = None
        desk.editor.request("initialize", adapterID="mopsus", **desk.editor.abilities)
        with pytest.raises(Refused, match="the editor opens no terminal: no room for it"):
            desk.editor.request("launch", program=str(program), console=HANDED)
        desk.editor.until("terminated")
        desk.editor.launch(program=str(program))
        assert desk.editor.finish() == 9


@pytest.mark.parametrize("how", ["disconnect", "terminate", "vanish"])
def test_nobody_has_to_wait_for_a_terminal(program, how, leaves_nothing):
    with Desk() as desk:
        wanted = threading.Event()
        desk.editor.run_in_terminal = lambda arguments: {"processId": wanted.set() or 1}  # and nothing more
        desk.editor.request("initialize", adapterID="mopsus", **desk.editor.abilities)
        launched = desk.editor.send("launch", program=str(program), console=HANDED)
        pending = desk.editor.send("setFunctionBreakpoints", breakpoints=[])
        assert wanted.wait(PATIENCE_S)
        begun = time.monotonic()
        if how == "vanish":
            desk.editor.vanish()
        else:
            desk.editor.request(how)
            assert "ended before the program began" in desk.editor.answer(launched)["message"]
            assert not desk.editor.answer(pending)["success"]
        assert time.monotonic() - begun < terminal.PATIENCE_S / 2


def greet(folder, *, token=None, terminals=()):
    """Do what a keeper does first."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.connect(str(Path(folder, "door")))
    said = {"token": token or Path(folder, "token").read_text(), "environment": {"TERM": "x", "LD_PRELOAD": "/evil.so"}}
    socket.send_fds(line, [json.dumps(said).encode()], list(terminals))
    return line


def test_a_terminal_that_is_gone_before_the_program_begins(program, leaves_nothing):
    with Desk() as desk:
        opened = desk.editor.run_in_terminal
        master, slave = os.openpty()

        def run(arguments):
            greet(arguments["args"][-1], terminals=[slave]).close()
            return {}

        desk.editor.run_in_terminal = run
        desk.editor.request("initialize", adapterID="mopsus", **desk.editor.abilities)
        with pytest.raises(Refused, match="closed before the program began"):
            desk.editor.request("launch", program=str(program), console=HANDED)
        desk.editor.until("terminated")
        os.close(slave)
        os.close(master)
        desk.editor.run_in_terminal = opened
        desk.editor.launch(program=str(program), console=HANDED)
        desk.screen.type("ada\n")
        assert desk.editor.finish() == 3


def test_a_terminal_that_is_closed_before_the_editor_is_ready(program):
    with Desk() as desk:
        desk.editor.request("initialize", adapterID="mopsus", **desk.editor.abilities)
        launched = desk.editor.send("launch", program=str(program), console=HANDED)
        desk.editor.until("initialized")
        assert desk.editor.answer(launched)["success"]
        desk.screen.close()
        desk.editor.until("terminated")
        assert "the terminal of the program was closed" in desk.editor.output("console")


class Waiting:
    """A terminal that was asked for, without an editor."""

    def __init__(self):
        self.signals = []
        self.terminal = Terminal(self.signals.append)
        self.folder = self.terminal.request("integrated", "x", "/")["args"][-1]


def test_the_folder_is_private_and_gone_with_the_hello():
    waiting = Waiting()
    assert os.stat(waiting.folder).st_mode & 0o077 == 0
    master, slave = os.openpty()
    line = greet(waiting.folder, terminals=[slave])
    streams = waiting.terminal.open()
    assert len(set(streams)) == 1
    assert os.ttyname(streams[0]) == os.ttyname(slave)
    assert waiting.terminal.environment == {"TERM": "x"}
    assert not os.path.exists(waiting.folder)
    for word in (b"SIGINT", b"SIGKILL", b"\xff", b"SIGINT; reboot", b"SIGWINCH"):
        line.send(word)
    line.close()
    deadline = time.monotonic() + PATIENCE_S
    while "SIGHUP" not in waiting.signals and time.monotonic() < deadline:
        time.sleep(0.01)
    assert waiting.signals == ["SIGINT", "SIGWINCH", "SIGHUP"]
    waiting.terminal.finish()
    for each in (master, slave, streams[0]):
        os.close(each)


def test_whoever_does_not_know_the_token_brings_no_terminal():
    waiting = Waiting()
    master, slave = os.openpty()
    lines = [greet(waiting.folder, token="guessed", terminals=[slave])]
    for said in (b"", b"{}", b"[]", b'{"token": 5}', b"no JSON", b'{"token": null, "environment": 3}'):
        line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        line.connect(str(Path(waiting.folder, "door")))
        if said:
            line.send(said)
        else:
            line.close()
        lines.append(line)
    lines.append(greet(waiting.folder, terminals=[slave]))
    streams = waiting.terminal.open()
    assert os.ttyname(streams[0]) == os.ttyname(slave)
    assert lines[0].recv(1) == b""  # it was hung up on
    waiting.terminal.finish()
    assert lines[-1].recv(1) == b""
    for each in (master, slave, streams[0]):
        os.close(each)
    for line in lines:
        line.close()


def test_what_is_no_terminal_is_refused():
    with open(os.devnull) as nothing:
        for descriptors in ([], [nothing.fileno()]):
            waiting = Waiting()
            with greet(waiting.folder, terminals=descriptors), pytest.raises(TerminalError, match="is no terminal"):
                waiting.terminal.open()
            assert not os.path.exists(waiting.folder)


def test_a_terminal_that_does_not_come_in_time(monkeypatch):
    monkeypatch.setattr(terminal, "PATIENCE_S", 0.2)
    waiting = Waiting()
    with pytest.raises(TerminalError, match="no terminal in time") as error:
        waiting.terminal.open()
    assert "stdin" in (error.value.hint or "")
    assert not os.path.exists(waiting.folder)


def test_a_keeper_without_a_terminal_says_so_and_ends():
    waiting = Waiting()
    words = waiting.terminal.request("integrated", "x", "/")["args"]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    with pytest.raises(TerminalError, match="is no terminal"):
        waiting.terminal.open()
    assert process.wait(PATIENCE_S) == 0
