"""Stage 4: logs of components as blocks of whole lines: files, growing files, and whatever else gives lines.

Files, compression and growth are looked after by what reads traces.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import mopsus.monitor.symbolic  # noqa: F401 - tells the core which classes its terms are of
from mopsus import _core
from mopsus.events.trace.blocks import cut_blocks
from mopsus.events.trace.follow import Follower
from mopsus.events.trace.read import placed
from mopsus.events.trace.sources import Format, Source, UnreadableError, open_source, read_pieces
from mopsus.model import TraceError
from mopsus.model.term import Pid

_JSON = re.compile(rb'\{\s*["}]')
_TEXT = re.compile(rb"(?:fork|init|exit|send|recv)[ \t]*\(")
_TERM = re.compile(rb"\{\s*[a-z']")


class LogFormat(StrEnum):
    """How events stand on the lines of a log."""

    TEXT = "text"
    JSONL = "jsonl"
    TERMS = "terms"


@dataclass(frozen=True, slots=True)
class LogBlock:
    """Whole lines of a log; the first of them has the number `line`."""

    source: str
    line: int
    data: bytes
    begins: bool
    """Is it the first of a file, or of one that was truncated?"""


def looks_like_log(head: bytes) -> bool:
    """Return whether the first event of a file that begins with these bytes is one of components, in text or terms."""
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if (stripped := line.strip()) and not stripped.startswith(b"%"):
            return bool(_TERM.match(stripped) or _TEXT.match(stripped))
    return False


def detect_log_format(head: bytes) -> LogFormat:
    """The format of a log that begins with these bytes."""
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        stripped = line.strip()
        if stripped and not stripped.startswith(b"%"):
            if _JSON.match(stripped):
                return LogFormat.JSONL
            return LogFormat.TERMS if _TERM.match(stripped) else LogFormat.TEXT
    return LogFormat.TEXT


def read_blocks(sources: Sequence[Source], note: Callable[[int], None]) -> Generator[LogBlock, None, None]:
    """The lines of some logs, one log after the other. `note` hears how many bytes were read."""
    for source in sources:
        line = 1
        try:
            with ExitStack() as closing:
                file = open_source(source)
                if source.path is not None:
                    closing.enter_context(file)
                for block in cut_blocks(read_pieces(file, note)[0], quotes=False):
                    yield LogBlock(source.name, line, block, line == 1)
                    line += block.count(b"\n")
        except UnreadableError as error:
            raise placed(error, source.name, line) from None


def find_roots(sources: Sequence[Source]) -> Callable[[Pid], bool] | None:
    """Who has neither fork nor init in these logs, if all of them are plain text files, which can be read twice."""
    introduced = _core.Introduced()
    for source in sources:
        if source.path is None or not source.path.is_file():
            return None
        try:
            for block in _plain_blocks(source):
                if not introduced.add(block):
                    return None
        except (TraceError, UnreadableError):
            return None  # it is told when its turn comes
    return lambda component: not introduced.has(component)


def _plain_blocks(source: Source) -> Iterator[bytes]:
    with open_source(source) as file:
        pieces, compressed = read_pieces(file, lambda count: None)
        for number, block in enumerate(cut_blocks(pieces, quotes=False)):
            if compressed or (number == 0 and detect_log_format(block) is not LogFormat.TEXT):
                raise UnreadableError("not a plain text log")
            yield block


def follow_blocks(log: Path, stop: threading.Event | None, poll_s: float) -> Generator[LogBlock, None, None]:
    """The lines that a log has and gets, until `stop` is set."""
    line = 1
    try:
        for whole in Follower(log, format=Format.JSONL, stop=stop, poll_s=poll_s):
            line = 1 if whole.begins else line
            yield LogBlock(str(log), line, whole.rows, whole.begins)
            line += whole.rows.count(b"\n")
    except (UnreadableError, OSError) as error:
        reason = error if isinstance(error, UnreadableError) else UnreadableError(error.strerror or str(error))
        raise placed(reason, str(log), line) from None


def live_blocks(name: str, pieces: Iterable[bytes]) -> Generator[LogBlock, None, None]:
    """The lines that come in pieces, as soon as they are whole; the last one may lack its end."""
    line, rest = 1, b""
    for piece in pieces:
        whole, end, rest = (rest + piece).rpartition(b"\n")
        if end:
            yield LogBlock(name, line, whole + end, line == 1)
            line += whole.count(b"\n") + 1
    if rest:
        yield LogBlock(name, line, rest, line == 1)
