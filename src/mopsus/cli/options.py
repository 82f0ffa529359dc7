"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

AllowUnmonitorable = Annotated[
    bool, typer.Option("--allow-unmonitorable", help="Accept formulas that no trace can ever decide.")
]
