"""What a project says about contracts in its `pyproject.toml`: the table `[tool.mopsus.contracts]`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mopsus.contracts.messages import ContractError
from mopsus.model import Severity

FILE = "pyproject.toml"


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Contracts that are switched off everywhere or by path of the violation, and severities other than their own."""

    disable: tuple[str, ...] = ()
    paths: dict[str, tuple[str, ...]] = {}
    """By pattern of paths below the project, as a shell has them: names of contracts, or `*` for all."""
    severity: dict[str, Severity] = {}
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

    try:
        table = tomllib.loads(data.decode("utf-8")).get("tool", {}).get("mopsus", {}).get("contracts", {})
        return msgspec.convert({**table, "root": str(path.parent)}, Settings)
    except (ValueError, AttributeError, TypeError, msgspec.ValidationError) as error:
        raise ContractError(
            f"{path}: [tool.mopsus.contracts] is not understood: {error}",
            hint="it has `disable`, `paths` and `severity`",
            code="CONTRACT-002",
        ) from error
