"""Random traces: what they are made from, and that they are always the same."""

from __future__ import annotations

import pytest

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.generate.traces import STANDARD, Profile, generate_run, inverted, parse_profile
from mopsus.decentral.traces import default_components

COMPONENTS = default_components(3, 2)


@pytest.mark.parametrize(("name", "chance"), [("normal", 0.5), ("binomial", 0.3), ("beta-1", 0.109), ("beta-2", 0.969)])
def test_chances_of_the_benchmark(name, chance):
    run = generate_run(STANDARD[name], 0, COMPONENTS, 2000)
    values = [value for trace in run.values() for event in trace for value in event.values()]
    assert len(values) == 12_000
    assert sum(values) / len(values) == pytest.approx(chance, abs=0.02)


def test_a_trace_depends_on_its_number_and_component_only():
    profile = Profile("UNIFORM", (0, 1), seed=4)
    run = generate_run(profile, 7, COMPONENTS, 10)
    assert generate_run(profile, 7, {"B": COMPONENTS["B"]}, 5) == {"B": run["B"][:5]}
    assert generate_run(profile, 8, COMPONENTS, 10) != run
    assert generate_run(Profile("UNIFORM", (0, 1), seed=5), 7, COMPONENTS, 10) != run
    assert [list(event) for event in run["B"]] == [["b0", "b1"]] * 10


def test_inversion():
    profile = STANDARD["beta-2"]
    plain, other = (generate_run(each, 0, COMPONENTS, 20) for each in (profile, inverted(profile)))
    for name in COMPONENTS:
        assert [{key: not value for key, value in event.items()} for event in plain[name]] == list(other[name])


def test_profiles_as_text():
    text = "engine=DRAND  # any\nseed=12\n\ndistribution=binomial\nparams=100,0.3\nthreshold=0.5\n"
    assert parse_profile(text) == Profile("BINOMIAL", (100, 0.3), 12)
    now = parse_profile("seed=NOW\ndistribution=NORMAL\nparams=0.5, 1\ninvert=true")
    assert now == Profile("NORMAL", (0.5, 1), now.seed, invert=True)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("distribution=NORMAL", None),
        ("distribution=NORMAL\nparams=1", 2),
        ("distribution=NORMAL\nparams=1,2,3", 2),
        ("distribution=NORMLA\nparams=1,2", None),
        ("distribution=BETA\nparams=0,2", None),
        ("distribution=BINOMIAL\nparams=100,2", None),
        ("distribution=NORMAL\nparams=1,2\nsede=1", 3),
        ("distribution=NORMAL\nparams=1,2\nparams=1,2", 3),
        ("distribution=NORMAL\nparams=1,2\nseed=x", 3),
        ("distribution=NORMAL\nparams=1,2\ninvert=maybe", 3),
        ("what", 1),
    ],
)
def test_bad_profiles(text, line):
    with pytest.raises(DecentralError) as caught:
        parse_profile(text)
    assert caught.value.code == "DECENTRAL-043"
    assert (caught.value.place and caught.value.place.line) == line
