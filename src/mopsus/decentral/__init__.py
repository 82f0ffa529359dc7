"""Decentralized monitoring: monitors that each see the propositions of one component, and agree on a verdict.

A *system* is components with the propositions that they observe and the links between them; a *specification* is
monitors whose automata read such propositions and the verdicts of other monitors. The names below are loaded when they
are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mopsus.late import late_names

if TYPE_CHECKING:
    from mopsus.decentral.automaton import Automaton
    from mopsus.decentral.errors import DecentralError
    from mopsus.decentral.load import load_specification
    from mopsus.decentral.messages import MESSAGES
    from mopsus.decentral.specification import Monitor, Specification, monitor_of, specification_of
    from mopsus.decentral.synthesis import Cache, from_formula, from_machine, from_transitions
    from mopsus.decentral.system import Link, System

__all__ = [
    "MESSAGES",
    "Automaton",
    "Cache",
    "DecentralError",
    "Link",
    "Monitor",
    "Specification",
    "System",
    "from_formula",
    "from_machine",
    "from_transitions",
    "load_specification",
    "monitor_of",
    "specification_of",
]

if not TYPE_CHECKING:  # a type checker must see the names above, and no others
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "automaton": "Automaton",
            "errors": "DecentralError",
            "load": "load_specification",
            "messages": "MESSAGES",
            "specification": "Monitor Specification monitor_of specification_of",
            "synthesis": "Cache from_formula from_machine from_transitions",
            "system": "Link System",
        },
    )
