"""The public names: complete, lazy, and refused where there is none."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mopsus
from mopsus.spec.logics import BUILT_IN

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", mopsus.__all__)
def test_every_public_name_is_there(name):
    assert getattr(mopsus, name) is not None
    assert name in dir(mopsus)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'mopsus' has no attribute 'lod'"):
        _ = mopsus.lod


def test_importing_the_package_loads_neither_parser_nor_core():
    probe = (
        "import sys, mopsus; print([n for n in ('mopsus.spec', 'rich', 'pyarrow', 'mopsus._core') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_built_in_logics_are_those_that_the_package_registers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["mopsus.logics"] == dict(BUILT_IN)
