"""The page of the documentation: what was measured beside what the thesis reports, in the text that people write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from studies.decentral import chiron
from studies.decentral.apartment.home import load_home
from studies.decentral.apartment.specs import LISTED, depth, propositions, whole
from studies.decentral.chiron.study import SEQUENTIAL
from studies.decentral.results import Apartment, Cells, Chiron, Results, Synthetic, load_results
from studies.decentral.summary import Mean
from studies.decentral.thesis import Table, Thesis, load_thesis
from studies.markdown import filled, table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "decentral-studies.md"
ALGORITHMS = ("orch", "migr", "migrr", "chor")
SIZES = ("3", "4", "5", "6")
DISTRIBUTIONS = ("normal", "binomial", "beta-1", "beta-2")
DELAYS = ("wait", "verdict", "age", "batch", "gap")
COSTS = {
    "messages": "messages",
    "data": "data",
    "s_max": "S_max",
    "s_crit": "S_crit",
    "conv_e": "Conv_E",
}


def delays(cells: Cells, places: Sequence[str], published: Table, head: str) -> str:
    """The delays of each cell, beside that of the thesis."""
    rows = [
        [
            algorithm,
            place,
            _told(published["delay"][algorithm][number]),
            *(_both(cells[f"{algorithm}/{place}"][f"delay_{kind}"]) for kind in DELAYS),
        ]
        for algorithm in ALGORITHMS
        for number, place in enumerate(places)
    ]
    return table(["algorithm", head, "thesis", *DELAYS], "ll" + "r" * (len(DELAYS) + 1), rows)


def costs(cells: Cells, places: Sequence[str], published: Table, head: str) -> str:
    """The other measures of each cell, ours and in italics those of the thesis; it has no real bytes."""
    names = [name for name in COSTS if name in published]
    rows = [
        [
            algorithm,
            place,
            *(
                f"{_both(cells[f'{algorithm}/{place}'][name])}<br>*{_told(published[name][algorithm][number])}*"
                for name in names
            ),
            f"{cells[f'{algorithm}/{place}']['bytes'].mean:.1f}",
        ]
        for algorithm in ALGORITHMS
        for number, place in enumerate(places)
    ]
    return table(["algorithm", head, *(COSTS[name] for name in names), "bytes"], "llr" + "r" * len(names), rows)


def synthetic_runs(found: Synthetic) -> str:
    """How many runs, and how long they took."""
    return (
        f"{found.runs:,} runs, of {found.formulas} formulas and {found.traces} traces for each number of components, "
        f"took **{found.seconds / 60:.1f} minutes** on {found.cores} cores. "
        f"{found.undecided:.1%} ended without a verdict. All algorithms say the same in {found.agreed:,} of "
        f"{found.cases:,} cases, and never contradict each other."
    )


def synthetic_orchestration(found: Synthetic, thesis: Thesis) -> str:
    """Messages of orchestration by the timestamp of the verdict, which is what the thesis divides by there."""
    rows = [
        [
            size,
            _both(found.sizes[f"orch/{size}"]["messages_by_timestamp"]),
            _told(thesis.synthetic["messages"]["orch"][number]),
        ]
        for number, size in enumerate(SIZES)
    ]
    return table(["components", "messages by timestamp", "thesis"], "lrr", rows)


def chiron_setup(found: Chiron, thesis: Thesis) -> str:
    """Verdicts, and references of the choreographies."""
    rows = [
        [name, found.verdicts[name], str(found.edges[name]), str(thesis.edges.get(name, ""))] for name in chiron.NAMES
    ]
    return table(["specification", "verdict", "references", "thesis"], "llrr", rows)


def chiron_sequential(found: Chiron, thesis: Thesis) -> str:
    """Choreography as the thesis has it, beside ours."""
    rows = [
        [
            name,
            *(
                _both(found.cells[f"{algorithm}/{name}"][column])
                for column in ("delay_age", "s_max")
                for algorithm in ("orch", "chor", SEQUENTIAL)
            ),
            _told(thesis.chiron["delay"]["chor"][number]),
            _told(thesis.chiron["s_max"]["chor"][number]),
        ]
        for number, name in enumerate(chiron.NAMES)
    ]
    sides = ("orch", "chor", SEQUENTIAL)
    head = ["specification", *(f"age: {side}" for side in sides), *(f"S_max: {side}" for side in sides)]
    return table([*head, "δt: thesis", "S_max: thesis"], "l" + "r" * 8, rows)


def apartment_needs(thesis: Thesis) -> str:
    """What each specification needs; it does not depend on measurements."""
    specification, _system = whole()
    rows = []
    for name in LISTED:
        ours = (
            len(specification.monitors[name].references),
            len(propositions(name, specification)),
            depth(name, specification),
        )
        rows.append([f"`{name}`", *map(str, ours), " / ".join(map(str, thesis.apartment.needs[name]))])
    return table(["specification", "references", "propositions, centralized", "depth", "thesis"], "lrrrr", rows)


def apartment_messages(found: Apartment, thesis: Thesis) -> str:
    """Verdicts and messages a second."""
    rows = [
        [
            name,
            str(thesis.apartment.messages[name]),
            f"{costs.verdicts:.2f}",
            f"{costs.messages:.2f}",
            f"{costs.messages_held:.2f}",
            f"{costs.simplifications:.1f}",
        ]
        for name, costs in found.costs.items()
    ]
    head = ["group", "thesis", "verdicts told", "messages", "messages, changes only", "simplifications"]
    return table(head, "lrrrrr", rows)


def apartment_lamps(found: Apartment) -> str:
    """What the lamps of some rooms need."""
    rows = [
        [str(each.rooms), str(each.references), str(each.propositions), f"{each.states:,}", f"{each.synthesis_s:.3f} s"]
        for each in found.lamps
    ]
    return table(["rooms", "references", "propositions, centralized", "states", "synthesis"], "rrrrr", rows)


def apartment_detection(found: Mapping[str, Sequence[Sequence[float]]], thesis: Thesis) -> str:
    """Precision, recall and F1 of each activity and day."""
    rows = [
        [
            name,
            *(f"{_quality(ours)}<br>*{_quality(theirs)}*" for ours, theirs in zip(found[name], each, strict=True)),
        ]
        for name, each in thesis.apartment.detection.items()
    ]
    return table(["specification", *load_home().days], "lrrr", rows)


def apartment_napping(found: Apartment, thesis: Thesis) -> str:
    """Other ways to say that somebody naps."""
    rows = [[name, _quality(found.napping[name]), _quality(each)] for name, each in thesis.apartment.napping.items()]
    return table(["variant", "here", "thesis"], "lrr", rows)


def apartment_aras(found: Apartment, thesis: Thesis) -> str:
    """Days on which the other home is in danger."""
    rows = [
        [f"`{name}`", ", ".join(map(str, days)) or "none", ", ".join(map(str, thesis.apartment.aras.get(name, [])))]
        for name, days in found.aras.items()
    ]
    return table(["specification", "violated on days", "thesis"], "lll", rows)


def sections(results: Results, thesis: Thesis) -> Mapping[str, Callable[[], str]]:
    """The sections of the page, by name."""
    synthetic, interface, home = results.synthetic, results.chiron, results.apartment
    by_size = (synthetic.sizes, SIZES, thesis.synthetic, "components")
    by_distribution = (synthetic.distributions, DISTRIBUTIONS, thesis.distributions, "traces")
    by_specification = (interface.cells, chiron.NAMES, thesis.chiron, "specification")
    return {
        "synthetic_runs": partial(synthetic_runs, synthetic),
        "synthetic_delays": partial(delays, *by_size),
        "synthetic_costs": partial(costs, *by_size),
        "synthetic_orchestration": partial(synthetic_orchestration, synthetic, thesis),
        "distribution_delays": partial(delays, *by_distribution),
        "distribution_costs": partial(costs, *by_distribution),
        "chiron_setup": partial(chiron_setup, interface, thesis),
        "chiron_delays": partial(delays, *by_specification),
        "chiron_costs": partial(costs, *by_specification),
        "chiron_sequential": partial(chiron_sequential, interface, thesis),
        "apartment_needs": partial(apartment_needs, thesis),
        "apartment_messages": partial(apartment_messages, home, thesis),
        "apartment_lamps": partial(apartment_lamps, home),
        "apartment_detection": partial(apartment_detection, home.detection, thesis),
        "apartment_napping": partial(apartment_napping, home, thesis),
        "apartment_aras": partial(apartment_aras, home, thesis),
    }


def write(*, check: bool = False) -> int:
    """Write the page anew, or only look; the exit status says whether it is, or was, what it should be."""
    before = PAGE.read_text(encoding="utf-8")
    after = filled(before, sections(load_results(), load_thesis()))
    if check:
        return int(after != before)
    PAGE.write_text(after, encoding="utf-8")
    return 0


def _both(value: Mean) -> str:
    return _told([value.mean, value.deviation] if value.deviation >= 0.005 else [value.mean])


def _told(numbers: Sequence[float]) -> str:
    return f"{numbers[0]:.2f}" + (f" ({numbers[1]:.2f})" if len(numbers) > 1 else "")


def _quality(numbers: Sequence[float]) -> str:
    return " / ".join(f"{number:.2f}" for number in numbers) or "not done"
