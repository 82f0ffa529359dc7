"""Stage 1: `.prop` texts: properties of debugged programs as state machines with guards, in the language of Verde."""

SUFFIX = ".prop"
LOGIC = "efsm"


def is_property(filename: str) -> bool:
    """Is a file of this name a property of a debugged program?"""
    return filename.endswith(SUFFIX)
