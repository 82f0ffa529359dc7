"""Random formulas: their size, their operators, and which are kept."""

from __future__ import annotations

from collections import Counter
from functools import partial
from random import Random

import pytest

from mopsus.decentral.analysis.monitorability import monitorable
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.generate import formulas
from mopsus.decentral.generate.formulas import (
    PRIORITIES,
    fill_template,
    generate_formulas,
    random_formula,
    worth_keeping,
)
from mopsus.decentral.load import load_specification
from mopsus.decentral.synthesis import from_formula
from mopsus.decentral.traces import default_components
from mopsus.logics.ltl.syntax import parse_over_propositions
from mopsus.logics.temporal.syntax import ASSOCIATIVE, Op, events_of
from mopsus.logics.tree import walk

COMPONENTS = default_components(3, 2)
NAMES = [name for names in COMPONENTS.values() for name in names]


def written_size(formula):
    """With an operator between any two operands, as it is written."""
    return sum(len(part.parts) - 1 if part.op in ASSOCIATIVE else 1 for part in walk(formula))


def test_sizes_and_operators():
    source = Random(1)
    found = Counter()
    for size in range(1, 30):
        for _ in range(10):
            formula = random_formula(source, NAMES, size)
            assert written_size(formula) == size
            found.update(part.op for part in walk(formula))
    assert set(found) == set(PRIORITIES)
    assert found[Op.NEXT] > found[Op.EVENTUALLY]


def test_only_what_has_a_priority_is_drawn():
    source = Random(1)
    assert {part.op for part in walk(random_formula(source, NAMES, 3, {Op.TRUE: 1, Op.XOR: 1, Op.NOT: 0}))} == {
        Op.TRUE,
        Op.XOR,
    }
    with pytest.raises(DecentralError, match="no operator"):
        random_formula(source, NAMES, 2, {Op.ATOM: 1, Op.XOR: 1})


def test_kept_formulas():
    made = list(generate_formulas(5, COMPONENTS, seed=3))
    assert made == list(generate_formulas(5, COMPONENTS, seed=3))
    assert made != list(generate_formulas(5, COMPONENTS, seed=4))
    assert len(set(made)) == 5
    for formula in made:
        assert all(events_of(formula) & set(names) for names in COMPONENTS.values())
        assert monitorable(from_formula(formula))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a0 & b0 & c0", True),
        ("a0 & b0", False),
        ("G F (a0 & b0 & c0)", False),
        ("a0 | (G F (b0 & c0))", False),
        ("a0 | !a0 | (b0 & c0)", False),
    ],
)
def test_what_is_worth_keeping(text, kept):
    assert worth_keeping(parse_over_propositions(text), COMPONENTS) is kept
    assert not worth_keeping(parse_over_propositions(text), COMPONENTS, partial(from_formula, timeout_s=0))


def test_a_limit(monkeypatch):
    monkeypatch.setattr(formulas, "MAX_DRAWS", 5)
    with pytest.raises(DecentralError) as caught:
        list(generate_formulas(1, COMPONENTS, seed=1, size=2))
    assert caught.value.code == "DECENTRAL-044"


@pytest.mark.parametrize("hole", ["%form%", "<![CDATA[%form%]]>", "<![CDATA[]]> %form%"])
def test_templates(hole, tmp_path):
    formula = parse_over_propositions("F a0 & (b0 -> G c0)")
    file = tmp_path / "spec.xml"
    file.write_text(
        fill_template(
            "<specifications><specification id='root' class='LTL'>"
            f"<setLTL>{hole}</setLTL></specification></specifications>",
            formula,
        )
    )
    assert load_specification(file).specification.monitors["root"].formula == formula
