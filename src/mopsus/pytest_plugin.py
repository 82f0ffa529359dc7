"""The pytest plugin: `pytest --mopsus SPEC` watches the tests against specs.

Every pytest run in an environment with Mopsus imports this module, so it has the options and nothing else; the
work is in `mopsus.testing`, loaded when a spec is given.
"""

from __future__ import annotations

import argparse

import pytest

WATCH = "mopsus-watch"
"""The name under which the watching plugin is registered."""
_NEEDING = ("mopsus_fail", "mopsus_baseline", "mopsus_write_baseline", "mopsus_junit", "mopsus_sarif", "mopsus_html")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, all of which do nothing without `--mopsus` or `--mopsus-contracts`."""
    group = parser.getgroup("mopsus", "watch the tests against specifications")
    add = group.addoption
    add("--mopsus", action="append", metavar="SPEC", help="Watch the tests against the specs in this file; repeatable.")
    add(
        "--mopsus-contracts",
        metavar="NAMES",
        help="Watch the tests against ready-made contracts: libraries, groups or names, such as stdlib,-UnsafeIter.",
    )
    add("--mopsus-fail", action="store_true", help="Let a test fail that causes a violation.")
    add(
        "--mopsus-expected",
        choices=("note", "keep"),
        default="note",
        help="A finding about an exception that the test expects, by pytest.raises for example, is a note, or what it "
        "is elsewhere.",
    )
    add(
        "--mopsus-strict",
        action="store_true",
        help="Let the run fail if any event of the specs never occurred, not only if it cannot.",
    )
    add(
        "--mopsus-allow-silent",
        action="store_true",
        help="Accept specs with events that cannot occur, because they name what is not there.",
    )
    parser.addini("mopsus_strict", "The same as --mopsus-strict.", type="bool", default=False)
    parser.addini("mopsus_allow_silent", "The same as --mopsus-allow-silent.", type="bool", default=False)
    add(
        "--mopsus-baseline",
        metavar="FILE",
        help="Accept the violations listed in this file.",
    )
    add(
        "--mopsus-write-baseline",
        action="store_true",
        help="Write the violations of this run to the baseline file, by default mopsus-baseline.json, and accept them.",
    )
    add("--mopsus-junit", metavar="FILE", help="Write what was found as JUnit XML, a test case per property.")
    add("--mopsus-sarif", metavar="FILE", help="Write what was found as SARIF 2.1.0.")
    add("--mopsus-html", metavar="FILE", help="Write what was found as a self-contained HTML page.")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin to watch before anything of the project is imported."""
    _start(early_config, early_config.known_args_namespace)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch, if the plugin itself was loaded too late for the hook above; from here on all is known."""
    _start(config, config.option)
    if config.pluginmanager.has_plugin(WATCH):
        from mopsus.testing import configure

        watch = config.pluginmanager.get_plugin(WATCH)
        assert watch is not None
        configure(config, watch)
    elif given := [f"--{name.replace('_', '-')}" for name in _NEEDING if getattr(config.option, name, None)]:
        raise pytest.UsageError(f"{given[0]} needs something to watch for: --mopsus or --mopsus-contracts")


def _start(config: pytest.Config, option: argparse.Namespace) -> None:
    wanted = option.mopsus or option.mopsus_contracts
    if wanted and not config.pluginmanager.has_plugin(WATCH):
        from mopsus.testing import start

        config.pluginmanager.register(start(config, option.mopsus or (), option.mopsus_contracts), WATCH)
