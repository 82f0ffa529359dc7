"""TOML files read into structs, with the place of whatever is wrong in them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TypeVar

import msgspec

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.load.places import Places
from mopsus.logics.text import suggestion
from mopsus.model import UNDECODABLE, Span

_FAULT = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_NUMBER = re.compile(r"\[(\d+)\]")

Struct = TypeVar("Struct", bound=msgspec.Struct)


def has_null(content: object) -> bool:
    """Is there a null character in any text of this? No name of a file may have one, and nothing else needs it."""
    if isinstance(content, dict):
        return any(has_null(key) or has_null(value) for key, value in content.items())
    if isinstance(content, list):
        return any(map(has_null, content))
    return isinstance(content, str) and "\0" in content


class Tables:
    """The content of a file; `malformed` and `misplaced` are the codes of its errors."""

    def __init__(self, data: bytes, path: Path, *, malformed: str, misplaced: str) -> None:
        self._malformed = malformed
        self._misplaced = misplaced
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            span = Span(str(path), line, 1, line, 2)
            raise DecentralError("the file is not UTF-8", code=malformed, place=span, line="") from None
        self.places = Places(text, str(path))
        try:
            self.content = tomllib.loads(text)
        except UNDECODABLE as error:
            raise self._fault(str(error)) from None
        if has_null(self.content):
            raise self.places.key().error("a text has a null character", code=malformed)

    def convert(self, given: object, kind: type[Struct], *path: str) -> Struct:
        """What stands at a path as a struct; `DecentralError` where it does not fit."""
        try:
            return msgspec.convert(given, kind)
        except msgspec.ValidationError as error:
            message, _, inside = str(error).partition(" - at `$")
            key = _NUMBER.sub(r".\1", inside.rstrip("`")).lstrip(".")
            unknown = re.search(r"unknown field `(.*)`", message)
            place = self.places.key(*path, *(key.split(".") if key else []), *([unknown[1]] if unknown else []))
            text = f"unknown key '{unknown[1]}'" if unknown else message.replace("`", "'")
            known = (field.encode_name for field in msgspec.structs.fields(kind))
            raise place.error(
                text if unknown else text[0].lower() + text[1:],
                code=self._misplaced,
                hint=suggestion(unknown[1], known) if unknown and not key else "",
            ) from None

    def _fault(self, message: str) -> DecentralError:
        found = _FAULT.fullmatch(message)
        if found is None or found[2] is None:
            return self.places.end().error(message if found is None else found[1], code=self._malformed)
        return self.places.at(int(found[2]), int(found[3])).error(found[1], code=self._malformed)
