"""Places that come later or elsewhere: in libraries that the program loads by itself, and in all of its threads."""

from __future__ import annotations

import subprocess

import pytest
from interactive.gdb.programs import build, observe

from mopsus.model import Place, PlaceKind, Reading, ReadingKind

pytestmark = pytest.mark.gdb

ARGUMENT = Reading(ReadingKind.ARGUMENT, index=1)
RESULT = Reading(ReadingKind.RESULT)

PLUGIN = "int plugged(int n) { return n + 1; }"
LOADING = """
    #include <dlfcn.h>
    int main(int argc, char **argv) {
        int total = 0;
        for (int i = 0; i < 3; i++) {
            void *library = dlopen(argv[1], RTLD_NOW);
            int (*plugged)(int) = (int (*)(int)) dlsym(library, "plugged");
            total += plugged(i) + plugged(10 * i);
            dlclose(library);
        }
        return total;
    }
"""


def test_functions_of_libraries_that_are_loaded_and_unloaded_again(tmp_path):
    library = tmp_path / "plugin.so"
    (tmp_path / "plugin.c").write_text(PLUGIN)
    subprocess.run(["gcc", "-g", "-shared", "-fPIC", str(tmp_path / "plugin.c"), "-o", str(library)], check=True)
    before, after = Place(PlaceKind.CALL, "plugged"), Place(PlaceKind.CALL, "plugged", after=True)
    commands = (f"set args {library}", "observe", "run")
    found = observe(build(LOADING), {before: [ARGUMENT], after: [ARGUMENT, RESULT]}, *commands)
    expected = []
    for n in (0, 0, 1, 10, 2, 20):
        expected += [("call plugged", [n]), ("after call plugged", [n, n + 1])]
    assert found == [*expected, ("open calls", [0])]


TOGETHER = """
    #include <pthread.h>
    #include <unistd.h>
    int visit(int n) { return n < 10 ? n : visit(n - 10) + 1; }
    void *walk(void *which) {
        for (long i = 0; i < 5; i++) visit(10 * i + (long) which);
        return 0;
    }
    int main(void) {
        pthread_t threads[4];
        for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, walk, (void *) i);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    }
"""


def test_calls_of_all_threads_return_each_in_its_own():
    place = Place(PlaceKind.CALL, "visit", after=True)
    found = observe(build(TOGETHER, "-g", "-O0", "-pthread"), {place: [ARGUMENT, RESULT]})
    *returns, last = [(where, values) for where, values in found]
    assert last == ("open calls", [0])
    expected = [[10 * i + which, which + i] for which in range(4) for top in range(5) for i in range(top + 1)]
    assert sorted(values for _, values in returns) == sorted(expected)


def test_exceptions_and_system_calls_of_threads_are_told_in_their_own():
    program = build(
        """
        #include <thread>
        #include <stdexcept>
        #include <vector>
        #include <unistd.h>
        void work(int number) {
            for (int i = 0; i < 3; i++) {
                try { if (write(-1, "", number)) throw std::out_of_range("x"); }
                catch (std::exception &) { }
            }
        }
        int main() {
            std::vector<std::thread> threads;
            for (int i = 1; i < 4; i++) threads.emplace_back(work, i);
            for (auto &thread : threads) thread.join();
        }
        """,
        "-g",
        "-O0",
        "-pthread",
        language="c++",
    )
    count = Reading(ReadingKind.ARGUMENT, index=3)
    number = Reading(ReadingKind.NAME, "number")
    found = observe(
        program,
        {
            Place(PlaceKind.SYSCALL, "write", after=True): [count, RESULT],
            Place(PlaceKind.THROW, "std::logic_error"): [number],
            Place(PlaceKind.CATCH, "std::exception"): [number],
        },
    )
    told = sorted((where, tuple(values)) for where, values in found if where != "open calls")
    assert told == sorted(
        event
        for thread in (1, 2, 3)
        for event in (
            ("after syscall write", (thread, -9)),
            ("throw std::logic_error", (thread,)),
            ("catch std::exception", (thread,)),
        )
        for _ in range(3)
    )
