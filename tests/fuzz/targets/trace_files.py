"""The bytes of a trace or log before they are rows: compression, format, blocks of whole rows."""

from __future__ import annotations

import gzip

import zstandard
from fuzz.choices import Choices
from fuzz.errors import check_error
from fuzz.files import file_of

from mopsus.events.component.log.read import find_roots, read_blocks
from mopsus.events.trace.blocks import cut_blocks
from mopsus.events.trace.sources import Source, UnreadableError, detect_format, open_source, read_pieces
from mopsus.model import MopsusError

PACK = (bytes, gzip.compress, zstandard.ZstdCompressor(level=1).compress)


def one(data: bytes) -> None:
    choices = Choices(data)
    pack, quotes, damaged = choices.pick(PACK), choices.flag(), choices.flag()
    place, bit = choices.below(4096), choices.below(8)
    plain = choices.rest()
    content = bytearray(pack(plain))
    if damaged and content:
        content[place % len(content)] ^= 1 << bit
    source = Source("trace", file_of("trace", bytes(content)))
    seen = read(source, quotes=quotes)
    if not damaged and seen is not None:
        whole, compressed = seen
        assert whole == plain or (compressed and pack is bytes), "what was packed is not what comes out"
    try:
        for block in read_blocks([source], lambda count: None):
            assert block.line >= 1
        find_roots([source])
    except MopsusError as error:
        check_error(error)


def read(source: Source, *, quotes: bool) -> tuple[bytes, bool] | None:
    try:
        with open_source(source) as file:
            pieces, compressed = read_pieces(file, lambda count: None)
            blocks = list(cut_blocks(pieces, quotes=quotes))
        whole = b"".join(blocks)
        detect_format(whole, source.name)
    except UnreadableError:
        return None
    except MopsusError as error:
        check_error(error)
        return None
    return whole, compressed
