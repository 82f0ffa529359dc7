"""A compiled program that most tests of GDB debug, and a property of it."""

import pytest
from interactive.dap.compiled_programs import QUEUE, SMALL
from interactive.gdb.programs import build


@pytest.fixture
def queue():
    return build(QUEUE)


@pytest.fixture
def small(tmp_path):
    file = tmp_path / "small.prop"
    file.write_text(SMALL)
    return str(file)
