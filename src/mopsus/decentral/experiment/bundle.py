"""Bundles: a folder with an experiment and all that it needs, which anyone can run again.

What is below the folder of the experiment keeps its place, so that the results of a bundle name the same
specifications; what is elsewhere is copied to `elsewhere`.
"""

from __future__ import annotations

import json
import platform
import shutil
import tomllib
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import msgspec

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.experiment.settings import Drawn, Experiment, Series, Settings
from mopsus.decentral.generate.traces import STANDARD
from mopsus.decentral.load import load_specification
from mopsus.decentral.synthesis import Cache
from mopsus.decentral.traces import component_letter
from mopsus.model import MopsusError

CACHE = "cache"
FILE = "experiment.toml"
RESULTS = "results.db"

MAKEFILE = f"""\
run:
\tmopsus simulate experiment {FILE}

report: run
\tmopsus simulate report {RESULTS} --output report

.PHONY: run report
"""


def write_bundle(experiment: Experiment, folder: Path) -> Path:
    """Copy an experiment into a folder that is empty or does not exist; the file that describes it there."""
    if folder.exists() and any(folder.iterdir()):
        raise DecentralError(f"the folder {folder} is not empty", hint="choose another one", code="DECENTRAL-086")
    folder.mkdir(parents=True, exist_ok=True)
    copied = _Copy(experiment, folder).settings()
    made_by = f"# Made by mopsus {version('mopsus')}, Python {platform.python_version()}.\n"
    (folder / FILE).write_text(made_by + render_settings(copied), encoding="utf-8")
    (folder / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    return folder / FILE


class _Copy:
    """Copies files, and knows the settings that are about the copies."""

    def __init__(self, experiment: Experiment, target: Path) -> None:
        self._experiment = experiment
        self._target = target
        self._elsewhere: dict[Path, str] = {}

    def settings(self) -> Settings:
        whole = self._experiment.settings
        series = [self._series(*each) for each in zip(whole.series, self._experiment.specs, strict=True)]
        return msgspec.structs.replace(
            whole,
            algorithms=[self._code(name) for name in whole.algorithms],
            measures=[self._code(name) for name in whole.measures],
            options={self._code(name): given for name, given in whole.options.items()},
            check=msgspec.structs.replace(whole.check, oracle=self._code(whole.check.oracle), write=False),
            series=series,
            results=RESULTS,
            cache=CACHE,
        )

    def _series(self, series: Series, specs: tuple[str, ...]) -> Series:
        copied = [self._spec(spec) for spec in specs]
        traces = series.traces
        if isinstance(traces, Drawn):
            if traces.profile not in STANDARD:
                traces = msgspec.structs.replace(traces, profile=self._file(traces.profile))
        else:
            traces = self._traces(traces, series)
        return msgspec.structs.replace(series, specs=copied, traces=traces)

    def _spec(self, spec: str) -> str:
        source = self._experiment.folder / spec
        copied = self._file(spec)
        if source.suffix == ".toml":  # it may have properties of spec files that stand beside it
            with suppress(OSError, ValueError):
                monitors = tomllib.loads(source.read_text("utf-8")).get("monitors", {})
                for name in {each["spec"] for each in monitors.values() if isinstance(each, dict) and "spec" in each}:
                    shutil.copyfile(source.parent / name, (self._target / copied).parent / name)
        with suppress(MopsusError):  # what is wrong with it is said when it is run
            cache = Cache(self._target / CACHE, timeout_s=self._experiment.settings.check.timeout_s)
            load_specification(source, synthesis=cache.automaton)
        return copied

    def _traces(self, given: str, series: Series) -> str:
        source = self._experiment.folder / given
        place = self._place(given)
        for number in range(series.first, series.first + series.runs):
            for path in source.glob(f"{number}-*.trace"):  # one that is missing is so when it is run, too
                (self._target / place).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, self._target / place / path.name)
        return place

    def _code(self, name: str) -> str:
        """A name as `file.py:Name` is about a file, which is copied."""
        file, colon, attribute = name.rpartition(":")
        return f"{self._file(file)}:{attribute}" if colon else name

    def _file(self, given: str) -> str:
        place = self._place(given)
        target = self._target / place
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(self._experiment.folder / given, target)
        except OSError as error:
            raise DecentralError(f"cannot copy {error.filename}: {error.strerror}", code="DECENTRAL-080") from None
        return place

    def _place(self, given: str) -> str:
        """Where something is in the bundle."""
        folder = self._experiment.folder.resolve()
        path = (folder / given).resolve()
        if path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
        if path not in self._elsewhere:
            self._elsewhere[path] = f"elsewhere/{component_letter(len(self._elsewhere))}/{path.name}"
        return self._elsewhere[path]


def render_settings(settings: Settings) -> str:
    """Settings as TOML; those that are what they are by default are left out."""
    lines = []
    for name, value in _given(settings).items():
        if name != "series":
            lines.append(f"{name} = {_value(value)}\n")
    for series in settings.series:
        lines.append("\n[[series]]\n")
        lines += [f"{name} = {_value(value)}\n" for name, value in _given(series).items()]
    return "".join(lines)


def _given(struct: msgspec.Struct) -> dict[str, object]:
    """The fields of a struct that have other values than by default."""
    fields = msgspec.structs.fields(struct)
    values = {field.name: getattr(struct, field.name) for field in fields}
    return {field.name: values[field.name] for field in fields if not _is_default(field, values[field.name])}


def _is_default(field: msgspec.structs.FieldInfo, value: object) -> bool:
    if field.default_factory is not msgspec.NODEFAULT:
        return bool(value == field.default_factory())
    return bool(value == field.default)


def _value(value: object) -> str:
    match value:
        case msgspec.Struct():
            return _value(_given(value))
        case bool() | str():
            return json.dumps(value, ensure_ascii=False)  # a string of JSON is one of TOML
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return f"{{ {', '.join(f'{_value(key)} = {_value(each)}' for key, each in value.items())} }}"
    return repr(value)
