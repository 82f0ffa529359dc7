"""Real Erlang nodes: started to be observed, and joined while they run."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mopsus.events.component.erlang import node as module
from mopsus.events.component.erlang.messages import ErlangError
from mopsus.events.component.erlang.node import ErlangNode, Target

EXAMPLE = Path(__file__).parents[3] / "examples" / "components" / "erlang"
COOKIE = "a-cookie-of-tests"

SYSTEM = """
-module('Elixir.Shop').
-behaviour(gen_server).
-export([main/0, init/1, handle_call/3, handle_cast/2, helper/2]).
init(Stock) -> {ok, Stock}.
handle_call(Request, _, Stock) -> {reply, Request, Stock}.
handle_cast(_, Stock) -> {noreply, Stock}.
helper(Parent, Values) -> Parent ! Values, exit({shutdown, done}).
main() ->
    {ok, _} = gen_server:start(?MODULE, #{apples => 3}, []),
    Self = self(),
    Values = {<<"bin">>, "text", [1, 2], 'An Atom', 1.5, -2, #{key => []}, fun() -> ok end, make_ref()},
    spawn(?MODULE, helper, [Self, Values]),
    receive _ -> ok end.
"""


@pytest.fixture(scope="module")
def ebin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ebin")
    (folder / "Elixir.Shop.erl").write_text(SYSTEM)
    for source in (EXAMPLE / "calculator.erl", folder / "Elixir.Shop.erl"):
        subprocess.run(["erlc", "-o", str(folder), str(source)], check=True)
    return folder


class Running:
    """A node that runs by itself and does what it is told."""

    def __init__(self, ebin: Path, tag: str) -> None:
        host = socket.gethostname().partition(".")[0]
        self.name = f"{tag}{os.getpid()}@{host}"
        start = 'io:format("ready~n"), Loop = fun(F) -> case io:get_line("") of eof -> halt(); Line -> '
        start += "{ok, T, _} = erl_scan:string(Line), {ok, E} = erl_parse:parse_exprs(T), "
        start += '{value, V, _} = erl_eval:exprs(E, []), io:format("~p~n", [V]), F(F) end end, Loop(Loop).'
        command = ["erl", "-noshell", "-sname", self.name, "-setcookie", COOKIE, "-pa", str(ebin), "-eval", start]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._line() == "ready"

    def do(self, text: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{text}.\n")
        self._process.stdin.flush()
        return self._line()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@pytest.fixture
def running(ebin, request):
    node = Running(ebin, request.node.name.replace("_", "")[-20:])
    yield node
    node.kill()


class Hearing:
    """What an observed node tells, gathered by a thread."""

    def __init__(self, target: Target) -> None:
        self._node = ErlangNode(target)
        self._text = b""

    def __enter__(self):
        self._node.__enter__()
        self._thread = threading.Thread(target=self._gather)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._node.close()
        self._thread.join()

    def _gather(self) -> None:
        for piece in self._node.chunks():
            self._text += piece

    def wait_for(self, text: str) -> str:
        end = time.monotonic() + 20
        while text not in (heard := self._text.decode()):
            assert time.monotonic() < end, heard
            time.sleep(0.02)
        return heard


def test_a_system_is_observed_from_its_first_instruction_on(ebin):
    with ErlangNode(Target(entry="calculator:demo(wrong)", path=(ebin,))) as node:
        lines = b"".join(node.chunks()).decode().splitlines()
    kinds = [line.partition("(")[0] for line in lines]
    server = next(line for line in lines if "serve" in line).split(",")[1]
    assert [kinds[0], kinds[1]] == ["fork", "init"]
    assert all(line.endswith("{calculator,demo,[wrong]})") for line in lines[:2])
    assert [kinds.count(kind) for kind in ("fork", "init", "exit")] == [2, 2, 2]
    own = [
        line
        for line in lines
        if line.startswith((f"init({server}", f"recv({server}", f"send({server}", f"exit({server}"))
    ]
    assert [line.partition("(")[0] for line in own] == ["init", *["recv", "send"] * 3, "exit"]
    assert "{ok,106}" in own[2]


def test_values_and_functions_read_as_logs_have_them(ebin):
    with ErlangNode(Target(entry="'Elixir.Shop':main()", path=(ebin,))) as node:
        text = b"".join(node.chunks()).decode()
    assert "{'Elixir.Shop',init,[#{apples => 3}]}" in text  # beneath gen_server and proc_lib
    sent = next(line for line in text.splitlines() if line.startswith("send(") and "An Atom" in line)
    assert '<<98,105,110>>,"text",[1,2],\'An Atom\',1.5,-2,#{key => []},"#Fun<' in sent
    assert "#Ref<" in sent
    assert ",{shutdown,done})" in text


def test_a_running_node_is_joined_and_left_as_it_was(running):
    running.do("begin calculator:start(right), calculator:add(1, 2) end")
    with Hearing(Target(node=running.name, cookie=COOKIE)) as hearing:
        assert "{calculator,serve,[unknown]}" in hearing.wait_for("fork(<0.0.0>,")
        assert running.do("calculator:add(3, 4)") == "7"
        heard = hearing.wait_for("{ok,7}")
        assert "{add,3,4}" in heard
        assert "{add,1,2}" not in heard
        assert running.do("code:is_loaded(mopsus_tracer) =/= false") == "true"
    end = time.monotonic() + 10
    while running.do("code:is_loaded(mopsus_tracer)") != "false":
        assert time.monotonic() < end
    assert running.do("calculator:add(5, 6)") == "11"


def test_only_named_processes_are_observed(running):
    running.do("begin calculator:start(right), register(other, spawn(fun() -> receive stop -> ok end end)) end")
    with Hearing(Target(node=running.name, cookie=COOKIE, roots=("calculator",))) as hearing:
        hearing.wait_for("serve")
        running.do("other ! stop")
        running.do("calculator:add(3, 4)")
        heard = hearing.wait_for("{ok,7}")
    assert heard.count("fork(") == 1
    assert "stop" not in heard


def test_processes_of_a_node_that_dies_have_an_exit(running):
    running.do("calculator:start(right)")
    with Hearing(Target(node=running.name, cookie=COOKIE)) as hearing:
        hearing.wait_for("serve")
        running.kill()
        assert ",nodedown)" in hearing.wait_for("exit(")


def test_a_node_that_is_not_there_is_an_error():
    host = socket.gethostname().partition(".")[0]
    with (
        pytest.raises(ErlangError, match="cannot reach the node nobody@"),
        ErlangNode(Target(node=f"nobody@{host}", cookie="x")) as node,
    ):
        list(node.chunks())


def test_a_call_that_is_none_is_an_error(capfd):
    with pytest.raises(ErlangError, match="status 2"), ErlangNode(Target(entry="calculator")) as node:
        list(node.chunks())
    assert "is no call: write module:function(arguments)" in capfd.readouterr().err


@pytest.mark.parametrize("entry", ["nowhere:demo()", "lists:nothing(1, 2)"])
def test_a_call_of_what_is_not_there_is_an_error(capfd, entry):
    with pytest.raises(ErlangError, match="status 2"), ErlangNode(Target(entry=entry)) as node:
        list(node.chunks())
    name = entry.partition("(")[0]
    assert f"there is no function {name}/" in capfd.readouterr().err


def test_no_erlang_is_an_error_that_says_what_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ErlangError, match="there is no Erlang here") as caught, ErlangNode(Target(entry="a:b()")):
        pass
    assert "erlang-base" in caught.value.hint


def test_nobody_else_can_tell_events():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        intruder = socket.create_connection(("127.0.0.1", port))
        intruder.sendall(b"0" * 32 + b"\n")
        real = socket.create_connection(("127.0.0.1", port))
        real.sendall(b"secret\n")
        accepted = module._accept(server, "secret", lambda: None)
        real.sendall(b"fork")
        assert accepted.recv(10) == b"fork"
        with pytest.raises(ConnectionResetError):
            intruder.recv(10)
        for each in (intruder, real, accepted):
            each.close()


@pytest.mark.parametrize(("mode", "status"), [("right", 0), ("wrong", 1)])
def test_the_command_checks_a_system(ebin, mode, status):
    command = [
        sys.executable,
        "-m",
        "mopsus",
        "component",
        "erlang",
        str(EXAMPLE / "calculator.hml"),
        "--start",
        f"calculator:demo({mode})",
    ]
    done = subprocess.run([*command, "--path", str(ebin)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, done.stderr
    assert ("rejection" in done.stdout) == (mode == "wrong")
