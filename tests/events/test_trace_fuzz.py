"""Random and mutated files through each reader: no crash, no hang, only `TraceError`.

`MOPSUS_FUZZ_BYTES` says how many bytes each format gets; the default keeps the run short.
"""

from __future__ import annotations

import os
import random
import resource

import pytest
from trace_support import compressed, run_check, spec_of, write_as

from mopsus.events.trace import Format
from mopsus.events.trace.blocks import cut_blocks
from mopsus.model import Event

BYTES = int(os.environ.get("MOPSUS_FUZZ_BYTES", "100000"))
SPEC = spec_of(Event("create", ("c", "i")), Event("use", ("i",)))
ROWS = [{"event": "use" if k % 3 else "create", "c": k, "i": f"it{k}", "x": k / 4} for k in range(60)]
MEMORY_LIMIT = 1 << 30


def mutate(data: bytes, rng: random.Random) -> bytes:
    mutated = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(mutated))
        match rng.randrange(4):
            case 0:
                mutated[at] = rng.randrange(256)
            case 1:
                mutated[at] ^= 1 << rng.randrange(8)
            case 2:
                del mutated[at : at + rng.randint(1, 8)]
            case 3:
                mutated[at:at] = rng.randbytes(rng.randint(1, 4))
        if not mutated:
            return b"\0"
    return bytes(mutated)


def feed(path, format=None) -> None:
    for bad_rows in ("stop", "skip"):
        result, _ = run_check([SPEC], path, format=format, bad_rows=bad_rows)
        if result.error is not None:
            assert result.error.file == str(path)
            assert "Traceback" not in result.error.message


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@pytest.mark.parametrize("how", ["plain", "gzip", "zstd"])
@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_mutated_text(tmp_path, format, how):
    before = peak_bytes()
    original = compressed(write_as(format, tmp_path, ROWS, ["event", "c", "i", "x"]), how).read_bytes()
    rng = random.Random(f"{format}-{how}")
    path = tmp_path / "mutated"
    for _ in range(max(1, BYTES // len(original) // 3)):
        path.write_bytes(mutate(original, rng))
        feed(path)
    assert peak_bytes() < before + MEMORY_LIMIT


@pytest.mark.parametrize("format", ["parquet", "arrow", "stream"])
def test_mutated_binary(tmp_path, format):
    original = write_as(format, tmp_path, ROWS, []).read_bytes()
    rng = random.Random(format)
    path = tmp_path / "mutated"
    # Each takes two child processes, so that the default is a handful.
    for _ in range(max(3, BYTES // len(original) // 20)):
        path.write_bytes(mutate(original, rng))
        feed(path)


@pytest.mark.parametrize("format", [None, *Format])
def test_random_bytes(tmp_path, format):
    rng = random.Random(str(format))
    path = tmp_path / "random"
    size = min(BYTES, 50_000) if format in (Format.PARQUET, Format.ARROW) else BYTES
    alphabet = b'{}[]",:\n\r0123456789eE.-+ntfals\\ event,i' if rng.random() < 0.5 else bytes(range(256))
    path.write_bytes(bytes(rng.choices(alphabet, k=size)))
    feed(path, format)


@pytest.mark.parametrize("format", [Format.CSV, Format.JSONL])
def test_structured_noise(tmp_path, format):
    """Noise with a valid beginning, so that it gets past the header."""
    rng = random.Random(format.value)
    path = tmp_path / "noise"
    head = b"event,c,i\n" if format is Format.CSV else b""
    words = [b"use", b"create", b",", b"\n", b'"', b"1", b"\r\n", b'{"event":"use","i":1}\n', b"{", b"}", b"\xff", b""]
    path.write_bytes(head + b"".join(rng.choices(words, k=BYTES // 4)))
    feed(path, format)


def test_an_endless_row_is_an_error_in_bounded_memory(tmp_path):
    path = tmp_path / "endless.csv"
    path.write_bytes(b'event,c,i\nuse,,"' + b"a\n" * (40 << 20))
    result, _ = run_check([SPEC], path)
    assert result.error is not None
    assert "longer than" in result.error.message
    assert "quote" in result.error.hint


@pytest.mark.parametrize("quotes", [True, False])
def test_blocks_are_whole_rows_and_lose_nothing(quotes, monkeypatch):
    monkeypatch.setattr("mopsus.events.trace.blocks.BLOCK", 40)
    rng = random.Random(7)
    for _ in range(300):
        fields = ['"a\nb"', '"""\n"', "x", '5" pipe', '""', "long" * rng.randint(1, 20)]
        rows = [f"{rng.choice(fields)},{rng.choice(fields)}\n".encode() for _ in range(rng.randint(0, 12))]
        text = b"".join(rows)
        pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
        cuts = list(cut_blocks(pieces, quotes=quotes))
        assert b"".join(cuts) == text
        assert cuts == list(cut_blocks([text], quotes=quotes))
        assert all(block.endswith(b"\n") for block in cuts)
