"""One run of a network of monitors in the simulator: rounds, until there is a verdict or nothing more can happen.

The core runs it and counts; here parts become monitors, names become numbers, and what was counted gets the names that
experiments store it under.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mopsus import _core
from mopsus.decentral.algorithms.algorithm import Algorithm, Part, Task
from mopsus.decentral.algorithms.build import Running, build
from mopsus.decentral.measures.points import Points, Value
from mopsus.decentral.simulate.explain import Explanation, explain
from mopsus.decentral.simulate.feed import Changes, Feed, feed_of
from mopsus.decentral.simulate.listen import Listening
from mopsus.decentral.simulate.network import MOST_ROUNDS, Network
from mopsus.decentral.simulate.record import Recorder
from mopsus.decentral.simulate.recording import Recording
from mopsus.decentral.simulate.witness import Notes
from mopsus.decentral.system import System
from mopsus.decentral.traces import Event

SLACK = 5
"""How many rounds a run goes on after the end of the traces at the least."""

KINDS = ("Memory", "Ehe", "Verdict", "Kill", "Acknowledgement", "Payload")
"""The classes of messages, as the core orders them."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended, and what was measured."""

    verdict: bool | None
    time: int | None
    """The timestamp since which the verdict is known to whoever knows what its finder knew."""
    round: int | None
    """In which the verdict was found."""
    rounds: int
    """The last one in which something happened."""
    monitor_verdicts: Mapping[str, tuple[tuple[int, int, bool], ...]]
    """Of monitors that were asked for them: verdicts from the first to the last timestamp of a stretch, by time."""
    measures: dict[str, Value]
    recording: Recording | None = None
    explain: Callable[[], Explanation] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def explanation(self) -> Explanation:
        """Why it ended like that; found when it is first asked for."""
        return Explanation(None, 0) if self.explain is None else self.explain()


def simulate(
    parts: Sequence[Part],
    task: Task,
    traces: Mapping[str, Sequence[Event]] | Changes | Feed,
    *,
    algorithm: Algorithm,
    name: str = "",
    network: Network | None = None,
    limit: int | None = None,
    seed: int = 0,
    record: bool = False,
    points: Points | None = None,
) -> Outcome:
    """Run a network that `set_up` has made over what components observe.

    `name` is that of the algorithm, for measures. `limit` is the last round; None: some rounds after the end of the
    traces, as many as a message through all monitors may take. Equal arguments give equal outcomes. `DecentralError` if
    something does not fit together.
    """
    network = network or Network()
    feed = traces if isinstance(traces, Feed) else feed_of(task.system, traces)
    running = [build(part, algorithm) for part in parts]
    if limit is None:
        limit = feed.length + SLACK + len(parts) * max(network.delay[1], network.resend)
    recorder = Recorder(parts, running, task.system, feed, network) if record else None
    listening = Listening(parts, points, recorder)
    if points is not None and (begin := points.handler("run_start")) is not None:
        begin(name, parts, task)
    limit = min(limit, MOST_ROUNDS)
    seed %= 2**64
    conditions = network.conditions(task.system, parts)
    result = _core.simulate(_seats(running, task.system), feed.core, conditions, limit, seed, *listening.calls())

    def noted() -> Notes:
        notes = Notes(parts, feed, network, result.round)
        again = _seats([build(part, algorithm) for part in parts], task.system)
        _core.simulate(again, feed.core, conditions, result.round, seed, None, None, None, notes.delivered)
        return notes

    def explained() -> Explanation:
        finder = None if result.finding is None else result.finder
        return explain(running, task.system, finder, result.on_the_way, noted)

    outcome = _outcome(result, running, task.system, name, limit, recorder, explained)
    if points is not None:
        if (end := points.handler("run_end")) is not None:
            end(outcome)
        outcome.measures.update(points.values())
    return outcome


def _seats(
    running: Sequence[Running], system: System
) -> Sequence[tuple[object, int, list[int], int, Sequence[str], list[int]]]:
    places = {name: number for number, name in enumerate(system.components)}
    numbers = {each.part.name: number for number, each in enumerate(running)}
    seats = []
    for each in running:
        part = each.part
        inputs = {name: number for number, name in enumerate(part.inputs)}
        reads = [inputs.get(name, _core.SOMETHING) for name in system.components[part.place]]
        peers = [numbers[peer] for peer in part.peers]
        seats.append((each.monitor, places[part.place], reads, each.moves, part.inputs, peers))
    return seats


def _outcome(
    result: _core.SimulationOutcome,
    running: Sequence[Running],
    system: System,
    name: str,
    limit: int,
    recorder: Recorder | None,
    explained: Callable[[], Explanation],
) -> Outcome:
    time, verdict = result.finding or (None, None)
    answers = {each.part.name: _joined(result.answers(number)) for number, each in enumerate(running)}
    measures: dict[str, Value] = {
        "alg": name,
        "comps": len(system.components),
        "verdict": verdict,
        "verdict_time": time,
        "verdict_round": result.round or None,
        "delay_verdict": None if time is None else result.round - time,
        "run_len": result.round or limit,
        **_counted(result.measures),
    }
    return Outcome(
        verdict,
        time,
        result.round or None,
        result.rounds,
        {part: runs for part, runs in answers.items() if runs},
        measures,
        None if recorder is None else recorder.recording(name, result),
        explained,
    )


def _joined(runs: list[tuple[int, int, bool]]) -> tuple[tuple[int, int, bool], ...]:
    """Stretches by time, neighbours with one value joined; answers may have been found in any order."""
    joined: list[tuple[int, int, bool]] = []
    for first, last, value in sorted(runs):
        if joined and joined[-1][2] == value and joined[-1][1] + 1 == first:
            joined[-1] = (joined[-1][0], last, value)
        else:
            joined.append((first, last, value))
    return tuple(joined)


def _counted(measures: _core.Measures) -> dict[str, Value]:
    """Sums over the whole run; who wants them by round divides by `run_len`."""
    delays: dict[str, Value] = {}
    for what, spread in (("gap", measures.gap), ("batch", measures.batch), ("age", measures.age)):
        delays |= {f"delay_{what}_sum": spread.sum, f"delay_{what}_num": spread.count, f"delay_{what}_max": spread.most}
    simplifications, evaluations = measures.simplifications, measures.evaluations
    return {
        "msg_num": measures.messages,
        "msg_data": measures.data,
        "msg_bytes": measures.bytes,
        **{f"msg_{kind}": count for kind, count in zip(KINDS, measures.messages_by_kind, strict=True) if count},
        "msg_lost": measures.lost,
        "msg_resent": measures.resent,
        "msg_doubled": measures.doubled,
        "answers": measures.answers,
        **delays,
        "simp_total": simplifications.total,
        "simp_crit": simplifications.critical,
        "simp_max": simplifications.most,
        "conv_s": simplifications.imbalance,
        "eval_total": evaluations.total,
        "eval_crit": evaluations.critical,
        "eval_max": evaluations.most,
        "conv_e": evaluations.imbalance,
        "ehe_len_max": measures.longest,
        "observations": measures.observations,
        "turns": measures.turns,
    }
