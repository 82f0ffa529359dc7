"""Every message code of decentralized monitoring, with the one sentence that the messages page shows."""

from __future__ import annotations

MESSAGES: dict[str, str] = {
    "DECENTRAL-001": "Something is wrong with a decentralized specification or its system.",
    "DECENTRAL-010": "A property cannot be a monitor here: its logic has no finite table, or its transitions overlap.",
    "DECENTRAL-011": "It is not known what a category means as a truth value.",
    "DECENTRAL-012": "A formula uses one name for a proposition and for a monitor.",
    "DECENTRAL-020": "A proposition is observed by two components.",
    "DECENTRAL-021": "A link, a cost or a placement is about a component that does not exist, or makes no sense.",
    "DECENTRAL-022": "A monitor reads propositions of a component that it is not on, or of none.",
    "DECENTRAL-023": "A monitor refers to one that does not exist, or to itself.",
    "DECENTRAL-024": "There is no root monitor.",
    "DECENTRAL-025": "Monitors refer to each other in a circle.",
    "DECENTRAL-026": "No placement of the monitors fits the links of the system.",
    "DECENTRAL-027": "An analysis needs more states or steps than it may use.",
    "DECENTRAL-030": "A specification file cannot be read.",
    "DECENTRAL-031": "A specification file is not well-formed.",
    "DECENTRAL-032": "A specification file has an element, attribute, table or value at the wrong place, or lacks one.",
    "DECENTRAL-033": "Two monitors, templates or arguments have the same name.",
    "DECENTRAL-034": "The class of a specification, or what it calls, is not known.",
    "DECENTRAL-035": "A template is not known, or its arguments do not fit.",
    "DECENTRAL-036": "A monitor's formula is wrong.",
    "DECENTRAL-040": "A trace file or a folder of traces cannot be read.",
    "DECENTRAL-041": "An event of a trace is not well-formed.",
    "DECENTRAL-042": "A row of a sensor's recording cannot be used.",
    "DECENTRAL-043": "The profile of a trace generator makes no sense.",
    "DECENTRAL-044": "No formula that fits was found among those generated.",
    "DECENTRAL-050": "What a monitor was told contradicts what it knows, is not about its automaton, or is damaged.",
    "DECENTRAL-060": "A recording of a run cannot be read.",
}
