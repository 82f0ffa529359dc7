"""Stage 2: every message code of this stage, with the one sentence that the messages page shows."""

from __future__ import annotations

MESSAGES: dict[str, str] = {
    "LOGIC-001": "The formula is not well formed in its logic.",
    "LOGIC-002": "The formula speaks of an event that the spec does not declare.",
    "LOGIC-003": "A transition or an alias names a state that the machine does not have.",
    "LOGIC-004": "A state or alias is defined twice, or a name is used for both.",
    "LOGIC-005": "A state has two transitions for one event, or two defaults.",
    "LOGIC-006": "A word of the logic is used as a name.",
    "LOGIC-007": "The machine of the formula is too large.",
    "LOGIC-008": "The formula is nested too deeply.",
    "LOGIC-010": "There is no logic of that name.",
    "LOGIC-011": "A logic plugin cannot be loaded or does not keep the interface.",
    "LOGIC-012": "A handler names a category that the formula does not have.",
    "LOGIC-013": "Suffix matching is asked of a logic or a category that does not have it.",
    "LOGIC-014": "There is no drawing of that form.",
    "LOGIC-015": "The formula uses an operator or an interval that its logic does not have.",
    "LOGIC-016": "The formula reads differently in different systems unless parentheses settle it.",
    "LOGIC-017": "No trace can ever decide the formula, so there is nothing to monitor.",
    "LOGIC-018": "A part of Mopsus that is not installed is needed.",
    "LOGIC-020": "Warning: an event is declared, but no formula speaks of it and it has no action.",
    "LOGIC-021": "Warning: a handler waits for a category that cannot be reached.",
    "LOGIC-022": "Warning: a property can never report anything.",
    "LOGIC-023": "Warning: after some traces the formula can no longer be decided.",
    "LOGIC-040": "The file that a formula names cannot be read.",
    "LOGIC-041": "An automaton is of a sort that cannot be made into a monitor.",
    "LOGIC-042": "A machine without a finite table cannot be exported or compared.",
    "LOGIC-043": "Warning: of this automaton it is not fully decided when its formula holds for good.",
    "LOGIC-050": "Warning: what two overlapping rewriting rules lead to depends on which one is applied first.",
    "LOGIC-051": "Warning: rewriting does not end, or does not seem to.",
    "LOGIC-052": "Warning: a rewriting rule is never applied, because another one always comes first.",
}
