"""Random traces by profile: a distribution from which one number is drawn for each observation.

The observation is true if the number is greater than a threshold. Every component of every run has a stream of
numbers of its own, so that a trace does not depend on what else is made with it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.traces import Trace
from mopsus.logics.text import suggestion
from mopsus.model import Span

Draw = Callable[[Random, float, float], float]

DISTRIBUTIONS: Mapping[str, Draw] = {
    "NORMAL": lambda source, mean, deviation: source.normalvariate(mean, deviation),
    # Of n attempts, of which each succeeds with p, only p counts: the chance that an observation is true.
    "BINOMIAL": lambda source, _, chance: float(source.random() < chance),
    "BETA": lambda source, alpha, beta: source.betavariate(alpha, beta),
    "UNIFORM": lambda source, low, high: source.uniform(low, high),
}
"""What a number is drawn from, by name and two parameters."""


@dataclass(frozen=True, slots=True)
class Profile:
    """How observations are drawn. `invert` makes true ones false and false ones true."""

    distribution: str
    parameters: tuple[float, float]
    seed: int = 0
    threshold: float = 0.5
    invert: bool = False

    def __post_init__(self) -> None:
        first, second = self.parameters
        right = {
            "NORMAL": second >= 0,
            "BINOMIAL": 0 <= second <= 1,
            "BETA": first > 0 and second > 0,
            "UNIFORM": first <= second,
        }
        if self.distribution not in DISTRIBUTIONS:
            raise DecentralError(
                f"'{self.distribution}' is no distribution",
                hint=suggestion(self.distribution, DISTRIBUTIONS),
                code="DECENTRAL-043",
            )
        if not right[self.distribution]:
            raise DecentralError(
                f"{self.distribution} has no parameters {first:g} and {second:g}", code="DECENTRAL-043"
            )


STANDARD: Mapping[str, Profile] = {
    "normal": Profile("NORMAL", (0.5, 1.0)),
    "binomial": Profile("BINOMIAL", (100, 0.3)),
    "beta-1": Profile("BETA", (2, 5)),
    "beta-2": Profile("BETA", (5, 1)),
}
"""The profiles of the synthetic benchmark."""


def load_profile(given: str) -> Profile:
    """A profile of the synthetic benchmark by name, or that of a file."""
    if given in STANDARD:
        return STANDARD[given]
    try:
        text = Path(given).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DecentralError(
            f"cannot read the profile {given}: {getattr(error, 'strerror', None) or 'it is not UTF-8'}",
            hint=suggestion(given, STANDARD),
            code="DECENTRAL-043",
        ) from None
    return parse_profile(text, given)


def parse_profile(text: str, file: str = "<profile>") -> Profile:
    """The profile that `key=value` lines denote. `seed=NOW` takes one at random, which the profile then has."""
    given: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        key, equals, value = (part.strip() for part in content.partition("="))
        place = Span(file, number, 1, number, len(line) + 1)
        if not equals or key not in _KEYS or key in given:
            raise DecentralError(
                f"'{key}' is given twice" if key in given else f"'{content}' is no setting of a profile",
                hint=f"use: {', '.join(_KEYS)}",
                code="DECENTRAL-043",
                place=place,
                line=line,
            )
        given[key] = value
        try:
            _KEYS[key](value)
        except ValueError:
            raise DecentralError(
                f"'{value}' is no value of '{key}'", code="DECENTRAL-043", place=place, line=line
            ) from None
    if missing := {"distribution", "params"} - given.keys():
        raise DecentralError(f"{file}: '{min(missing)}' is missing", code="DECENTRAL-043")
    return Profile(
        given["distribution"].upper(),
        _pair(given["params"]),
        _seed(given.get("seed", "0")),
        float(given.get("threshold", "0.5")),
        _flag(given.get("invert", "false")),
    )


def generate_run(
    profile: Profile, number: int, components: Mapping[str, Sequence[str]], length: int
) -> dict[str, Trace]:
    """What each component, given with its propositions, observes in the run of this number."""
    return {
        name: _trace(profile, Random(f"{profile.seed}/{number}/{name}"), propositions, length)
        for name, propositions in components.items()
    }


def inverted(profile: Profile) -> Profile:
    """The profile whose traces have the other values."""
    return replace(profile, invert=not profile.invert)


def _trace(profile: Profile, source: Random, propositions: Sequence[str], length: int) -> Trace:
    draw = DISTRIBUTIONS[profile.distribution]
    return tuple(
        {name: (draw(source, *profile.parameters) > profile.threshold) is not profile.invert for name in propositions}
        for _ in range(length)
    )


def _pair(text: str) -> tuple[float, float]:
    first, second = map(float, text.split(","))
    return first, second


def _seed(text: str) -> int:
    return secrets.randbits(32) if text.upper() == "NOW" else int(text)


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


_KEYS: Mapping[str, Callable[[str], object]] = {
    "engine": str,
    "seed": _seed,
    "distribution": str,
    "params": _pair,
    "threshold": float,
    "invert": _flag,
}
"""What a profile may say, and how that is read. The engine does not matter: there is one."""
