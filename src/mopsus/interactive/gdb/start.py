"""What GDB reads to have monitors: `source` it, or let `mopsus debug` do that.

GDB runs this file by itself, not as a part of our package. So it finds the package first, and says clearly if this
GDB's Python cannot load it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gdb

_ROOT = Path(__file__).resolve().parents[3]


def start(order: str | None) -> None:
    """Have the commands; with an order of `mopsus.interactive.gdb.launch`, do what it asks for."""
    if str(_ROOT) not in sys.path:
        sys.path.append(str(_ROOT))
    try:
        import mopsus._core  # noqa: F401 - whether it can be loaded is the question
    except ImportError as error:
        _complain(_why_not(error), order)
        return
    from mopsus.interactive.gdb.process import begin

    begin(order)


def _why_not(error: ImportError) -> str:
    here = "{}.{}".format(*sys.version_info[:2])
    built = sorted(path.name.split(".")[1] for path in (_ROOT / "mopsus").glob("_core.*.so"))
    return (
        f"this GDB runs Python {here}, and Mopsus is not built for it (there is {', '.join(built) or 'nothing'}): "
        f"{error}. Build it for Python {here}, or use a GDB with another Python."
    )


def _complain(message: str, order: str | None) -> None:
    """Say it, also as the outcome of the session. The package, which has the codec, cannot be loaded."""
    gdb.write(f"{message}\n", gdb.STDERR)
    if order is not None:
        target = json.loads(Path(order).read_text())["GdbOrder"]["setup"]["outcome"]
        Path(target).write_text(json.dumps({"Outcome": {"error": message}}))


start(globals().pop("mopsus_order", None))
