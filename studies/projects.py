"""The projects under study, as `projects.toml` describes them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from studies.error import StudyError

FILE = Path(__file__).resolve().with_name("projects.toml")
SUITES = Path(__file__).resolve().with_name("suites")


class Deselected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tests that are left out, in both sorts of runs, and the reason."""

    test: str
    """What `pytest --deselect` takes, or `--ignore` if it is a file or folder."""
    why: str


class Project(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A project, its tests, and what they need."""

    name: str
    version: str
    about: str
    """Which part of the standard library its tests make use of."""
    tests: list[str]
    """Arguments of pytest."""
    own_suite: bool = False
    """Its tests are not published with it: those in `suites/<name>`, written for this study, are run instead."""
    requirements: list[str] = []
    """What the tests need besides the project and what that itself needs; it is watched, too."""
    tools: list[str] = []
    """Plugins of pytest: like pytest, they are not watched."""
    extras: list[str] = []
    deselect: list[Deselected] = []
    variables: dict[str, str] = {}
    """Variables of the environment that the tests, or the installation, need."""
    timeout_s: float = 600
    """After which time a run counts as hanging."""

    @property
    def requirement(self) -> str:
        """The project as pip names it."""
        return f"{self.name}{self.options}=={self.version}"

    @property
    def options(self) -> str:
        """The extras as pip writes them after a name or file."""
        return f"[{','.join(self.extras)}]" if self.extras else ""

    @property
    def suite(self) -> Path | None:
        """The folder of the tests that were written for this study."""
        return SUITES / self.name if self.own_suite else None

    @property
    def arguments(self) -> list[str]:
        """All arguments of pytest that have to do with the choice of tests."""
        left_out = [
            f"--deselect={each.test}" if "::" in each.test else f"--ignore={each.test}" for each in self.deselect
        ]
        return [*self.tests, *left_out]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    project: list[Project]


def load_projects(file: Path = FILE) -> dict[str, Project]:
    """The projects by name, in the order of the file."""
    try:
        found = msgspec.toml.decode(file.read_bytes(), type=_File)
    except (OSError, msgspec.DecodeError) as error:
        raise StudyError(
            f"cannot read {file.name}: {error}", hint="see docs/case-studies.md on adding a project"
        ) from error
    return {each.name: each for each in found.project}
