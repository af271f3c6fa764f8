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

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from dpsql.analysis.domains.expression_domain import Environment, domain
from dpsql.analysis.domains.predicate_narrowing import Known
from dpsql.analysis.lineage.row_source import RowSource
from dpsql.engine.sidecar.row_columns import out_of_range_column
from dpsql.plan.bounded_release.bounded_release import Contributions, NoClampCondition
from dpsql.plan.bounded_release.statistic import Discretized, Statistic, Sum
from dpsql.plan.expression import Arithmetic, ArithmeticOperator, Column, Expression, Literal
from dpsql.plan.traversal import columns, subexpressions
from dpsql.privacy.domain import Domain, Interval
from dpsql.schema.sidecar_columns import range_checked_columns
from dpsql.schema.sql_type import Integer

OUT_OF_RANGE_TYPE: Final = Integer(8, signed=False)
"""The type of the numbers that tell of a whole table."""

_MIN_CLAMPED = 2
"""To plan one part more takes as long as to clamp a million values."""

_Ends = Mapping[Column, tuple[Fraction, Fraction]]


def no_clamp_condition(
    contributions: Contributions, source: RowSource, number: int
) -> NoClampCondition | None:
    """The condition on the rows; None if clamps are as fast. Further columns go from `number`."""
    ends = _declared(source)
    known: dict[Known, Domain] = {}
    known.update((c.id, Domain(Interval(*both), nullable=False)) for c, both in ends.items())
    arguments = {
        place: value.argument
        for place, statistic in enumerate(contributions.statistics)
        if (value := _value(statistic)) is not None and _stays_in_range(value, ends, known)
    }
    if len(arguments) < _MIN_CLAMPED:
        return None
    read = columns(*arguments.values())
    computed = columns(*(a for a in arguments.values() if not isinstance(a, Column)))
    names = sorted({source.columns[column].name for column in read})
    return NoClampCondition(
        tuple(arguments),
        tuple((c, *ends[c]) for c in sorted(computed, key=lambda column: column.id)),
        tuple(
            Column(number + n, out_of_range_column(name), OUT_OF_RANGE_TYPE)
            for n, name in enumerate(names)
        ),
    )


def _declared(source: RowSource) -> _Ends:
    """The bounds of the table's columns that are handed on."""
    declared = {column.name: column.bounds for column in range_checked_columns(source.scan.table)}
    ends: dict[Column, tuple[Fraction, Fraction]] = {}
    for column, own in source.columns.items():
        match declared.get(own.name):
            case (int() | Fraction() as low, int() | Fraction() as high):
                ends[column] = Fraction(low), Fraction(high)
            case _:
                pass  # without bounds, or read from another table
    return ends


def _value(statistic: Statistic) -> Discretized | None:
    """What is summed in the argument's own digits."""
    match statistic.term:
        case Sum(value=value):
            is_whole = isinstance(value.argument.type, Integer) and value.step == 1
            return value if is_whole or value.decimal is not None else None
        case _:
            return None


def _stays_in_range(value: Discretized, ends: _Ends, known: Environment) -> bool:
    """Between the bounds of its columns, its interval follows, and nothing overflows."""
    argument = value.argument
    if not columns(argument) or not columns(argument) <= ends.keys():
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
