"""Run the benchmarks, print their table, store the JSON, and write the page of the documentation anew.

    python bench/run.py                                 everything
    python bench/run.py --only hasnext --only online    some; the results of the others stay as they are
    python bench/run.py --only hasnext --scale 0.1      smaller, to try something: printed, not stored

Each benchmark is a module beside this one with a function `rows(scale)`, and runs in a process of its own. Among the
rows there may be a `Matrix`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import table
from harness import Matrix, Row, environment, in_fresh_process

BENCHMARKS = (
    "hasnext",
    "unsafe_iter",
    "several",
    "unsafe_map_iter",
    "end_to_end",
    "json_lines",
    "online",
    "inline",
    "programs",
    "components_inline",
    "components_outline",
    "loops",
    "imports",
    "start",
    "logics",
    "context_free",
    "rewriting",
    "ltl",
    "mtl",
    "ehe",
    "rounds",
    "synthetic",
    "memory",
    "churn",
    "many_specs",
    "ablations",
    "components_core",
    "components_offline",
    "interactive_gdb",
    "interactive_hooks",
    "interactive_python",
    "interactive_dynamic",
    "interactive_memory",
    "interactive_checkpoints",
    "peers",
)


def benchmark(name: str, scale: float) -> dict[str, Any]:
    """One benchmark as it is stored."""
    start = time.perf_counter()
    measured = importlib.import_module(name).rows(scale)
    matrices = [asdict(each) for each in measured if isinstance(each, Matrix)]
    return {
        "scale": scale,
        "seconds": round(time.perf_counter() - start),
        "environment": environment(),
        "rows": [asdict(each) | {"met": each.met} for each in measured if isinstance(each, Row)],
        **({"matrices": matrices} if matrices else {}),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the benchmarks.")
    parser.add_argument("--only", action="append", choices=BENCHMARKS, metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--scale", type=float, default=1.0, help="how large, as a part of the full size")
    parser.add_argument("--output", type=Path, help="store the JSON here, and leave the documentation alone")
    arguments = parser.parse_args()
    chosen = [name for name in BENCHMARKS if not arguments.only or name in arguments.only]
    stored = arguments.output or (table.RESULTS if arguments.scale == 1 else None)
    results: dict[str, Any] = json.loads(stored.read_text(encoding="utf-8")) if stored and stored.exists() else {}
    for name in chosen:
        print(f"\n{name}", flush=True)
        results[name] = in_fresh_process(benchmark, name, arguments.scale)
        print(table.markdown(results[name]), flush=True)
        if stored:
            ordered = {each: results[each] for each in BENCHMARKS if each in results}
            stored.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if stored == table.RESULTS:
        table.write_page()
    return 0


if __name__ == "__main__":
    sys.modules["run"] = sys.modules["__main__"]  # `in_fresh_process` finds a function by its module
    benchmark.__module__ = "run"
    sys.exit(main())
