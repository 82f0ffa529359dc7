"""System calls, signals and C++ exceptions as events."""

from __future__ import annotations

import pytest
from interactive.gdb.programs import SOURCES, build, observe, run_gdb

from mopsus.interactive.gdb import launch
from mopsus.interactive.setup import Setup, Watched
from mopsus.model import Place, PlaceKind, Reading, ReadingKind

pytestmark = pytest.mark.gdb


def argument(index: int, wanted: str | None = None) -> Reading:
    return Reading(ReadingKind.ARGUMENT, index=index, type=wanted)


def name(text: str) -> Reading:
    return Reading(ReadingKind.NAME, text)


RESULT = Reading(ReadingKind.RESULT)
CALLER = Reading(ReadingKind.CALLER, inner=name("i"))
KERNEL = """
    #include <signal.h>
    #include <unistd.h>
    volatile int got;
    void handler(int number) { got++; }
    int main(void) {
        signal(SIGUSR1, handler);
        for (int i = 0; i < 3; i++) {
            write(i ? 77 : 2, "abc", 3);
            raise(SIGUSR1);
        }
        return got;
    }
"""


def test_system_calls_are_told_before_and_after_with_arguments_and_result():
    before, after = Place(PlaceKind.SYSCALL, "write"), Place(PlaceKind.SYSCALL, "write", after=True)
    found = observe(
        build(KERNEL),
        {
            before: [argument(1), argument(2, "str"), argument(3), RESULT, argument(7), CALLER],
            after: [argument(1), RESULT],
        },
        "handle SIGUSR1 nostop noprint",
        "observe",
        "run",
    )
    told = []
    for i, (descriptor, result) in enumerate([(2, 3), (77, -9), (77, -9)]):
        nothing = ["<unavailable: there is no result here>", "<unavailable: there are 6 arguments here>"]
        told += [("syscall write", [descriptor, "abc", 3, *nothing, i]), ("after syscall write", [descriptor, result])]
    assert found == [*told, ("open calls", [0])]


def test_signals_are_told_and_reach_the_program_all_the_same():
    place = Place(PlaceKind.SIGNAL, "SIGUSR1")
    commands = (
        "python gdb.events.stop.connect(lambda event: observer.found.append(('stop', [])))",
        "python gdb.events.exited.connect(lambda event: observer.ended(event.exit_code))",
        "observe",
        "run",
    )
    found = observe(build(KERNEL), {place: [argument(1), name("got")]}, *commands)
    assert found == [
        *(("signal SIGUSR1", [10, i]) for i in range(3)),
        ("end", [3]),
        ("open calls", [0]),
    ]


EXCEPTIONS = """
    #include <stdexcept>
    struct Base { int code = 0; };
    struct Derived : Base { Derived(int n) { code = n; } };
    struct Both : std::runtime_error, Base { Both() : std::runtime_error("both") { code = 9; } };
    namespace deep { struct Inner : Derived { Inner() : Derived(3) {} }; }
    void fail(int i) {
        int local = 10 * i;
        if (i == 0) throw 7;
        if (i == 1) throw Derived(local);
        if (i == 2) throw Both();
        if (i == 3) throw deep::Inner();
        if (i == 4) throw std::logic_error("logic");
    }
    int main() {
        for (int i = 0; i < 6; i++) {
            try { fail(i); }
            catch (int) { }
            catch (Base &) { }
            catch (...) { try { throw; } catch (std::exception &) { } }
        }
    }
"""


def exceptions(kind: PlaceKind, what: str, *readings: Reading):
    program = build(EXCEPTIONS, "-g", "-O0", language="c++")
    return observe(program, {Place(kind, what): readings})[:-1]


def test_exceptions_are_told_where_they_are_thrown():
    found = exceptions(PlaceKind.THROW, "", argument(2), name("i"))
    types = ["int", "Derived", "Both", "deep::Inner", "std::logic_error", "std::logic_error"]
    assert [values for _, values in found] == [[kind, i] for kind, i in zip(types, (0, 1, 2, 3, 4, 4), strict=True)]


def test_the_result_at_an_exception_is_the_exception():
    thrown = exceptions(PlaceKind.THROW, "Base", RESULT, argument(2))
    assert [values for _, values in thrown] == [
        [{"Base": {"code": 10}}, "Derived"],
        [thrown[1][1][0], "Both"],
        [{"Derived": {"Base": {"code": 3}}}, "deep::Inner"],
    ]
    assert thrown[1][1][0]["Base"] == {"code": 9}
    assert exceptions(PlaceKind.CATCH, "int", RESULT) == [("catch int", [7])]


def test_exceptions_of_derived_types_are_of_their_base_types():
    found = exceptions(PlaceKind.THROW, "Base", argument(1), name("local"))
    values = [[{"Base": {"code": 10}}, 10], [{"Derived": {"Base": {"code": 3}}}, 30]]
    assert [found[0][1], found[2][1]] == values
    assert found[1][1][0]["Base"] == {"code": 9}
    assert [len(exceptions(PlaceKind.THROW, what)) for what in ("std::exception", "int", "Nothing")] == [3, 1, 0]


def test_exceptions_are_told_where_they_are_caught():
    found = exceptions(PlaceKind.CATCH, "Base", argument(1), argument(2), name("i"))
    assert found == [
        ("catch Base", [{"Base": {"code": 10}}, "Derived", 1]),
        ("catch Base", ["<unavailable: it is caught as one of its several bases>", "Both", 2]),
        ("catch Base", [{"Derived": {"Base": {"code": 3}}}, "deep::Inner", 3]),
    ]


def test_unknown_system_calls_and_signals_are_refused_with_near_names():
    said = run_gdb(
        None,
        [
            f"python import sys; sys.path.insert(0, {str(SOURCES)!r})",
            "python from mopsus.interactive.gdb.adapter import GdbDebugger",
            "python from mopsus.model import Place, PlaceKind",
            "python debugger = GdbDebugger()",
            "python print(debugger.known(Place(PlaceKind.SYSCALL, 'wrte')))",
            "python print(debugger.known(Place(PlaceKind.SIGNAL, 'SIGUSR3')))",
            "python print(debugger.known(Place(PlaceKind.SYSCALL, 'write')))",
        ],
    )
    assert "there is no system call wrte; did you mean write" in said
    assert "there is no signal SIGUSR3; did you mean SIGUSR" in said
    assert said.strip().endswith("None")


def test_an_exception_is_told_on_the_line_that_throws_it(tmp_path):
    """The line behind it was told once, where the program would go on if a throw returned."""
    prop = "state init { transition { event throw int() success thrown } } state thrown non-accepting"
    (tmp_path / "thrown.prop").write_text(prop)
    program = build("\nint main() {\n    try {\n        throw 7;\n    } catch (int) { }\n}\n", "-g", language="c++")
    outcome = launch.run(Setup((Watched(str(tmp_path / "thrown.prop")),), (str(program),), batch=True))
    (verdict,) = outcome.verdicts
    assert outcome.stop is not None
    assert (verdict.location, outcome.stop.location) == (f"{program.parent}/program.cc:4", verdict.location)
