"""Stage 3: what a spec would do with the machine it runs on, known before it does: run code, look at data."""

from __future__ import annotations

from mopsus.logics import CompiledSpec
from mopsus.model import GuardedMachine, Machine, SymbolicMachine
from mopsus.monitor import guarded
from mopsus.monitor.errors import MonitorError
from mopsus.spec.program import evaluates


def refuse_code(compiled: CompiledSpec) -> None:
    """Raise `MonitorError` if running the spec would run Python that is written in it."""
    spec = compiled.spec
    has = (
        any(event.action or event.condition for event in spec.events)
        or any(handler.code for prop in spec.properties for handler in prop.handlers)
        or any(isinstance(machine, SymbolicMachine) and machine.has_code() for machine in compiled.machines)
        or any(isinstance(machine, GuardedMachine) and guarded.has_code(machine) for machine in compiled.machines)
        or any(evaluates(event.pointcut) for event in spec.events)
        or spec.variables
        or spec.imports
    )
    if has:
        raise MonitorError(
            f"`{spec.name}` contains Python code",
            hint="allow code only for specifications that you trust",
            code="MONITOR-001",
        )


def reads_data(machine: Machine) -> bool:
    """Does it look at the fields of events?"""
    return isinstance(machine, SymbolicMachine) or (isinstance(machine, GuardedMachine) and guarded.reads_data(machine))
