"""Things of one kind by name: the built-in ones, known by module so that the usual run does not search the installed
packages, and those that packages add under an entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Generic, TypeVar

from mopsus.model import MopsusError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plugins(Generic[T]):
    """All things of a kind. Modules of built-in ones have theirs under the name `attribute`."""

    what: str
    """What one is called: `report format`."""
    kind: type[T]
    group: str
    built_in: Mapping[str, str]
    attribute: str
    missing: Callable[[str, str], MopsusError]
    """Makes the error, of a message and a hint, for a name that nothing has."""
    broken: Callable[[str], MopsusError]
    """Makes the error for one that cannot be used."""

    def load(self, name: str) -> T:
        """The one of that name; raises what `missing` or `broken` makes."""
        if name in self.built_in:
            found: object = getattr(import_module(self.built_in[name]), self.attribute)
        else:
            found = self._load_installed(name)
        if not isinstance(found, self.kind):
            raise self.broken(f"{self.what} '{name}' is not a {self.kind.__module__}.{self.kind.__qualname__}")
        return found

    def names(self) -> tuple[str, ...]:
        """Every name: the built-in ones first, then those of installed packages."""
        from importlib.metadata import entry_points  # slow; only for lists and for names that are not ours

        installed = {point.name for point in entry_points(group=self.group)}
        return (*self.built_in, *sorted(installed - set(self.built_in)))

    def _load_installed(self, name: str) -> object:
        from importlib.metadata import entry_points

        for point in entry_points(group=self.group, name=name):
            try:
                return point.load()
            except Exception as error:  # a plugin may fail in any way while it is imported
                raise self.broken(f"{self.what} '{name}' ({point.value}) cannot be loaded: {error}") from error
        raise self.missing(f"there is no {self.what} '{name}'", f"choose one of: {', '.join(self.names())}")
