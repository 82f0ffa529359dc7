"""Events that change nothing take a quick way through a monitor, and the reports stay the same.

The same random programs run with monitors that take it and with monitors that cannot: those whose values are found by
way of the objects themselves (`decentralized`), and those of one thread (`perthread`).
"""

from __future__ import annotations

import gc
import importlib
import random
import sys
import threading
from collections.abc import Callable

import pytest
from woven import program

import mopsus

pytestmark = pytest.mark.interpreter

__all__ = ["program"]

LIST = """
{modifiers} ListIter(c: list, i: list_iterator) {{
    creation event create after(c) returning(i) : iter(c)
    event update after(c) : call(list.insert | list.pop) && target(c) || delitem(list) && target(c)
    event next before(i) : next(i)
    ere : create next* update+ next
}}
"""
MAP = """
{modifiers} MapIter(m: dict, v: dict_values | dict_items, i: dict_keyiterator | dict_itemiterator) {{
    creation event view after(m) returning(v) : call(dict.values | dict.items) && target(m)
    creation event iterate after(m) returning(i) : iter(m)
    event iterate_view after(v) returning(i) : iter(v)
    event remove after(m) : call(dict.popitem | dict.clear) && target(m) || call(dict.pop) && target(m) && args(_)
    event next before(i) : next(i)
    ere : (iterate | view remove* iterate_view) next* remove+ next
}}
"""
ENDED = """
{modifiers} Ended(i: list_iterator, x: StopIteration) {{
    creation event end after(i) raising(x) : next(i)
    event next before(i) : next(i)
    ere : end next
}}
"""

STEPS = """
for x in LIST: BODY
for x in DICT: BODY
for k, v in DICT.items(): BODY
for v in DICT.values(): BODY
y = [x for x in LIST]
first, *rest = LIST
it = iter(LIST)
x = next(it, None)
for x in it: BODY
kept = DICT.items()
for x in kept: BODY
LIST.append(0)
if LIST: LIST.pop()
LIST.insert(0, 1)
if LIST: del LIST[0]
DICT[len(DICT)] = 1
DICT.pop(0, None)
if DICT: DICT.pop(next(iter(DICT)))
if DICT: DICT.popitem()
x = sum(LIST)
LIST = [*LIST, 3]
DICT = dict(DICT)
""".strip().splitlines()


def random_program(seed: int) -> str:
    """A function that goes over lists and dictionaries and changes some of them meanwhile."""
    choose = random.Random(seed)

    def block(depth: int) -> list[str]:
        lines = []
        for _ in range(choose.randint(1, 4)):
            step = choose.choice(STEPS).replace("LIST", choose.choice("ab")).replace("DICT", choose.choice("cd"))
            lines.append(step.removesuffix(" BODY"))
            if step.endswith("BODY"):
                inner = block(depth + 1) if depth < 2 else []
                lines += ["    " + line for line in ("tick()", *inner)]
        return lines

    return "\n".join(
        (
            f"def run_{seed}():",
            "    a, b, c, d = [1, 2, 3], [4, 5], {0: 1, 1: 2, 2: 3}, {0: 1}",
            "    it, kept, budget = iter(a), c.items(), [0] * 60",
            "    def tick():",
            "        budget.pop()",
            "    try:",
            *("        " + line for line in block(0) + block(0)),
            "    except (IndexError, RuntimeError, ValueError):",
            "        pass",
        )
    )


def watched(specs: tuple[str, ...], modifiers: str, history: int, run: Callable[[], object]) -> tuple[object, ...]:
    """What is reported of a run, with what led to it, and what the monitors have counted."""
    parsed = [spec for text in specs for spec in mopsus.parse(text.format(modifiers=modifiers)).values()]
    with mopsus.weave(*parsed, history=history) as woven:
        run()
        gc.collect()
    reports = sorted(
        (each.spec, each.category, str(each.location), *((one.event, str(one.location)) for one in each.witness))
        for each in woven.verdicts
    )
    return reports, {name: (counted.events, counted.created) for name, counted in woven.stop().items()}


@pytest.mark.parametrize("history", [0, 10])
@pytest.mark.parametrize("slow", ["decentralized", "perthread"])
@pytest.mark.parametrize("threads", [1, 3])
def test_random_programs_are_told_the_same_quickly_and_slowly(program, slow: str, history: int, threads: int) -> None:
    seeds = range(60)
    name = program("\n\n\n".join(map(random_program, seeds)), "quick_and_slow")

    def run() -> None:
        importlib.invalidate_caches()
        sys.modules.pop(name, None)
        module = importlib.import_module(name)
        for seed in seeds:
            running = [threading.Thread(target=getattr(module, f"run_{seed}")) for _ in range(threads)]
            for thread in running:
                thread.start()
            for thread in running:
                thread.join()

    quick = watched((LIST, MAP, ENDED), "", history, run)
    assert quick == watched((LIST, MAP, ENDED), slow, history, run)
    assert len(quick[0]) > 20


def test_going_back_leaves_no_quick_way_to_what_is_undone() -> None:
    """The same events, and ways back, with a monitor that takes quick ways and with one that cannot."""
    for seed in range(30):
        told = []
        for modifiers in ("", "decentralized"):
            choose = random.Random(seed)
            lists = [[n] for n in range(3)]
            iterators = [iter(each) for each in lists]
            spec = next(iter(mopsus.parse(LIST.format(modifiers=modifiers)).values()))
            with spec.monitor() as monitor:
                checkpoint = monitor.checkpoint()
                for _ in range(200):
                    c, i = choose.choice(lists), choose.choice(iterators)
                    match choose.randrange(12):
                        case 0:
                            monitor.event("create")(c, i)
                        case 1:
                            monitor.event("update")(c)
                        case 2:
                            checkpoint = monitor.checkpoint()
                        case 3:
                            monitor.rewind(checkpoint)
                        case _:
                            monitor.event("next")(i)
                told.append(
                    [
                        ([value.serial for value in each.binding.values()], [one.event for one in each.witness])
                        for each in monitor.verdicts
                    ]
                )
        assert told[0] == told[1]
