"""Stage 0: Event, Spec, Machine and Verdict as plain data that every stage may import.

The names below are loaded when they are first used: a run needs machines of one kind or two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mopsus.late import late_names

if TYPE_CHECKING:
    from mopsus.model.caret import CaretMachine, CaretStep
    from mopsus.model.drawing import Drawing, Edge, Node
    from mopsus.model.errors import UNDECODABLE, Diagnostic, MopsusError, Span, TraceError
    from mopsus.model.fault import Fault, Faults
    from mopsus.model.guarded import Acceptance, Change, GuardedMachine
    from mopsus.model.machine import Families, Machine, Remark, TableMachine
    from mopsus.model.place import Place, PlaceKind, Reading, ReadingKind, Unavailable
    from mopsus.model.result import ComponentCounts, Debugged, Heard, RunResult
    from mopsus.model.rewrite import RewriteMachine, RewriteRule
    from mopsus.model.spec import (
        BindingMode,
        Code,
        Event,
        Handler,
        Modifiers,
        Parameter,
        Pointcut,
        Property,
        Severity,
        Spec,
        Variable,
    )
    from mopsus.model.stack import StackMachine
    from mopsus.model.symbolic import SymbolicMachine
    from mopsus.model.term import Atom, Pid, Reference
    from mopsus.model.timed import (
        DISORDERED,
        TIMED_VERDICTS,
        UNTIMED,
        FormulaPart,
        TimedKind,
        TimedMachine,
        TimedOperator,
    )
    from mopsus.model.unseen import LENIENT, Silence, Unseen
    from mopsus.model.value import Address, ObjectRef, Scalar, Value
    from mopsus.model.verdict import Step, Verdict, WitnessEvent

__all__ = [
    "DISORDERED",
    "LENIENT",
    "TIMED_VERDICTS",
    "UNDECODABLE",
    "UNTIMED",
    "Acceptance",
    "Address",
    "Atom",
    "BindingMode",
    "CaretMachine",
    "CaretStep",
    "Change",
    "Code",
    "ComponentCounts",
    "Debugged",
    "Diagnostic",
    "Drawing",
    "Edge",
    "Event",
    "Families",
    "Fault",
    "Faults",
    "FormulaPart",
    "GuardedMachine",
    "Handler",
    "Heard",
    "Machine",
    "Modifiers",
    "MopsusError",
    "Node",
    "ObjectRef",
    "Parameter",
    "Pid",
    "Place",
    "PlaceKind",
    "Pointcut",
    "Property",
    "Reading",
    "ReadingKind",
    "Reference",
    "Remark",
    "RewriteMachine",
    "RewriteRule",
    "RunResult",
    "Scalar",
    "Severity",
    "Silence",
    "Span",
    "Spec",
    "StackMachine",
    "Step",
    "SymbolicMachine",
    "TableMachine",
    "TimedKind",
    "TimedMachine",
    "TimedOperator",
    "TraceError",
    "Unavailable",
    "Unseen",
    "Value",
    "Variable",
    "Verdict",
    "WitnessEvent",
]

if not TYPE_CHECKING:  # a type checker must see the names above, and no others
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "caret": "CaretMachine CaretStep",
            "drawing": "Drawing Edge Node",
            "errors": "UNDECODABLE Diagnostic MopsusError Span TraceError",
            "fault": "Fault Faults",
            "guarded": "Acceptance Change GuardedMachine",
            "machine": "Families Machine Remark TableMachine",
            "place": "Place PlaceKind Reading ReadingKind Unavailable",
            "result": "ComponentCounts Debugged Heard RunResult",
            "rewrite": "RewriteMachine RewriteRule",
            "spec": "BindingMode Code Event Handler Modifiers Parameter Pointcut Property Severity Spec Variable",
            "stack": "StackMachine",
            "symbolic": "SymbolicMachine",
            "term": "Atom Pid Reference",
            "timed": "DISORDERED FormulaPart TIMED_VERDICTS TimedKind TimedMachine TimedOperator UNTIMED",
            "unseen": "LENIENT Silence Unseen",
            "value": "Address ObjectRef Scalar Value",
            "verdict": "Step Verdict WitnessEvent",
        },
    )
