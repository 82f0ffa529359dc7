"""How messages are written and read, and what editors may write into them."""

import io
import json
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.interactive.dap.arguments import Arguments, RequestError
from mopsus.interactive.dap.channel import EditorLine
from mopsus.interactive.dap.conditions import LogMessage, hits
from mopsus.interactive.dap.memory import read_memory
from mopsus.interactive.dap.shapes import wanted_points
from mopsus.interactive.dap.wire import Wire
from mopsus.interactive.debugger import DebuggerError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
MESSAGES = st.lists(st.dictionaries(st.text(), VALUES), max_size=5)


@given(MESSAGES)
def test_what_is_written_is_read(messages):
    file = io.BytesIO()
    writer = Wire(io.BytesIO(), file)
    for message in messages:
        writer.write(message)
    file.seek(0)
    reader = Wire(file, io.BytesIO())
    numbered = [{"seq": number} | message for number, message in enumerate(messages, 1)]
    assert [reader.read() for _ in messages] == numbered
    assert reader.read() is None


@given(MESSAGES)
def test_a_channel_keeps_messages_apart(messages):
    ours, theirs = EditorLine.pair()
    for message in messages:
        ours.tell(message)
    assert [theirs.hear() for _ in messages] == messages
    ours.close()
    assert theirs.hear() is None
    theirs.tell({"nobody": "hears it"})
    theirs.close()


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_what_cannot_be_read_ends_the_line(body):
    ours, theirs = EditorLine.pair()
    ours.send(body)
    assert theirs.hear() is None
    ours.close()
    theirs.close()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"Content-Length: x\r\n\r\n{}", "no usable Content-Length"),
        (b"Content-Length: 99999999999\r\n\r\n{}", "no usable Content-Length"),
        (b"Content-Type: y\r\n\r\n{}", "no Content-Length"),
        (b"Content-Length: 1\r\n\r\n{", "no JSON"),
        (b"Content-Length: 2\r\n\r\n[]", "no object"),
        (b"Content-Length: 9999\r\n\r\n" + b"[" * 9999, "no JSON"),
    ],
)
def test_what_is_no_message_is_said_to_be_none(data, why):
    with pytest.raises(RequestError, match=why):
        Wire(io.BytesIO(data), io.BytesIO()).read()


@pytest.mark.parametrize("data", [b"", b"Content-Length: 5\r\n", b"Content-Length: 5\r\n\r\n{}"])
def test_an_editor_that_ends_in_the_middle_is_gone(data):
    assert Wire(io.BytesIO(data), io.BytesIO()).read() is None


def test_headers_may_be_many_and_written_as_one_likes():
    data = b"X: y\r\ncontent-LENGTH:  2 \r\nContent-Type: z\r\n\r\n{}"
    assert Wire(io.BytesIO(data), io.BytesIO()).read() == {}


def test_the_log_has_both_directions():
    log = io.StringIO()
    wire = Wire(io.BytesIO(b'Content-Length: 9\r\n\r\n{"a": "b"}'), io.BytesIO(), log)
    wire.write({"c": "d"})
    assert json.loads(log.getvalue().split("-> ")[1]) == {"seq": 1, "c": "d"}


COMPARED = {
    "": operator.ge,
    ">=": operator.ge,
    ">": operator.gt,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "==": operator.eq,
    "%": lambda count, given: count % given == 0,
}


@given(st.sampled_from(sorted(COMPARED)), st.integers(1, 50), st.integers(1, 100), st.sampled_from(["", " "]))
def test_which_hits_count(sign, given_number, arrival, space):
    assert hits(f"{sign}{space}{given_number}")(arrival) == COMPARED[sign](arrival, given_number)


@pytest.mark.parametrize("text", ["", "x", "% 0", "5 5", "-1", "=> 5", "1.5", "9" * 5000])
def test_which_hits_count_must_be_said_clearly(text):
    with pytest.raises(DebuggerError, match="does not say which hits count"):
        hits(text)


def test_log_messages_have_values_in_them():
    values = {"x": "1", "x + y": "3"}
    assert LogMessage("x={x}, {x + y} {{x}} }} {{").say(values.__getitem__) == "x=1, 3 {x} } {"
    assert LogMessage("an open { stays").say(values.__getitem__) == "an open { stays"


@given(st.text(alphabet="ab {}", max_size=20))
def test_log_messages_without_braces_are_as_they_are(text):
    plain = text.replace("{", "").replace("}", "")
    assert LogMessage(plain).say(str) == plain
    doubled = text.replace("{", "{{").replace("}", "}}")
    assert LogMessage(doubled).say(str) == text


def test_arguments_of_the_wrong_kind_are_told_with_their_place():
    given_ = Arguments({"a": 1, "b": {"c": True}, "d": [{"e": "f"}, 1], "g": ["h", 2]})
    assert given_.number("a") == 1
    with pytest.raises(RequestError, match="`a` must be a text"):
        given_.text("a")
    with pytest.raises(RequestError, match="`z` is missing: it must be a number"):
        given_.number("z")
    with pytest.raises(RequestError, match=r"`b\.c` must be a number"):
        given_.within("b").number("c")
    with pytest.raises(RequestError, match=r"d\[1\] must be an object"):
        given_.each("d")
    with pytest.raises(RequestError, match="`g` must be a list of texts"):
        given_.texts("g")
    with pytest.raises(RequestError, match="the arguments must be an object"):
        Arguments([])


@pytest.mark.parametrize("number", [-1, 2**31, 10**30])
def test_counts_and_places_are_bounded(number):
    with pytest.raises(RequestError, match=r"`startFrame` must be a number from 0 to 2147483647"):
        Arguments({"startFrame": number}).maybe_count("startFrame")
    with pytest.raises(RequestError, match=r"`breakpoints\[0\]\.line` must be a number from 0"):
        wanted_points(Arguments({"breakpoints": [{"line": number}]}))


@pytest.mark.parametrize("reference", ["-1", hex(1 << 64), "x", "9" * 5000])
def test_addresses_are_bounded(reference):
    with pytest.raises(RequestError):
        read_memory(Arguments({"memoryReference": reference, "count": 1}), None)
