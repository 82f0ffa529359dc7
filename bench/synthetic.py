"""The whole synthetic benchmark of decentralized monitoring, as `mopsus simulate experiment` runs it on all cores.

100 random formulas for each of 3 to 6 components, 200 random traces, four algorithms: 320,000 runs, with the check of
the formulas, the synthesis of their automata, and results in SQLite.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from harness import HERE, Goal, Row

sys.path.insert(0, str(HERE.parent))  # the studies are beside the benchmarks

from studies.decentral.synthetic.study import FORMULAS, prepare, run

TRACES = 50
"""Of each distribution."""
GOAL = Goal("≤", 15, of="ours")


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    with tempfile.TemporaryDirectory() as scratch:
        formulas, traces = max(1, round(FORMULAS * scale)), max(1, round(TRACES * scale))
        experiment = prepare(Path(scratch), formulas=formulas, traces=traces)
        found = run(experiment, os.cpu_count() or 1, lambda done, total: None)
    case = f"{found.runs:,} runs on {found.cores} cores"
    return [
        Row(case, "minutes", found.seconds / 60, goal=GOAL),
        Row(f"{case}: a run on one core", "ms", 1e3 * found.cores * found.seconds / found.runs),
    ]
