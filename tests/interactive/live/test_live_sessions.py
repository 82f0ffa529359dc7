"""The live view of real sessions, under both debuggers: what it is sent, and what comes of what it asks for."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from interactive.gdb.programs import SOURCES, START, build
from interactive.live.debugged import Debugged, debugging, plain_gdb
from interactive.live.standin import ADDRESS

from mopsus.interactive.live.picture import Course, Picture
from mopsus.interactive.live.wire import Failed, Wish
from mopsus.interactive.setup import Setup, Watched

DOOR = """
    state init accepting {
        transition { event door_open() success opened }
        transition { event enter(who : int) success bad }
    }
    state opened accepting { transition { event door_close() success init } }
    state bad non-accepting
"""

PYTHON = """
import os, sys, time
def door_open(): pass
def door_close(): pass
def enter(who): pass
print("begun", flush=True)
rounds = 0
while not os.path.exists(sys.argv[1]) and rounds < 200000:
    door_open()
    time.sleep(0.001)
    door_close()
    time.sleep(0.001)
    rounds += 1
enter(7)
print("done", flush=True)
"""

C = """
    #include <stdio.h>
    #include <unistd.h>
    void door_open(void) {}
    void door_close(void) {}
    void enter(int who) {}
    int rounds;
    int main(int count, char **words) {
        puts("begun");
        fflush(stdout);
        while (access(words[1], F_OK) != 0 && rounds < 200000) {
            door_open();
            usleep(1000);
            door_close();
            usleep(1000);
            rounds++;
        }
        enter(7);
        puts("done");
        fflush(stdout);
        return 0;
    }
"""
RED, GREEN_BEFORE = 2, 0
"""The numbers of the states `bad` and `init`."""


@pytest.fixture(params=["gdb", "python"])
def setup(request, tmp_path):
    """A program that opens and closes a door until a file `stop` is there, and then enters by the closed door. One
    whose test is gone ends by itself, after many rounds."""
    (tmp_path / "door.prop").write_text(DOOR)
    if request.param == "python":
        program = tmp_path / "door.py"
        program.write_text(PYTHON)
    else:
        program = build(C)
    watched = (Watched(str(tmp_path / "door.prop"), quiet=True),)
    words = (str(program), str(tmp_path / "stop"))
    return Setup(watched, words, graph=True, hooks=request.param != "gdb-traps")


def is_python(setup: Setup) -> bool:
    return setup.program[0].endswith(".py")


def begun(session: Debugged, setup: Setup) -> Picture:
    """The view is there, and the program stands before its beginning."""
    session.view.start()
    waiting = Course.STOPPED if is_python(setup) else Course.WAITING
    return session.view.see(lambda picture: picture.program.course is waiting)


def is_running(picture: Picture) -> bool:
    return picture.program.course is Course.RUNNING


def see_door(session: Debugged, wanted: set[int]) -> None:
    """Look until the property was in all of these states, while the program runs."""
    seen: set[int] = set()
    while not wanted <= seen:
        session.view.ask(Wish.LOOK)
        seen |= session.view.see(is_running).monitors[0].now[0].counts.keys()


def test_a_stop_for_a_verdict_is_seen_with_its_states_and_its_last_transition(setup, tmp_path):
    (tmp_path / "stop").touch()
    with debugging(setup) as session:
        first = begun(session, setup)
        assert [node.name for node in first.monitors[0].automata[0].nodes] == ["init", "opened", "bad"]
        assert first.monitors[0].now[0].counts == {0: 1}
        session.view.ask(Wish.CONTINUE)
        stop = session.view.see_stop("door: bad")
        now = stop.monitors[0].now[0]
        edges = stop.monitors[0].automata[0].edges
        assert now.counts == {RED: 1}
        assert now.previous == (GREEN_BEFORE,)
        assert [(edges[number].label, edges[number].target) for number in now.taken] == [("enter", RED)]
        assert stop.monitors[0].verdicts[0].violation
        assert "enter" in stop.monitors[0].verdicts[0].explanation[-1]
        assert stop.program.place.function == "enter"
        assert stop.source is not None
        assert "enter(" in stop.source.lines[stop.source.current - stop.source.first]
        session.view.ask(Wish.CONTINUE)
        end = session.view.see(lambda picture: picture.program.course is Course.ENDED)
        assert end.program.status == 0
        said = session.leave()
    assert f"The live view is at {ADDRESS}" in said
    assert "done" in said


@pytest.mark.parametrize("setup", ["gdb", "gdb-traps", "python"], indirect=True)
def test_a_program_that_runs_is_followed_and_can_be_interrupted(setup, tmp_path):
    with debugging(setup) as session:
        begun(session, setup)
        session.type("continue" if is_python(setup) else "run")
        session.view.see(is_running)
        see_door(session, {0, 1})
        if setup.hooks:  # the first events are told one by one
            while not session.view.pictures[-1].monitors[0].inside:
                session.view.ask(Wish.LOOK)
                session.view.see(is_running)
            assert session.view.pictures[-1].event_count == 1000
            see_door(session, {0, 1})
        session.view.ask(Wish.INTERRUPT)
        session.view.see_stop()
        session.view.ask(Wish.CONTINUE)
        session.view.see(is_running)
        (tmp_path / "stop").touch()
        session.view.see_stop("door: bad")
        said = session.leave()
    assert "begun" in said


@pytest.mark.parametrize("setup", ["gdb", "python"], indirect=True)
def test_a_view_that_asks_all_the_time_does_not_harm_the_program(setup, tmp_path):
    with debugging(setup) as session:
        begun(session, setup)
        session.view.ask(Wish.CONTINUE)
        session.view.see(is_running)
        for _ in range(3):
            for _ in range(2000):
                session.view.ask(Wish.LOOK)
            see_door(session, {0, 1})
        (tmp_path / "stop").touch()
        session.view.see_stop("door: bad")


def test_the_view_takes_checkpoints_and_goes_back_to_them(setup, tmp_path):
    with debugging(setup) as session:
        begun(session, setup)
        session.view.ask(Wish.CONTINUE)
        session.view.see(is_running)
        see_door(session, {1})
        session.view.ask(Wish.CHECKPOINT)
        saved = session.view.see(lambda picture: len(picture.checkpoints) == 1)
        assert saved.program.course is Course.STOPPED
        (tmp_path / "stop").touch()
        session.view.ask(Wish.CONTINUE)
        stop = session.view.see_stop("door: bad")
        session.view.ask(Wish.RESTORE, 0)
        back = session.view.see_stop("back at checkpoint 0")
        assert back.serial > stop.serial
        assert back.monitors[0].now[0].counts == saved.monitors[0].now[0].counts
        assert back.events[-1].event == "back at checkpoint 0"
        session.view.ask(Wish.RESTORE, 5)
        assert "no checkpoint 5" in session.view.refused().why
        (tmp_path / "stop").unlink()
        session.view.ask(Wish.CONTINUE)
        session.view.see(is_running)
        see_door(session, {0, 1})
        session.view.ask(Wish.INTERRUPT)
        session.view.see_stop()
        session.leave()


@pytest.mark.parametrize("setup", ["gdb", "gdb-traps", "python"], indirect=True)
def test_a_program_at_full_speed_is_interrupted_anywhere_and_stands_in_its_own_code(setup, tmp_path):
    hot = at_full_speed(setup, tmp_path)
    chance = random.Random(9)
    with debugging(hot) as session:
        begun(session, hot)
        session.view.ask(Wish.CONTINUE)
        see_door(session, {0})
        for number in range(8):
            for _ in range(chance.randrange(4)):
                session.view.ask(Wish.LOOK)
                session.view.see(is_running)
            wish = chance.choice([Wish.INTERRUPT, Wish.CHECKPOINT, Wish.RESTORE])
            session.view.ask(wish if number else Wish.CHECKPOINT, 0)
            stop = session.view.see_stop("back at checkpoint" if wish is Wish.RESTORE and number else "")
            if is_python(hot):
                assert stop.program.place.file is not None
                assert not stop.program.place.file.startswith(f"{SOURCES}/")
            session.view.ask(Wish.CONTINUE)
            session.view.see(is_running)
        (tmp_path / "stop").touch()
        session.view.see_stop("door: bad")
        said = session.leave()
    assert "Traceback" not in said
    assert "rror" not in said


def at_full_speed(setup: Setup, folder: Path) -> Setup:
    """The same program, without rests."""
    program = folder / "fast.py"
    if is_python(setup):
        program.write_text(PYTHON.replace("time.sleep(0.001)", "pass").replace("200000", "50000000"))
    else:
        program = build(C.replace("usleep(1000);", "").replace("200000", "50000000"))
    return replace(setup, program=(str(program), *setup.program[1:]))


def test_a_view_that_dies_disturbs_nobody_and_can_be_opened_again(setup, tmp_path):
    with debugging(setup) as session:
        begun(session, setup)
        session.type("continue" if is_python(setup) else "run")
        session.view.see(is_running)
        session.view.end()
        (tmp_path / "stop").touch()
        session.type("verde show-graph")
        session.view.start()
        stop = session.view.see_stop("door: bad")
        assert stop.monitors[0].now[0].counts == {RED: 1}
        session.type("continue")
        assert session.view.see(lambda picture: picture.program.course is Course.ENDED).program.status == 0
        said = session.leave()
    assert "The live view is gone" in said
    assert "Traceback" not in said


def test_a_view_that_cannot_be_shown_is_said_and_the_terminal_draws_instead(setup, tmp_path):
    (tmp_path / "stop").touch()
    plain = Setup(setup.properties, setup.program, hooks=setup.hooks)
    with debugging(plain) as session:
        session.type("verde show-graph")
        session.view.start(Failed("a page in the browser needs the package 'nicegui'"))
        session.type("continue" if is_python(setup) else "run")
        session.type("verde show-graph text")
        said = session.leave()
    assert "needs the package 'nicegui'" in said
    assert "verde show-graph text" in said
    assert "enter ==> bad" in said
    assert "> bad [!]" in said


def test_without_a_prompt_the_view_only_looks(setup, tmp_path):
    batch = Setup(setup.properties, setup.program, graph=True, batch=True, hooks=setup.hooks)
    with debugging(batch) as session:
        session.view.start()
        session.view.see(is_running)
        session.view.ask(Wish.INTERRUPT)
        assert "--batch" in session.view.refused().why
        (tmp_path / "stop").touch()
        pictures = session.view.rest()
        assert pictures[-1].monitors[0].verdict_count == 1
        session.leave()


def test_the_terminal_draws_at_every_stop(setup, tmp_path):
    (tmp_path / "stop").touch()
    drawn = Setup(setup.properties, setup.program, text_graph=True, hooks=setup.hooks)
    with debugging(drawn) as session:
        session.type("continue" if is_python(setup) else "run")
        session.type("verde get-current")
        said = session.leave()
    assert said.count("monitor #1 door\n") == said.count("Stopped:") + is_python(setup) + (not is_python(setup))
    assert "\x1b" not in said


def test_a_gdb_that_was_not_started_by_us_has_a_view_too(tmp_path):
    (tmp_path / "door.prop").write_text(DOOR)
    (tmp_path / "stop").touch()
    lines = (f"source {START}", f"verde load-property {tmp_path / 'door.prop'}", "verde show-graph")
    with plain_gdb(build(C), *lines, f"set args {tmp_path / 'stop'}", "run") as session:
        session.view.start()
        assert session.view.see_stop("door: bad").monitors[0].now[0].counts == {RED: 1}
        session.leave()
