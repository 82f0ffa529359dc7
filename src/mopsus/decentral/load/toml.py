"""Specification files in TOML: the same content as in XML, and the system beside it.

root = "check"                       # may be left out, as in XML

[components]                         # who observes what
switch = ["s"]
bulb = ["l"]

[[links]]                            # left out: everyone can talk to everyone
between = ["switch", "bulb"]         # or: from = "switch", to = "bulb"
cost = 2.0

[monitors]
light = "l"                          # a formula over propositions and @references

[monitors.check]
on = "switch"                        # left out: wherever it fits
formula = "G(s -> X(@light U !s))"

[monitors.door]                      # any finite logic
logic = "ere"
formula = "(open close)*"
events = ["open", "close"]
report = ["fail"]                    # which categories are the verdict; left out: those that the logic reports
truth = { fail = false }             # for categories that have no truth value of their own
inputs = { open = "@opened" }        # what an event reads, where that is not the proposition of its name

[monitors.file]
spec = "door.mop"                    # a property of a spec file
name = "Door"                        # where the file has several specs
property = "ere"                     # where the spec has several properties

[monitors.table]                     # states and transitions; where no condition holds, the state stays
verdicts = { bad = false }
transitions = ["good -> bad: s & !l"]

[templates.lamp]                     # holes %name% in names and texts
arguments = ["room", "k"]
monitors = { "sw%k%" = "%room%_switch" }

[[instances]]
template = "lamp"
room = "office"
k = "1"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from mopsus.decentral.automaton import Automaton
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.load.build import Loaded, Synthesis, check_new, converted_monitor, formula_monitor, located
from mopsus.decentral.load.tables import Tables
from mopsus.decentral.load.written import Written
from mopsus.decentral.specification import Monitor, Specification
from mopsus.decentral.synthesis import from_machine, from_transitions
from mopsus.decentral.system import Link, System
from mopsus.logics import LogicError, compile_formula, compile_property
from mopsus.logics.text import suggestion
from mopsus.model import Machine, MopsusError

T = TypeVar("T")

_TRANSITION = re.compile(r"\s*([\w.-]+)\s*->\s*([\w.-]+)\s*:(.*)", re.DOTALL)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    root: str | None = None
    components: dict[str, list[str]] | None = None
    links: list[dict[str, Any]] | None = None
    monitors: dict[str, Any] = {}
    templates: dict[str, dict[str, Any]] = {}
    instances: list[dict[str, str]] = []


class _Link(msgspec.Struct, forbid_unknown_fields=True):
    between: tuple[str, str] | None = None
    source: str | None = msgspec.field(name="from", default=None)
    target: str | None = msgspec.field(name="to", default=None)
    cost: float = 1.0


class _Template(msgspec.Struct, forbid_unknown_fields=True):
    monitors: dict[str, Any]
    arguments: list[str] = []


class _Monitor(msgspec.Struct, forbid_unknown_fields=True):
    formula: str | None = None
    logic: str = "ltl"
    on: str | None = None
    events: list[str] | None = None
    report: list[str] = []
    truth: dict[str, bool] = {}
    inputs: dict[str, str] = {}
    spec: str | None = None
    name: str | None = None
    property: str | None = None
    verdicts: dict[str, bool] = {}
    transitions: list[str] | None = None


def read_toml(data: bytes, path: Path, synthesis: Synthesis) -> Loaded:
    """The specification in `data`. Errors as those of `load_specification`; other files are found beside `path`."""
    return _Reader(Tables(data, path, malformed="DECENTRAL-031", misplaced="DECENTRAL-032"), path, synthesis).read()


class _Reader:
    def __init__(self, tables: Tables, path: Path, synthesis: Synthesis) -> None:
        self._path = path
        self._synthesis = synthesis
        self._places = tables.places
        self._convert = tables.convert
        self._file = tables.convert(tables.content, _File)
        self._monitors: dict[str, Monitor] = {}

    def read(self) -> Loaded:
        for name, given in self._file.monitors.items():
            self._add(name, given, ("monitors", name), None)
        for number, instance in enumerate(self._file.instances):
            self._instantiate(instance, ("instances", str(number)))
        try:
            specification = Specification(self._monitors, self._file.root)
        except DecentralError as error:
            raise (
                error
                if error.place
                else self._places.key("root").error(error.message, code=error.code, hint=error.hint)
            ) from None
        return Loaded(specification, self._system())

    def _system(self) -> System | None:
        if self._file.components is None:
            if self._file.links is not None:
                raise self._places.key("links").error(
                    "there are links, but no components", code="DECENTRAL-021", hint="add a table [components]"
                )
            return None
        links = [link for number, each in enumerate(self._file.links or ()) for link in self._links(each, number)]
        components = {name: tuple(observed) for name, observed in self._file.components.items()}
        try:
            return System(components, None if self._file.links is None else tuple(links))
        except DecentralError as error:
            where = "links" if error.code == "DECENTRAL-021" else "components"
            raise self._places.key(where).error(error.message, code=error.code, hint=error.hint) from None

    def _links(self, given: Mapping[str, Any], number: int) -> list[Link]:
        path = ("links", str(number))
        link = self._convert(given, _Link, *path)
        if link.between is not None and link.source is None and link.target is None:
            one, other = link.between
            return [Link(one, other, link.cost), Link(other, one, link.cost)]
        if link.between is None and link.source is not None and link.target is not None:
            return [Link(link.source, link.target, link.cost)]
        raise self._places.key(*path).error(
            "a link needs both ends", code="DECENTRAL-032", hint='write between = ["A", "B"], or from = "A", to = "B"'
        )

    def _instantiate(self, values: Mapping[str, str], path: tuple[str, ...]) -> None:
        where = self._places.key(*path)
        name = values.get("template")
        if name is None or name not in self._file.templates:
            raise where.error(
                f"there is no template '{name}'" if name else "an instance needs its template",
                code="DECENTRAL-035",
                hint=suggestion(name or "", self._file.templates),
            )
        template = self._convert(self._file.templates[name], _Template, "templates", name)
        given = {argument: value for argument, value in values.items() if argument != "template"}
        if given.keys() != set(template.arguments):
            odd = sorted(given.keys() ^ set(template.arguments))[0]
            raise where.error(
                f"template '{name}' needs a value for '{odd}'"
                if odd in template.arguments
                else f"'{odd}' is no argument of '{name}'",
                code="DECENTRAL-035",
                hint=f"its arguments are: {', '.join(template.arguments)}",
            )
        for each, monitor in template.monitors.items():
            self._add(each, monitor, ("templates", name, "monitors", each), given)

    def _add(self, key: str, given: object, path: tuple[str, ...], values: Mapping[str, str] | None) -> None:
        """Read one monitor; `values` fill the holes of a template."""
        name = self._places.name(key, *path)
        if values is not None:
            name, given = name.filled(values), self._filled(given, values, path)
        check_new(name, self._monitors, "monitor")
        settings = self._convert({"formula": given} if isinstance(given, str) else given, _Monitor, *path)
        self._monitors[name.text] = self._monitor(name, settings, path)

    def _filled(self, given: Any, values: Mapping[str, str], path: tuple[str, ...]) -> Any:  # noqa: ANN401 - TOML
        if isinstance(given, str):
            return self._places.name(given, *path).filled(values).text
        if isinstance(given, list):
            return [self._filled(each, values, path) for each in given]
        if isinstance(given, dict):
            return {self._filled(name, values, path): self._filled(each, values, path) for name, each in given.items()}
        return given

    def _monitor(self, name: Written, settings: _Monitor, path: tuple[str, ...]) -> Monitor:
        ways = {"formula": settings.formula, "spec": settings.spec, "transitions": settings.transitions}
        chosen = [way for way, value in ways.items() if value is not None]
        if len(chosen) != 1:
            raise name.error(
                f"monitor '{name.text}' has {' and '.join(chosen)}" if chosen else f"monitor '{name.text}' is empty",
                code="DECENTRAL-032",
                hint="give it a formula, a spec or transitions",
            )
        if settings.formula is not None and settings.logic == "ltl" and settings.events is None:
            return formula_monitor(
                name, self._places.value(settings.formula, *path, "formula"), settings.on, self._synthesis
            )
        try:
            if settings.transitions is not None:
                automaton = self._table(settings, settings.transitions, path)
            else:
                automaton = from_machine(self._machine(name, settings, path), settings.truth)
        except DecentralError as error:
            raise error if error.place else name.error(error.message, code=error.code, hint=error.hint) from None
        return converted_monitor(name, automaton, settings.on, settings.inputs)

    def _machine(self, name: Written, settings: _Monitor, path: tuple[str, ...]) -> Machine:
        """The machine of a property in any logic, written here or in a spec file."""
        if settings.formula is not None:
            text = self._places.value(settings.formula, *path, "formula")
            try:
                made = compile_formula(
                    settings.logic, settings.formula, settings.events, goal=settings.report, file=str(self._path)
                )
            except LogicError as error:
                raise located(error, text) from error
            return made.machines[0]
        from mopsus.spec import load

        assert settings.spec is not None
        where = self._places.key(*path, "spec")
        try:
            specs = load(str(self._path.parent / settings.spec))
            chosen = self._pick(settings.name, specs, "spec", where)
            properties = {each.name: each for each in chosen.properties}
            return compile_property(chosen, self._pick(settings.property, properties, "property", where))
        except DecentralError:
            raise
        except MopsusError as error:
            raise where.error(f"{settings.spec}: {error.message}", code="DECENTRAL-036", hint=error.hint) from error
        except OSError as error:
            raise where.error(f"cannot read {settings.spec}: {error.strerror}", code="DECENTRAL-030") from None

    def _pick(self, wanted: str | None, among: Mapping[str, T], what: str, where: Written) -> T:
        if wanted is None and len(among) == 1:
            return next(iter(among.values()))
        if wanted is not None and wanted in among:
            return among[wanted]
        raise where.error(
            f"there is no {what} '{wanted}'" if wanted else f"it is not said which {what}",
            code="DECENTRAL-032",
            hint=suggestion(wanted or "", among),
        )

    def _table(self, settings: _Monitor, lines: list[str], path: tuple[str, ...]) -> Automaton:
        numbers: dict[str, int] = {}
        transitions: list[tuple[int, str, int]] = []
        where = self._places.key(*path, "transitions")
        for line in lines:
            found = _TRANSITION.fullmatch(line)
            if found is None:
                raise where.error(
                    f"'{line}' is no transition", code="DECENTRAL-032", hint="write: state -> state: condition"
                )
            source, target = (numbers.setdefault(found[group], len(numbers)) for group in (1, 2))
            transitions.append((source, found[3], target))
        if unknown := sorted(settings.verdicts.keys() - numbers.keys()):
            raise where.error(
                f"no transition is about state '{unknown[0]}'",
                code="DECENTRAL-032",
                hint=suggestion(unknown[0], numbers),
            )
        try:
            return from_transitions([settings.verdicts.get(state) for state in numbers], transitions)
        except LogicError as error:
            raise where.error(error.message, code="DECENTRAL-036", hint=error.hint) from error
