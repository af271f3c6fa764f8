"""DuckDB's nodes for neutral ones: TRY, TRY_CAST, `//`, sums in HUGEINT, hash, isnan.

DuckDB's aggregates widen by themselves, its text is compared byte by byte, and a TRY around an
expression makes all that raises within it NULL: most neutral nodes become one node of DuckDB's.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlglot import exp

from dpsql.emit.dialect import nodes
from dpsql.emit.dialect.duckdb.aggregate import emit_aggregate, emit_window
from dpsql.emit.dialect.duckdb.attempt.column_copies import IS_JOINED, mark_joined, on_copies
from dpsql.emit.dialect.duckdb.cell_number import cells_by_comparison
from dpsql.emit.dialect.duckdb.expression import emit_expression, is_nan
from dpsql.emit.dialect.duckdb.function_call import (
    cast,
    finite,
    narrowest_cast,
    try_,
    try_cast,
    unknown,
    unsigned,
)
from dpsql.emit.dialect.duckdb.literal import emit_literal, untyped_literal
from dpsql.emit.dialect.duckdb.steps import steps, sum_in_steps
from dpsql.emit.dialect.key_cells import WithCells
from dpsql.emit.dialect.row_estimate import RowLimit, Unestimated
from dpsql.emit.dialect.scaled_units import ScaledUnits, changed_units
from dpsql.emit.dialect.unit_total import joined_total
from dpsql.emit.sql.identifier import reference
from dpsql.plan.expression import Column, Expression
from dpsql.schema.sql_type import BIGINT, Date, Double, Integer, SqlType, Timestamp, Uuid

_LARGEST: Final = 10**38 - 1
"""The largest integer of the decimals in which Arrow has those of 128 bits."""


def lower(node: nodes.Neutral) -> exp.Expr:
    """DuckDB's node for `node`; its parts may be neutral still."""
    parts = {name: part for name, part in node.args.items() if name != IS_JOINED}
    own = _LOWERED[type(node)](**parts)
    if isinstance(own, exp.Query):
        mark_joined(own, is_joined=True)
    return on_copies(lowered(own)) if node.args.get(IS_JOINED) else own


def lowered(tree: exp.Expr) -> exp.Expr:
    """A copy of `tree` in DuckDB's nodes alone."""
    root = exp.Paren(this=tree.copy())
    above: list[exp.Expr] = [root]
    while above:
        for part in list(above.pop().iter_expressions()):
            own = part
            while isinstance(own, nodes.Neutral):
                own = own.replace(lower(own))
            above.append(own)
    whole = root.this
    whole.parent = None
    assert isinstance(whole, exp.Expr)
    return whole


def _stored_column(column: exp.Expr, kind: SqlType, *, is_saved: bool) -> exp.Expr:
    # Arrow has no HUGEINT: a saved release's columns come in another type, and are cast back.
    return try_cast(column, kind) if is_saved else column


def _row_number() -> exp.Expr:
    return exp.Window(this=exp.Anonymous(this="row_number", expressions=[]))


def _month_number(day: Column, computed: Expression) -> exp.Expr:
    """As it is `computed`, without TRY: of no day does it raise, and a TRY takes twice the time."""
    del computed
    year, month = (
        exp.Anonymous(this=part, expressions=[reference(day)]) for part in ("year", "month")
    )
    return exp.Add(this=exp.Mul(this=year, expression=nodes.integer(12)), expression=month)


def _keyed_hash(items: list[exp.Expr], below: int | None) -> exp.Expr:
    salt = exp.Parameter(this=exp.Literal.number(str(nodes.SALT_PARAMETER)))
    hashed = exp.Anonymous(this="hash", expressions=[*items, salt])
    if below is None:
        return hashed
    return exp.BitwiseAnd(this=hashed, expression=nodes.integer(below - 1))


def _readable_key(key: exp.Expr, kind: SqlType) -> exp.Expr:
    match kind:
        case Double():
            return unsigned(finite(key), kind)
        case Integer(bits=128, signed=signed):
            return _between(key, -_LARGEST if signed else 0, _LARGEST, kind)
        case Date() | Timestamp():
            moment = dt.date if isinstance(kind, Date) else dt.datetime
            return _between(key, moment.min, moment.max, kind)
        case _:
            return key


def _between(value: exp.Expr, low: object, high: object, kind: SqlType) -> exp.Expr:
    """`value`, NULL where it isn't between two constants of its type."""
    first, last = (emit_literal(end, kind) for end in (low, high))
    there = exp.Between(this=value.copy(), low=first, high=last)
    return exp.case().when(there, value, copy=False)


def _listed_key(key: exp.Expr, kind: SqlType) -> exp.Expr:
    """A domain's value in its key's type, where Arrow has no such type and it comes as text.

    DuckDB would convert the private side to a DECIMAL(38,0), and one key of 10^38 would fail that.
    """
    is_wide = isinstance(kind, Integer) and kind.bits == 128
    return try_cast(key, kind) if is_wide or isinstance(kind, Uuid) else key


def _wide_sum(term: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="sum", expressions=[term])


def _count(values: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="count", expressions=[values])


def _quotient(dividend: exp.Expr, divisor: exp.Expr) -> exp.Expr:
    return exp.IntDiv(this=dividend, expression=divisor)


def _share(total: exp.Expr, part: exp.Expr, whole: exp.Expr, largest: int | None) -> exp.Expr:
    """A division of 64 bits where they hold its terms: one of 128 bits takes ten times as long.

    Where no product is too `largest` for them, there is no second way to plan. Else it is computed
    in 128 bits, which either way would need, and looked at by its cast: a TRY would take longer.
    """
    if largest is not None and largest < 2**63:
        bounded = exp.Mul(this=cast(total, "BIGINT"), expression=part)
        return exp.IntDiv(this=bounded, expression=whole)
    product = exp.Mul(this=cast(total, "HUGEINT"), expression=part)
    short, short_whole = (try_cast(each.copy(), BIGINT) for each in (product, whole))
    narrow = exp.IntDiv(this=short, expression=short_whole)
    whole_quotient = exp.IntDiv(this=exp.Paren(this=product), expression=whole)
    return exp.Coalesce(this=narrow, expressions=[whole_quotient])


def _wide(whole: exp.Expr) -> exp.Expr:
    return cast(whole, "HUGEINT")


_LOWERED: Final[Mapping[type[nodes.Neutral], Callable[..., exp.Expr]]] = {
    nodes.Scalar: emit_expression,
    nodes.UntypedConstant: untyped_literal,
    nodes.StoredColumn: _stored_column,
    nodes.RowNumber: _row_number,
    nodes.ExactAggregate: emit_aggregate,
    nodes.ExactWindow: emit_window,
    nodes.MonthNumber: _month_number,
    nodes.Steps: steps,
    WithCells: cells_by_comparison,
    nodes.WithUnitTotal: joined_total,
    ScaledUnits: changed_units,
    nodes.SumInSteps: sum_in_steps,
    nodes.WideSum: _wide_sum,
    RowLimit: lambda count: exp.Subquery(this=exp.select(exp.Literal.number(count))),
    Unestimated: unknown,
    nodes.UnitSum: lambda term, **_: _wide_sum(term),
    nodes.UnitValueCount: lambda values, **_: _count(values),
    nodes.Quotient: _quotient,
    nodes.Share: _share,
    nodes.Wide: _wide,
    nodes.Narrow: narrowest_cast,
    nodes.NullIfTooLarge: try_,
    nodes.KeyedHash: _keyed_hash,
    nodes.IsNaN: is_nan,
    nodes.ReadableKey: _readable_key,
    nodes.ListedKey: _listed_key,
}
"""What takes the parts of a neutral node, by their names, and gives DuckDB's node."""


def write_neutral(node: Any, write: Callable[[exp.Expr], str]) -> str:
    """The text of a neutral node, by that of what it becomes."""
    return write(lower(node))


NEUTRAL: Final = tuple(_LOWERED)
"""All kinds of neutral nodes."""
