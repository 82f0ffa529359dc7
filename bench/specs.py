"""The specifications that the benchmarks check."""

from __future__ import annotations

import mopsus

HAS_NEXT_MACHINE = """
    fsm :
        start [
            next -> unsafe
            hasnext -> safe
        ]
        safe [
            next -> start
            hasnext -> safe
        ]
        unsafe [
            next -> unsafe
            hasnext -> safe
        ]
    @unsafe {}
"""
HAS_NEXT = f"""
HasNext(i) {{
    event hasnext(i)
    event next(i)
    {HAS_NEXT_MACHINE}
}}
"""
HAS_NEXT_TABLE = [[1, 2], [1, 0], [1, 2]]
"""The same as a table, for a loop by hand: states start, safe, unsafe; events hasnext, next."""
UNSAFE = 2

ADVANCED_ONCE = """
AdvancedOnce(i) {
    event hasnext(i)
    event next(i)
    fsm :
        start [
            next -> advanced
            hasnext -> start
        ]
        advanced [
            next -> again
            hasnext -> start
        ]
        again [
            next -> again
            hasnext -> start
        ]
    @again {}
}
"""
ADVANCED_ONCE_TABLE = [[0, 1], [0, 2], [0, 2]]

ASKED_ONCE = """
AskedOnce(i) {
    event hasnext(i)
    event next(i)
    fsm :
        start [
            next -> start
            hasnext -> asked
        ]
        asked [
            next -> start
            hasnext -> again
        ]
        again [
            next -> start
            hasnext -> again
        ]
    @again {}
}
"""
ASKED_ONCE_TABLE = [[1, 0], [2, 0], [2, 0]]

UNSAFE_ITERATOR = """
UnsafeIterator(c, i) {
    event create(c, i)
    event update(c)
    event next(i)
    ere : create next* update+ next
}
"""

UNSAFE_MAP_ITERATOR = """
UnsafeMapIterator(m, c, i) {
    event create_coll(m, c)
    event create_iter(c, i)
    event use_iter(i)
    event update_map(m)
    ere : create_coll update_map* create_iter use_iter* update_map+ use_iter
}
"""


def spec(text: str) -> mopsus.Spec:
    """The one specification of a text."""
    (only,) = mopsus.parse(text).values()
    return only
