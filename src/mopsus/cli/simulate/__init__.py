"""Decentralized monitoring: monitors that each see one component, run over recorded traces of all of them.

Specifications say which monitors there are, algorithms how they come to one verdict.
"""

COMMANDS = ("run", "analyse", "view", "experiment", "report", "generate", "rate", "deploy", "host", "relay")
