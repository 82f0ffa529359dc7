"""Stage 2: what finite logics share, from a plain automaton to a finished machine.

A logic builds an `Automaton`; `finish` makes it suffix-matching where asked, minimal, and analysed.
"""

from mopsus.logics.machines.automaton import Automaton
from mopsus.logics.machines.finish import finish

__all__ = ["Automaton", "finish"]
