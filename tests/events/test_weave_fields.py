"""Events of woven programs carry data for formulas that read it."""

from __future__ import annotations

import pytest

import mopsus
from mopsus.spec import parse

pytestmark = pytest.mark.interpreter


class Box:
    def put(self, item, *, tag=None):
        return item

    def close(self):
        return None


SPEC = f"""
Boxes(b) {{
    event put before(b; item) : call({__name__}.Box.put) && target(b) && args(item, ..)
    event close before(; box) : call({__name__}.Box.close) && target(box)

    shml : max X.([put(n) when n < 0] ff and [put(_)] X and [close(_)] X)
}}
"""


def watched(*items: object) -> list[mopsus.Verdict]:
    with mopsus.weave(parse(SPEC)["Boxes"]) as woven:
        box = Box()
        for item in items:
            box.put(item)
        box.close()
    return woven.verdicts


def test_arguments_are_fields():
    assert [(each.category, dict(each.steps[-1].binding)) for each in watched(1, -2)] == [("rejection", {"n": -2})]
    assert not watched(1, 2)


def test_a_field_that_nothing_gives_a_value_is_refused():
    with pytest.raises(mopsus.MopsusError) as raised:
        parse("S(b) {\n    event put before(b; item) : call(Box.put) && target(b)\n    shml : [put(_)] ff\n}\n")
    found = raised.value.diagnostics[0]
    assert (found.code, found.message) == ("SPEC-051", "nothing gives 'item' a value")
