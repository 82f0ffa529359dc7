"""Decentralized monitoring: monitors that each see the propositions of one component, and agree on a verdict.

A *system* is components with the propositions that they observe and the links between them; a *specification* is
monitors whose automata read such propositions and the verdicts of other monitors.
"""
