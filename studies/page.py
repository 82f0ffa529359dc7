"""The page of the documentation: what was measured and judged, as tables, in the text that people have written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from mopsus.contracts import catalogue
from studies.judge import Judgement, Judgements, Truth, load_judgements
from studies.markdown import filled, table
from studies.projects import Project, load_projects
from studies.results import Outcome, Violation, load_results

PAGE = Path(__file__).resolve().parents[1] / "docs" / "case-studies.md"
TIMES = "\N{MULTIPLICATION SIGN}"
GOAL = 1.5
"""How much longer the whole run of the tests may take, at the median."""
FALSE_ALARMS = 0.1
"""How many of the places may be false alarms."""
SHOWN = 2
"""Violations of each kind that are shown with their source."""

Table = Callable[["Data"], str]


class Data:
    """All that the page is made from."""

    def __init__(self, projects: Mapping[str, Project], results: Mapping[str, Outcome], judgements: Judgements) -> None:
        self.projects = projects
        self.results = {name: results[name] for name in projects if name in results}
        self.judgements = judgements

    @classmethod
    def load(cls) -> Data:
        """As it is stored."""
        return cls(load_projects(), load_results(), load_judgements())

    def kinds(self) -> dict[tuple[str, str, str | None], tuple[Judgement | None, list[Violation]]]:
        """Violations by contract, project and judgement."""
        found: dict[tuple[str, str, str | None], tuple[Judgement | None, list[Violation]]] = {}
        for project, violation, judgement in self.judgements.over(self.results):
            why = judgement.why if judgement is not None else None
            found.setdefault((violation.contract, project, why), (judgement, []))[1].append(violation)
        return dict(sorted(found.items(), key=lambda item: (item[0][0], item[0][1], item[0][2] or "")))

    def truths(self) -> Counter[Truth | None]:
        """How many places turned out to be what."""
        judged = self.judgements.over(self.results)
        return Counter(judgement.truth if judgement is not None else None for _, _, judgement in judged)


def overheads(data: Data) -> str:
    """Times of each project, and the median over all."""
    rows = [
        [
            f"{name} {each.version}",
            f"{median(each.end_to_end.plain):.1f} s",
            f"{median(each.end_to_end.watched):.1f} s",
            _times(each.end_to_end.ratio),
            _times(each.first_s / median(each.end_to_end.plain)),
            _times(each.cpu.ratio),
            _times(each.tests.ratio),
            f"{sum(counts.events for counts in each.contracts.values()):,}",
            f"{sum(counts.monitors for counts in each.contracts.values()):,}",
        ]
        for name, each in data.results.items()
    ]
    studied, goal = list(data.results.values()), ""
    if studied:
        ratios = (
            median(each.end_to_end.ratio for each in studied),
            median(each.first_s / median(each.end_to_end.plain) for each in studied),
            median(each.cpu.ratio for each in studied),
            median(each.tests.ratio for each in studied),
        )
        rows.append(["**median**", "", "", *(f"**{_times(ratio)}**" for ratio in ratios), "", ""])
        goal = f"\n\nGoal: at most {GOAL}{TIMES} end to end at the median: {_met(ratios[0] <= GOAL)}."
    head = ["project", "plain", "watched", "end to end", "first run", "processor", "tests alone", "events", "monitors"]
    return table(head, "lrrrrrrrr", rows) + goal


def outcomes(data: Data) -> str:
    """What became of the tests, and whether watching has changed it."""
    rows = []
    for name, each in data.results.items():
        found = ", ".join(f"{count:,} {outcome}" for outcome, count in each.outcomes.items())
        left_out = "; ".join(f"`{one.test}`: {one.why}" for one in data.projects[name].deselect)
        rows.append([name, found, _changes(each), left_out])
    return table(["project", "tests", "changed by watching", "left out, and why"], "llll", rows)


def _changes(outcome: Outcome) -> str:
    told = [
        f"`{each.test}`: {' or '.join(each.plain) or 'absent'}, watched {' or '.join(each.watched) or 'absent'}"
        for each in outcome.changed
    ]
    if outcome.unstable:
        told.append(f"{len(outcome.unstable)} change by themselves")
    return "; ".join(told) or "none"


def contracts(data: Data) -> str:
    """Events and monitors of each contract, over all projects, and how many rules that makes."""
    events: Counter[str] = Counter()
    monitors: Counter[str] = Counter()
    seen: dict[str, list[str]] = defaultdict(list)
    places = Counter(violation.contract for _, violation, _ in data.judgements.over(data.results))
    for project, outcome in data.results.items():
        for name, counts in outcome.contracts.items():
            if catalogue()[name].was_exercised(counts.events, counts.monitors):
                events[name] += counts.events
                monitors[name] += counts.monitors
                seen[name].append(project)
    rows = [
        [
            name,
            f"{events[name]:,}",
            f"{monitors[name]:,}",
            str(len(seen[name])),
            str(places[name] or ""),
            catalogue()[name].like,
        ]
        for name in sorted(events)
    ]
    rules = {catalogue()[name].like or name for name in events}
    head = ["contract", "events", "monitors", "projects", "places of violations", "rule of"]
    return f"Exercised: **{len(events)}** contracts with **{len(rules)}** different rules.\n\n" + table(
        head, "lrrrrl", rows
    )


def share(data: Data) -> str:
    """How many violations are what: by place and, since some rules are broken at many places alike, by kind."""
    truths = data.truths()
    kinds = Counter(judgement.truth if judgement is not None else None for judgement, _ in data.kinds().values())
    judged = {id(count): sum(count.values()) - count[None] for count in (truths, kinds)}
    rows = [
        [str(truth), *(cell for count in (truths, kinds) for cell in _part(count[truth], judged[id(count)]))]
        for truth in Truth
    ]
    if truths[None]:
        rows.append(["not judged yet", str(truths[None]), "", str(kinds[None]), ""])
    few = truths[Truth.FALSE] <= FALSE_ALARMS * judged[id(truths)]
    return (
        table(["judgement", "places", "share", "kinds", "share"], "lrrrr", rows)
        + f"\n\nGoal: at most one false alarm in ten places: {_met(few)}."
    )


def _part(count: int, of: int) -> tuple[str, str]:
    return str(count), f"{count / of:.0%}" if of else ""


def violations(data: Data) -> str:
    """Each kind of violation, its judgement, and the source of two of them."""
    parts = []
    contract_before = None
    for (contract, project, _), (judgement, found) in data.kinds().items():
        if contract != contract_before:
            parts.append(f"### {contract}")
            contract_before = contract
        told = f"*{judgement.truth}*: {judgement.why}" if judgement is not None else "*not judged yet*"
        places = "1 place" if len(found) == 1 else f"{len(found)} places"
        parts.append(f"**{project}**, {places}, {told}")
        parts.append("```text\n" + "\n".join(_source(each) for each in _examples(found)) + "\n```")
    return "\n\n".join(parts) or "None."


def _examples(found: Sequence[Violation]) -> Iterable[Violation]:
    """Those that happened most often."""
    return sorted(found, key=lambda each: (-each.count, each.place))[:SHOWN]


def _source(violation: Violation) -> str:
    lines: dict[str, str] = {}
    for event in violation.witness:
        if event.place:
            lines[event.place] = event.line
    lines.setdefault(violation.place, violation.line)
    return "\n".join(f"{place}\n    {line}" for place, line in lines.items())


SECTIONS: dict[str, Table] = {
    "overheads": overheads,
    "outcomes": outcomes,
    "contracts": contracts,
    "share": share,
    "violations": violations,
}


def render(text: str, data: Data) -> str:
    """The page with every marked section filled."""
    return filled(text, {name: partial(section, data) for name, section in SECTIONS.items()})


def write(*, check: bool = False) -> int:
    """Write the page anew, or only look; the exit status says whether it is, or was, what it should be."""
    before = PAGE.read_text(encoding="utf-8")
    after = render(before, Data.load())
    if check:
        return int(after != before)
    PAGE.write_text(after, encoding="utf-8")
    return 0


def _met(goal: bool) -> str:
    return "met" if goal else "**missed**"


def _times(ratio: float) -> str:
    return f"{ratio:.2f}{TIMES}"
