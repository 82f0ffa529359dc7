"""The test kit for algorithms: random systems, specifications, traces and faults, and what the verdict must be.

from mopsus.decentral.testing import check_algorithm

def test_my_algorithm():
    check_algorithm(MyAlgorithm(), runs=1000)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mopsus.late import late_names

if TYPE_CHECKING:
    from mopsus.decentral.testing.cases import Case, draw_cases
    from mopsus.decentral.testing.check import Checked, WrongVerdictError, check_algorithm, check_case

__all__ = ["Case", "Checked", "WrongVerdictError", "check_algorithm", "check_case", "draw_cases"]

if not TYPE_CHECKING:  # a type checker must see the names above, and no others
    __getattr__, __dir__ = late_names(
        __name__,
        {"cases": "Case draw_cases", "check": "Checked WrongVerdictError check_algorithm check_case"},
    )
