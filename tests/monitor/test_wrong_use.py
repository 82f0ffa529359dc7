"""What a monitor is asked that it cannot do: an error of ours each time, that says what to do."""

from __future__ import annotations

import ctypes
import gc
import weakref

import pyarrow as pa
import pytest

import mopsus
from mopsus.monitor import ClosedError, Monitor, MonitorError, ValuesError

SPEC = mopsus.parse("Twice(x) { var n: int = 0\n event use(x) { n += 1 }\n ere : use use }")["Twice"]


@pytest.mark.parametrize("history", [-1, "x", 1.5, 1 << 40])
def test_history_must_be_a_number(history):
    with pytest.raises(MonitorError, match="history"):
        Monitor(SPEC, history=history)


def test_other_arguments_are_checked():
    with pytest.raises(MonitorError, match="no specification"):
        Monitor(3)
    with pytest.raises(MonitorError, match="callable"):
        Monitor(SPEC, on_verdict=3)
    monitor = Monitor(SPEC)
    with pytest.raises(MonitorError, match="bad_rows"):
        monitor.run(pa.table({"event": ["use"], "x": [1]}), bad_rows="maybe")
    for data in (None, 3, "use", {"event": ["use"]}):
        with pytest.raises(MonitorError, match="no Arrow data"):
            monitor.run(data)


class FailingStream:
    """Arrow data whose reader fails at the first batch, and says no more about it than this."""

    def __init__(self, said: bytes | None) -> None:
        self._said = ctypes.create_string_buffer(said) if said is not None else None
        self._next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda stream, batch: 5)
        self._error = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(
            lambda stream: ctypes.addressof(self._said) if self._said is not None else None
        )

    def __arrow_c_stream__(self, requested_schema=None):
        """Return a good stream with two of its functions (get_schema, get_next, get_last_error, …) replaced."""
        capsule = pa.table({"event": ["use"], "x": [1]}).__arrow_c_stream__(requested_schema)
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        functions = (ctypes.c_void_p * 5).from_address(pointer(capsule, b"arrow_array_stream"))
        functions[1] = ctypes.cast(self._next, ctypes.c_void_p)
        functions[2] = ctypes.cast(self._error, ctypes.c_void_p)
        return capsule


@pytest.mark.parametrize(
    ("said", "told"), [(b"the disk is gone", "the disk is gone"), (b"", "cannot be read"), (None, "cannot be read")]
)
def test_a_stream_that_fails_is_never_taken_for_its_end(said, told):
    with pytest.raises(MonitorError, match=told):
        Monitor(SPEC).run(FailingStream(said))


def test_values_must_fit():
    monitor = Monitor(SPEC)
    use = monitor.event("use")
    for call in (lambda: use(), lambda: use(1, 2), lambda: use(y=1), lambda: monitor.emit("use", y=1)):
        with pytest.raises(ValuesError):
            call()
    with pytest.raises(MonitorError) as unknown:
        monitor.emit("usse", x=1)
    assert unknown.value.hint == "did you mean `use`?"
    use(x=1)
    assert monitor.stats().events == 1


def test_a_closed_monitor_says_so():
    monitor = Monitor(SPEC)
    use = monitor.event("use")
    monitor.close()
    monitor.close()
    for call in (lambda: use(1), lambda: monitor.emit("use", x=1), lambda: monitor.row("use", {"x": 1})):
        with pytest.raises(ClosedError):
            call()
    with pytest.raises(ClosedError):
        monitor.run(pa.table({"event": ["use"], "x": [1]}))


def test_batches_come_in_a_list():
    table = pa.table({"event": ["use"] * 4, "x": [1, 2, 1, 2]})
    with Monitor(SPEC) as monitor:
        monitor.run(table.to_batches(max_chunksize=1), source="t")
        assert [verdict.row for verdict in monitor.verdicts] == [3, 4]


def test_a_monitor_with_variables_is_collected():
    monitor = Monitor(SPEC)
    monitor.emit("use", x=1)
    gone = weakref.ref(monitor)
    del monitor
    gc.collect()
    assert gone() is None
