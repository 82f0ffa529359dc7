"""Stage 4: exceptions as the interpreter itself tells of them, by `sys.monitoring` from Python 3.12 on.

It tells of all of them, whoever raises them: statements, operators, functions in C. Without it only rewritten `raise`
and `assert` statements do. The core asks once for each code object whose it is, and looks no further at others.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Mapping
from typing import Any

from mopsus._core import Site
from mopsus.events.weave.origin import is_ours, is_own
from mopsus.events.weave.sites import SITES, Place

_FREE = (4, 3)
"""The tools that are nobody's. Others are meant for debuggers, coverage and profilers, which may come at any time."""


class Exceptions:
    """Listens while somebody wants to know."""

    def __init__(self) -> None:
        self._users = 0
        self._tool: int | None = None

    def start(self) -> bool:
        """Listen, until `stop` has been called as often; False if that cannot be: other tools have what it takes."""
        if self._users == 0 and not self._listen():
            return False
        self._users += 1
        return True

    def stop(self) -> None:
        """Somebody wants to know no more."""
        self._users -= 1
        if self._users == 0:
            self._end()

    def _listen(self) -> bool:
        if sys.version_info >= (3, 12):
            for tool in _FREE:
                try:
                    sys.monitoring.use_tool_id(tool, "mopsus")
                except ValueError:
                    continue
                self._tool = tool
                sys.monitoring.register_callback(tool, sys.monitoring.events.RAISE, Site("raised", _site))
                sys.monitoring.set_events(tool, sys.monitoring.events.RAISE)
                atexit.register(self._end)  # the interpreter would keep us, and all that we know, to its very end
                return True
        return False

    def _end(self) -> None:
        tool, self._tool = self._tool, None
        if sys.version_info >= (3, 12) and tool is not None:
            sys.monitoring.set_events(tool, 0)
            sys.monitoring.register_callback(tool, sys.monitoring.events.RAISE, None)
            sys.monitoring.free_tool_id(tool)
            atexit.unregister(self._end)


def _site(namespace: Mapping[str, Any]) -> Site | None:
    """The site that serves the taps of the module whose namespace this is."""
    module, file = namespace.get("__name__"), namespace.get("__file__")
    if not isinstance(module, str) or is_ours(module):
        return None
    return SITES.site(module, Place("raised"), own=isinstance(file, str) and is_own(file))


EXCEPTIONS = Exceptions()
