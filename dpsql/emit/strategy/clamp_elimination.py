"""Which rows are within bounds, so that no clamp would change them, and which are not.

Each row is one of both, whatever it holds. DuckDB takes a comparison apart from the others for
TRUE, or for FALSE, where the table's statistics leave no other answer; it knows none of a TRY.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dpsql.emit.release.contribution import interval_literals
from dpsql.emit.sql.expression import emit_expression, unchecked
from dpsql.emit.sql.identifier import column_name, reference
from dpsql.emit.sql.literal import integer, untyped_literal
from dpsql.plan.bounded_release.bounded_release import NoClampCondition
from dpsql.plan.bounded_release.statistic import Discretized, Statistic, Sum
from dpsql.plan.expression import Column, Expression
from dpsql.plan.traversal import columns

_Ends = tuple[exp.Expr, exp.Expr]


def tested_columns(
    condition: NoClampCondition, statistics: tuple[Statistic, ...]
) -> tuple[str, ...]:
    """What the rows have to hand on, to be asked of it."""
    arguments = (value.argument for value in _values(condition, statistics))
    found = {*columns(*arguments), *condition.out_of_range}
    return tuple(column_name(column) for column in sorted(found, key=lambda column: column.id))


def are_in_range(condition: NoClampCondition, statistics: tuple[Statistic, ...]) -> exp.Expr:
    """No clamp of what is asked of would change the row."""
    told = [
        exp.LT(this=reference(column), expression=integer(1)) for column in condition.out_of_range
    ]
    return exp.and_(*told, *_tests(condition, statistics), copy=False)


def are_out_of_range(condition: NoClampCondition, statistics: tuple[Statistic, ...]) -> exp.Expr:
    """All other rows: the answer to a question is NULL where a column is."""
    told = [
        exp.GTE(this=reference(column), expression=integer(1)) for column in condition.out_of_range
    ]
    questions = _tests(condition, statistics)
    nulls = [
        exp.Is(this=question.this.copy(), expression=exp.null())
        for question in questions
        if isinstance(question.this, exp.Column)
    ]
    return exp.or_(*told, *(exp.Not(this=q) for q in questions), *nulls, copy=False)


def _tests(condition: NoClampCondition, statistics: tuple[Statistic, ...]) -> list[exp.Between]:
    """Whether each column is in its interval, and what is computed of them, which is no NULL."""
    bounds = {
        column: (untyped_literal(low, column.type), untyped_literal(high, column.type))
        for column, low, high in condition.columns
    }
    found = [_test(reference(column), ends) for column, ends in bounds.items()]
    for value in _values(condition, statistics):
        question = _test(_argument(value.argument, bounds), interval_literals(value, value.decimal))
        if question not in found:
            found.append(question)
    return found


def _test(value: exp.Expr, ends: _Ends) -> exp.Between:
    low, high = (end.copy() for end in ends)
    return exp.Between(this=value, low=low, high=high)


def _argument(argument: Expression, bounds: Mapping[Column, _Ends]) -> exp.Expr:
    """What is computed is so of clamped columns: then it doesn't overflow, and is no NULL."""

    def operand(part: Expression) -> exp.Expr:
        if not isinstance(part, Column):
            return emit_expression(part)
        low, high = (end.copy() for end in bounds[part])
        least = exp.Anonymous(this="greatest", expressions=[reference(part), low])
        return exp.Anonymous(this="least", expressions=[least, high])

    if isinstance(argument, Column):
        return reference(argument)
    return exp.Paren(this=unchecked(argument, operand))


def _values(
    condition: NoClampCondition, statistics: tuple[Statistic, ...]
) -> Iterator[Discretized]:
    for place in condition.indices:
        match statistics[place].term:
            case Sum(value=value):
                yield value
            case _:
                raise ValueError("only sums of values are asked of")
