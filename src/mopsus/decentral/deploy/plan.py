"""Deployment files: which specification is monitored by which algorithm, and which component is where.

    specification = "lights.toml"     # beside this file
    algorithm = "migr"

    [components.switch]
    host = "hall"
    peripheries = [{ kind = "file", path = "switch.trace" }]

Paths of peripheries are paths of the host.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Task, set_up
from mopsus.decentral.analysis.dependencies import refuse_cycles
from mopsus.decentral.deploy.client import Deployment
from mopsus.decentral.deploy.messages import Placed, Settings
from mopsus.decentral.deploy.run import installed
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.load import load_specification
from mopsus.decentral.load.tables import has_null
from mopsus.decentral.peripheries import source_of
from mopsus.decentral.system import System
from mopsus.logics.text import suggestion
from mopsus.model import UNDECODABLE


class PlanError(DecentralError):
    """A deployment cannot be read, or what it says does not fit its specification."""

    code = "DECENTRAL-072"


class PlacedComponent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a component is, and what it observes."""

    host: str
    peripheries: tuple[dict[str, Any], ...]
    propositions: tuple[str, ...] | None = None
    """Needed if the specification does not say which component observes what."""


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is in a deployment file."""

    specification: str
    algorithm: str
    components: dict[str, PlacedComponent]
    options: dict[str, str | int | float | bool] = {}
    """Of the algorithm."""
    allow_cycles: bool = False
    run: Settings = Settings()


def read_plan(path: Path) -> Deployment:
    """The deployment in a file, set up. `DecentralError` if the file, or what it refers to, is wrong."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        if has_null(content):
            raise PlanError(f"{path}: a text has a null character")
        plan = msgspec.convert(content, Plan)
    except OSError as error:
        raise PlanError(f"cannot read {path}: {error.strerror}") from None
    except UNDECODABLE as error:
        raise PlanError(f"{path}: {error}") from None
    loaded = load_specification(path.parent / plan.specification)
    system = _system(plan, loaded.system, path)
    if not plan.allow_cycles:
        refuse_cycles(loaded.specification)
    task = Task(loaded.specification, system, plan.options)
    parts = set_up(load_algorithm(installed(plan.algorithm)), task)
    hosts: dict[str, list[Placed]] = {}
    for name, placed in plan.components.items():
        for settings in placed.peripheries:
            source_of(settings)  # what is wrong with one is better said here than by a host
        hosts.setdefault(placed.host, []).append(Placed(name, system.components[name], placed.peripheries))
    return Deployment(plan.algorithm, parts, hosts, plan.run)


def _system(plan: Plan, described: System | None, path: Path) -> System:
    """All components of the specification, each of which must be somewhere."""
    own = {name: placed.propositions for name, placed in plan.components.items()}
    if described is None:
        silent = [name for name, propositions in own.items() if propositions is None]
        if silent:
            raise PlanError(
                f"{path}: it is not said what '{silent[0]}' observes", hint="give its propositions, or [components]"
            )
        return System({name: propositions or () for name, propositions in own.items()})
    _check_names(own, described.components, path)
    return described


def _check_names(placed: Mapping[str, object], known: Mapping[str, object], path: Path) -> None:
    for name in placed:
        if name not in known:
            raise PlanError(f"{path}: there is no component '{name}'", hint=suggestion(name, known))
    if missing := [name for name in known if name not in placed]:
        raise PlanError(f"{path}: it is not said where component '{missing[0]}' is")
