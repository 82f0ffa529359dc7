"""The way into the core, where encodings, memories and monitors run: automata as it takes them, and what it raises."""

from __future__ import annotations

from functools import lru_cache

from mopsus import _core
from mopsus.decentral.automaton import Automaton
from mopsus.decentral.errors import DecentralError


class KnowledgeError(DecentralError):
    """What a monitor was told contradicts what it knows, is not about its automaton, or is damaged."""

    code = "DECENTRAL-050"


_core.use_knowledge_error(KnowledgeError)


@lru_cache(maxsize=1024)
def compiled(automaton: Automaton) -> _core.Automaton:
    """The automaton of the core; equal ones are the same."""
    return _core.Automaton(automaton.inputs, automaton.verdicts, automaton.nodes, automaton.roots)
