"""Names that are loaded when they are first used, so that nobody pays for what is not needed."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def late_names(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a package whose names are in modules below it, given by module.

    No module may have the name of something in it: once it is imported, the package has the module by that name.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}
    assert homes.keys().isdisjoint(modules)

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, list_names


def late_function(module: str, name: str) -> Callable[..., Any]:
    """A function that is imported when it is first called."""

    def call(*arguments: Any) -> Any:  # noqa: ANN401 - it takes what the function takes
        return getattr(import_module(module), name)(*arguments)

    return call
