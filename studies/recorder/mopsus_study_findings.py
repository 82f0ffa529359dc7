"""What contracts have found in a run of tests, by places that are the same on every machine."""

from __future__ import annotations

import sysconfig
from collections import Counter
from pathlib import Path, PurePath
from typing import Any

from mopsus.model import Verdict
from mopsus.report.baseline import Fingerprints
from mopsus.testing.findings import Findings
from mopsus.verdict import Group, GroupKey, Groups, code_of

EVENTS_SHOWN = 6
MOST_PLACES = 10_000


class Found:
    """The findings of a run, grouped for the study instead of for the summary of pytest."""

    def __init__(self, findings: Findings, root: Path, libraries: Path) -> None:
        self._findings = findings
        findings.groups = Groups(limit=MOST_PLACES, key=self._key)
        paths = sysconfig.get_paths()
        self._bases = [
            (libraries, ""),
            (Path(paths["purelib"]), ""),
            (Path(paths["stdlib"]).resolve(), "Lib/"),
            (root, ""),
        ]
        self._fingerprint = Fingerprints(root)

    def record(self) -> dict[str, Any]:
        """As plain data, once the session has finished."""
        stats = self._findings.summary().stats
        causes = self._findings.causes
        return {
            "counts": stats.specs,
            "events": stats.events,
            "findings": [self._finding(group, causes[group.key]) for group in self._findings.groups],
        }

    def _finding(self, group: Group, causes: Counter[str]) -> dict[str, Any]:
        verdict = group.examples[0]
        tests = [name for name in causes if name]
        return {
            "contract": verdict.spec,
            "place": group.key.place,
            "function": self._fingerprint(verdict).place.partition("::")[2],
            "severity": verdict.severity.value,
            "count": group.count,
            "tests": len(tests),
            "test": tests[0] if tests else "",
            "line": code_of(verdict),
            "witness": [
                [item.event, self._path(item.location), code_of(item)] for item in verdict.witness[-EVENTS_SHOWN:]
            ],
        }

    def _key(self, verdict: Verdict) -> GroupKey:
        return GroupKey(verdict.spec, verdict.property, verdict.category, self._path(verdict.location))

    def _path(self, location: str | None) -> str:
        """The location, with a path below the folder that it belongs to."""
        for base, prefix in self._bases:
            if location is not None and PurePath(location).is_relative_to(base):
                return prefix + PurePath(location).relative_to(base).as_posix()
        return "" if location is None else PurePath(location).name
