"""What people think of violations, as `judgements.toml` has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from studies.error import StudyError
from studies.results import Outcome, Violation

FILE = Path(__file__).resolve().with_name("judgements.toml")


class Truth(StrEnum):
    """What a violation turns out to be."""

    PROBLEM = "true problem"
    """What is done is wrong, or may go wrong."""
    HARMLESS = "harmless but true"
    """The rule is broken, on purpose or without consequences: in a test that tries what happens, for example."""
    FALSE = "false alarm"
    """The rule is not broken, or there is no such rule."""


class Judgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sentence about all violations of a contract in a project at some places."""

    contract: str
    project: str
    places: list[str]
    """Patterns, as in a shell, of `file:line`."""
    truth: Truth
    why: str

    def fits(self, project: str, violation: Violation) -> bool:
        """Is this judgement about a violation?"""
        return (self.project, self.contract) == (project, violation.contract) and any(
            fnmatchcase(violation.place, pattern) for pattern in self.places
        )


class Judgements:
    """All judgements; the first that fits counts."""

    def __init__(self, judgements: Sequence[Judgement]) -> None:
        self._all = judgements

    def of(self, project: str, violation: Violation) -> Judgement | None:
        """What is thought of a violation; None: nobody has looked at it."""
        return next((each for each in self._all if each.fits(project, violation)), None)

    def idle(self, results: Mapping[str, Outcome]) -> list[Judgement]:
        """Judgements about nothing that was found in the projects of the results."""
        used = {id(judgement) for _, _, judgement in self.over(results)}
        return [each for each in self._all if each.project in results and id(each) not in used]

    def over(self, results: Mapping[str, Outcome]) -> Iterator[tuple[str, Violation, Judgement | None]]:
        """Every violation with its project and what is thought of it."""
        for project, outcome in results.items():
            for violation in outcome.violations:
                yield project, violation, self.of(project, violation)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    judgement: list[Judgement] = []


def load_judgements(file: Path = FILE) -> Judgements:
    """The judgements in the order of the file."""
    try:
        return Judgements(msgspec.toml.decode(file.read_bytes(), type=_File).judgement)
    except (OSError, msgspec.DecodeError) as error:
        raise StudyError(
            f"cannot read {file.name}: {error}", hint=f"a judgement says {', '.join(map(str, Truth))}, and why"
        ) from error
