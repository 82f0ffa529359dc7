"""Scenarios: how a debugging session reacts to its monitors."""

from __future__ import annotations

from fuzz.errors import check_error

from mopsus.interactive.scenario.syntax import parse_scenario
from mopsus.model import MopsusError


def one(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    try:
        parse_scenario(text, "fuzzed.scn")
    except MopsusError as error:
        check_error(error, text)
