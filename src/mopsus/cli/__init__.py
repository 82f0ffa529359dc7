"""The command line: a file per command, each with one function of the same name."""
