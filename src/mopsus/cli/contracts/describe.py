"""What is told about a contract."""

from __future__ import annotations

import re

import msgspec

from mopsus.contracts import Contract
from mopsus.model import Severity

_LINK = re.compile(r"\s*(https?://\S+)\s*$")


class Description(msgspec.Struct, frozen=True):
    """A contract in words."""

    name: str
    group: str
    library: str
    modules: tuple[str, ...]
    like: str
    """The contract whose rule it states for another class; empty if its rule is its own."""
    severity: str
    rule: str
    source: str
    """Where the documentation of the library says so."""
    text: str
    """The spec itself."""


def describe(contract: Contract) -> Description:
    """What a contract is about, from its own text."""
    spec = contract.load().spec
    link = _LINK.search(spec.doc)
    return Description(
        contract.name,
        contract.group,
        contract.library,
        contract.modules,
        contract.like,
        (spec.severity or Severity.ERROR).value,
        _LINK.sub("", spec.doc),
        link[1] if link else "",
        contract.path.read_text(encoding="utf-8"),
    )
