"""Entries of the catalogue of messages are sentences; that each is used is tested for all catalogues together."""

import re

from mopsus.spec import MESSAGES


def test_entries_are_sentences_in_order():
    assert list(MESSAGES) == sorted(MESSAGES)
    assert all(re.fullmatch(r"SPEC-\d{3}", code) and text.endswith(".") for code, text in MESSAGES.items())
