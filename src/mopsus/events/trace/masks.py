"""Stage 4: pointcuts over whole Arrow tables: which rows satisfy them.

`mopsus.spec.pointcuts.holds` is the definition; a comparison that Arrow would decide differently
(numbers that a double cannot hold, say) is left to it.
"""

from __future__ import annotations

from functools import reduce

from mopsus.events.trace.arrow import Array, Module, Table, column_type, require, without_timestamps
from mopsus.events.trace.columns import ColumnType
from mopsus.events.trace.needs import EVENT
from mopsus.model import Pointcut
from mopsus.spec.predicate import And, Call, Compare, Field, In, IsNull, Literal, Not, Or, Predicate, evaluate, fields

EXACT_IN_DOUBLE = 2**53

_KERNELS = {
    "==": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SEARCHES = {"startswith": "starts_with", "endswith": "ends_with", "contains": "match_substring"}


def of_pointcut(pointcut: Pointcut, table: Table) -> Array:
    """For each row of the table: does the pointcut hold? Never null."""
    pc = _compute()
    match pointcut.kind:
        case "and":
            return reduce(pc.and_, (of_pointcut(operand, table) for operand in pointcut.operands))
        case "or":
            return reduce(pc.or_, (of_pointcut(operand, table) for operand in pointcut.operands))
        case "not":
            return pc.invert(of_pointcut(pointcut.operands[0], table))
        case "named":
            return has_name(table, pointcut.argument)
        case "row":
            return of_predicate(pointcut.argument, table)
    return _constant(True, table)  # `bind` is no condition


def has_name(table: Table, names: tuple[str, ...]) -> Array:
    """For each row: is its `event` one of the names?"""
    pa, pc = _arrow(), _compute()
    if EVENT not in table.column_names:
        return _constant(False, table)
    wanted = pa.array(names, pa.string())
    parts = [
        pc.fill_null(pc.is_in(chunk.dictionary, value_set=wanted).take(chunk.indices), False)
        if pa.types.is_dictionary(chunk.type)
        else pc.is_in(chunk, value_set=wanted)
        for chunk in table.column(EVENT).chunks
    ]
    return pa.concat_arrays(parts) if parts else _constant(False, table)


def count_names(table: Table, names: tuple[str, ...]) -> int:
    """How many rows have one of the names.

    When all have, as is usual, it costs next to nothing, not even the time to load `pyarrow.compute`.
    """
    column = table.column(EVENT)
    if _arrow().types.is_dictionary(column.type) and not column.null_count:
        found = {name for chunk in column.chunks for name in chunk.dictionary.to_pylist()}
        if found <= set(names):
            return int(table.num_rows)
    return int(_compute().sum(has_name(table, names)).as_py() or 0)


def of_predicate(predicate: Predicate, table: Table) -> Array:
    """For each row of the table: does the predicate hold? Never null."""
    pc = _compute()
    match predicate:
        case Literal(value):
            return _constant(value is True, table)
        case Not(operand):
            return pc.invert(of_predicate(operand, table))
        case And(operands):
            return reduce(pc.and_, (of_predicate(operand, table) for operand in operands))
        case Or(operands):
            return reduce(pc.or_, (of_predicate(operand, table) for operand in operands))
        case IsNull(Field(name)):
            return pc.is_null(_column(table, name)) if name in table.column_names else _constant(True, table)
    if any(name not in table.column_names for name in fields(predicate)):
        return _constant(False, table)
    mask = _leaf(predicate, table)
    return _row_by_row(predicate, table) if mask is None else pc.fill_null(mask, False)


def _leaf(predicate: Predicate, table: Table) -> Array | None:
    """A comparison, search or truth value over columns that are there; None if Arrow has no exact way."""
    pc = _compute()
    match predicate:
        case Field(name):
            column = _column(table, name)
            return column if column_type(column.type) is ColumnType.BOOL else _constant(False, table)
        case Compare(op, Field(name), Literal(value)):
            return _compare(op, _column(table, name), value)
        case Compare(op, Literal(value), Field(name)):
            return _compare(_MIRRORED[op], _column(table, name), value)
        case In(Field(name), values, negated):
            column = _column(table, name)
            parts = [_compare("==", column, each.value) for each in values]
            if any(part is None for part in parts):
                return None
            found = reduce(pc.or_, parts)
            return pc.invert(found) if negated else found
        case Call(function, Field(name), argument) if function in _SEARCHES:
            column = _column(table, name)
            if column_type(column.type) is not ColumnType.STR:
                return _constant(False, table)
            return getattr(pc, _SEARCHES[function])(column, argument)
        case Call(_, Field(name), _):
            return _by_distinct_value(predicate, table, name)
    return None


def _compare(op: str, column: Array, literal: str | float) -> Array | None:
    """The comparison of a column with a constant, null where the column is null."""
    pa, pc = _arrow(), _compute()
    type = column_type(column.type)
    kind = {ColumnType.INT: float, ColumnType.FLOAT: float, ColumnType.BOOL: bool, ColumnType.STR: str}.get(type)
    if kind is not (float if isinstance(literal, int) and not isinstance(literal, bool) else literal.__class__):
        return pc.if_else(pc.is_valid(column), op == "!=", pa.scalar(None, pa.bool_()))
    if kind is float and abs(literal) >= EXACT_IN_DOUBLE:  # type: ignore[arg-type]  # a number, as `kind` says
        return None
    if type is ColumnType.INT and isinstance(literal, float):
        # Rounding keeps the order, and no number that it changes comes near the literal.
        column = column.cast(pa.float64(), safe=False)
    if kind is bool:
        column, literal = column.cast(pa.int8()), int(literal)
    return getattr(pc, _KERNELS[op])(column, pa.scalar(literal))


def _by_distinct_value(predicate: Predicate, table: Table, name: str) -> Array:
    """Python's regular expressions, once per distinct text."""
    pa = _arrow()
    column = _column(table, name)
    if column_type(column.type) is not ColumnType.STR:
        return _constant(False, table)
    encoded = column.dictionary_encode()
    answers = [evaluate(predicate, {name: text}) for text in encoded.dictionary.to_pylist()]
    return pa.array(answers, pa.bool_()).take(encoded.indices)


def _row_by_row(predicate: Predicate, table: Table) -> Array:
    names = fields(predicate)
    columns = [_column(table, name).to_pylist() for name in names]
    rows = zip(*columns, strict=True)
    return _arrow().array([evaluate(predicate, dict(zip(names, row, strict=True))) for row in rows], _arrow().bool_())


def plain_array(column: Array) -> Array:
    """A column in one piece, without dictionary."""
    pa = _arrow()
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # what is left of an empty column in some versions
        array = pa.concat_arrays(array.chunks)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _column(table: Table, name: str) -> Array:
    return without_timestamps(plain_array(table.column(name)))


def _constant(value: bool, table: Table) -> Array:
    pa = _arrow()
    return pa.repeat(pa.scalar(value), table.num_rows)


def _arrow() -> Module:
    return require("pyarrow", "an Arrow table")


def _compute() -> Module:
    return require("pyarrow.compute", "an Arrow table")
