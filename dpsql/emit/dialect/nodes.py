"""Nodes that say what is computed where engines disagree about how: emission makes no others.

They stand in sqlglot's trees beside nodes that mean the same on every engine (columns, CASE, joins,
GROUP BY, comparisons), and hold plan expressions and types as they are. A dialect lowers each of
them when it writes the tree. So what emission proves of a statement (its limits and clamps) is
written once, no dialect is handed through it, and a dialect sees types: `a + b` of decimals is
known to be one, and how large it may be.

emission          | DuckDB               | PostgreSQL
scalar(a + b)     | TRY(a + b)           | exact in numeric, NULL if too large
wide_sum(x)       | SUM(x), in 128 bits  | SUM(x::numeric), as of unit_sum(x)
quotient(a, b)    | a // b               | DIV(a, b)
share(a, b, c)    | a * b // c in 64 bits, or in 128 | DIV(a * b, c)
keyed_hash(u, g)  | HASH(u, g, $1)       | hash_record_extended, item by item
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from dpsql.emit.sql.identifier import reference
from dpsql.plan.aggregate import AggregateCall
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.plan.expression import Column, Expression, Literal
from dpsql.plan.expression import Scalar as Value
from dpsql.plan.operator import Plan, WindowCall
from dpsql.schema.sql_type import Decimal, SqlType

SALT_PARAMETER: Final = 1
"""The index of the parameter that is the secret key of a statement's hashes."""


class Neutral(exp.Expression):
    """A node without a text of its own; parts that are nodes are neutral, too."""


class _Leaf(Neutral):
    """A node none of whose parts is a node, so that none has to know its parent."""

    is_primitive = True


class Scalar(_Leaf):
    """An `expression` of the plan, NULL where an engine would raise."""


class UntypedConstant(_Leaf):
    """The constant `value` beside an expression of exactly the type `kind`."""


class StoredColumn(Neutral):
    """A `column` of type `kind` of a table: of the source, of a saved release or a released one."""


class RowNumber(_Leaf):
    """A number for each row of a table: the unit of a table whose rows are units."""


class ExactAggregate(_Leaf):
    """An aggregate `call`, which can't raise if `own` is its unit's column or it `is_total`."""


class ExactWindow(_Leaf):
    """A window function `call` over the rows of `source`, a plan; likewise if it `is_total`."""


class MonthNumber(_Leaf):
    """12·year + month of a `day`, a column, as it is `computed`; NULL of an infinite one."""


class Steps(Neutral):
    """The `column` that is the argument of `value`, in steps; NULL where there are none."""


class SumInSteps(Neutral):
    """A `column` of sums of decimals of type `kind`, in units of their last digit; 0 for NULL."""


class WithUnitTotal(Neutral, exp.Query):
    """`items` of `groups`, with the sum of `counted` over each unit if it is above `limit`."""


class WideSum(Neutral):
    """The sum of a `term`, of integers or decimals, exact in any order."""


class UnitSum(Neutral):
    """The sum of a `term` over one unit's rows: each is of `magnitude` last digits at most."""


class UnitValueCount(Neutral):
    """How many `values` of one unit's rows such a sum is of."""


class Quotient(Neutral):
    """An integer `dividend` by a `divisor` that is never 0, truncated toward 0."""


class Share(Neutral):
    """An integer `total` times `part`, `largest` if known, by `whole`, never 0, toward 0."""


class Wide(Neutral):
    """An integer `whole` in a type in which products by a number of rows are exact."""


class Narrow(Neutral):
    """The `integers` between `low` and `high`, in the narrowest type that is fast."""


class NullIfTooLarge(Neutral):
    """An integer `expression`; NULL where the engine has no integer so large."""


class KeyedHash(Neutral):
    """An integer ≥ 0 that depends on `items` and the salt alone, below `below` if that is set."""


class IsNaN(Neutral):
    """Whether a double `expression` is NaN."""


class ReadableKey(Neutral):
    """A `key` of type `kind` that no domain lists; NULL where clients can't read it."""


class ListedKey(Neutral):
    """A `key` of type `kind` in the table of a domain."""


def integer(value: int) -> exp.Expr:
    """An integer constant of 128 bits at most; a minus sign is kept in parentheses."""
    digits = exp.Literal.number(str(abs(value)))
    return digits if value >= 0 else exp.Paren(this=exp.Neg(this=digits))


def scalar(expression: Expression) -> exp.Expr:
    """An expression of the plan: total, NULL where it has no value."""
    if isinstance(expression, Column):
        return reference(expression)
    return Scalar(expression=expression)


def constant(value: Value, kind: SqlType) -> exp.Expr:
    """A constant of exactly the type `kind`."""
    return Scalar(expression=Literal(value, kind))


def untyped_constant(value: object, kind: SqlType) -> exp.Expr:
    """A constant compared with, or chosen beside, an expression of its very type `kind`."""
    return UntypedConstant(value=value, kind=kind)


def stored_column(column: exp.Expr, kind: SqlType, *, is_saved: bool = False) -> exp.Expr:
    """A column of a stored table, in its declared type `kind`."""
    return StoredColumn(column=column, kind=kind, is_saved=is_saved)


def row_number() -> exp.Expr:
    """The number of a row in its table."""
    return RowNumber()


def exact_aggregate(call: AggregateCall, own: Column | None, *, guarded: bool) -> exp.Expr:
    """An aggregate of public or released rows, or of the rows of one unit, in column `own`.

    `guarded`: an engine may take these rows for none.
    """
    return ExactAggregate(call=call, own=own, guarded=guarded)


def exact_window(call: WindowCall, source: Plan) -> exp.Expr:
    """A window function over the rows of `source`."""
    return ExactWindow(call=call, source=source)


def month_number(day: Column, computed: Expression) -> exp.Expr:
    """12·year + month of a column of days, which is `computed` so; NULL where it has none."""
    return MonthNumber(day=day, computed=computed)


def as_steps(value: Discretized, column: exp.Expr) -> exp.Expr:
    """The argument of `value`, `column`, in steps; they may lie beyond its bounds."""
    return Steps(value=value, column=column)


def sum_in_steps(
    column: exp.Expr, kind: Decimal, magnitude: int, *, has_few_rows: bool
) -> exp.Expr:
    """A sum of decimals as an integer; each is of `magnitude` last digits at most.

    Where it `has_few_rows`, to plan a second way takes longer than it saves.
    """
    return SumInSteps(column=column, kind=kind, magnitude=magnitude, has_few_rows=has_few_rows)


def with_unit_total(
    groups: exp.Query, items: Sequence[exp.Expr], counted: exp.Expr, limit: int
) -> exp.Query:
    """`items` of the `groups` of units, beside UNIT_TOTAL: what `counted` sums over a unit's own.

    It is NULL unless it is more than `limit`.
    """
    return WithUnitTotal(groups=groups, items=list(items), counted=counted, limit=integer(limit))


def wide_sum(term: exp.Expr) -> exp.Expr:
    """A sum of integers or decimals: exact in any order."""
    return WideSum(term=term)


def unit_sum(term: exp.Expr, kind: Decimal | None, magnitude: int) -> exp.Expr:
    """A sum over rows of one unit in one group, of integers or of decimals of `kind`.

    Each term is of `magnitude` last digits at most. Of billions of rows an engine may take none to
    have a value, if that depends on their number alone: another row's value moves nothing then.
    """
    return UnitSum(term=term, kind=kind, magnitude=magnitude)


def unit_value_count(values: exp.Expr, kind: Decimal | None, magnitude: int) -> exp.Expr:
    """How many values `unit_sum` sums of such terms: as many as are summed, or both are NULL.

    A sum is centred by it: one without the other would be of values far beyond their bounds.
    """
    return UnitValueCount(values=values, kind=kind, magnitude=magnitude)


def quotient(dividend: exp.Expr, divisor: exp.Expr) -> exp.Expr:
    """Integer division, truncated toward 0."""
    return Quotient(dividend=dividend, divisor=divisor)


def share(total: exp.Expr, part: exp.Expr, whole: exp.Expr, largest: int | None = None) -> exp.Expr:
    """What is left of an integer if `part` of `whole` rows count, truncated toward 0.

    The statement itself keeps their product within `largest`, of either sign, where that is known.
    """
    return Share(total=total, part=part, whole=whole, largest=largest)


def wide(whole: exp.Expr) -> exp.Expr:
    """An integer as one of 128 bits, or more."""
    return Wide(whole=whole)


def narrow(integers: exp.Expr, low: int, high: int) -> exp.Expr:
    """Integers between `low` and `high`, in the narrowest type that is fast."""
    return Narrow(integers=integers, low=low, high=high)


def null_if_too_large(whole: exp.Expr) -> exp.Expr:
    """Integer arithmetic, NULL where the engine has no integer for it."""
    return NullIfTooLarge(expression=whole)


def keyed_hash(items: Sequence[exp.Expr], below: int | None = None) -> exp.Expr:
    """A number that depends on `items` and the salt alone; `below` is a power of 2, if any."""
    return KeyedHash(items=[item.copy() for item in items], below=below)


def is_nan(double: exp.Expr) -> exp.Expr:
    """NaN, which is no value: it would poison every sum it is in."""
    return IsNaN(expression=double)


def readable_key(key: Expression) -> exp.Expr:
    """A key that no domain lists, in the one form that it is shown in; NULL where it has none.

    One unit with the day 'infinity' makes a group, which no threshold has hidden yet when groups
    are read: not to be able to read it would tell of the unit. Nor may the sign of a zero, which
    is that of one of the group's rows.
    """
    return ReadableKey(key=scalar(key), kind=key.type)


def listed_key(column: exp.Expr, kind: SqlType) -> exp.Expr:
    """A key of a domain's table, to be compared with a key of type `kind`."""
    return ListedKey(key=column, kind=kind)
