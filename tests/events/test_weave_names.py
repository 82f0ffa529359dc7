"""Names in specs that begin with a package which the spec imports: they mean that package and no other."""

import importlib

import pytest
from events.woven import program, recorded  # noqa: F401 - fixtures

import mopsus
from mopsus.model import Code
from mopsus.spec.program import Dotted, imported_packages, rooted

pytestmark = pytest.mark.interpreter

LIBRARY = """
    class Pool:
        size = 0
        def acquire(self):
            pass

    class Wide(Pool):
        pass

    def connect():
        return Pool()

    def borrow():
        Pool().acquire()
"""
USE = """
    import {library} as used

    def use():
        pool = used.connect()
        pool.acquire()
        used.Wide().acquire()
        pool.size = 1
        used.borrow()
"""
SPEC = """
{imports}
Names(p: {library}.Pool+) {{
    event made after(p) : new({library}.Pool+) && target(p)
    event connected before() : call({library}.connect)
    event acquired before(p) : call({library}.Pool+.acquire) && target(p)
    event inner before(p) : call({library}.Pool+.acquire) && target(p) && cflow(call({library}.borrow))
    event resized before(p) : set({library}.Pool.size) && target(p)
    event ended before(p) : endObject(p)
    ere : made made made made made made made made
}}
"""
SEEN = {"made": 3, "connected": 1, "acquired": 3, "inner": 1, "resized": 1}


@pytest.fixture
def two_libraries(program):  # noqa: F811
    """A package, and another one with a module of the same name."""
    own = program(LIBRARY)
    other = program(LIBRARY, f"over_{own}.{own}")
    users = [program(USE.format(library=name)) for name in (own, other)]
    return own, users


def seen(own, users, imports):
    spec = next(iter(mopsus.parse(SPEC.format(library=own, imports=imports)).values()))
    counts = []
    for user in users:
        with mopsus.weave(spec) as woven:
            importlib.import_module(user).use()
            counts.append(
                {
                    name: count
                    for name, count in woven.monitors["Names"].stats().seen.items()
                    if count and name != "ended"
                }
            )
    return counts


def test_without_an_import_names_match_at_their_end(two_libraries):
    own, users = two_libraries
    first, second = seen(own, users, "")
    assert first == second == SEEN


def test_with_an_import_they_are_whole(two_libraries):
    own, users = two_libraries
    assert seen(own, users, f"import {own}") == [SEEN, {}]


def test_an_import_under_another_name_says_nothing_about_names():
    imports = [Code("import http.client, json"), Code("import logging as log"), Code("from queue import Queue")]
    assert imported_packages(imports) == {"http", "json"}


def test_only_what_is_in_the_package_is_whole():
    pattern = (Dotted(("json",)), Dotted(("json", "dump")), Dotted(("a", "json", "dump")), Dotted(("json", "J"), 1))
    assert [dotted.whole for dotted in rooted(pattern, {"json"})] == [False, True, False, True]


def test_a_class_is_found_where_the_package_has_it(program):  # noqa: F811
    name = program("import asyncio\nasync def main():\n    asyncio.Queue().put_nowait(1)")
    spec = mopsus.parse(
        "import asyncio\nQ(q: asyncio.Queue) {\n event put before(q) : call(asyncio.Queue.put_nowait) && target(q)\n"
        " ere : put put\n}"
    )["Q"]
    import asyncio

    with mopsus.weave(spec) as woven:
        asyncio.run(importlib.import_module(name).main())
        assert woven.monitors["Q"].stats().seen["put"] == 1
