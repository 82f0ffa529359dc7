"""The modules of the benchmarks, for tests of them."""

import importlib
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def module(monkeypatch):
    """Import a module of the benchmarks; they find each other as scripts do, by the folder they are in."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(f"{BENCH}/"):
            del sys.modules[name]
