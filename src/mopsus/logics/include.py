"""Stage 2: formulas in files of their own, for logics whose text other tools write."""

from __future__ import annotations

import re
from pathlib import Path

from mopsus.logics.logic import LogicError
from mopsus.model.text import printable
from mopsus.spec.source import Source

MAX_CHARACTERS = 50_000_000
"""A larger file is refused before it is parsed."""

_QUOTED = re.compile(r'\s*"([^"\n]+)"\s*')


def is_file_name(text: str) -> bool:
    """Is the formula a name in quotes and nothing else?"""
    return _QUOTED.fullmatch(text) is not None


def read_formula(text: str, origin: str) -> Source:
    """The text of the file that the formula names, relative to the folder of the file `origin`.

    `LogicError` if it cannot be read.
    """
    name = _QUOTED.fullmatch(text)
    assert name is not None
    path = Path(origin).parent / name[1]
    try:
        with path.open(encoding="utf-8") as file:
            found = file.read(MAX_CHARACTERS + 1)
    except OSError as error:
        raise LogicError(
            f"cannot read {path}: {error.strerror}",
            code="LOGIC-040",
            hint="a name in quotes is that of a file, relative to the spec",
        ) from None
    except UnicodeDecodeError:
        raise LogicError(f"{path} is not UTF-8 text", code="LOGIC-040") from None
    except ValueError as error:  # a NUL byte
        raise LogicError(f"{printable(str(path))} is no file name: {error}", code="LOGIC-040") from None
    if len(found) > MAX_CHARACTERS:
        raise LogicError(f"{path} has more than {MAX_CHARACTERS:,} characters", code="LOGIC-040")
    return Source(found, str(path))
