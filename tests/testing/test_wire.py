"""Verdicts survive the way between processes, whatever values they hold."""

import enum

import execnet
import pytest

from mopsus.bus import pack, unpack
from mopsus.model import Diagnostic, Fault, ObjectRef, Severity, Span, Unseen, Verdict, WitnessEvent
from mopsus.testing.wire import Caused, Finished, Seen


class Colour(enum.IntEnum):
    RED = 1


def seen(value, name="i"):
    item = WitnessEvent("next", {name: value}, "app.py:3", 1.5, None)
    verdict = Verdict(
        "HasNext", "ere", "match", False, True, {name: value}, "app.py:3", 1.5, (item,), Severity.WARNING, 9
    )
    return Seen((verdict, verdict), 1000)


def arrived(message):
    return unpack(type(message), execnet.loads(execnet.dumps(pack(message).decode())))


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
    sent = Caused((seen(value),))
    assert repr(arrived(sent)) == repr(sent)


@pytest.mark.parametrize("value", [Colour.RED, (Colour.RED,), type("Name", (str,), {})("x"), object()])
def test_a_value_of_a_type_of_its_own_arrives_as_text(value):
    (found,) = arrived(Caused((seen(value),))).seen
    (given,) = found.examples[0].binding.values()
    shown = given[0] if isinstance(given, tuple) else given
    assert isinstance(shown, ObjectRef)
    assert shown.text == repr(value[0] if isinstance(value, tuple) else value)


def test_text_that_has_no_form_in_utf_8_arrives():
    """It was replaced by question marks once, so that two values could look the same."""
    (found,) = arrived(Caused((seen("\ud800", "\udfff"),))).seen
    assert found.examples[0].binding == {"\udfff": "\ud800"}


def test_what_belongs_to_no_report_arrives():
    unseen = Unseen("Files", "open", span=Span("files.mop", 1, 2, 3, 4))
    finished = Finished(
        (seen(1),),
        {"Files": {"events": 3}},
        {"Files": {"open": 1}},
        (Fault("Files", "condition of event open", "files.mop:3", "KeyError", count=2),),
        (unseen,),
        1,
        2,
        (Diagnostic("CLI-006", "odd", warning=True),),
    )
    assert arrived(finished) == finished
