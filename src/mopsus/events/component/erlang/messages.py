"""Stage 4: the errors of observing Erlang systems, by code, with what each means."""

from __future__ import annotations

from mopsus.model import MopsusError

MESSAGES = {
    "ERLANG-001": "There is no Erlang on this machine, or its compiler does not accept the tracer.",
    "ERLANG-002": "The node cannot be observed: it cannot be reached or started, or it does not load the tracer.",
}


class ErlangError(MopsusError):
    """An Erlang node cannot be observed."""

    code = "ERLANG-002"
