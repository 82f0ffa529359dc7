"""`.hml` files, with properties of components: reading, printing, compiling."""

from __future__ import annotations

from fuzz.specs import check_spec


def one(data: bytes) -> None:
    check_spec(data.decode("utf-8", "replace"), "fuzzed.hml")
