"""Stage 4: what stands for an object of the program is pickled as that object, also by who asks for its exact type.

Most picklers ask objects how they are to be pickled; `dill` has a table by type.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from mopsus import _core

DILL = "dill._dill"


def teach(module: ModuleType) -> None:
    """Tell a pickler that was loaded what is to be done with what stands for something."""
    if module.__name__ == DILL:
        for kind in (_core.Advice, *_core.Advice.__subclasses__(), _core.Accessor):
            module.Pickler.dispatch[kind] = _save


def teach_all() -> None:
    """The same with what is loaded."""
    if DILL in sys.modules:
        teach(sys.modules[DILL])


def _save(pickler: Any, stand_in: _core.StandIn) -> None:  # noqa: ANN401 - a pickler of dill
    original = _core.advised(stand_in)
    name = stand_in.__reduce_ex__(pickler.proto)
    if isinstance(name, str) and getattr(original, "__module__", None) != "__main__":
        pickler.save_global(stand_in, name)
    else:
        pickler.save(original)  # which is not found under its name, so that it is pickled by value
