"""Which contracts are wanted: `stdlib`, `files,-FileNotClosed`, `UnsafeIter,threads`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mopsus.contracts.catalogue import GROUPS, Contract, catalogue
from mopsus.contracts.messages import ContractError


def choose(words: str) -> list[Contract]:
    """The contracts that a list of names stands for: of contracts, groups and libraries, separated by commas.

    What has a `-` before it is left out of what was named before. `ContractError` if a name is unknown or nothing is
    left.
    """
    chosen: dict[str, Contract] = {}
    for word in filter(None, (part.strip() for part in words.split(","))):
        if word.startswith("-"):
            for name in _named(word[1:]):
                chosen.pop(name, None)
        else:
            chosen |= _named(word)
    if not chosen:
        raise ContractError(
            f"'{words}' chooses no contract", hint="name a library, as in `stdlib`, a group or a contract"
        )
    return [contract for name, contract in catalogue().items() if name in chosen]


def _named(word: str) -> Mapping[str, Contract]:
    found = {
        name: contract for name, contract in catalogue().items() if word in (name, contract.group, contract.library)
    }
    if not found:
        raise unknown(word)
    return found


def unknown(word: str, names: Sequence[str] | None = None) -> ContractError:
    """The error for a name that nothing has, with the nearest as its hint."""
    from mopsus.spec import suggest

    groups = [group for groups in GROUPS.values() for group in groups]
    near = suggest(word, list(names) if names is not None else [*catalogue(), *groups, *GROUPS])
    hint = f"did you mean '{near}'?" if near else "`mopsus contracts list` shows what there is"
    return ContractError(f"there is no contract '{word}'", hint=hint)
