"""Patterns that stopped at an event that they have no room for are said, where most slices end so."""

from __future__ import annotations

import pytest

from mopsus.logics import compile_spec
from mopsus.monitor import Monitor
from mopsus.spec import parse_file
from mopsus.verdict.stopped import stopped_early

EVENTS = "event login(u)\n event page(u)\n event logout(u)\n"
LOGICS = ("ere", "ptltl", "cfg", "fsm")


def said_of(formula, *slices, head="S(u)"):
    """The warning after slices that come one after the other, and its message."""
    compiled = compile_spec(parse_file(f"{head} {{\n {EVENTS} {formula}\n}}\n", "s.mop", logics=LOGICS).specs["S"])
    with Monitor(compiled) as monitor:
        for user, events in enumerate(slices):
            for event in events.split():
                monitor.row(event, {"u": user})
        stats = monitor.stats()
    found = stopped_early(compiled.spec, compiled.machines, stats.created, stats.fallen)
    return found and found.message


@pytest.mark.parametrize(
    "logic", ["ere : (login | page)* logout page", "cfg : S -> T logout page, T -> login T | page T | epsilon"]
)
def test_the_first_event_that_does_not_fit_ends_a_pattern(logic):
    relogin, fine = "login page logout login page logout page", "login page logout"
    assert "in 2 of its 3 slices `login` came where" in said_of(logic, relogin, relogin, fine)
    assert "in its only slice `login` came" in said_of(logic, relogin)
    assert said_of(logic, relogin, fine) is None


def test_nothing_is_said_of_what_ends_otherwise():
    twice = "login login page"
    assert said_of("ere : login login", twice) is None  # it matched
    assert said_of("ere : login login\n @fail", "login page") is None  # its end is reported
    assert said_of("ere : login login", twice, "login page", head="suffix S(u)") is None
    assert said_of("ptltl : [*] not page", twice) is None
    assert said_of("fsm : s [ login -> s ]", twice) is None


def test_slices_of_several_values_count_alike():
    text = "S(a, b) { event make(a, b)\n event use(b)\n event end(a)\n ere : make use end use }"
    compiled = compile_spec(parse_file(text, "s.mop", logics=LOGICS).specs["S"])
    with Monitor(compiled) as monitor:
        for number in range(3):
            monitor.row("make", {"a": number, "b": -number})
            monitor.row("end", {"a": number})
        stats = monitor.stats()
        assert stats.fallen == {"end": 3}
        assert stopped_early(compiled.spec, compiled.machines, stats.created, stats.fallen) is not None


def test_what_is_there_to_end_a_slice_is_no_surprise():
    kept = "F(f) { event open(f)\n event write(f)\n event close(f)\n event exit(f)\n ere : open write* exit }"
    over = "event over before(f) : endObject(f)"
    given_up = f"F(f) {{ event made(f)\n event closed(f)\n {over}\n ere : (made closed+)* made over }}"
    for text, slice in (kept, "open write close exit"), (given_up, "made closed over"):
        compiled = compile_spec(parse_file(text, "s.mop", logics=LOGICS).specs["F"])
        with Monitor(compiled) as monitor:
            for number in range(3):
                for event in slice.split():
                    monitor.emit(event, f=number)
            stats = monitor.stats()
        assert sum(stats.fallen.values()) == 3
        assert stopped_early(compiled.spec, compiled.machines, stats.created, stats.fallen) is None


def test_a_slice_that_has_just_matched_was_not_stopped():
    assert said_of("ere : login page", "login page page page") is None


def test_counts_go_on_after_a_snapshot():
    compiled = compile_spec(parse_file(f"S(u) {{\n {EVENTS} ere : login logout\n}}", "s.mop", logics=LOGICS).specs["S"])
    with Monitor(compiled) as monitor:
        for user in (1, 2):
            monitor.row("login", {"u": user})
            monitor.row("page", {"u": user})
        kept = monitor.snapshot()
    with Monitor(compiled) as monitor:
        monitor.restore(kept)
        assert monitor.stats().fallen == {"page": 2}
