"""Encodings as bytes: they come back as they were, and what was damaged is refused."""

from __future__ import annotations

import random

import pytest
from decentral.encodings import informed, replicas
from hypothesis import given
from hypothesis import strategies as st
from oracle.tables import LIGHT, Table

from mopsus import _core
from mopsus.decentral.core import KnowledgeError


@given(replicas(1, states=4, inputs=3, length=6))
def test_an_encoding_comes_back_as_it_was(case):
    table, _, (encoding,) = case
    again = _core.Ehe.load(table.core, encoding.save())
    assert again == encoding
    assert [again.states(time) for time in range(again.start, again.end + 1)] == [
        encoding.states(time) for time in range(encoding.start, encoding.end + 1)
    ]


def test_bytes_are_few():
    encoding = informed(LIGHT, 10, [(time, 1, True) for time in range(1, 11)])
    assert len(encoding.save()) == 1 + 8 + 5 + 10 * 2 + 4


def test_whatever_was_damaged_is_refused():
    saved = informed(LIGHT, 6, [(2, 0, False), (3, 1, True), (5, 0, True)]).save()
    draw = random.Random(3)
    for _ in range(3000):
        damaged = bytearray(saved)
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(damaged))
            if draw.random() < 0.2:
                del damaged[at:]
                damaged.append(draw.randrange(256))
            else:
                damaged[at] = draw.randrange(256)
        if damaged != saved:
            with pytest.raises(KnowledgeError):
                _core.Ehe.load(LIGHT.core, bytes(damaged))


@given(st.binary(max_size=60))
def test_any_bytes_with_the_right_sum_are_an_encoding_or_refused(body):
    data = bytes([1]) + LIGHT.core.fingerprint.to_bytes(8, "little") + body
    try:
        encoding = _core.Ehe.load(LIGHT.core, data + _sum(data))
    except KnowledgeError:
        return
    assert _core.Ehe.load(LIGHT.core, encoding.save()) == encoding


def _sum(data):
    """The sum in the last four bytes."""
    mask = 2**64 - 1
    total = 0x6D6F70737573
    for word in (len(data), *data):
        total = ((total ^ word) * 0x9E3779B97F4A7C15) & mask
        total ^= total >> 32
    return (total & 0xFFFFFFFF).to_bytes(4, "little")


def test_the_sum_is_the_one_that_the_core_makes():
    saved = informed(LIGHT, 2, [(2, 0, False)]).save()
    assert saved[-4:] == _sum(saved[:-4])


def test_another_automaton_or_version_is_named():
    saved = informed(LIGHT, 2, []).save()
    with pytest.raises(KnowledgeError, match="of another automaton"):
        _core.Ehe.load(Table(1, (None,), ((0, 0),)).core, saved)
    with pytest.raises(KnowledgeError, match="another version"):
        _core.Ehe.load(LIGHT.core, b"\x02" + saved[1:])
    with pytest.raises(KnowledgeError, match="too short"):
        _core.Ehe.load(LIGHT.core, b"")
