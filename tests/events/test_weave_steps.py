"""Iteration inside of C code: seen of iterators that rewritten code has made, and of nothing else."""

from __future__ import annotations

import gc
import importlib
import subprocess
import sys
import threading
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from events.woven import Recorder, program, recorded
from rewrite_support import Event, compare, everything, names

import mopsus
from mopsus.events.weave.joinpoints import Operation

pytestmark = pytest.mark.interpreter

__all__ = ["program", "recorded"]  # fixtures

LIST_ITERATOR = type(iter([]))


def steps(source: str) -> list[str]:
    """The types of what is asked for its next value, once for each time."""
    told = compare(dedent(source), lambda log: everything(log, [Operation.NEXT]))
    assert set(names(told)) <= {"next"}
    return [kind for _, kind in told[::2]]


@pytest.mark.parametrize(
    "use",
    [
        "sum(it)",
        "list(it)",
        "tuple(it)",
        "set(it)",
        "max(it)",
        "sorted(it)",
        "any(x > 5 for x in ()) or all(it)",
        "''.join(map(str, ()), ) or bytes(it)",
        "[].extend(it)",
        "dict.fromkeys(it)",
        "dict().update(zip((1, 2), it)) or next(it, None)",
        "9 in it",
        "__import__('collections').deque(it)",
        "__import__('functools').reduce(max, it)",
        "(lambda *a: a)(*it)",
        "a, b = it",
        "a, *b = it",
        "for x in it: pass",
        "[x for x in it]",
        "next(it), next(it), next(it, 0)",
    ],
)
def test_every_consumer_is_seen_once(use: str) -> None:
    told = steps(f"it = iter([1, 2])\n{use}")
    assert told.count("list_iterator") == 3


@pytest.mark.parametrize(
    ("source", "kind", "count"),
    [
        ("sum(x for x in (1, 2))", "generator", 3),
        ("def g():\n    yield 1\nlist(g())", "generator", 2),
        ("list(map(abs, [1]))", "map", 2),
        ("list(filter(None, [1]))", "filter", 2),
        ("list(enumerate([1]))", "enumerate", 2),
        ("list(reversed([1]))", "list_reverseiterator", 2),
        ("list(zip([1]))", "zip", 2),
        ("list(iter(lambda: 1, 1))", "callable_iterator", 1),
        ("list(iter({1: 2}.items()))", "dict_itemiterator", 2),
        ("import itertools as i\nlist(i.chain([1]))", "chain", 2),
        ("from itertools import chain as c\nlist(c.from_iterable([[1]]))", "chain", 2),
        ("class I:\n    __iter__ = lambda s: s\n    def __next__(s): raise StopIteration\nlist(iter(I()))", "I", 1),
    ],
)
def test_iterators_of_all_sorts(source: str, kind: str, count: int) -> None:
    assert steps(source).count(kind) == count


def test_what_c_code_makes_itself_is_not_seen() -> None:
    assert steps("x = [1]\nsum(x), list(x), iter(x), dict({}.items())\nnext(iter([]), 0)") == ["list_iterator"]


def test_an_iterator_inside_of_another() -> None:
    assert steps("it = iter([1])\nlist(map(abs, it))") == ["map", "list_iterator"] * 2
    assert steps("it = iter([1])\nfor x in enumerate(it): pass") == ["enumerate", "list_iterator"] * 2


def test_delegation_is_seen() -> None:
    assert steps("def g():\n    yield from [1]\nlist(g())") == ["generator", "list_iterator"] * 2


def test_slots_are_put_back_with_the_last_iterator(program: Any) -> None:
    name = program("def make(x):\n    return iter(x)\n")
    foreign = iter([1, 2, 3])
    with Recorder("R(i)", "event step before(i) : next(i)") as seen:
        module = importlib.import_module(name)
        mine = module.make([1])
        assert (list(foreign), seen.names) == ([1, 2, 3], [])
        assert (list(mine), seen.names) == ([1], ["step", "step"])
        del mine
        seen.seen.clear()
        # Another one may stand at the same place.
        assert [list(iter([x])) for x in range(50)] == [[x] for x in range(50)]
        left = module.make([5])
        assert seen.names == []
    assert (list(left), seen.names) == ([5], [])


def test_values_of_other_events_are_followed(program: Any) -> None:
    name = program("class C:\n    def make(self, made):\n        return made\n")
    with Recorder(
        "R(i)",
        f"event made after() returning(i) : call({name}.C.make)",
        "event step before(i) : next(i)",
    ) as seen:
        module = importlib.import_module(name)
        list(iter([1]))
        assert list(module.C().make(iter([1]))) == [1]
    assert seen.names == ["made", "step", "step"]


def test_a_list_that_changes_while_c_code_iterates(program: Any) -> None:
    name = program("def use(c):\n    it = iter(c)\n    next(it)\n    c.append(4)\n    return sum(it)\n")
    text = """
    UnsafeIter(c: list, i) {
        event create after(c) returning(i) : call(builtins.iter) && args(c)
        event update after(c) : call(list.append) && target(c)
        event next before(i) : next(i)
        ere : create next* update+ next
    }
    """
    with mopsus.weave(mopsus.parse(text)) as woven:
        assert importlib.import_module(name).use([1, 2]) == 6
    assert [verdict.category for verdict in woven.verdicts] == ["match"]


def test_errors_come_out_as_they_are() -> None:
    source = """
        def g():
            yield 1
            raise KeyError("k")
        try: list(g())
        except KeyError: pass
    """
    log: list[Event] = compare(dedent(source), lambda log: everything(log, [Operation.NEXT]))
    assert names(log) == ["next"] * 4


def test_threads_and_collected_iterators(program: Any) -> None:
    name = program("def work():\n    return sum(sum(iter([1, 2])) + sum(x for x in (3,)) for _ in range(200))\n")
    text = "S(i) { event step before(i) : next(i) ere : step step step step }"
    with mopsus.weave(mopsus.parse(text)) as woven:
        module = importlib.import_module(name)
        results: list[int] = []
        threads = [threading.Thread(target=lambda: results.append(module.work())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gc.collect()
        stats = woven.monitors["S"].stats()
    assert results == [1200] * 4
    # Three of each list iterator; of each generator two by `sum` and one for the loop in it, which takes two steps.
    assert stats.events == 4 * (200 * (3 + 2 + 2) + 201 + 201)
    assert stats.alive == 0


def test_recursion_through_c_code() -> None:
    depth = 60
    source = f"""
        def tree(n):
            yield n
            if n: yield max(tree(n - 1))
        print(max(tree({depth})))
    """
    limit = sys.getrecursionlimit()
    assert steps(source).count("generator") == 3 * depth + 2
    assert sys.getrecursionlimit() == limit


def test_the_end_of_the_interpreter_is_clean(tmp_path: Path) -> None:
    (tmp_path / "s.mop").write_text(
        "S(i) { event step before(i) : next(i) ere : step step step @match { print('three') } }"
    )
    (tmp_path / "late.py").write_text(
        "class Late:\n    def __init__(self): self.kept = iter([1, 2])\n"
        "    def __del__(self): print(sum(self.kept), sum(x for x in (1, 2)))\nlate = Late()\n"
    )
    (tmp_path / "app.py").write_text(
        "import mopsus\nmopsus.install('s.mop')\nimport late, builtins\nbuiltins.kept = late.late\n"
    )
    done = subprocess.run([sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 3" in done.stdout
