"""What Python runs first in a process that a watched program starts: it is watched too, if that is wanted.

The folder of this file is put in front of PYTHONPATH for such processes. Whatever happens here must not harm them.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys


def _start() -> None:
    here = os.path.dirname(__file__)
    sys.path[:] = [folder for folder in sys.path if folder != here]
    # Somebody else's file of the same name is hidden by this one.
    this = sys.modules.pop(__name__)
    with contextlib.suppress(ImportError):
        importlib.import_module(__name__)
    sys.modules.setdefault(__name__, this)
    try:
        from mopsus.run.children import start_child
    except ImportError:
        return  # another Python, which has no Mopsus
    start_child()
    if "MOPSUS_OUTLINE" in os.environ:
        from mopsus.events.component.outline.agent import start_in_child

        start_in_child()


_start()
