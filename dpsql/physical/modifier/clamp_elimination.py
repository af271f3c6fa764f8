"""Which sums of light rows need no clamps, once each row was asked whether it is within bounds.

sum(price), sum(price * (1 - discount)), price in [900, 105000], discount in [0, 0.1]

within  rows with price in [900, 105000] and discount in [0, 0.1] and price * (1 - discount) in
        [810, 105000]: as they are
beyond  all others: clamped

A table's own statistics answer such questions for all of its rows at once, where a clamp is
computed of each. That a product is within what follows from its factors is asked, too: no interval
is believed. Where it is asked, its factors are clamped, so that no row makes it overflow.

Where any value of the table is beyond its bounds, both parts would ask each row. So a number beside
the rows tells of the whole table, and leaves all rows to the clamps. It may be wrong: then both
parts ask, and find the same sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.domains.expression_domain import Environment, domain
from dpsql.analysis.domains.predicate_narrowing import Known
from dpsql.analysis.lineage.row_source import RowSource
from dpsql.emit.dialect.clamp import interval_literals
from dpsql.emit.dialect.duckdb.expression import emit_expression, is_wide, unchecked
from dpsql.emit.dialect.nodes import integer, untyped_constant
from dpsql.emit.sql.identifier import column_name, column_ref, reference
from dpsql.engine.sidecar.row_columns import out_of_range_column
from dpsql.physical.cost import MIN_CLAMPED_SUMS
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.bounded_release.column_names import term_names
from dpsql.plan.bounded_release.statistic import Discretized, Statistic, Sum
from dpsql.plan.expression import Arithmetic, ArithmeticOperator, Column, Expression, Literal
from dpsql.plan.traversal import columns, subexpressions
from dpsql.privacy.domain import Domain, Interval
from dpsql.schema.sidecar_columns import range_checked_columns
from dpsql.schema.sql_type import Integer

OUT_OF_RANGE_TYPE: Final = Integer(8, signed=False)
"""The type of the numbers that tell of a whole table."""

_Bounds = Mapping[Column, tuple[Fraction, Fraction]]

_EmittedBounds = tuple[exp.Expr, exp.Expr]


class NoClampCondition(Struct, frozen=True):
    """A condition on a row under which clamps of the statistics at `indices` would change nothing.

    Their arguments are within their intervals, and the `columns` that they are computed of within
    these bounds, between which no computation overflows. `out_of_range` are numbers that are 0 in
    all rows of a table or in none; of others, no row is taken to be within.
    """

    indices: tuple[int, ...]
    columns: tuple[tuple[Column, Fraction, Fraction], ...]
    out_of_range: tuple[Column, ...]


def no_clamp_condition(
    contributions: Contributions, source: RowSource, number: int
) -> NoClampCondition | None:
    """The condition on the rows; None if clamps are as fast. Further columns go from `number`."""
    bounds = _declared(source)
    known: dict[Known, Domain] = {}
    known.update((c.id, Domain(Interval(*both), nullable=False)) for c, both in bounds.items())
    arguments = {
        index: value.argument
        for index, statistic in enumerate(contributions.statistics)
        if (value := _summed_value(statistic)) is not None and _stays_in_range(value, bounds, known)
    }
    if len(arguments) < MIN_CLAMPED_SUMS:
        return None
    read = columns(*arguments.values())
    computed = columns(*(a for a in arguments.values() if not isinstance(a, Column)))
    names = sorted({source.columns[column].name for column in read})
    return NoClampCondition(
        tuple(arguments),
        tuple((c, *bounds[c]) for c in sorted(computed, key=lambda column: column.id)),
        tuple(
            Column(number + n, out_of_range_column(name), OUT_OF_RANGE_TYPE)
            for n, name in enumerate(names)
        ),
    )


def _declared(source: RowSource) -> _Bounds:
    """The bounds of the table's columns that are handed on."""
    declared = {column.name: column.bounds for column in range_checked_columns(source.scan.table)}
    bounds: dict[Column, tuple[Fraction, Fraction]] = {}
    for column, own in source.columns.items():
        match declared.get(own.name):
            case (int() | Fraction() as low, int() | Fraction() as high):
                bounds[column] = Fraction(low), Fraction(high)
            case _:
                pass  # without bounds, or read from another table
    return bounds


def _summed_value(statistic: Statistic) -> Discretized | None:
    """What is summed in the argument's own digits."""
    match statistic.term:
        case Sum(value=value):
            is_whole = isinstance(value.argument.type, Integer) and value.step == 1
            return value if is_whole or value.decimal is not None else None
        case _:
            return None


def _stays_in_range(value: Discretized, declared: _Bounds, known: Environment) -> bool:
    """Between the bounds of its columns, its interval follows, and nothing overflows."""
    argument = value.argument
    if not columns(argument) or not columns(argument) <= declared.keys():
        return False
    if not all(_is_total(part, known) for part in subexpressions(argument)):
        return False
    bounds = domain(argument, known).bounds
    if bounds is None or bounds.ends is None:
        return False
    low, high = bounds.ends
    return value.low * value.step <= low and high <= value.high * value.step


def _is_total(expression: Expression, known: Environment) -> bool:
    """It is no NULL, which what overflows is."""
    match expression:
        case Column():
            return True
        case Literal(value=value):
            return value is not None
        case Arithmetic(op=op):
            return op is not ArithmeticOperator.DIVIDE and not domain(expression, known).nullable
        case _:
            return False


def tested_columns(
    condition: NoClampCondition, statistics: tuple[Statistic, ...]
) -> tuple[str, ...]:
    """The columns that rows have to hand on, so that `condition` can be tested of them."""
    arguments = (value.argument for value in _values(condition, statistics))
    tested = {*columns(*arguments), *condition.out_of_range}
    return tuple(column_name(column) for column in sorted(tested, key=lambda column: column.id))


def are_in_range(condition: NoClampCondition, statistics: tuple[Statistic, ...]) -> exp.Expr:
    """SQL that is TRUE of rows that no clamp of the condition's statistics would change."""
    of_table = [
        exp.LT(this=reference(column), expression=integer(1)) for column in condition.out_of_range
    ]
    return exp.and_(*of_table, *_tests(condition, statistics), copy=False)


def are_out_of_range(condition: NoClampCondition, statistics: tuple[Statistic, ...]) -> exp.Expr:
    """SQL that is TRUE of all other rows: a test is NULL where a column is.

    DuckDB takes a comparison apart from the others for TRUE, or for FALSE, where the table's
    statistics leave no other answer; it knows none of a TRY.
    """
    of_table = [
        exp.GTE(this=reference(column), expression=integer(1)) for column in condition.out_of_range
    ]
    tests = _tests(condition, statistics)
    nulls = [
        exp.Is(this=test.this.copy(), expression=exp.null())
        for test in tests
        if isinstance(test.this, exp.Column)
    ]
    return exp.or_(*of_table, *(exp.Not(this=test) for test in tests), *nulls, copy=False)


def unclamped_values(
    condition: NoClampCondition, statistics: tuple[Statistic, ...]
) -> dict[int, exp.Expr]:
    """The values of the condition's statistics, by index, in rows that `are_in_range`.

    They are computed of columns between whose bounds nothing overflows, and not tried: of a TRY
    DuckDB knows neither how large its values are, nor which parts of two are alike. If any row of
    the table overflows, the number that tells of the whole table leaves none of its rows; if that
    is wrong, the tests do, and stand below the values.
    """
    values: dict[int, exp.Expr] = {}
    for index, value in zip(condition.indices, _values(condition, statistics), strict=True):
        own, _ = term_names(index)
        is_tried = statistics[index].filter is not None or is_wide(value.argument)
        if is_tried or isinstance(value.argument, Column):
            values[index] = column_ref(own)
        else:
            values[index] = exp.Paren(this=unchecked(value.argument))
    return values


def _tests(condition: NoClampCondition, statistics: tuple[Statistic, ...]) -> list[exp.Between]:
    """Whether each column is in its interval, and what is computed of them, which is no NULL."""
    bounds = {
        column: (untyped_constant(low, column.type), untyped_constant(high, column.type))
        for column, low, high in condition.columns
    }
    tests = [_test(reference(column), ends) for column, ends in bounds.items()]
    for value in _values(condition, statistics):
        test = _test(_argument(value.argument, bounds), interval_literals(value, value.decimal))
        if test not in tests:
            tests.append(test)
    return tests


def _test(value: exp.Expr, ends: _EmittedBounds) -> exp.Between:
    low, high = (end.copy() for end in ends)
    return exp.Between(this=value, low=low, high=high)


def _argument(argument: Expression, bounds: Mapping[Column, _EmittedBounds]) -> exp.Expr:
    """What is computed is so of clamped columns: then it doesn't overflow, and is no NULL."""

    def operand(part: Expression) -> exp.Expr:
        if not isinstance(part, Column):
            return emit_expression(part)
        low, high = (end.copy() for end in bounds[part])
        raised = exp.Anonymous(this="greatest", expressions=[reference(part), low])
        return exp.Anonymous(this="least", expressions=[raised, high])

    if isinstance(argument, Column):
        return reference(argument)
    return exp.Paren(this=unchecked(argument, operand))


def _values(
    condition: NoClampCondition, statistics: tuple[Statistic, ...]
) -> Iterator[Discretized]:
    for index in condition.indices:
        match statistics[index].term:
            case Sum(value=value):
                yield value
            case _:
                raise ValueError("only sums of values are asked of")
