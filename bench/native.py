"""Builds `native.c` at run time: the bare C loop and the empty native function that the benchmarks compare with."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shlex
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@cache
def build() -> Path:
    """The shared library, built once per process with the C compiler in `CC` (default `cc`) and -O3."""
    target = Path(tempfile.mkdtemp(prefix="mopsus-bench-")) / f"native{sysconfig.get_config_var('EXT_SUFFIX')}"
    source = Path(__file__).with_name("native.c")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    options = ["-O3", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}"]
    subprocess.run([*compiler, *options, str(source), "-o", str(target)], check=True)
    return target


def empty_function() -> Callable[[object], None]:
    """A function of one argument in C that does nothing."""
    path = build()
    spec = importlib.util.spec_from_file_location("native", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    nothing: Callable[[object], None] = module.nothing
    return nothing


def step_loop(
    event: NDArray[np.int8], ids: NDArray[np.int32], table: Sequence[Sequence[int]], counted: int
) -> Callable[[], int]:
    """A bare loop over the arrays: `state[id] = table[state[id]][event]`, counting the entries into one state."""
    step = ctypes.CDLL(str(build())).step_all
    step.restype = ctypes.c_int64
    flat = np.array(table, np.uint8)
    count = int(ids.max()) + 1

    def pointer(array: NDArray[Any]) -> ctypes.c_void_p:
        assert array.flags.c_contiguous
        return ctypes.c_void_p(array.ctypes.data)

    def run() -> int:
        state = np.zeros(count, np.uint8)
        entered: int = step(
            ctypes.c_int64(len(event)),
            pointer(event),
            pointer(ids),
            pointer(state),
            pointer(flat),
            ctypes.c_int(flat.shape[1]),
            ctypes.c_int(counted),
        )
        return entered

    return run
