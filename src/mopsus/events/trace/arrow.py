"""Stage 4: pyarrow, when it is installed: the one place that imports it, and how its types meet ours."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, TypeAlias

from mopsus.events.trace.columns import ColumnType
from mopsus.model import TraceError

# pyarrow has no type information; these names at least say which of its types is meant.
Module: TypeAlias = Any
Batch: TypeAlias = Any
Array: TypeAlias = Any
DataType: TypeAlias = Any

EXTRA_HINT = "install it with `pip install 'mopsus[trace]'`"


@cache
def load(module: str) -> Module | None:
    """A module of the `trace` extra; None if the extra is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def require(module: str, purpose: str) -> Module:
    """A module of the `trace` extra, or an error that says what needs it and how to get it."""
    found = load(module)
    if found is None:
        package = module.partition(".")[0]
        raise TraceError(f"{purpose} needs the package `{package}`", hint=EXTRA_HINT, code="TRACE-003")
    return found


def column_type(type: DataType) -> ColumnType:
    """Our type for an Arrow type that `decode` lets through."""
    pa = require("pyarrow", "an Arrow column")
    if pa.types.is_dictionary(type):
        type = type.value_type
    if pa.types.is_int64(type):
        return ColumnType.INT
    if pa.types.is_float64(type) or pa.types.is_timestamp(type):
        return ColumnType.FLOAT
    if pa.types.is_boolean(type):
        return ColumnType.BOOL
    return ColumnType.BYTES if pa.types.is_binary(type) else ColumnType.STR


def without_timestamps(array: Array) -> Array:
    """Return timestamps as seconds, and anything else as it is.

    A float since the epoch has room for microseconds, not for nanoseconds.
    """
    pa = require("pyarrow", "an Arrow column")
    if not pa.types.is_timestamp(array.type):
        return array
    microseconds = array.cast(pa.timestamp("us", array.type.tz), safe=False).cast(pa.int64()).cast(pa.float64())
    return require("pyarrow.compute", "an Arrow column").divide(microseconds, 1e6)
