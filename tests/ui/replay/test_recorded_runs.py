"""Runs of algorithms, recorded, saved, read again and looked at round by round."""

from __future__ import annotations

import pytest

from mopsus.decentral.algorithms import BUILT_IN, load_algorithm
from mopsus.decentral.algorithms.algorithm import set_up
from mopsus.decentral.simulate.recording import load_recording, save_recording
from mopsus.decentral.simulate.run import simulate
from mopsus.decentral.testing import draw_cases
from mopsus.ui.replay.moments import Moments
from mopsus.ui.replay.picture import Layout, draw_moment


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_recorded_run_can_be_looked_at(name, tmp_path):
    algorithm = load_algorithm(name)
    encoded = 0
    for case in draw_cases(60, seed=1, references=name == "general"):
        task = case.task({})
        parts = set_up(algorithm, task)
        outcome = simulate(
            parts,
            task,
            case.traces,
            algorithm=algorithm,
            name=name,
            network=case.faults(parts),
            seed=case.seed,
            record=True,
        )
        save_recording(tmp_path / "run.json", outcome.recording)
        recording = load_recording(tmp_path / "run.json")
        assert (recording.verdict, recording.time, recording.rounds) == (outcome.verdict, outcome.time, outcome.rounds)
        assert {monitor.name for monitor in recording.monitors} == {part.name for part in parts}
        moments, layout = Moments(recording), Layout(recording)
        arrived = 0
        for number in range(recording.rounds + 1):
            moment = moments.at(number)
            draw_moment(layout, moment, parts[0].name)
            arrived += len(moment.delivered)
        assert arrived == sum(message.delivered is not None for message in recording.messages)
        assert moment.flying == []
        if outcome.verdict is not None:
            assert (outcome.round, outcome.time, outcome.verdict) in {
                (found.round, found.time, found.verdict) for found in moment.findings
            }
        encoded += sum(bool(step.states) for step in recording.steps)
    assert encoded
