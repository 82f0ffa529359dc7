"""Ready-made specifications for the standard library and for well-known packages.

A contract is a spec in a file of its own, `<library>/<group>/<Name>.mop`, with two programs beside it: one that
violates it in the line that says `# violation`, and one that does not. `catalogue` knows which there are,
`choice` which are wanted, `switches` where they are switched off; whoever runs programs weaves them like any other
spec.
"""

from mopsus.contracts.catalogue import Contract, catalogue
from mopsus.contracts.choice import choose
from mopsus.contracts.settings import Settings, read_settings
from mopsus.contracts.switches import Switches

__all__ = ["Contract", "Settings", "Switches", "catalogue", "choose", "read_settings"]
