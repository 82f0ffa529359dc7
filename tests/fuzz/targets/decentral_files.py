"""The other files of decentralized monitoring: experiments, deployments, profiles, traces.

The first byte says which.
"""

from __future__ import annotations

from fuzz.errors import check_error
from fuzz.files import file_of

from mopsus.decentral.deploy.plan import read_plan
from mopsus.decentral.experiment.settings import Experiment, load_experiment
from mopsus.decentral.generate.traces import load_profile
from mopsus.decentral.sensors import poll, polling_step, read_switch, read_threshold
from mopsus.decentral.traces import format_event, parse_trace, read_trace
from mopsus.model import MopsusError

LIGHTS = b'[components]\nswitch = ["s"]\nbulb = ["l"]\n[monitors]\ncheck = "G(s -> X l)"\n'


def listed(experiment: Experiment) -> None:
    """What it is about; nothing is run."""
    assert experiment.specs
    experiment.identities()


def one(data: bytes) -> None:
    kind, content = data[:1], data[1:4000]
    try:
        match kind:
            case b"x":
                listed(load_experiment(file_of("fuzzed.toml", content)))
            case b"p":
                file_of("algorithms", b"orch\nmigr\n")
                listed(load_experiment(file_of("fuzzed.properties", content)))
            case b"d":
                file_of("lights.toml", LIGHTS)
                read_plan(file_of("fuzzed.toml", content))
            case b"f":
                load_profile(str(file_of("profile", content)))
            case b"s":
                path = file_of("sensor.csv", content)
                for sensor in (read_switch(path, "s"), read_threshold(path, "t", 0.5)):
                    polling_step([sensor])
                    list(poll([sensor], 0.0, 1.5, 20))
            case b"t":
                for event in read_trace(file_of("a.trace", content)):
                    format_event(event)
            case _:
                trace = parse_trace(content.decode("utf-8", "replace"))
                assert parse_trace(">".join(map(format_event, trace))) == trace or not any(trace)
    except MopsusError as error:
        check_error(error)
