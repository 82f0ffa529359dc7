"""What a project says about contracts in its `pyproject.toml`: the table `[tool.mopsus.contracts]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from mopsus.contracts.messages import ContractError
from mopsus.model import UNDECODABLE, Severity

FILE = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Settings:
    """Contracts that are switched off everywhere or by path of the violation, and severities other than their own."""

    disable: tuple[str, ...] = ()
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By pattern of paths below the project, as a shell has them: names of contracts, or `*` for all."""
    severity: Mapping[str, Severity] = field(default_factory=dict)
    root: str = ""
    """The folder of the file; not read from it."""

    def names(self) -> set[str]:
        """All contracts that are mentioned."""
        return {
            *self.disable,
            *self.severity,
            *(name for names in self.paths.values() for name in names if name != "*"),
        }


def read_settings(folder: Path) -> Settings:
    """The settings in the nearest `pyproject.toml` from the folder upwards; `ContractError` if they make no sense."""
    for place in (folder, *folder.parents):
        path = place / FILE
        try:
            data = path.read_bytes()
        except OSError:
            continue
        return _parse(data, path)
    return Settings()


def _parse(data: bytes, path: Path) -> Settings:
    if b"mopsus" not in data:  # most files need not be parsed
        return Settings()
    import tomllib

    import msgspec

    try:
        table = tomllib.loads(data.decode("utf-8")).get("tool", {}).get("mopsus", {}).get("contracts", {})
        if unknown := table.keys() - {each.name for each in fields(Settings) if each.name != "root"}:
            raise ValueError(f"unknown setting '{min(unknown)}'")
        return replace(msgspec.convert(table, Settings), root=str(path.parent))
    except (*UNDECODABLE, AttributeError, TypeError) as error:
        raise ContractError(
            f"{path}: [tool.mopsus.contracts] is not understood: {error}",
            hint="it has `disable`, `paths` and `severity`",
            code="CONTRACT-002",
        ) from error
