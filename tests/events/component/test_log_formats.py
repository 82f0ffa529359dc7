"""Lines of logs of components: the vectors of section 7.6; what is written is read; what is damaged is told."""

from __future__ import annotations

import logging
import re
import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mopsus import _core
from mopsus.events.component.log import jsonl, text
from mopsus.events.component.log.events import EventReader
from mopsus.events.component.log.logging_format import EventFormatter, FormatStringError, LoggingLines, emitter
from mopsus.events.component.log.messages import BadLineError, UnwritableError
from mopsus.events.component.log.read import LogBlock, LogFormat, detect_log_format
from mopsus.events.component.log.terms_file import TermsReader, format_term
from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.term import Atom, Pid, Reference, String

ONE, TWO = Pid("<0.1.0>"), Pid("<0.2.0>")


def recv(message: object) -> Occurrence:
    return Occurrence(Kind.RECV, TWO, None, message)


# ---- vectors ---------------------------------------------------------------------------------

VECTORS = {
    "L01": ("fork(<0.1.0>,<0.2.0>,{m,f,[]})", Occurrence(Kind.FORK, ONE, TWO, Function("m", "f"))),
    "L02": (
        "init(<0.2.0>, <0.1.0>, {m, f, [1, <0.1.0>, true]})",
        Occurrence(Kind.INIT, TWO, ONE, Function("m", "f", (1, ONE, True))),
    ),
    "L03": ("send(<0.1.0>,<0.2.0>,{a,[1,2.5],-3})", Occurrence(Kind.SEND, ONE, TWO, (Atom("a"), [1, 2.5], -3))),
    "L05": ("recv(<0.2.0>,hello) % note", recv(Atom("hello"))),
    "L07": ("exit(<0.2.0>,{error,x})", Occurrence(Kind.EXIT, TWO, None, (Atom("error"), Atom("x")))),
    "L08": ('recv(<0.2.0>,{"a","b"})', recv((String("a"), String("b")))),
    "L10 list": ("recv(<0.2.0>,[])", recv([])),
    "L10 tuple": ("recv(<0.2.0>,{})", recv(())),
    "L10 float": ("recv(<0.2.0>,-0.5)", recv(-0.5)),
    "L11": ('recv(<0.2.0>,"50% off")', recv(String("50% off"))),
    "integer reason": ("exit(<0.2.0>,3)", Occurrence(Kind.EXIT, TWO, None, 3)),
    "quoted atom": ("recv(<0.2.0>,'hello world')", recv(Atom("hello world"))),
    "map": ('recv(<0.2.0>,#{a => 1, "b" => []})', recv({Atom("a"): 1, String("b"): []})),
    "binary": ('recv(<0.2.0>,<<1, 255, "x">>)', recv(b"\x01\xffx")),
    "exponent": ("recv(<0.2.0>,{1e3,1.5E-2})", recv((1000.0, 0.015))),
    "atom with @": ("recv(<0.2.0>,node@host)", recv(Atom("node@host"))),
    "keywords are atoms": ("recv(<0.2.0>,{send,by,delayed})", recv((Atom("send"), Atom("by"), Atom("delayed")))),
    "reference": ("recv(<0.2.0>,#Ref<0.1.2.3>)", recv(Reference("#Ref<0.1.2.3>"))),
    "text of Python": ('recv(<0.2.0>,{~"ok",~none})', recv(("ok", None))),
    "escapes": (r'recv(<0.2.0>,"a\"\n\x{e9}\x41\101\s")', recv(String('a"\néAA '))),
    "large": ("recv(<0.2.0>,-123456789012345678901234567890)", recv(-123456789012345678901234567890)),
    "large identifier": (
        "recv(<123456789012.5.0>,1)",
        Occurrence(Kind.RECV, Pid("<123456789012.5.0>"), None, 1),
    ),
}


def types(value: object) -> object:
    """A value with the types of all its parts, because 1 equals 1.0 and an atom equals a string to Python."""
    match value:
        case tuple() | list():
            return type(value), [types(each) for each in value]
        case dict():
            return dict, [(types(key), types(each)) for key, each in value.items()]
    return type(value), value


@pytest.mark.parametrize("name", VECTORS)
def test_a_line_is_an_event(name: str) -> None:
    line, expected = VECTORS[name]
    found = text.parse_line(line)
    assert found is not None
    assert (found[0], types(found[0].data), found[1]) == (expected, types(expected.data), 0)


def test_l04_a_line_may_be_delayed() -> None:
    assert text.parse_line("recv(<0.2.0>,hello) delayed by 250 % x") == (recv(Atom("hello")), 250)


@pytest.mark.parametrize("line", ["% only", "", "  \t", " % x"])
def test_l06_a_line_may_be_blank(line: str) -> None:
    assert text.parse_line(line) is None


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        ("recv(<0.2.0>,Hello)", 14, "an atom, a number"),
        ("recv(0.2.0,hello)", 6, "an identifier such as `<0.20.0>`, not `0.2.0`"),
        ("recv(<0.2.0>,hello) junk", 21, "the end of the line, or `delayed by`, not `junk`"),
        ("recv(<0.2.0>,hello).", 20, "the end of the line"),
        ("spawn(<0.2.0>)", 1, "an event"),
        ("fork(<0.1.0>,<0.2.0>,m)", 22, "`{`, not `m`"),
        ("fork(<0.1.0>,<0.2.0>,{m,1,[]})", 25, "the name of a function"),
        ("recv(<0.2.0>,[a|b])", 16, "`,` or `]`"),
        ("recv(<0.2.0>", 13, "but the text ends"),
        ('recv(<0.2.0>,"abc)', 14, "the other quote"),
        ("recv(<0.2.0>,a) delayed by x", 17, "`delayed by`"),
        ("recv(<0.2.0>,<<256>>)", 16, "from 0 to 255"),
        ("recv(<0.2.0>,#{a => 1, a => 2})", 24, "twice"),
        ("recv(<0.2.0>,#{[] => 1})", 16, "cannot be a key"),
        ("recv(<0.2.0>,1e999)", 14, "too large"),
        (f"recv(<0.2.0>,{'9' * 5000})", 14, "digits"),
        (f"recv(<0.2.0>,{'[' * 200})", 114, "nested"),
        (r'recv(<0.2.0>,"\x{D800}")', 15, "no such character"),
    ],
)
def test_l09_what_is_no_event_is_told_with_its_place(line: str, column: int, expected: str) -> None:
    with pytest.raises(BadLineError) as caught:
        text.parse_line(line)
    assert expected in caught.value.message
    assert caught.value.offset + 1 == column


# ---- what is written is read ------------------------------------------------------------------

PIDS = st.builds(lambda a, b: Pid(f"<{a}.{b}.0>"), st.sampled_from([0, 7, 2**40]), st.integers(0, 10**9))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
FLAT = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    TEXTS,
    TEXTS.filter(lambda name: name not in ("true", "false")).map(Atom),
    TEXTS.map(String),
    PIDS,
    st.binary(max_size=6),
    st.just(Reference("#Ref<0.1.2.3>")),
)
VALUES = st.recursive(
    FLAT,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(TEXTS | st.integers(), inner, max_size=3),
    ),
    max_leaves=6,
)
FUNCTIONS = st.tuples(TEXTS, TEXTS, st.lists(VALUES, max_size=2).map(tuple)).map(lambda parts: Function(*parts))
OCCURRENCES = st.one_of(
    st.tuples(st.sampled_from([Kind.FORK, Kind.INIT]), PIDS, PIDS, FUNCTIONS),
    st.tuples(st.just(Kind.SEND), PIDS, PIDS, VALUES),
    st.tuples(st.sampled_from([Kind.EXIT, Kind.RECV]), PIDS, st.none(), VALUES),
).map(lambda parts: Occurrence(*parts))


@given(OCCURRENCES)
@settings(max_examples=100, deadline=None)
def test_text_is_read_as_it_was_written(occurrence: Occurrence) -> None:
    found = text.parse_line(text.format_line(occurrence))
    assert found is not None
    assert (found[0], types(found[0].data)) == (occurrence, types(occurrence.data))


@given(OCCURRENCES, st.none() | st.floats(0, 1e9), st.none() | TEXTS)
@settings(max_examples=100, deadline=None)
def test_json_is_read_as_it_was_written(occurrence: Occurrence, time: float | None, location: str | None) -> None:
    occurrence = occurrence._replace(time=time, location=location)
    found = jsonl.parse_line(jsonl.format_line(occurrence))
    assert found is not None
    assert (found[0], types(found[0].data)) == (occurrence, types(occurrence.data))


@pytest.mark.parametrize(
    "value", [float("inf"), object(), {1, 2}, "\ud800", 10**5000], ids=lambda value: type(value).__name__
)
def test_what_has_no_form_in_text_is_refused(value: object) -> None:
    with pytest.raises(UnwritableError):
        text.format_line(recv([value]))


def test_json_has_infinities() -> None:
    found = jsonl.parse_line(jsonl.format_line(recv(float("-inf"))))
    assert found == (recv(float("-inf")), 0)
    with pytest.raises(UnwritableError):
        jsonl.format_line(recv(object()))


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        ('{"event":"x"}', 2, "`event` to be one of"),
        ("[1]", 1, "a JSON object"),
        ('{"event":"recv","subject":3}', 17, "`subject` to be an identifier"),
        ('{"event":"recv","subject":"<0.1.0>"}', 2, "a `message`"),
        ('{"event":"recv","subject":"<0.1.0>","message":{"$foo":3}}', 48, "one of $atom"),
        ('{"event":"recv","subject":"<0.1.0>","message":{"$bytes":"?"}}', 48, "cannot have this value"),
        ('{"event":"recv","subject":"<0.1.0>","message":{"$float":"none"}}', 48, "cannot have this value"),
        (f'{{"event":"recv","subject":"<0.1.0>","message":{{"$float":{"9" * 400}}}}}', 48, "cannot have this value"),
        (
            '{"event":"fork","subject":"<0.1.0>","child":"<0.2.0>","module":"m","function":"f","arguments":1}',
            83,
            "a list",
        ),
        ('{"event":"recv"', 1, "JSON"),
    ],
)
def test_json_that_is_no_event_is_told_with_its_place(line: str, column: int, expected: str) -> None:
    with pytest.raises(BadLineError) as caught:
        jsonl.parse_line(line)
    assert expected in caught.value.message
    assert caught.value.offset + 1 == column


# ---- the core reads the same -------------------------------------------------------------------


def core_and_definition(line: bytes) -> tuple[object, object]:
    results = []
    for native in (True, False):
        reader = EventReader(LogFormat.TEXT, skip=True)
        reader.begin(LogBlock("x", 1, b"", True))
        reader.text = native
        found = reader.event(line, "x", 1)
        if found is None:
            results.append(([str(each) for each in reader.tally.bad], reader.tally.passed_over, reader.tally.bad_lines))
        else:
            data = found[0].data
            results.append((tuple(found[0]), types(list(data) if isinstance(data, Function) else data), found[1]))
    return results[0], results[1]


@given(OCCURRENCES)
@settings(max_examples=100, deadline=None)
def test_the_core_reads_what_the_definition_reads(occurrence: Occurrence) -> None:
    native, defined = core_and_definition(text.format_line(occurrence).encode())
    assert native == defined


@given(st.randoms(use_true_random=False), st.sampled_from([line for line, _ in VECTORS.values()]))
@settings(max_examples=250, deadline=None)
def test_the_core_and_the_definition_agree_on_damaged_lines(random: Random, line: str) -> None:
    data = bytearray(line.encode())
    for _ in range(random.randrange(4)):
        at = random.randrange(len(data) + 1)
        change = random.randrange(3)
        if change == 0:
            del data[at : at + random.randrange(1, 4)]
        elif change == 1:
            data[at:at] = random.choice(
                [b" ", b",", b"}", b"<", b"'", b'"', b"\\", b"%", b"7", b"\xff", b"a", b"\r", b"=>"]
            )
        elif data:
            data[at % len(data)] = random.randrange(256)
        if not data:
            break
    line_of = bytes(data).replace(b"\n", b"")
    native, defined = core_and_definition(line_of)
    assert native == defined


def test_the_core_reads_plain_lines_itself() -> None:
    plain = [line for name, (line, _) in VECTORS.items() if name not in ("map", "escapes", "large", "binary")]
    assert all(_core.read_log_line(line.encode()) for line in plain)


# ---- terms, and what logging writes -------------------------------------------------------------


@given(OCCURRENCES)
@settings(max_examples=100, deadline=None)
def test_terms_are_read_as_they_were_written(occurrence: Occurrence) -> None:
    reader = TermsReader()
    found = [reader.parse_line(line) for line in format_term(occurrence).split("\n")][-1]
    assert found is not None
    assert found[0][:3] == occurrence[:3]


def test_a_term_may_take_several_lines() -> None:
    reader = TermsReader()
    lines = ['{trace,"<0.1.0>",send,', "  {done,", '   "<0.2.0>"},"<0.2.0>"}.', "% note", ""]
    assert [reader.parse_line(line) for line in lines] == [
        None,
        None,
        (Occurrence(Kind.SEND, ONE, TWO, (Atom("done"), TWO)), 0),
        None,
        None,
    ]
    assert not reader.open


@pytest.mark.parametrize("line", ["{trace,1,send,x,y}.", "{trace}.", "foo.", '{trace,"<0.1.0>",link,"<0.2.0>"}.'])
def test_a_term_that_is_no_event_is_told(line: str) -> None:
    with pytest.raises(BadLineError, match="expected an event"):
        TermsReader().parse_line(line)


def test_events_are_found_in_what_logging_writes() -> None:
    lines = LoggingLines("%(asctime)s %(levelname)-8s [%(name)s] %(message)s")
    found = lines.parse_line("2026-11-16 06:08:12,250 INFO     [jobs] recv(<0.2.0>,hello)")
    assert found is not None
    assert found[0][:4] == recv(Atom("hello"))[:4]
    assert found[0].time is not None
    assert found[0].time % 1 == 0.25
    assert lines.parse_line("2026-11-16 06:08:12,250 INFO     [jobs] started") is None
    assert lines.parse_line("Traceback (most recent call last):") is None
    with pytest.raises(BadLineError) as caught:
        lines.parse_line("2026-11-16 06:08:12,250 INFO     [jobs] recv(<0.2.0>,Hello)")
    assert caught.value.offset == 40 + 13


@pytest.mark.parametrize(
    ("format", "line"),
    [
        ("%(threadName)s %(message)s", "Thread-1 (worker) recv(<0.2.0>,hello)"),
        ("%(levelname)8s|%(name)-10s|%(message)s", "    INFO|jobs      |recv(<0.2.0>,hello)"),
        (
            "%(asctime)s.%(msecs)03d %(pathname)s:%(lineno)d %(message)s",
            "2026-11-16 09:00:00.250 /a/b.py:12 recv(<0.2.0>,hello)",
        ),
        ("100%% %(process)d: %(message)s", '100% 77: {"event":"recv","subject":"<0.2.0>","message":{"$atom":"hello"}}'),
        ("%(message)s", "  recv(<0.2.0>,hello)"),
    ],
)
def test_formats_of_logging(format: str, line: str) -> None:
    found = LoggingLines(format).parse_line(line)
    assert found is not None
    assert found[0][:4] == recv(Atom("hello"))[:4]


def test_a_line_of_logging_at_a_time_that_never_was_is_bad() -> None:
    lines = LoggingLines("%(levelname)s %(asctime)s %(message)s")
    with pytest.raises(BadLineError, match="no such time") as caught:
        lines.parse_line("INFO 2026-02-30 06:08:12 recv(<0.2.0>,hello)")
    assert caught.value.offset == 5


def test_the_place_in_a_line_of_json_counts_characters() -> None:
    line = '{"event":"é€é","subject":x}'
    with pytest.raises(BadLineError) as caught:
        jsonl.parse_line(line)
    assert caught.value.offset == line.index("x")


def test_a_line_that_fits_nearly_costs_no_more() -> None:
    lines = LoggingLines("%(name)s %(levelname)s %(threadName)s [%(processName)s] %(message)s")
    start = time.perf_counter()
    assert lines.parse_line("a " * 50_000) is None
    assert lines.parse_line(" " * 100_000) is None
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("format", "line"),
    [
        ("%(name)s%(levelname)s%(module)s%(funcName)s%(message)s", "x" * 600),
        ("%(levelname)s %(name)s %(processName)s %(threadName)s %(module)s %(message)s", (" " * 80).join("abcdefg")),
        ("%(levelname)s:%(name)s:%(module)s:%(funcName)s:%(process)d:%(message)s", "a:" * 300),
    ],
    ids=["nothing between", "blanks between", "in words, too"],
)
def test_a_line_that_was_made_for_a_format_is_passed_over_soon(format: str, line: str) -> None:
    """There are more ways to share it among the fields than can be tried: it took for ever."""
    start = time.perf_counter()
    assert LoggingLines(format).parse_line(line) is None
    assert time.perf_counter() - start < 1


def test_words_may_contain_what_ends_them() -> None:
    found = LoggingLines("%(name)s-%(levelname)s-%(message)s").parse_line("my-own-app-INFO-recv(<0.2.0>,hello)")
    assert found is not None
    assert found[0][:4] == recv(Atom("hello"))[:4]


def test_fields_of_a_format_may_be_called_anything() -> None:
    found = LoggingLines("%(1)s %(é)s %(message)s").parse_line("a b recv(<0.2.0>,hello)")
    assert found is not None
    assert found[0][:4] == recv(Atom("hello"))[:4]


def test_a_format_string_needs_a_message() -> None:
    with pytest.raises(FormatStringError, match="message"):
        LoggingLines("%(asctime)s")


@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_what_our_formatter_writes_is_read(form: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    format = "%(created)f %(threadName)s %(message)s"
    handler = logging.FileHandler(tmp_path / "x.log")
    handler.setFormatter(EventFormatter(format, form=form))  # type: ignore[arg-type]
    logger = logging.Logger("components")
    logger.addHandler(handler)
    emit = emitter(logger)
    emit(Kind.RECV, TWO, None, (Atom("job"), 7))
    logger.info("something %s", "else")
    emit(Kind.SEND, TWO, ONE, object())
    handler.close()
    lines = LoggingLines(format)
    read = [lines.parse_line(line) for line in (tmp_path / "x.log").read_text().splitlines()]
    assert read[0] is not None
    assert read[0][0][:4] == (Kind.RECV, TWO, None, (Atom("job"), 7))
    assert read[1] is None
    assert read[2] is not None
    assert isinstance(read[2][0].data, Reference)


@pytest.mark.parametrize(
    ("head", "format"),
    [
        (b"recv(<0.1.0>,x)\n", LogFormat.TEXT),
        (b'% hello\n\n{trace,"<0.1.0>",exit,x}.\n', LogFormat.TERMS),
        (b'\xef\xbb\xbf{"event":"recv"}\n', LogFormat.JSONL),
        (b'  { "event" : 1}', LogFormat.JSONL),
        (b"", LogFormat.TEXT),
        (b"nonsense", LogFormat.TEXT),
    ],
)
def test_the_format_shows(head: bytes, format: LogFormat) -> None:
    assert detect_log_format(head) is format


def test_bad_lines_can_be_left_out() -> None:
    reader = EventReader(skip=True)
    block = LogBlock("a.log", 7, b"recv(<0.2.0>,x)\r\nrecv(<0.2.0>,X)\n\xff\nrecv(<0.2.0>,y)", True)
    reader.begin(block)
    found = [occurrence for occurrence, _ in reader.events(block)]
    assert [(each.data, each.row, each.location) for each in found] == [("x", 7, "a.log"), ("y", 10, "a.log")]
    assert reader.tally.bad_lines == 2
    assert [re.match(r"a\.log:(\d+:\d+)", each.message)[1] for each in reader.tally.bad] == ["8:14", "9:1"]  # type: ignore[index]
