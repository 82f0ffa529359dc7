"""Stage 2: the context-free logics: one language, and several ways to read it.

`cfg` takes every grammar; `lr` and `lalr` take those without conflicts, and their lazy forms go on after a failure.
"""

from functools import partial

from mopsus.late import late_function
from mopsus.logics.cfg.compile import Kind, compile_grammar
from mopsus.logics.cfg.syntax import categories_of, events_of, parse_grammar, print_grammar
from mopsus.logics.logic import Logic


def _logic(name: str, kind: Kind, summary: str) -> Logic:
    return Logic(
        name=name,
        summary=summary,
        parse=parse_grammar,
        print=print_grammar,
        categories=categories_of,
        events=events_of,
        compile=partial(compile_grammar, kind),
        reference=late_function("mopsus.logics.cfg.reference", f"categories_after{'_lazily' * kind.lazy}"),
        default_goal=("match",),
    )


CFG = _logic("cfg", Kind(general=True), "context-free grammars over events, of any kind")
LR = _logic("lr", Kind(), "context-free grammars that are LR(1)")
LR_LAZY = _logic("lr_lazy", Kind(lazy=True), "LR(1) grammars; events that fail are reported and forgotten")
LALR = _logic("lalr", Kind(merged=True), "context-free grammars that are LALR(1)")
LALR_LAZY = _logic(
    "lalr_lazy", Kind(merged=True, lazy=True), "LALR(1) grammars; events that fail are reported and forgotten"
)
