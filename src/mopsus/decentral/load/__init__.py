"""Specification files: XML as THEMIS has it, and TOML."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.load.build import Converter, Loaded, Synthesis
from mopsus.decentral.load.toml import read_toml
from mopsus.decentral.load.xml import read_xml
from mopsus.decentral.synthesis import from_formula

__all__ = ["Converter", "Loaded", "Synthesis", "load_specification"]


def load_specification(
    path: Path, *, synthesis: Synthesis = from_formula, converters: Mapping[str, Converter] | None = None
) -> Loaded:
    """The specification in a file, and the system if the file describes it.

    `synthesis` makes the automata of formulas (a cache's, say); `converters` are further classes that an XML file may
    use, by name. `DecentralError` with its place if anything is wrong.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DecentralError(f"cannot read {path}: {error.strerror}", code="DECENTRAL-030") from None
    if path.suffix == ".toml":
        return read_toml(data, path, synthesis)
    if path.suffix == ".xml":
        return read_xml(data, str(path), synthesis, converters or {})
    raise DecentralError(
        f"{path} is no specification file", hint="its name must end in .xml or .toml", code="DECENTRAL-030"
    )
