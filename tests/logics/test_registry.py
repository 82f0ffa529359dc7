"""Plugins found by name, loaded late, and checked before use."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from mopsus.logics import LogicError, load_logic, logic_names, registry
from mopsus.logics.ere import LOGIC as ERE
from mopsus.spec.logics import BUILT_IN, GROUP, plugins

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


@pytest.fixture
def installed(monkeypatch):
    """Pretend that plugins are installed, given as name and `module:attribute`."""

    def install(**origins):
        entries = [EntryPoint(name, value, GROUP) for name, value in origins.items()]
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries)
        plugins.cache_clear()
        load_logic.cache_clear()

    yield install
    plugins.cache_clear()
    load_logic.cache_clear()


def test_built_in_logics_are_the_declared_entry_points():
    declared = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["entry-points"][GROUP]
    assert declared == BUILT_IN


def test_built_in_logics_need_no_metadata(monkeypatch):
    def absent(group):
        raise AssertionError("metadata was read")

    monkeypatch.setattr("importlib.metadata.entry_points", absent)
    load_logic.cache_clear()
    assert [load_logic(name).name for name in BUILT_IN] == list(BUILT_IN)


def test_plugin_is_found_by_entry_point(installed):
    installed(mine="plugin_for_test:LOGIC")
    assert "mine" in logic_names()
    with pytest.raises(LogicError, match=r"'mine' \(mopsus\.logics: plugin_for_test:LOGIC\) cannot be imported"):
        load_logic("mine")


def test_plugin_cannot_take_a_built_in_name(installed):
    installed(ere="plugin_for_test:LOGIC")
    assert load_logic("ere") is ERE


def test_unknown_logic_suggests_a_near_one(installed):
    installed()
    with pytest.raises(LogicError, match="unknown logic 'eere'") as caught:
        load_logic("eere")
    assert caught.value.code == "LOGIC-010"
    assert caught.value.hint == "did you mean 'ere'?"


@pytest.mark.parametrize(
    ("plugin", "fault"),
    [
        (lambda: object(), "is a object, not a Logic"),
        (lambda: replace(ERE, name="other"), "calls itself 'other'"),
        (lambda: replace(ERE, summary=" "), "has no summary"),
        (lambda: replace(ERE, parse=None), "'parse' that cannot be called"),
        (lambda: replace(ERE, parse=lambda text: text), "'parse' that does not take 2 arguments"),
        (lambda: replace(ERE, print=lambda: ""), "'print' that does not take 1 argument"),
        (lambda: replace(ERE, compile=lambda formula, request, more: None), "'compile' that does not take 2"),
        (lambda: replace(ERE, reference=lambda formula: None), "'reference' that does not take 3"),
        (lambda: replace(ERE, default_goal=()), "empty 'default_goal'"),
        (lambda: replace(ERE, default_goal=["match"]), "'default_goal' that is not a tuple of names"),
        (lambda: replace(ERE, default_goal=("",)), "'default_goal' that is not a tuple of names"),
        (lambda: replace(ERE, notes={"match"}), "'notes' that is not a frozenset of names"),
        (lambda: replace(ERE, truth={"match": "yes"}), "'truth'"),
    ],
)
def test_plugin_that_breaks_the_interface_is_refused(plugin, fault):
    with pytest.raises(LogicError) as caught:
        registry.check_logic("ere", plugin(), "some.module:NAME")
    assert caught.value.code == "LOGIC-011"
    assert fault in caught.value.message
    assert "some.module:NAME" in caught.value.message


def test_good_plugin_passes():
    assert registry.check_logic("ere", ERE, "x:y") is ERE
    assert registry.check_logic("ere", replace(ERE, print=str), "x:y").print is str
