"""Random traces and formulas for experiments; from one seed, always the same."""

COMMANDS = ("traces", "formulas")
