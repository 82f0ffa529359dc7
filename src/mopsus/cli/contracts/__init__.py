"""Ready-made specs for the standard library and well-known packages: what there is, and whether it holds here.

Programs are watched against them by `mopsus run --contracts stdlib` and `pytest --mopsus-contracts stdlib`.
"""

COMMANDS = ("list", "show", "check")
