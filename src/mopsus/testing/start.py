"""How a watched test run begins: specs read, the program woven, and each process given its part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mopsus import _core
from mopsus.cli.failure import render_error
from mopsus.contracts import Switches, catalogue, read_settings
from mopsus.events.weave.api import weave
from mopsus.model import Fault, Faults, MopsusError, Silence, Spec, Unseen, Verdict
from mopsus.model.limits import HISTORY
from mopsus.monitor import Monitor
from mopsus.monitor.listener import OnVerdict
from mopsus.report.baseline import read_baseline
from mopsus.report.output import Output
from mopsus.report.summary import BROKEN
from mopsus.run.children import Children, Order, Outbox
from mopsus.run.known import KnownSpecs
from mopsus.run.specs import load_specs
from mopsus.testing.asserts import weave_test_modules
from mopsus.testing.findings import Baseline, Findings
from mopsus.testing.watch import Counts, Watch

if TYPE_CHECKING:
    from mopsus.logics import CompiledSpec

DEFAULT_BASELINE = "mopsus-baseline.json"
RENDERERS = {
    "junit": "mopsus.report.junit:render_junit",
    "sarif": "mopsus.report.sarif:render_sarif",
    "html": "mopsus.report.html:render_html",
}


def start(config: pytest.Config, files: Sequence[str], contracts: str | None) -> Watch:
    """Begin to watch against the specs in the files, and contracts; `UsageError` if that cannot be."""
    try:
        paths = [_find(config, name) for name in files]
        compiled, warnings = load_specs(paths)
        switches = Switches(read_settings(config.rootpath), lambda: {*catalogue(), *compiled})
        watch = Watch(KnownSpecs(compiled.values()), switches, warnings)
        expected = getattr(config.known_args_namespace, "mopsus_expected", "note")
        watch.begin(partial(_Woven, config, paths, compiled, contracts), notes_expected=expected == "note")
    except MopsusError as error:
        raise pytest.UsageError(render_error(error)) from error
    config.add_cleanup(watch.close)
    return watch


def configure(config: pytest.Config, watch: Watch) -> None:
    """Give the process its part, once it is known what it is. `watch` is what `start` gave."""
    option = config.option
    silence = Silence(
        strict=option.mopsus_strict or config.getini("mopsus_strict"),
        allowed=option.mopsus_allow_silent or config.getini("mopsus_allow_silent"),
    )
    # Workers of pytest-xdist get the options, but not the folder they were given in.
    option.mopsus = [str(_find(config, name)) for name in option.mopsus or ()]
    try:
        baseline = _baseline(config)
        if option.mopsus_fail:
            watch.fail_if(baseline.fails)
        if hasattr(config, "workerinput"):
            return
        distributed = config.getoption("dist", "no") != "no" and bool(config.getoption("tx", None))
        if distributed:  # the workers watch
            config.pluginmanager.unregister(watch)
            watch.end()
        outputs = [
            (Output(config.invocation_params.dir / path), _renderer(name))
            for name in RENDERERS
            if (path := config.getoption(f"mopsus_{name}"))
        ]
    except MopsusError as error:
        raise pytest.UsageError(render_error(error)) from error
    findings = Findings(watch, baseline, outputs, runs_tests=not distributed, fail=option.mopsus_fail, silence=silence)
    config.pluginmanager.register(findings, "mopsus-findings")


def _find(config: pytest.Config, name: str) -> Path:
    """A file that was named on the command line, or below the root by the configuration of the project."""
    here = config.invocation_params.dir / name
    return here if here.exists() else next(filter(Path.exists, [config.rootpath / name]), here)


def _baseline(config: pytest.Config) -> Baseline:
    option = config.option
    if option.mopsus_baseline is None and not option.mopsus_write_baseline:
        return Baseline(config.rootpath)
    given: str | None = option.mopsus_baseline
    path = config.rootpath / DEFAULT_BASELINE if given is None else _find(config, given)
    option.mopsus_baseline = str(path)
    known = read_baseline(path) if path.exists() or not option.mopsus_write_baseline else ()
    # A run that writes a baseline accepts nothing beforehand: all that it finds is written.
    return Baseline(config.rootpath, path, known, option.mopsus_write_baseline)


def _renderer(name: str) -> Callable[..., str]:
    module, _, function = RENDERERS[name].partition(":")
    render: Callable[..., str] = getattr(import_module(module), function)
    return render


class _Undecided(weave):
    """Events have the number of their test. Which verdicts are switched off is decided where those of all processes
    come together."""

    part: _core.Part

    def _monitor(self, spec: Spec | CompiledSpec, *, trusted: bool = True) -> Monitor:
        monitor = super()._monitor(spec, trusted=trusted)
        monitor.number_by(self.part)
        return monitor

    def _reporting(self) -> OnVerdict:
        return self._on_verdict


class _Woven:
    """The tests and the program under them, woven, and the processes that they start."""

    def __init__(
        self,
        config: pytest.Config,
        paths: Sequence[Path],
        compiled: dict[str, CompiledSpec],
        contracts: str | None,
        part: _core.Part,
        on_verdict: Callable[[Verdict], object],
    ) -> None:
        self._on_verdict = on_verdict
        self._events_elsewhere = 0
        self._faults_elsewhere = Faults()
        self._program = _Undecided(
            *compiled.values(), contracts=contracts, on_verdict=lambda verdict: self._on_verdict(verdict)
        )
        self._program.part = part
        self.fallen: Counts = {}
        self._program.start()
        self._leave_test_modules = weave_test_modules(config)
        order = Order([str(path.absolute()) for path in paths], HISTORY, contracts=contracts)
        self._children = Children(order, self._forked, lambda: self._program.monitors.values())
        self._children.__enter__()
        self._config = config
        _core.before_exit(self._end_at_once)

    def elsewhere(self) -> Iterator[Verdict]:
        """Verdicts that came since this was asked last in other processes."""
        for told, events in self._children.messages():
            self._events_elsewhere += events
            if isinstance(told, Fault):
                self._faults_elsewhere.add(told)
            elif told is not None:
                yield told

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Errors in the code of specs so far."""
        return tuple(Faults([*self._program.faults, *self._faults_elsewhere]))

    def stop(self) -> Counts:
        """Take everything back that was woven; gives what was counted, under no name what other processes counted."""
        _core.before_exit(None)
        self._leave_test_modules()
        self._children.__exit__(None, None, None)
        all_stats = self._program.stop()
        self.fallen = {name: stats.fallen for name, stats in all_stats.items()}
        counts = {
            name: {"events": stats.events, "created": stats.created, "faults": stats.faults}
            for name, stats in all_stats.items()
        }
        return counts | ({"": {"events": self._events_elsewhere}} if self._events_elsewhere else {})

    def unseen(self) -> list[Unseen]:
        """The events that occurred neither here nor in processes that came to their end."""
        elsewhere = {(name, event) for name, counts in self._children.seen.items() for event in +counts}
        return [each for each in self._program.unseen if (each.spec, each.event) not in elsewhere]

    @property
    def unwatched(self) -> int:
        """How many Python processes were started that nobody watches."""
        return self._children.unwatched

    def _end_at_once(self, status: int) -> int:
        """A process ends by `os._exit`: one that a test has forked, or this one, whose findings nobody hears then."""
        self._children.end_fork()
        plugins = self._config.pluginmanager
        reporter, capture = plugins.get_plugin("terminalreporter"), plugins.get_plugin("capturemanager")
        if not self._children.first or not self._config.option.mopsus_fail or reporter is None:
            return status
        if capture is not None:
            capture.suspend(in_=True)
        reporter.ensure_newline()
        reporter.write_line(f"mopsus: os._exit({status}) has ended the run: what was found is not reported", red=True)
        reporter.flush()
        return status or BROKEN

    def _forked(self, outbox: Outbox) -> None:
        self._on_verdict = outbox.add
        for monitor in self._program.monitors.values():
            monitor.on_fault = lambda error, fault: outbox.add_fault(fault)
