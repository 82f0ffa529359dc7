"""Stage 2: a context-free grammar made into a machine with a stack."""

from __future__ import annotations

from dataclasses import dataclass

from mopsus.logics.cfg.analyse import analyse
from mopsus.logics.cfg.conflict import refuse_conflicts
from mopsus.logics.cfg.grammar import Grammar, simplify
from mopsus.logics.cfg.syntax import Cfg
from mopsus.logics.cfg.tables import Tables, TooLargeError, build_tables
from mopsus.logics.logic import Request
from mopsus.model import StackMachine
from mopsus.model.machine import EXHAUSTED


@dataclass(frozen=True, slots=True)
class Kind:
    """What tells the context-free logics apart."""

    merged: bool = False
    """LALR tables instead of canonical ones."""
    general: bool = False
    """Every grammar is accepted, whatever conflicts its tables have."""
    lazy: bool = False
    """An event that fails is reported and forgotten."""


def compile_grammar(kind: Kind, formula: Cfg, request: Request) -> StackMachine:
    """The machine of the grammar.

    `match`: the trace is derived by it; `fail`: no continuation of the trace is. `LogicError` if it derives no trace,
    if its tables are too large, or if they have conflicts that `kind` does not resolve.
    """
    grammar, remarks = simplify(formula)
    tables, canonical = _tables(kind, formula, grammar)
    # Under suffix matching there is nothing to recover from.
    lazy = kind.lazy and not request.suffix
    conflicts = any(len(cell) > 1 for row in tables.actions for cell in row)
    analysis = analyse(grammar, tables, request, lazy=lazy)
    return StackMachine(
        alphabet=request.alphabet,
        goal=request.goal | {EXHAUSTED} if conflicts else request.goal,
        creation=analysis.creation,
        enable=analysis.enable,
        coenable=analysis.coenable,
        remarks=remarks,
        productions=tuple((production.head, production.body) for production in tables.productions),
        nonterminals=tables.nonterminals,
        kernels=tables.kernels,
        actions=tables.actions,
        gotos=tables.gotos,
        guaranteed=canonical,
        lazy=lazy,
        suffix=request.suffix,
        alive=analysis.alive,
        failed=analysis.failed,
    )


def _tables(kind: Kind, formula: Cfg, grammar: Grammar) -> tuple[Tables, bool]:
    """The tables, and whether they are canonical."""
    if kind.general:
        try:
            return build_tables(grammar, formula.alphabet, merged=False), True
        except TooLargeError:  # the verdicts are the same, only each match takes some work to see
            return build_tables(grammar, formula.alphabet, merged=True), False
    tables = build_tables(grammar, formula.alphabet, merged=kind.merged)
    refuse_conflicts(
        formula,
        grammar,
        tables,
        what="LALR(1)" if kind.merged else "LR(1)",
        hint="the logic 'cfg' takes every grammar" + (", 'lr' some more than 'lalr'" if kind.merged else ""),
    )
    return tables, not kind.merged
