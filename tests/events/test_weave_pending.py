"""Instances stay with their loops until somebody else can reach them, and nobody can tell.

The same random programs run with monitors that leave instances with loops and with monitors that make each at once:
those whose values are found by way of the objects themselves (`decentralized`).
"""

from __future__ import annotations

import gc
import importlib
import random
import sys
from collections.abc import Callable

import pytest
from woven import program

import mopsus

pytestmark = pytest.mark.interpreter

__all__ = ["program"]

CASES = 120

SPECS = {
    "unsafe": """
{modifiers} Unsafe(c: list, i: list_iterator) {{
    creation event create after(c) returning(i) : iter(c)
    event update after(c) : call(list.insert | list.pop) && target(c) || delitem(list) && target(c)
    event next before(i) : next(i)
    ere : create next* update+ next
}}
""",
    "both collections and iterators": """
{modifiers} Reversed(i: list_iterator | set_iterator, c: list | set) {{
    event next after(i) returning() : next(i)
    event update after(c) : call(list.pop | set.discard) && target(c)
    creation event create after(c) returning(i) : iter(c)
    ere : create next* update next
}}
""",
    "not every step is alike": """
{modifiers} Third(c: list, i: list_iterator) {{
    creation event create after(c) returning(i) : iter(c)
    event update after(c) : call(list.insert | list.pop) && target(c)
    event next before(i) : next(i)
    ere : create next next next+ update
}}
""",
    "derived": """
{modifiers} Map(m: dict, v: dict_values | dict_items, i: dict_keyiterator | dict_itemiterator) {{
    creation event view after(m) returning(v) : call(dict.values | dict.items) && target(m) && within(pending_or_not.*)
    creation event iterate after(m) returning(i) : iter(m)
    event iterate_view after(v) returning(i) : iter(v)
    event remove after(m) : call(dict.popitem | dict.clear) && target(m) || call(dict.pop) && target(m) && args(_)
    event next before(i) : next(i)
    ere : (iterate | view remove* iterate_view) next* remove+ next
}}
""",
    "the iterator alone": """
{modifiers} Asked(i) {{
    event next after(i) returning() : next(i)
    event end after(i) raising() : next(i)
    ere : next* end end
}}
""",
    "before a step": """
{modifiers} Long(i: list_iterator | generator | range_iterator) {{
    event next before(i) : next(i)
    event end after(i) raising() : next(i)
    ere : next next next next+ end next
}}
""",
}

STEPS = """
for x in LIST: BODY
for x in LIST + [1]: BODY
for x in [1, 2, 3]: BODY
for x in range(3): BODY
for x in numbers(LIST): BODY
for x in SET: BODY
for k in DICT: BODY
for k, v in DICT.items(): BODY
for x, y in zip(LIST, range(2)): BODY
for x in it: BODY
for x in LIST: break
for x in list(LIST): raise KeyError
y = [x for x in LIST]
y = [LIST.pop() for x in LIST if len(LIST) > 1]
y = [numbers(LIST) for x in LIST]
suspended = numbers(LIST)
x = next(suspended, None)
x = next(suspended, None)
suspended = None
places = [locals().get(".0") for x in LIST]
x = [next(place, None) for place in places if place]
held = [o for o in gc.get_referrers(LIST) if type(o).__name__ == "list_iterator"]
x = [next(o, None) for o in held]
held = None
it = iter(LIST)
x = next(it, None)
x = sum(it)
x = next(iter(range(0)), None)
if LIST: elsewhere(LIST.pop)
if LIST: LIST.pop()
LIST.insert(0, 1)
if LIST: del LIST[0]
DICT[len(DICT)] = 1
if DICT: DICT.pop(next(iter(DICT)))
if DICT: DICT.popitem()
for k in DICT: DICT.pop(k)
SET.discard(1)
SET.add(len(SET))
LIST = [*LIST, 3]
LIST = other
other = LIST
gc.collect()
""".strip().splitlines()

HEADER = """
import gc
import threading

def numbers(over):
    for number in over:
        yield number
    for number in [over, over]:
        yield number

def elsewhere(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()
"""


def random_program(seed: int) -> str:
    """A function that goes over lists, sets and dictionaries, leaves loops in all ways, and gets at what they hold."""
    choose = random.Random(seed)

    def block(depth: int) -> list[str]:
        lines = []
        for _ in range(choose.randint(1, 5)):
            step = choose.choice(STEPS).replace("LIST", choose.choice("ab"))
            step = step.replace("DICT", choose.choice("cd")).replace("SET", "s")
            inner = ["tick()", *(block(depth + 1) if depth < 3 else [])] if step.endswith("BODY") else []
            step = step.removesuffix(" BODY")
            if choose.random() < 0.2:
                lines += [
                    "try:",
                    "    " + step,
                    *("        " + line for line in inner),
                    "except Exception:",
                    "    pass",
                ]
            else:
                lines += [step, *("    " + line for line in inner)]
        return lines

    return "\n".join(
        (
            f"def run_{seed}():",
            "    a, b, c, d, s = [1, 2, 3], [4, 5], {0: 1, 1: 2, 2: 3}, {0: 1}, {1, 2, 3}",
            "    it, suspended, places, held, other, budget = iter(a), iter(b), [], None, [7], [0] * 150",
            "    def tick():",
            "        budget.pop()",
            "    try:",
            *("        " + line for line in block(0) + block(0)),
            "    except (IndexError, RuntimeError, ValueError, KeyError, TypeError):",
            "        pass",
        )
    )


def watched(spec: str, modifiers: str, history: int, run: Callable[[], object]) -> tuple[object, ...]:
    """What is reported of a run, in order, with what led to it, numbers of values, and counts of instances."""
    parsed = mopsus.parse(SPECS[spec].format(modifiers=modifiers)).values()
    with mopsus.weave(*parsed, history=history) as woven:
        run()
        gc.collect()
        counted = [(one.created, one.most) for one in woven.stop().values()]
    reports = [
        (
            each.category,
            str(each.location),
            [getattr(value, "serial", value) for value in each.binding.values()],
            [(one.event, str(one.location)) for one in each.witness],
        )
        for each in woven.verdicts
    ]
    return reports, counted


@pytest.mark.usefixtures("little_to_collect")
@pytest.mark.parametrize("history", [0, 10])
@pytest.mark.parametrize("spec", SPECS)
def test_random_programs_are_told_the_same_whether_instances_wait_or_not(program, spec: str, history: int) -> None:
    seeds = range(CASES)
    name = program(HEADER + "\n\n".join(map(random_program, seeds)), "pending_or_not")

    def run() -> None:
        importlib.invalidate_caches()
        sys.modules.pop(name, None)
        module = importlib.import_module(name)
        for seed in seeds:
            getattr(module, f"run_{seed}")()

    with mopsus.weave(*mopsus.parse(SPECS[spec].format(modifiers="")).values()):
        importlib.import_module(name)  # what happens when a module is rewritten happens now
    quick = watched(spec, "", history, run)
    assert quick == watched(spec, "decentralized", history, run)
    assert len(quick[0]) > 10
