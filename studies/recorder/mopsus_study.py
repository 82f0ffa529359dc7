"""A plugin of pytest that writes down what became of each test and what contracts have found.

It runs in the environment of a project under study, so it knows nothing of the rest of the studies; and where tests are
not watched, it does not load Mopsus, which would cost time that is then not ours.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

RECORD = "MOPSUS_STUDY_RECORD"
LIBRARIES = "MOPSUS_STUDY_LIBRARIES"


class Recorder:
    """Gathers while tests run, and writes when pytest ends."""

    def __init__(self, config: pytest.Config, path: str) -> None:
        self._config = config
        self._path = Path(path)
        self._outcomes: dict[str, list[str]] = {}
        self._seconds = 0.0
        self._found: Any = None
        if findings := config.pluginmanager.get_plugin("mopsus-findings"):
            from mopsus_study_findings import Found

            self._found = Found(findings, config.rootpath, Path(os.environ[LIBRARIES]))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._outcomes.setdefault(report.nodeid, []).append("not collected")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds += report.duration
        category = self._config.hook.pytest_report_teststatus(report=report, config=self._config)[0]
        if category:
            self._outcomes.setdefault(report.nodeid, []).append(category)

    def pytest_unconfigure(self) -> None:
        record = {
            # A test with subtests has many outcomes: each sort is told once.
            "outcomes": {name: "+".join(sorted(set(found))) for name, found in self._outcomes.items()},
            "test_s": self._seconds,
            **(self._found.record() if self._found is not None else {}),
        }
        self._path.write_text(json.dumps(record), encoding="utf-8")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Record this run, but none that a test may start."""
    path = os.environ.pop(RECORD, None)
    if path is not None:
        config.pluginmanager.register(Recorder(config, path), "mopsus-study-recorder")
