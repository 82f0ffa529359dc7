"""A property of components in every logic, over the same log: an answer needs a request of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from events.component.log_support import check_logs

import mopsus
from mopsus.events.component.log import jsonl, text
from mopsus.model import Verdict

SPEC = """
Answers(p) {{
    event got(p; id) : recv(p, ("job", id))
    event done(p; id) : send(p, _, ("done", id))
    {}
}}
"""
LOGICS = {
    "ere": "ere : (got done)* @fail",
    "fsm": "fsm : idle [ got -> busy, done -> bad ] busy [ done -> idle, got -> busy ] bad [ default bad ] @bad",
    "ptltl": "ptltl : done => (*) got @violation",
    "ltl": "ltl : [](done => (*) got) @violation",
    "mtl": "mtl : done => (*) got @violation",
    "cfg": "cfg : S -> S got done | epsilon @fail",
    "srs": "srs : got done -> #epsilon . ^ done -> #fail . @fail",
    "ptcaret": "ptcaret : done => (*) got @violation",
    "shml": "shml : max X.([done(_)] ff and [got(_)] [done(_)] X)",
    "maxhml": "maxhml : max X.([done(_)] ff and [got(_)] [done(_)] X)",
}
LOG = """\
fork(<0.10.0>,<0.20.0>,{jobs,worker,[3]})
fork(<0.10.0>,<0.21.0>,{jobs,worker,[3]})
recv(<0.20.0>,{job,1})
recv(<0.21.0>,{job,1})
recv(<0.21.0>,unrelated)
send(<0.20.0>,<0.30.0>,{done,1})
send(<0.20.0>,<0.30.0>,{done,1})
send(<0.21.0>,<0.30.0>,{done,1})
"""


WAYS = [(logic, form) for logic in LOGICS for form in ("text", "jsonl") if (logic, form) != ("mtl", "text")]
"""Text logs have no times, which `mtl` asks for."""


@pytest.mark.parametrize(("logic", "form"), WAYS)
def test_every_logic_over_a_log(logic: str, form: str, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(LOG if form == "text" else "".join(timed_lines()))
    found: list[Verdict] = []
    result = check_logs(list(mopsus.parse(SPEC.format(LOGICS[logic])).values()), [str(log)], on_verdict=found.append)
    assert result.error is None
    first = next(each for each in found if each.violation)
    assert (first.binding["p"], first.row, first.location) == ("<0.20.0>", 7, f"{log}:7")
    assert first.time == (None if form == "text" else 7.5)
    assert {each.binding["p"] for each in found if each.violation} == {"<0.20.0>"}


def timed_lines() -> Iterator[str]:
    for number, line in enumerate(LOG.splitlines(), 1):
        parsed = text.parse_line(line)
        assert parsed is not None
        yield jsonl.format_line(parsed[0]._replace(time=number + 0.5)) + "\n"
