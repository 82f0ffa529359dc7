"""Names of packages that are loaded when they are first used."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from mopsus.late import late_function, late_names

PACKAGES = (
    "mopsus",
    "mopsus.model",
    "mopsus.spec",
    "mopsus.logics",
    "mopsus.logics.ltl",
    "mopsus.verdict",
    "mopsus.decentral",
)


@pytest.mark.parametrize("name", PACKAGES)
def test_every_public_name_can_be_loaded_and_is_listed(name):
    package = importlib.import_module(name)
    listed = dir(package)
    for each in package.__all__:
        assert getattr(package, each) is not None
        assert each in listed
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nonsense'"):
        _ = package.nonsense


def test_a_module_cannot_hide_a_name():
    with pytest.raises(AssertionError):
        late_names("mopsus.verdict", {"explain": "explain plain_text"})


def test_a_function_is_imported_when_it_is_called():
    probe = (
        "import sys\n"
        "from mopsus.logics import load_logic\n"
        "logic = load_logic('ere')\n"
        "before = 'mopsus.logics.ere.reference' in sys.modules\n"
        "print(before, *logic.reference(logic.parse('a', ('a',)), ('a',), ['a']))\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "match"]
    assert late_function("math", "gcd")(12, 18) == 6
