"""Logs of components against properties: the vectors of the reference from real files, and the same verdicts whatever
the format, the order of the lines and the way that they are read."""

from __future__ import annotations

import gc
import gzip
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from events.component.log_support import Checked, check_logs
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.components import occurrence
from oracle.tracing import interleave, random_log

import mopsus
from mopsus import _core
from mopsus.events.component.log import jsonl, text
from mopsus.events.component.log.read import LogFormat
from mopsus.events.component.log.session import Dispatching
from mopsus.events.component.log.terms_file import format_term
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model import Spec, Verdict
from mopsus.model.term import Pid
from mopsus.monitor import Monitor

VECTORS = tomllib.loads((Path(__file__).parents[2] / "logics" / "hml" / "vectors.toml").read_text())["case"]
WORDS = {"rejection": "no", "acceptance": "yes", "inconclusive": "end"}
ROOT, WORKER = Pid("<0.1.0>"), Pid("<0.20.0>")

NEG = (
    "with jobs:worker(_) monitor and([_ <- _, jobs:worker(_)] max(X. and([_ ? _]X, [_:_ ! {left, N} when N < 0]ff, "
    "[_:_ ! {left, N} when N >= 0]X, [_:_ ! {done, _}]X)))."
)


def specs_of(source: str, name: str = "property.hml") -> list[Spec]:
    return list(mopsus.parse(source, name).values())


def check(specs: Sequence[Spec], logs: Sequence[Path], **options: Any) -> tuple[list[Verdict], Checked]:
    found: list[Verdict] = []
    result = check_logs(specs, [str(log) for log in logs], on_verdict=found.append, **options)
    return found, result


def write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


# ---- vectors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["text", "jsonl", "terms", "told"])
def test_the_vectors_of_the_reference(format: str, tmp_path: Path) -> None:
    """§7.2 and §7.3; the reference reads overlapping clauses otherwise (S29)."""
    wrong = {}
    for case in VECTORS:
        function = Function("jobs", "boss") if case["id"] in ("S22", "S23") else Function("jobs", "worker", (3,))
        subject = Pid("<0.10.0>") if case["id"] in ("S22", "S23") else WORKER
        events = [Occurrence(Kind.FORK, ROOT, subject, function), *map(occurrence, case["trace"])]
        form: Callable[[Occurrence], str] = {"jsonl": jsonl.format_line, "terms": format_term}.get(
            format, text.format_line
        )
        log = write(tmp_path / "a.log", [form(each) for each in events])
        tell: list[str] = []  # what is told in words cannot be read by the core on its own
        dispatching = Dispatching(tell=tell.append) if format == "told" else Dispatching()
        found, result = check(specs_of(case["property"]), [log], dispatching=dispatching)
        assert result.error is None
        said = {f"{WORDS[each.category]}@{(each.row or 0) - 1}" for each in found}
        expected = "no@1" if case["id"] == "S29" else case["expected"]
        if said != {expected} - {"running", "undefined"}:
            wrong[case["id"]] = (said, expected)
    assert wrong == {}


# ---- the same whatever the way ----------------------------------------------------------------

PROPERTIES = [
    "with m:w(_) monitor max(X. and([_ ? 2]ff, [_ ? _]X, [_:_ ! _]X, [_ <- _, m:w(_)]X, [_ -> _, m:h(_)]X)).",
    "with m:w(_) check max X.([{_ ? M when M > 1}]ff and [{_ ? _}]X and [{_:_ ! _}]X), with m:h(N) check [{_ ? N}]ff.",
    "with m:h(_) monitor max(X. and([_ ** R when R =/= normal]ff, [_ ? _]X, [_:_ ! _]X)).",
]


def told(verdicts: Sequence[Verdict]) -> list[tuple[object, ...]]:
    """Verdicts without their place in the log, by component and in order."""
    return sorted(
        (str(each.binding["component"]), each.property, each.category, len(each.witness), len(each.steps))
        for each in verdicts
    )


def test_verdicts_do_not_depend_on_format_order_or_files(tmp_path: Path) -> None:
    random = Random(5)
    specs = [specs_of(source, f"p{number}.hml")[0] for number, source in enumerate(PROPERTIES)]
    for number in range(30):
        events = random_log(random, 6)
        own: dict[Pid, list[Occurrence]] = {}
        for each in events:
            own.setdefault(each.subject, []).append(each)
        again = interleave(random, list(own.values()))
        logs = {
            "text": [write(tmp_path / f"{number}.log", [text.format_line(each) for each in events])],
            "json": [write(tmp_path / f"{number}.jsonl", [jsonl.format_line(each) for each in events])],
            "other order": [write(tmp_path / f"{number}.o.log", [text.format_line(each) for each in again])],
            "file for each": [
                write(tmp_path / f"{number}.{k}.log", [text.format_line(each) for each in lines])
                for k, lines in enumerate(own.values())
            ],
        }
        found = {name: told(check(specs, files)[0]) for name, files in logs.items()}
        given_root = told(check(specs, logs["text"], dispatching=Dispatching(roots=[events_root(events)]))[0])
        narrated = told(check(specs, logs["text"], dispatching=Dispatching(tell=lambda line: None))[0])
        assert len({repr(each) for each in [*found.values(), given_root, narrated]}) == 1, found


def events_root(events: Sequence[Occurrence]) -> Pid:
    return min((each.subject for each in events), key=lambda pid: int(pid.split(".")[1]), default=ROOT)


@given(st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=40, deadline=None)
def test_counts_are_the_same_in_the_core(random: Random, groups: bool) -> None:
    events = random_log(random, 5)
    specs = specs_of(PROPERTIES[0])
    roots = [events_root(events)]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        log = write(Path(folder, "a.log"), [text.format_line(each) for each in events])
        for tell in (None, lambda line: None):
            dispatching = Dispatching(roots=roots, groups=groups, accounts=True, tell=tell)
            _, result = check(specs, [log], dispatching=dispatching)
            accounts = sorted((each.component, dict(+each.events), each.selected) for each in result.accounts)
            seen = result.stats["property"].seen
            results.append((accounts, result.rows, result.ignored, result.undecided, result.orphans, seen))
    assert results[0] == results[1]


# ---- what goes wrong ---------------------------------------------------------------------------

GOOD = [
    "fork(<0.10.0>,<0.20.0>,{jobs,worker,[3]})",
    "init(<0.20.0>,<0.10.0>,{jobs,worker,[3]})",
    "recv(<0.20.0>,{job,1})",
    "send(<0.20.0>,<0.30.0>,{left,-1})",
]


def test_a_bad_line_stops_the_run_with_its_place(tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", [*GOOD[:3], "recv(<0.20.0>,Oops)", GOOD[3]])
    found, result = check(specs_of(NEG), [log])
    assert found == []
    assert result.error is not None
    assert result.error.message.startswith(f"{log}:4:15: expected an atom")
    assert result.error.code == "LOG-001"
    assert result.rows == 3


def test_a_bad_line_can_be_left_out(tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", [*GOOD[:3], "recv(<0.20.0>,Oops)", "", "% x", GOOD[3]])
    found, result = check(specs_of(NEG), [log], bad_rows="skip")
    assert [each.row for each in found] == [7]
    assert (result.bad_rows, result.rows) == (1, 4)
    assert [each.code for each in result.warnings] == ["TRACE-009"]


def test_a_term_that_never_ends_is_told(tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", ['{trace,"<0.1.0>",send,'])
    _, result = check(specs_of(NEG), [log])
    assert result.error is not None
    assert "period" in result.error.message


def test_who_is_never_forked_is_told(tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", [*GOOD, "recv(<0.99.0>,x)", "exit(<0.20.0>,normal)", "recv(<0.20.0>,late)"])
    _, result = check(specs_of(NEG), [log])
    assert [(each.component, each.events, each.reason) for each in result.orphans] == [
        ("<0.99.0>", 1, "never forked"),
        ("<0.20.0>", 1, "after its exit"),
    ]
    assert [each.code for each in result.warnings] == ["LOG-006", "LOG-006"]


def test_logs_without_forks(tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", [*GOOD[1:], "recv(<0.21.0>,x)"])
    found, result = check(specs_of(NEG), [log], dispatching=Dispatching(roots=None))
    assert [each.category for each in found] == ["rejection"]
    assert [(each.component, each.reason) for each in result.orphans] == [("<0.21.0>", "no init")]


def test_nobody_does_what_a_spec_is_about(tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", [line.replace("worker", "other") for line in GOOD])
    found, result = check(specs_of(NEG), [log])
    assert found == []
    assert [(each.event, each.possible) for each in result.unseen] == [(None, True)]


def test_empty_and_compressed_logs(tmp_path: Path) -> None:
    (tmp_path / "empty.log").touch()
    _, result = check(specs_of(NEG), [tmp_path / "empty.log"])
    assert "TRACE-007" in [each.code for each in result.warnings]
    packed = tmp_path / "a.log.gz"
    packed.write_bytes(gzip.compress("\r\n".join(GOOD).encode()))
    found, result = check(specs_of(NEG), [packed])
    assert [each.row for each in found] == [4]
    packed.write_bytes(gzip.compress("\n".join(GOOD * 1000).encode())[:-50])
    found, result = check(specs_of(NEG), [packed])
    assert result.error is not None
    assert result.error.code == "TRACE-002"


def test_undecided_components_are_counted(tmp_path: Path) -> None:
    lines = [line.replace("<0.20.0>", f"<0.{number}.0>") for number in range(20, 25) for line in GOOD[:3]]
    log = write(
        tmp_path / "a.log", [*lines, "exit(<0.20.0>,normal)", "exit(<0.21.0>,normal)", GOOD[3].replace("20", "24")]
    )
    found, result = check(specs_of(NEG), [log])
    assert sorted(each.category for each in found) == ["inconclusive", "inconclusive", "rejection"]
    assert result.undecided == {"property": {"worker": 2}}


def test_verdicts_come_before_the_end_and_can_be_enough(tmp_path: Path) -> None:
    lines = [line.replace("<0.20.0>", f"<0.{number}.0>") for number in range(20, 40) for line in GOOD]
    found, result = check(specs_of(NEG), [write(tmp_path / "a.log", lines)], max_violations=3)
    assert (len(found), result.full, result.violations) == (3, True, 3)


def test_a_format_can_be_forced(tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", ['{"event":"recv","subject":"<0.1.0>","message":1}'])
    _, result = check(specs_of(NEG), [log], format=LogFormat.TEXT)
    assert result.error is not None


def test_logs_of_logging(tmp_path: Path) -> None:
    lines = [f"12:00:0{number} jobs {line}" for number, line in enumerate(GOOD)]
    log = write(tmp_path / "a.log", [lines[0], "12:00:01 main something else", *lines[1:], "Traceback"])
    found, result = check(specs_of(NEG), [log], log_format="%(time)s %(name)s %(message)s")
    assert [each.row for each in found] == [5]
    assert result.rows == 4


# ---- several logs ------------------------------------------------------------------------------

CROSS = """
Answered(c, s) {
    event asked(c, s) : send(c, s, ("ask", _))
    event told(s, c) : send(s, c, ("tell", _))
    ere : (asked told)*
    @fail
}
"""


def test_logs_are_one_in_the_order_of_their_times(tmp_path: Path) -> None:
    client, server = Pid("<0.2.0>"), Pid("<0.3.0>")
    asked = [Occurrence(Kind.SEND, client, server, ("ask", n), 1.0 + 2 * n) for n in range(3)]
    told_ = [Occurrence(Kind.SEND, server, client, ("tell", n), 2.0 + 2 * n) for n in range(3)]
    logs = [
        write(tmp_path / f"{number}.jsonl", [jsonl.format_line(each) for each in events])
        for number, events in enumerate((told_, asked))
    ]
    found, result = check(specs_of(CROSS, "cross.mop"), logs)
    assert (found, result.rows, result.error) == ([], 6, None)
    untimed = [
        write(tmp_path / f"{number}.log", [text.format_line(each) for each in events])
        for number, events in enumerate((told_, asked))
    ]
    found, _ = check(specs_of(CROSS, "cross.mop"), untimed)
    assert [each.row for each in found] == [1]
    broken = [logs[0], write(tmp_path / "bad.jsonl", ["{}"])]
    _, result = check(specs_of(CROSS, "cross.mop"), broken)
    assert result.error is not None
    assert f"{broken[1]}:1:1" in result.error.message


def test_both_kinds_of_specs_together(tmp_path: Path) -> None:
    mop = "Silent(p) { event got(p) : recv(p, _) event sent(p) : send(p, _, _) ere : got sent @match }"
    log = write(tmp_path / "a.log", GOOD)
    found, _ = check([*specs_of(NEG), *specs_of(mop, "silent.mop")], [log])
    assert [(each.spec, each.category, each.row) for each in found] == [
        ("Silent", "match", 4),
        ("property", "rejection", 4),
    ]


def test_what_a_component_runs_may_be_said_behind_what_it_does(tmp_path: Path) -> None:
    mop = "Worker(p) { event got(p) : recv(p, _) && runs(jobs.worker) ere : got @match }"
    lines = ["recv(<0.20.0>,a)", "recv(<0.21.0>,b)", GOOD[0], "fork(<0.10.0>,<0.21.0>,{jobs,other,[]})"]
    found, _ = check(specs_of(mop, "worker.mop"), [write(tmp_path / "a.log", lines)])
    assert [each.binding["p"] for each in found] == ["<0.20.0>"]


def test_a_log_says_where_in_the_program_it_happened(tmp_path: Path) -> None:
    events = [text.parse_line(line) for line in GOOD]
    lines = [
        jsonl.format_line(each[0]._replace(location=f"jobs.py:{n}", time=n)) for n, each in enumerate(events) if each
    ]
    found, _ = check(specs_of(NEG), [write(tmp_path / "a.jsonl", lines)])
    assert [(each.location, each.time) for each in found] == [("jobs.py:3", 3)]


def test_delays_are_only_waited_for_when_asked(tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", [f"{GOOD[0]} delayed by 150", *GOOD[1:]])
    seconds = []
    for replay in (False, True):
        start = time.perf_counter()
        found, _ = check(specs_of(NEG), [log], dispatching=Dispatching(replay=replay))
        seconds.append(time.perf_counter() - start)
        assert len(found) == 1
    assert seconds[1] >= 0.15


# ---- the core ----------------------------------------------------------------------------------


def test_a_log_in_the_core_is_garbage_collected() -> None:
    monitor = Monitor(specs_of(NEG)[0])
    core, (send, recv, init) = monitor.inside("send", "recv", "init")

    class Cycle:
        pass

    cycle = Cycle()
    cycle.log = _core.DirectLog([core], [(send, recv, init)])  # type: ignore[attr-defined]
    monitor.cycle = cycle  # type: ignore[attr-defined]
    dead: list[int] = []

    class Canary:
        def __del__(self) -> None:
            dead.append(1)

    cycle.canary = Canary()  # type: ignore[attr-defined]
    del monitor, core, cycle
    gc.collect()
    assert dead == [1]


def test_long_lives_of_many_components_leave_nothing_behind(tmp_path: Path) -> None:
    lines: list[str] = []
    for number in range(3000):
        pid = f"<0.{number + 20}.0>"
        lines += [line.replace("<0.20.0>", pid) for line in GOOD[:3]] + [f"exit({pid},normal)"]
    log = write(tmp_path / "a.log", lines)
    open_monitors: list[Monitor] = []

    def open_monitor(spec: Spec, on_verdict: Callable[[Verdict], None]) -> Monitor:
        open_monitors.append(Monitor(spec, on_verdict=on_verdict, history=8))
        return open_monitors[-1]

    found, result = check(specs_of(NEG), [log], open_monitor=open_monitor)
    assert len(found) == 3000
    assert result.stats["property"].alive == 0
    assert result.stats["property"].bytes < 4_000_000


def test_values_are_seen_alike_by_both_ways(tmp_path: Path) -> None:
    source = 'with jobs:worker(_) monitor max(X. and([_ ? ok]ff, [_ ? "ok"]X, [_ <- _, jobs:worker(_)]X)).'
    for message, rejected in [('"ok"', False), ("ok", True), ('~"ok"', True), ("'ok'", True)]:
        log = write(tmp_path / "a.log", [*GOOD[:2], f"recv(<0.20.0>,{message})"])
        for tell in (None, lambda line: None):
            found, _ = check(specs_of(source), [log], dispatching=Dispatching(tell=tell))
            assert [each.category for each in found] == ["rejection"] * rejected, (message, tell)


def test_arguments_that_python_finds_equal_select_differently(tmp_path: Path) -> None:
    lines = [
        f"fork(<0.1.0>,<0.{n}.0>,{{m,f,[{given}]}})" for n, given in enumerate(["1", "1.0", "true", "x", '"x"'], 2)
    ]
    found, _ = check(specs_of("with m:f(1) monitor ff, with m:f(x) monitor ff."), [write(tmp_path / "a.log", lines)])
    assert [each.binding["component"] for each in found] == ["<0.2.0>", "<0.5.0>"]


def test_atoms_of_functions_select(tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", ["fork(<0.1.0>,<0.2.0>,{'my.jobs','Worker.run',[]})", "recv(<0.2.0>,x)"])
    found, _ = check(specs_of("with 'my.jobs':'Worker.run'() monitor and([_ ? x]ff)."), [log])
    assert [each.category for each in found] == ["rejection"]
