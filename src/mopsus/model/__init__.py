"""Stage 0: Event, Spec, Machine and Verdict as plain data that every stage may import."""

from mopsus.model.caret import CaretMachine, CaretStep
from mopsus.model.drawing import Drawing, Edge, Node
from mopsus.model.errors import Diagnostic, MopsusError, Span, TraceError
from mopsus.model.machine import Families, Machine, Remark, TableMachine
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
from mopsus.model.timed import DISORDERED, TIMED_VERDICTS, UNTIMED, FormulaPart, TimedKind, TimedMachine, TimedOperator
from mopsus.model.value import ObjectRef, Scalar, Value
from mopsus.model.verdict import Step, Verdict, WitnessEvent

__all__ = [
    "DISORDERED",
    "TIMED_VERDICTS",
    "UNTIMED",
    "Atom",
    "BindingMode",
    "CaretMachine",
    "CaretStep",
    "Code",
    "Diagnostic",
    "Drawing",
    "Edge",
    "Event",
    "Families",
    "FormulaPart",
    "Handler",
    "Machine",
    "Modifiers",
    "MopsusError",
    "Node",
    "ObjectRef",
    "Parameter",
    "Pid",
    "Pointcut",
    "Property",
    "Reference",
    "Remark",
    "RewriteMachine",
    "RewriteRule",
    "Scalar",
    "Severity",
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
    "Value",
    "Variable",
    "Verdict",
    "WitnessEvent",
]
