"""The errors and warnings about contracts, by code, with what each means."""

from __future__ import annotations

from mopsus.model import MopsusError

MESSAGES = {
    "CONTRACT-001": "There is no contract, group or library of that name, or the choice leaves none.",
    "CONTRACT-002": "The table `[tool.mopsus.contracts]` of a project cannot be understood.",
    "CONTRACT-003": "The settings of a project name a contract or spec that does not exist.",
    "CONTRACT-004": "A comment `# mopsus: ignore[…]` names a contract or spec that does not exist, or names none.",
}


class ContractError(MopsusError):
    """A choice of contracts, or what is said about them, makes no sense."""

    code = "CONTRACT-001"
