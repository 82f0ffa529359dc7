"""Specifications of decentralized monitoring, in TOML and XML. The first byte says which."""

from __future__ import annotations

from fuzz.errors import check_error
from fuzz.files import folder

from mopsus.decentral.automaton import Automaton
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.load import Converter
from mopsus.decentral.load.toml import read_toml
from mopsus.decentral.load.xml import read_xml
from mopsus.decentral.synthesis import from_formula
from mopsus.model import MopsusError

PATIENCE_S = 2.0
NONE: dict[str, Converter] = {}


def synthesis(text: str) -> Automaton:
    """Large formulas may take as long as the user allows: that is no finding."""
    return from_formula(text, timeout_s=PATIENCE_S)


def one(data: bytes) -> None:
    kind, content = data[:1], data[1:4000]
    try:
        if kind < b"A":
            read_toml(content, folder() / "fuzzed.toml", synthesis)
        else:
            read_xml(content, "fuzzed.xml", synthesis, NONE)
    except DecentralError as error:
        check_error(error)
    except MopsusError as error:
        check_error(error)
