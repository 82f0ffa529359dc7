"""One run of an experiment after the other, in one process, which keeps what its runs have in common."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import NamedTuple, TypeAlias

from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Part, Task, set_up
from mopsus.decentral.algorithms.pauses import has_pauses, options_for
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.experiment.keep import Oracle, load_oracle, reason_against
from mopsus.decentral.experiment.settings import Drawn, Experiment
from mopsus.decentral.generate.traces import STANDARD, Profile, generate_run, inverted, load_profile
from mopsus.decentral.load import Loaded, Synthesis, load_specification
from mopsus.decentral.measures.groups import STOCK, MeasureGroup, column_filter, measure_groups
from mopsus.decentral.measures.points import Points, Value
from mopsus.decentral.measures.store import RunKey
from mopsus.decentral.simulate.feed import Feed, feed_of
from mopsus.decentral.simulate.inputs import component_count
from mopsus.decentral.simulate.network import parse_network
from mopsus.decentral.simulate.run import simulate
from mopsus.decentral.synthesis import Cache, from_formula
from mopsus.decentral.system import System
from mopsus.decentral.traces import default_components, read_run, system_of
from mopsus.model import MopsusError

Components: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""What each component observes, as something to find things by."""


class _Observed(NamedTuple):
    """What is observed in a run, and by whom."""

    feed: Feed
    components: Components
    pauses: bool


class Runner:
    """Checks specifications and carries out runs. Errors of either are those of what they are about."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._settings = experiment.settings
        self._series = {series.name: series for series in experiment.settings.series}
        self._is_chosen = column_filter(name for name in experiment.settings.measures if name in STOCK)
        self._network = parse_network(experiment.settings.network)
        os.environ.update(experiment.settings.environment)
        # A specification is used by many runs in a row, a trace again by every specification and algorithm.
        self._load = lru_cache(maxsize=8)(self._load_anew)
        self._observe = lru_cache(maxsize=1024)(self._observe_anew)
        self._setup = lru_cache(maxsize=64)(self._setup_anew)
        self._algorithm = lru_cache(maxsize=None)(partial(load_algorithm, folder=experiment.folder))

    def check(self, spec: str) -> str:
        """Why a specification is not worth running; empty if it is."""
        try:
            return reason_against(self._oracle, self._load(spec).specification)
        except MopsusError as error:
            return str(error)

    def run(self, key: RunKey) -> dict[str, Value]:
        """What is measured of a run, by column."""
        series, system = self._series[key.series], self._load(key.spec).system
        known = None if system is None else tuple(system.components.items())
        feed, components, pauses = self._observe(key.series, key.trace, known)
        task, parts = self._setup(key.spec, key.alg, components, pauses)
        points = Points([kind() for kind in self._groups])
        outcome = simulate(
            parts,
            task,
            feed,
            algorithm=self._algorithm(key.alg),
            name=key.alg,
            network=self._network,
            limit=self._settings.limit or feed.length + self._settings.slack,
            seed=_seed(self._settings.seed, key),
            points=points,
        )
        measured = {column: value for column, value in outcome.measures.items() if self._is_chosen(column)}
        return {"comps": len(components), **series.tags, **measured, **points.values()}

    @cached_property
    def _oracle(self) -> Oracle:
        return load_oracle(self._settings.check.oracle, self._experiment.folder)

    @cached_property
    def _groups(self) -> list[type[MeasureGroup]]:
        return measure_groups(self._settings.measures, self._experiment.folder)

    def _load_anew(self, spec: str) -> Loaded:
        timeout_s, cache = self._settings.check.timeout_s, self._experiment.cache
        synthesis: Synthesis = partial(from_formula, timeout_s=timeout_s)
        if cache is not None:
            synthesis = Cache(cache, timeout_s=timeout_s).automaton
        return load_specification(self._experiment.folder / spec, synthesis=synthesis)

    def _observe_anew(self, name: str, number: int, known: Components | None) -> _Observed:
        series = self._series[name]
        if known is not None and series.components not in (None, len(known)):
            raise DecentralError(
                f"the specification is about {len(known)} components, the experiment about {series.components}",
                code="DECENTRAL-081",
            )
        if isinstance(series.traces, Drawn):
            observed = default_components(series.components or 0, series.traces.observations)
            traces = generate_run(self._profile(series.traces), number, observed, series.traces.length)
        else:
            folder = self._experiment.folder / series.traces
            count = series.components or (len(known) if known is not None else component_count(folder, number))
            traces = read_run(folder, number, count)
        if known is not None:  # files are counted, whatever components are called
            traces = dict(zip(dict(known), traces.values(), strict=True))
        system = system_of(traces) if known is None else System(dict(known))
        return _Observed(feed_of(system, traces), tuple(system.components.items()), has_pauses(traces))

    def _profile(self, source: Drawn) -> Profile:
        given = source.profile if source.profile in STANDARD else str(self._experiment.folder / source.profile)
        profile = replace(load_profile(given), seed=source.seed)
        return inverted(profile) if source.invert else profile

    def _setup_anew(self, spec: str, name: str, components: Components, pauses: bool) -> tuple[Task, Sequence[Part]]:
        loaded, algorithm = self._load(spec), self._algorithm(name)
        options = options_for(algorithm, self._settings.options.get(name, {}), pauses)
        task = Task(loaded.specification, loaded.system or System(dict(components)), options)
        return task, set_up(algorithm, task)


def _seed(seed: int, key: RunKey) -> int:
    """A seed for each run, whichever others are carried out, and when."""
    return int.from_bytes(hashlib.sha256(f"{seed} {key}".encode()).digest()[:7], "big")
