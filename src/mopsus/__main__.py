"""`python -m mopsus` is the `mopsus` command."""

from mopsus.cli.main import main

main()
