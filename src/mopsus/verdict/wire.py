"""Stage 5: verdicts as plain data, for the way from one process to another.

Numbers, texts, bytes, tuples, lists and dictionaries only: what every carrier can send.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from mopsus.model import Fault, ObjectRef, Severity, Step, Value, Verdict, WitnessEvent
from mopsus.model.term import Atom, Pid, Reference, String
from mopsus.model.value import Address, Scalar

_INT_BITS = 31
"""Larger integers are sent as text: not every carrier can send every one."""
_TERMS: dict[str, type[str]] = {each.__name__: each for each in (Atom, Pid, Reference, String)}
_PLAIN: tuple[type, ...] = (bool, int, float, bytes, type(None))


def pack_verdict(verdict: Verdict) -> dict[str, Any]:
    """As plain data. A value of a type of its own arrives as its `repr`."""
    return {
        "spec": _text(verdict.spec),
        "property": _text(verdict.property),
        "category": _text(verdict.category),
        "truth": verdict.truth,
        "final": verdict.final,
        "severity": verdict.severity.value,
        "binding": _pack_binding(verdict.binding),
        "witness": [
            {"event": _text(item.event), "binding": _pack_binding(item.binding), **_pack_place(item)}
            for item in verdict.witness
        ],
        "steps": [_pack_step(step) for step in verdict.steps],
        "remarks": [_text(remark) for remark in verdict.remarks],
        **_pack_place(verdict),
    }


def pack_fault(fault: Fault) -> dict[str, Any]:
    """As plain data."""
    return {name: _text(value) if isinstance(value, str) else value for name, value in asdict(fault).items()}


def unpack_fault(data: Mapping[str, Any]) -> Fault:
    """What `pack_fault` was given."""
    return Fault(**data)


def unpack_verdict(data: Mapping[str, Any]) -> Verdict:
    """What `pack_verdict` was given."""
    return Verdict(
        spec=data["spec"],
        property=data["property"],
        category=data["category"],
        truth=data["truth"],
        final=data["final"],
        severity=Severity(data["severity"]),
        binding=_unpack_binding(data["binding"]),
        witness=tuple(
            WitnessEvent(
                event=item["event"],
                binding=_unpack_binding(item["binding"]),
                location=item["location"],
                time=_unpack_time(item["time"]),
                row=item["row"],
            )
            for item in data["witness"]
        ),
        location=data["location"],
        time=_unpack_time(data["time"]),
        row=data["row"],
        steps=tuple(map(_unpack_step, data["steps"])),
        remarks=tuple(data["remarks"]),
    )


def _pack_step(step: Step) -> dict[str, Any]:
    return {
        "modality": _text(step.modality),
        "event": _text(step.event),
        "data": [_pack_value(value) for value in step.data],
        "fitted": step.fitted,
        "binding": _pack_binding(step.binding),
        "unfolded": [_text(name) for name in step.unfolded],
        **_pack_place(step),
    }


def _unpack_step(data: Mapping[str, Any]) -> Step:
    return Step(
        modality=data["modality"],
        event=data["event"],
        data=tuple(map(_unpack_value, data["data"])),
        fitted=data["fitted"],
        binding=_unpack_binding(data["binding"]),
        unfolded=tuple(data["unfolded"]),
        location=data["location"],
        time=_unpack_time(data["time"]),
        row=data["row"],
    )


def _pack_place(item: Verdict | WitnessEvent | Step) -> dict[str, Any]:
    location = None if item.location is None else _text(item.location)
    return {"location": location, "time": _pack_value(item.time), "row": item.row}


def _pack_binding(binding: Mapping[str, Value]) -> dict[str, Any]:
    return {_text(name): _pack_value(value) for name, value in binding.items()}


def _pack_value(value: Value) -> Any:  # noqa: ANN401 - plain data has no narrower type
    if isinstance(value, Address):
        return {"address": hex(value)}
    if type(value) is int and value.bit_length() >= _INT_BITS:
        return {"int": hex(value)}
    if type(value) in _PLAIN:
        return value
    if type(value) is str:
        return _text(value)
    if type(value) is tuple:
        return tuple(map(_pack_value, value))
    if type(value) is list:
        return {"list": [_pack_value(item) for item in value]}
    if type(value) is dict:
        return {"map": [(_pack_value(key), _pack_value(item)) for key, item in value.items()]}
    if isinstance(value, str) and type(value) in _TERMS.values():
        return {"term": type(value).__name__, "text": _text(str(value))}
    if not isinstance(value, ObjectRef):
        value = ObjectRef(type(value).__name__, 0, repr(value))
    return {"type": _text(value.type), "serial": value.serial, "text": _text(value.text)}


def _unpack_binding(data: Mapping[str, Any]) -> dict[str, Value]:
    return {name: _unpack_value(value) for name, value in data.items()}


def _unpack_value(data: Any) -> Value:  # noqa: ANN401 - plain data has no narrower type
    if isinstance(data, dict) and "int" in data:
        return int(data["int"], 16)
    if isinstance(data, dict) and "address" in data:
        return Address(data["address"], 16)
    if isinstance(data, dict) and "list" in data:
        return [_unpack_value(item) for item in data["list"]]
    if isinstance(data, dict) and "map" in data:
        return {_unpack_value(key): _unpack_value(item) for key, item in data["map"]}
    if isinstance(data, dict) and "term" in data:
        return _TERMS[data["term"]](data["text"])
    if isinstance(data, dict):
        return ObjectRef(data["type"], data["serial"], data["text"])
    if isinstance(data, tuple | list):
        return tuple(map(_unpack_value, data))
    plain: Scalar = data
    return plain


def _unpack_time(data: Any) -> float | int | None:  # noqa: ANN401 - plain data has no narrower type
    time = _unpack_value(data)
    return time if isinstance(time, int | float) else None


def _text(text: str) -> str:
    """Text that can be encoded: a lone surrogate cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
