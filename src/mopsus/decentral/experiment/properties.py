"""Experiments as THEMIS has them: Java properties, and text files that list specifications and algorithms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.experiment.settings import Check, Series, Settings
from mopsus.logics.text import suggestion
from mopsus.model import Span

ALGORITHMS: Mapping[str, str] = {
    "orchestration": "orch",
    "migration": "migr",
    "migrationrr": "migrr",
    "migrationroundrobin": "migrr",
    "choreography": "chor",
    "orch": "orch",
    "migr": "migr",
    "migrr": "migrr",
    "chor": "chor",
}
"""Classes that set up algorithms, without their packages, in small letters."""

ORACLES: Mapping[str, str] = {"testltl": "monitorable"}

KEYS = (
    "tests.skip",
    "tests.discard",
    "tests.oracle",
    "traces.dir",
    "traces.maximum",
    "run.length",
    "run.components",
    "run.specs",
    "run.algorithms",
    "node.targets",
    "node.host",
)
"""Whatever else has no dot in it is a variable for the environment. Nodes do not matter: runs are carried out here."""

_LINE = re.compile(r"\s*+((?:\\.|[^\s:=\\])++)\s*+[:=]?\s*+(.*)", re.DOTALL)


class _Given(NamedTuple):
    value: str
    line: int


def read_properties(data: bytes, path: Path) -> Settings:
    """The settings that a properties file denotes. `DecentralError` with the line that is wrong."""
    return _Reader(data, path).read()


class _Reader:
    def __init__(self, data: bytes, path: Path) -> None:
        self._path = path
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise DecentralError(f"{path} is not UTF-8", code="DECENTRAL-080") from None
        if "\0" in text:
            raise DecentralError(f"{path} has a null character", code="DECENTRAL-080")
        self._lines = text.splitlines()
        self._given = self._parse()

    def read(self) -> Settings:
        variables = {key: given.value for key, given in self._given.items() if "." not in key}
        series = Series(
            specs=self._text("run.specs"),
            traces=self._text("traces.dir"),
            runs=self._number("traces.maximum"),
            components=self._number("run.components"),
        )
        check = Check(skip=self._flag("tests.skip"), oracle=self._oracle(), write=self._flag("tests.discard"))
        return Settings(
            algorithms=self._algorithms(),
            series=[series],
            limit=self._number("run.length"),
            environment=variables,
            results=variables.get("THEMIS_BENCH_DB"),
            cache=variables.get("THEMIS_CACHE_LTL"),
            check=check,
        )

    def _parse(self) -> dict[str, _Given]:
        given: dict[str, _Given] = {}
        pending, start = "", 0
        for number, raw in enumerate([*self._lines, ""], 1):
            line = raw.lstrip()
            if not pending and (not line or line[0] in "#!"):
                continue
            start = start if pending else number
            ended = len(line) - len(line.rstrip("\\"))
            if ended % 2:  # the next line goes on with this one
                pending += line[:-1]
                continue
            found = _LINE.fullmatch(pending + line)
            pending = ""
            if found is None:
                raise self._wrong("this is no 'key = value'", start)
            key, value = (re.sub(r"\\(.)", r"\1", part) for part in found.groups())
            if "." in key and key not in KEYS:
                raise self._wrong(f"'{key}' is no setting of an experiment", start, suggestion(key, KEYS))
            given[key] = _Given(value.strip(), start)
        return given

    def _text(self, key: str) -> str:
        if key not in self._given:
            raise DecentralError(f"{self._path}: '{key}' is missing", code="DECENTRAL-081")
        return self._given[key].value

    def _number(self, key: str) -> int:
        text = self._text(key)
        if not text.isdecimal() or int(text) < 1:
            raise self._wrong(f"'{text}' is no number from 1 on", self._given[key].line)
        return int(text)

    def _flag(self, key: str) -> bool:
        text, line = self._given.get(key, _Given("false", 0))
        if text.lower() not in ("true", "false"):
            raise self._wrong(f"'{text}' is neither true nor false", line)
        return text.lower() == "true"

    def _oracle(self) -> str:
        text = self._given.get("tests.oracle", _Given("TestLTL", 0)).value
        return ORACLES.get(text.rpartition(".")[2].lower(), text)

    def _algorithms(self) -> list[str]:
        listed = self._path.parent / self._text("run.algorithms")
        try:
            lines = listed.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise self._wrong(f"cannot read {listed}: {reason}", self._given["run.algorithms"].line) from None
        names = [name for line in lines if (name := line.partition("#")[0].strip())]
        return list(dict.fromkeys(ALGORITHMS.get(name.rpartition(".")[2].lower(), name) for name in names))

    def _wrong(self, message: str, line: int, hint: str = "") -> DecentralError:
        text = self._lines[line - 1]
        span = Span(str(self._path), line, 1, line, len(text) + 1)
        return DecentralError(message, hint=hint, code="DECENTRAL-081", place=span, line=text)
