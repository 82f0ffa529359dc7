"""Stage 4: the errors and warnings of traces, by code, with what each means."""

from __future__ import annotations

MESSAGES = {
    "TRACE-001": "A row of a trace cannot be used: wrong number of fields, text that is not UTF-8, a value that its "
    "column's type refuses, or no value where its event needs one.",
    "TRACE-002": "A trace cannot be opened or read on: it does not exist, is truncated or damaged, has no column "
    "`event`, or has a row that never ends.",
    "TRACE-003": "Reading this trace needs a package of the extra `trace`.",
    "TRACE-004": "The file is of a format that is not read.",
    "TRACE-005": "Specs of one run declare different types for the same column.",
    "TRACE-007": "A trace is empty.",
    "TRACE-008": "Column `time` holds no numbers, so verdicts have no time.",
    "TRACE-009": "Rows were left out because they were bad and `--bad-rows skip` was given.",
    "TRACE-010": "The run ended at the number of violations given by `--max-violations`, before the end of the traces.",
    "TRACE-012": "A log was being followed and a signal came while there was much to read: the rest was not read.",
    "TRACE-015": "Code of a spec has raised SystemExit, or the like. Only a program can be left: that was the end.",
    "TRACE-013": "A log that is followed with a state was rotated so often that the place in it was not found again.",
    "TRACE-014": "The state of a run that follows a log cannot be written, is damaged, or belongs to another run.",
    "TRACE-016": "A run went on from the state of an earlier one, so its report is only about what came since.",
}
