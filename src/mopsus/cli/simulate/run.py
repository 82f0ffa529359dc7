"""`mopsus simulate run`: monitors of one specification over the traces of one run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.options import Json
from mopsus.cli.simulate.options import Seed

if TYPE_CHECKING:
    from mopsus.decentral.simulate.run import Outcome

SHOWN = (
    ("messages", "msg_num"),
    ("data", "msg_data"),
    ("bytes", "msg_bytes"),
    ("simplifications", "simp_total"),
    ("evaluations", "eval_total"),
    ("longest encoding", "ehe_len_max"),
)


def run(
    spec: Annotated[Path, typer.Option("--spec", "-s", help="The specification, .toml or .xml.", metavar="FILE")],
    traces: Annotated[
        Path, typer.Option("--traces", "-t", help="The folder with `0-a.trace`, `0-b.trace` and so on.", metavar="DIR")
    ],
    algorithm: Annotated[
        str,
        typer.Option("--algorithm", "-a", help="How monitors work together: name, or `file.py:Name`.", metavar="NAME"),
    ],
    number: Annotated[int, typer.Option("--run", help="Which run of the traces.", min=0, metavar="N")] = 0,
    root: Annotated[
        str | None, typer.Option("--root", help="The monitor whose verdict it is about.", metavar="NAME")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="An option of the algorithm.", metavar="KEY=VALUE")
    ] = None,
    network: Annotated[
        str, typer.Option("--network", help="What goes wrong: `delay=1..4,loss=0.2,resend=3`.", metavar="TEXT")
    ] = "",
    limit: Annotated[
        int | None, typer.Option("--limit", help="The last round that may be run.", min=1, metavar="N")
    ] = None,
    seed: Seed = 0,
    allow_cycles: Annotated[
        bool, typer.Option("--allow-cycles", help="Run monitors that refer to each other in a circle.")
    ] = False,
    record: Annotated[
        Path | None, typer.Option("--record", help="Keep what happened, for `simulate view`.", metavar="FILE")
    ] = None,
    json: Json = False,
) -> int:
    """Run monitors that each see one component, and report the verdict that they come to.

    Ends with status 1 if the specification is violated. The algorithms are orch, migr, migrr, chor and general:
    `mopsus simulate run --spec lights.toml --traces traces --algorithm migr`
    """
    import msgspec

    from mopsus.decentral.algorithms import load_algorithm
    from mopsus.decentral.algorithms.algorithm import Task, set_up
    from mopsus.decentral.algorithms.pauses import has_pauses, options_for
    from mopsus.decentral.analysis.dependencies import refuse_cycles
    from mopsus.decentral.load import load_specification
    from mopsus.decentral.simulate.inputs import load_run, with_root
    from mopsus.decentral.simulate.network import parse_network
    from mopsus.decentral.simulate.recording import save_recording
    from mopsus.decentral.simulate.run import simulate

    chosen = load_algorithm(algorithm)
    faults = parse_network(network)
    loaded = load_specification(spec)
    system, observed = load_run(loaded, traces, number)
    specification = with_root(loaded.specification, root)
    if not allow_cycles:
        refuse_cycles(specification)
    options = options_for(chosen, _options(option or []), has_pauses(observed))
    task = Task(specification, system, options)
    outcome = simulate(
        set_up(chosen, task),
        task,
        observed,
        algorithm=chosen,
        name=algorithm,
        network=faults,
        limit=limit,
        seed=seed,
        record=record is not None,
    )
    if record is not None and outcome.recording is not None:
        try:
            save_recording(record, msgspec.structs.replace(outcome.recording, title=f"{spec.name}, run {number}"))
        except OSError as error:
            raise CommandError(f"cannot write {record}: {error.strerror}") from None
    if json:
        _print_json(outcome, spec, number)
    else:
        _print(outcome)
    return int(outcome.verdict is False)


def _options(given: list[str]) -> dict[str, str | int | float | bool]:
    """Values look like what they are: numbers, `true` and `false`, else text."""
    found: dict[str, str | int | float | bool] = {}
    for each in given:
        key, equals, text = each.partition("=")
        if not equals or not key:
            raise CommandError(f"'{each}' is no option of an algorithm", hint="write KEY=VALUE", code="CLI-005")
        found[key] = _value(text)
    return found


def _value(text: str) -> str | int | float | bool:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _print_json(outcome: Outcome, spec: Path, number: int) -> None:
    import msgspec

    from mopsus.decentral.automaton import VERDICT_NAMES

    told = {
        "verdict": VERDICT_NAMES[outcome.verdict],
        "timestamp": outcome.time,
        "round": outcome.round,
        "rounds": outcome.rounds,
        "monitor_verdicts": outcome.monitor_verdicts,
        "explanation": outcome.explanation,
        "measures": outcome.measures | {"spec": spec.stem, "trace": number},
    }
    print(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())


def _stretches(runs: Sequence[tuple[int, int, bool]]) -> str:
    """When a monitor was true; it was false at other timestamps, or is not known to have been true."""
    true = [str(first) if first == last else f"{first}..{last}" for first, last, value in runs if value]
    return f"true at {', '.join(true[:20])}{' and later' * (len(true) > 20)}" if true else "never true"


def _print(outcome: Outcome) -> None:
    from mopsus.decentral.automaton import VERDICT_NAMES

    explanation = outcome.explanation
    if outcome.verdict is None:
        print(f"?  no verdict in {outcome.rounds} rounds")
        for reason in explanation.missing[:10]:
            print(f"   not known: {reason.name} of {reason.component} at {reason.time}")
        if len(explanation.missing) > 10:
            print(f"   and {len(explanation.missing) - 10} more")
        if outcome.measures["msg_lost"]:
            print(f"   messages that were lost: {outcome.measures['msg_lost']}")
    else:
        print(f"{VERDICT_NAMES[outcome.verdict]}  at timestamp {outcome.time}, found in round {outcome.round}")
        if explanation.since and explanation.state is not None:
            print(f"   {explanation.monitor} knew state q{explanation.state} at {explanation.since}")
        for reason in explanation.reasons:
            value = VERDICT_NAMES[reason.value]
            print(f"   because {reason.name} of {reason.component} was {value} at {reason.time}")
    for name, runs in outcome.monitor_verdicts.items():
        print(f"{name}: {_stretches(runs)}")
    width = max(len(what) for what, _ in SHOWN)
    for what, key in SHOWN:
        print(f"{what:{width}}  {outcome.measures[key]}")
