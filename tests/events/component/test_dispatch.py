"""The dispatcher against a literal reading of the reference's table, and its vectors."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.tracing import Delivery, interleave, never_forked, random_log, replay

from mopsus.events.component.dispatch import Account, Dispatcher
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.term import Pid

ROOT = Pid("<0.10.0>")


class Recorder:
    """A feed that notes what it hears."""

    def __init__(self, *functions: str) -> None:
        self.functions = functions
        self.heard: list[Delivery] = []
        self.started: list[Pid] = []
        self.ended: list[Pid] = []
        self.alive: set[Pid] = set()

    def selects(self, function: Function | None) -> bool:
        return function is not None and function.name in self.functions

    def start(self, component: Pid, function: Function, cause: Occurrence) -> None:
        assert self.selects(function)
        assert cause.data == function
        assert component not in self.alive
        self.alive.add(component)
        self.started.append(component)

    def event(self, component: Pid, occurrence: Occurrence) -> None:
        assert component in self.alive
        self.heard.append((component, occurrence))

    def end(self, component: Pid) -> None:
        self.alive.discard(component)
        self.ended.append(component)

    def by_subject(self) -> dict[Pid, list[Occurrence]]:
        """What was heard of each component, in order."""
        found: dict[Pid, list[Occurrence]] = {}
        for _, occurrence in self.heard:
            found.setdefault(occurrence.subject, []).append(occurrence)
        return found


class Everything(Recorder):
    """A feed that wants every component."""

    def selects(self, function: Function | None) -> bool:
        return True

    def event(self, component: Pid, occurrence: Occurrence) -> None:
        self.heard.append((component, occurrence))


def pid(number: int) -> Pid:
    return Pid(f"<0.{number}.0>")


def event(text: str) -> Occurrence:
    """`fork 10 20 worker`, `init 20 10 worker`, `send 20`, `recv 20`, `exit 20`."""
    kind, subject, *rest = text.split()
    if kind in ("fork", "init"):
        return Occurrence(Kind(kind), pid(int(subject)), pid(int(rest[0])), Function("jobs", rest[1], (1,)))
    return Occurrence(Kind(kind), pid(int(subject)), pid(30) if kind == "send" else None, "x")


def events(text: str) -> list[Occurrence]:
    return [event(line) for line in re.split(r"\s*;\s*", text)]


# ---- vectors ---------------------------------------------------------------------------------

VECTORS = {  # §7.7: counters are (fork, init, send, recv, exit)
    "O1": (
        "fork 10 20 worker; init 20 10 worker; recv 20; exit 20; exit 10",
        {10: (1, 0, 0, 0, 1), 20: (0, 1, 0, 1, 1)},
        [],
    ),
    "O2": (
        "init 20 10 worker; recv 20; exit 20; fork 10 20 worker; exit 10",
        {10: (1, 0, 0, 0, 1), 20: (0, 1, 0, 1, 1)},
        [],
    ),
    "O3": (
        "recv 22; exit 22; fork 21 22 helper; exit 21; fork 20 21 worker; send 20; fork 10 20 worker; exit 10; exit 20",
        {10: (1, 0, 0, 0, 1), 20: (1, 0, 1, 0, 1), 21: (1, 0, 0, 1, 2)},
        [],
    ),
    "O4": (
        "fork 10 20 worker; fork 20 21 helper; send 21; recv 20; exit 20; send 21; exit 21; exit 10",
        {10: (1, 0, 0, 0, 1), 20: (1, 0, 2, 1, 2)},
        [],
    ),
    "O5": (
        "send 99; fork 10 20 worker; exit 20; exit 10; recv 20",
        {10: (1, 0, 0, 0, 1), 20: (0, 0, 0, 0, 1)},
        [(99, 1, "never forked"), (20, 1, "after its exit")],
    ),
    "O6": (
        "fork 10 20 worker; exit 10; recv 20; send 20; exit 20",
        {10: (1, 0, 0, 0, 1), 20: (0, 0, 1, 1, 1)},
        [],
    ),
    "O7": ("fork 10 20 helper; recv 20; exit 20; exit 10", {10: (1, 0, 0, 1, 2)}, []),
}
ORDER = (Kind.FORK, Kind.INIT, Kind.SEND, Kind.RECV, Kind.EXIT)


@pytest.mark.parametrize("name", VECTORS)
def test_groups_are_counted_as_detecter_counts_tracers(name: str) -> None:
    log, counters, left = VECTORS[name]
    ended: list[Account] = []
    dispatcher = Dispatcher([Recorder("worker")], groups=True, roots=[ROOT], on_end=ended.append)
    for occurrence in events(log):
        dispatcher.post(occurrence)
    orphans = dispatcher.finish()
    assert dispatcher.accounts() == []
    found = {account.component: tuple(account.events[kind] for kind in ORDER) for account in ended}
    assert found == {pid(number): counts for number, counts in counters.items()}
    assert [(each.component, each.events, each.reason) for each in orphans] == [(pid(n), c, r) for n, c, r in left]


def test_without_groups_events_of_other_children_reach_no_monitor() -> None:
    """T7 of §7.8."""
    feed = Recorder("worker")
    dispatcher = Dispatcher([feed], roots=[ROOT])
    for occurrence in events(
        "fork 10 20 worker; fork 20 21 helper; send 21; recv 20; fork 21 22 worker; recv 22; exit 21"
    ):
        dispatcher.post(occurrence)
    assert dispatcher.finish() == []
    assert [(tracer, each.kind, each.subject) for tracer, each in feed.heard] == [
        (pid(20), Kind.FORK, pid(20)),
        (pid(20), Kind.RECV, pid(20)),
        (pid(22), Kind.RECV, pid(22)),
    ]


# ---- against the definition ------------------------------------------------------------------


@given(st.randoms(use_true_random=False), st.integers(1, 9), st.booleans())
@settings(max_examples=400, deadline=None)
def test_deliveries_are_those_of_the_definition(random: Random, components: int, groups: bool) -> None:
    log = random_log(random, components)
    strangers = [event("send 99"), event("recv 99")][: random.randrange(3)]
    late = [event("recv 11")][: random.randrange(2)]
    log = [*interleave(random, [log, strangers]), *late]
    feed = Recorder("w")
    dispatcher = Dispatcher([feed], groups=groups, roots=[ROOT])
    for occurrence in log:
        dispatcher.post(occurrence)
    orphans = dispatcher.finish()
    delivered, waiting = replay(log, [ROOT], feed.selects, groups=groups)
    assert feed.heard == [each for each in delivered if each[0] is not None]
    assert {each.component: each.events for each in orphans} == Counter(each.subject for each in waiting)
    assert sum(account.events.total() for account in dispatcher.accounts()) <= len(delivered)


@given(st.randoms(use_true_random=False), st.integers(1, 9))
@settings(max_examples=300, deadline=None)
def test_roots_of_groups_are_those_that_no_fork_makes(random: Random, components: int) -> None:
    log = random_log(random, components)
    feed = Recorder("w")
    dispatcher = Dispatcher([feed], groups=True)
    for occurrence in log:
        dispatcher.post(occurrence)
    dispatcher.finish()
    delivered, waiting = replay(log, never_forked(log), feed.selects, groups=True)
    assert waiting == []
    assert feed.heard == [each for each in delivered if each[0] is not None]


@given(st.randoms(use_true_random=False), st.integers(1, 9))
@settings(max_examples=300, deadline=None)
def test_each_component_is_heard_alike_whether_its_fork_or_its_init_comes_first(
    random: Random, components: int
) -> None:
    log = random_log(random, components)
    feed = Recorder("w")
    dispatcher = Dispatcher([feed])
    for occurrence in log:
        dispatcher.post(occurrence)
    dispatcher.finish()
    delivered, _ = replay(log, never_forked(log), feed.selects, groups=False)
    expected: dict[Pid, list[Occurrence]] = {}
    for tracer, occurrence in delivered:
        if tracer is not None:
            expected.setdefault(tracer, []).append(occurrence)
    assert feed.by_subject() == expected
    assert len(feed.started) == len(set(feed.started))
    assert set(feed.ended) == {each.subject for each in log if each.kind is Kind.EXIT} & set(feed.started)


@given(st.randoms(use_true_random=False), st.integers(1, 6))
@settings(max_examples=100, deadline=None)
def test_feeds_do_not_disturb_each_other(random: Random, components: int) -> None:
    log = random_log(random, components)
    groups = random.random() < 0.5
    together = [Recorder("w"), Recorder("h"), Everything()]
    alone = [Recorder("w"), Recorder("h"), Everything()]
    for feeds in (together, *([feed] for feed in alone)):
        dispatcher = Dispatcher(feeds, groups=groups, roots=[ROOT])
        for occurrence in log:
            dispatcher.post(occurrence)
        dispatcher.finish()
    assert [feed.heard for feed in together] == [feed.heard for feed in alone]
    assert [feed.ended for feed in together] == [feed.ended for feed in alone]
    assert [occurrence for _, occurrence in together[2].heard] == log


# ---- ways of becoming known ------------------------------------------------------------------


def heard(log: str, roots: object = "auto") -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """What a feed for workers hears as (component, kind), and the orphans with their reasons."""
    feed = Recorder("worker")
    dispatcher = Dispatcher([feed], roots=roots)  # type: ignore[arg-type]
    for occurrence in events(log):
        dispatcher.post(occurrence)
    orphans = dispatcher.finish()
    shown = [(str(component), str(each.kind)) for component, each in feed.heard]
    return shown, [(each.component, each.reason) for each in orphans]


def test_a_component_that_is_over_before_its_fork_comes_is_not_started_again() -> None:
    shown, orphans = heard("init 20 10 worker; exit 20; fork 10 20 worker")
    assert shown == [(pid(20), "init"), (pid(20), "exit")]
    assert orphans == []


def test_an_identifier_that_is_forked_again_is_a_new_component() -> None:
    shown, _ = heard("fork 10 20 worker; exit 20; fork 10 20 worker; recv 20")
    assert shown == [(pid(20), "exit"), (pid(20), "recv")]


def test_a_component_that_nobody_forks_is_told_of() -> None:
    shown, orphans = heard("fork 10 20 worker; recv 20; recv 99; send 99")
    assert shown == [(pid(20), "recv")]
    assert orphans == [(pid(99), "never forked")]


def test_without_forks_the_init_says_what_a_component_runs() -> None:
    shown, orphans = heard("init 20 10 worker; recv 20; recv 21; exit 21; recv 22; exit 20; recv 20", None)
    assert shown == [(pid(20), "init"), (pid(20), "recv"), (pid(20), "exit")]
    assert orphans == [(pid(21), "no init"), (pid(22), "no init"), (pid(20), "after its exit")]


def test_a_root_can_say_what_it_runs() -> None:
    shown, _ = heard("init 10 1 worker; recv 10", [ROOT])
    assert shown == [(ROOT, "init"), (ROOT, "recv")]


def test_nobody_waits_where_nobody_selects() -> None:
    feed = Everything()
    dispatcher = Dispatcher([feed])
    for occurrence in events("recv 20; recv 99; fork 10 20 worker; exit 20; recv 20"):
        dispatcher.post(occurrence)
        assert dispatcher.waiting == (occurrence.kind is Kind.RECV and len(feed.heard) == 5)
    assert dispatcher.finish() == []
    assert (len(feed.heard), dispatcher.heard) == (5, 5)


def test_groups_need_forks() -> None:
    with pytest.raises(ValueError, match="forks"):
        Dispatcher([], groups=True, roots=None)


# ---- limits ----------------------------------------------------------------------------------


def test_a_component_of_which_events_were_lost_is_not_monitored() -> None:
    feed = Recorder("worker")
    dispatcher = Dispatcher([feed], roots=[ROOT], limit=4)
    for text in ("recv 20", "recv 20", "recv 20", "recv 21", "recv 21", "recv 20", "fork 10 20 worker", "recv 20"):
        dispatcher.post(event(text))
    dispatcher.post(event("fork 10 21 worker"))
    assert [(component, each.kind) for component, each in feed.heard] == [(pid(21), Kind.RECV)] * 2
    assert [(each.component, each.events, each.reason) for each in dispatcher.finish()] == [
        (pid(20), 5, "too many waiting")
    ]


def test_a_busy_root_is_not_missed() -> None:
    dispatcher = Dispatcher([Recorder("worker")], limit=10)
    for occurrence in [event("fork 10 20 worker"), *[event("send 10")] * 100, *[event("send 99")] * 100]:
        dispatcher.post(occurrence)
    assert [(each.component, each.events, each.reason) for each in dispatcher.finish()] == [
        (pid(99), 100, "never forked")
    ]


def test_components_that_are_over_leave_nothing_behind() -> None:
    dispatcher = Dispatcher([Recorder("worker")], limit=10)
    for number in range(20, 1020):
        for text in (f"fork 10 {number} worker", f"recv {number}", f"exit {number}"):
            dispatcher.post(event(text))
    assert len(dispatcher._over) <= 10
    assert len(dispatcher._known) == 0
    assert dispatcher.waiting <= 10


def test_many_strangers_cost_no_more_each_than_few() -> None:
    """The reference's list of waiting events is quadratic; here the steps are counted, not timed."""
    calls = Counter[str]()

    class Counted(Recorder):
        def event(self, component: Pid, occurrence: Occurrence) -> None:
            calls["event"] += 1

    dispatcher = Dispatcher([Counted("worker")], roots=[ROOT])
    for number in range(20_000):
        dispatcher.post(event(f"recv {100 + number}"))
    for number in range(20_000):
        dispatcher.post(event(f"fork 10 {100 + number} worker"))
    assert calls["event"] == 20_000
    assert dispatcher.finish() == []


def test_a_feed_may_post_while_it_is_called() -> None:
    class Answering(Recorder):
        def event(self, component: Pid, occurrence: Occurrence) -> None:
            super().event(component, occurrence)
            if occurrence.data == "x" and occurrence.kind is Kind.RECV:
                dispatcher.post(Occurrence(Kind.SEND, component, pid(30), "answer"))

    feed = Answering("worker")
    dispatcher = Dispatcher([feed], roots=[ROOT])
    for occurrence in events("recv 20; recv 20; fork 10 20 worker; exit 20"):
        dispatcher.post(occurrence)
    assert [each.kind for _, each in feed.heard] == [Kind.RECV, Kind.RECV, Kind.SEND, Kind.SEND, Kind.EXIT]
