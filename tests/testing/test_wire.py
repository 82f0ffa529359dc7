"""Verdicts survive the way between processes, whatever values they hold."""

import enum

import execnet
import pytest

from mopsus.model import ObjectRef, Severity, Verdict, WitnessEvent
from mopsus.testing.wire import Seen, pack, unpack


class Colour(enum.IntEnum):
    RED = 1


def seen(value, name="i"):
    item = WitnessEvent("next", {name: value}, "app.py:3", 1.5, None)
    verdict = Verdict(
        "HasNext", "ere", "match", False, True, {name: value}, "app.py:3", 1.5, (item,), Severity.WARNING, 9
    )
    return Seen((verdict, verdict), 1000)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**70),
        1.5,
        float("inf"),
        "ü\0",
        b"\xff",
        (),
        (1, ("a", None), ObjectRef("list", 3, "[1]")),
        ObjectRef("list", 3, "[1]"),
    ],
)
def test_what_arrives_is_what_was_sent(value):
    sent = seen(value)
    assert unpack(execnet.loads(execnet.dumps(pack([sent])))) == [sent]


@pytest.mark.parametrize("value", [Colour.RED, (Colour.RED,), type("Name", (str,), {})("x"), object()])
def test_a_value_of_a_type_of_its_own_arrives_as_text(value):
    (arrived,) = unpack(execnet.loads(execnet.dumps(pack([seen(value)]))))
    (given,) = arrived.examples[0].binding.values()
    shown = given[0] if isinstance(given, tuple) else given
    assert isinstance(shown, ObjectRef)
    assert shown.text == repr(value[0] if isinstance(value, tuple) else value)


def test_text_that_cannot_be_encoded_is_replaced():
    (arrived,) = unpack(execnet.loads(execnet.dumps(pack([seen("\ud800", "\udfff")]))))
    assert arrived.examples[0].binding == {"?": "?"}
