"""Stage 3: what each message code of the monitors means."""

MESSAGES = {
    "MONITOR-001": "The specification contains Python code, and loading code was forbidden.",
    "MONITOR-002": "The specification has no event of that name.",
    "MONITOR-003": "The values given with an event are not those of its parameters.",
    "MONITOR-004": "The data given to `run` is no Arrow data, or cannot be read.",
    "MONITOR-005": "The snapshot does not belong to this specification, or is damaged.",
    "MONITOR-006": "A snapshot was asked for that cannot be plain data.",
    "MONITOR-007": "The monitor is closed: it takes no events any more.",
    "MONITOR-008": "An argument of a monitor is not what it should be.",
    "MONITOR-009": "A property in efsm stands together with what it cannot be combined with.",
    "MONITOR-010": "A slice cannot be put into that state, or the monitor not be changed at this moment.",
    "MONITOR-011": "A spec had more live monitors at a time than its limit allows, and was given up.",
    "MONITOR-012": "An import of a specification fails: the module is not there, or raises an error.",
}
