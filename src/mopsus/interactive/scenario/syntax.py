"""The grammar of scenario files: text in, plain data out, with every error found in one go.

    initialization { count = 0 }
    on entering non-accepting state { suspend_execution() }
    on leaving state opened { count += 1 }

After an error the reader goes on with the next reaction.
"""

from __future__ import annotations

import os
import re

from mopsus.interactive.scenario.api import Api
from mopsus.interactive.scenario.model import Moment, Reaction, Scenario, Sort
from mopsus.model import Code
from mopsus.spec.cursor import NAME, Cursor
from mopsus.spec.errors import ArgumentError, Findings
from mopsus.spec.names import check_shared
from mopsus.spec.parser import read_text
from mopsus.spec.prop.check import check_code, check_no_return
from mopsus.spec.source import Source

_NEXT_REACTION = re.compile(r"^[ \t]*(?=on\b)", re.MULTILINE)


def load_scenario(path: str | os.PathLike[str]) -> Scenario:
    """The scenario in a file. Raises `SpecError` with every error found."""
    return parse_scenario(read_text(path), os.fspath(path))


def parse_scenario(text: str, filename: str = "<string>") -> Scenario:
    """The scenario in a text. Raises `SpecError` with every error found."""
    findings = Findings(Source(text, filename))
    scenario = _Reader(findings).scenario()
    if not findings.errors:
        _check_names(scenario, findings)
    findings.finish()
    return scenario


def _check_names(scenario: Scenario, findings: Findings) -> None:
    """Report names that nothing gives a value to: all code of a scenario shares one namespace."""
    pieces = [each.code for each in scenario.reactions]
    if scenario.initialization is not None:
        pieces.insert(0, scenario.initialization)
    known = {"monitor", "old_state", "new_state", "binding", *(name for name in vars(Api) if not name.startswith("_"))}
    hint = "it can see what the scenario assigns, and its functions: suspend_execution, checkpoint, get, …"
    check_shared([(code, ()) for code in pieces], known, hint, findings)


class _Reader:
    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.cursor = Cursor(findings.source.text)

    def scenario(self) -> Scenario:
        initialization: Code | None = None
        reactions: list[Reaction] = []
        while not self.cursor.ends() and not self.findings.full:
            try:
                if not reactions and initialization is None and self.cursor.take("initialization"):
                    initialization = self.code()
                else:
                    reactions.append(self.reaction())
            except ArgumentError as error:
                self.findings.error_at(error.code, error.message, error.offset, error.offset + error.length, error.hint)
                after = _NEXT_REACTION.search(self.cursor.text, max(self.cursor.at, error.offset) + 1)
                self.cursor.skip_to(after.end() if after else len(self.cursor.text))
        return Scenario(self.findings.source.file, initialization, tuple(reactions))

    def reaction(self) -> Reaction:
        cursor = self.cursor
        cursor.need("on")
        moment = Moment(cursor.need("entering", "leaving"))
        first = cursor.need("state", "accepting", "non-accepting", "initial")
        sort = Sort(first)
        state = ""
        if sort is Sort.NAMED:
            state = str(cursor.needs(NAME, "a state's name"))
        else:
            cursor.need("state")
        span = self.findings.source.span(first.start, cursor.end)
        return Reaction(moment, sort, self.code() or Code("pass"), state, span)

    def code(self) -> Code | None:
        """Python in braces, which must be there; None if there is nothing in them."""
        block = self.cursor.block()
        if block is None:
            self.cursor.refuse()
        check_code(block, self.findings)
        check_no_return(block, self.findings)
        if not block.text:
            return None
        last = block.starts[-1] + len(block.text.rsplit("\n", 1)[-1])
        return Code(block.text, self.findings.source.span(block.starts[0], last))
