"""Which rows are within bounds, so that no clamp would change them, and which are not.

Each row is one of both, whatever it holds. DuckDB takes a comparison apart from the others for
TRUE, or for FALSE, where the table's statistics leave no other answer; it knows none of a TRY.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dpsql.emit.release.contribution import ends_of
from dpsql.emit.sql.expression import emit_expression, unchecked
from dpsql.emit.sql.identifier import column_name, reference
from dpsql.emit.sql.literal import beside, integer
from dpsql.plan.bounded_release.bounded_release import Within
from dpsql.plan.bounded_release.statistic import Amount, Measured, Statistic
from dpsql.plan.expression import Column, Expression
from dpsql.plan.traversal import columns

_Ends = tuple[exp.Expr, exp.Expr]


def asked_columns(asked: Within, statistics: tuple[Statistic, ...]) -> tuple[str, ...]:
    """What the rows have to hand on, to be asked of it."""
    arguments = (value.argument for value in _values(asked, statistics))
    found = {*columns(*arguments), *asked.beyond}
    return tuple(column_name(column) for column in sorted(found, key=lambda column: column.id))


def are_within(asked: Within, statistics: tuple[Statistic, ...]) -> exp.Expr:
    """No clamp of what is asked of would change the row."""
    told = [exp.LT(this=reference(column), expression=integer(1)) for column in asked.beyond]
    return exp.and_(*told, *_questions(asked, statistics), copy=False)


def are_beyond(asked: Within, statistics: tuple[Statistic, ...]) -> exp.Expr:
    """All other rows: the answer to a question is NULL where a column is."""
    told = [exp.GTE(this=reference(column), expression=integer(1)) for column in asked.beyond]
    questions = _questions(asked, statistics)
    nulls = [
        exp.Is(this=question.this.copy(), expression=exp.null())
        for question in questions
        if isinstance(question.this, exp.Column)
    ]
    return exp.or_(*told, *(exp.Not(this=q) for q in questions), *nulls, copy=False)


def _questions(asked: Within, statistics: tuple[Statistic, ...]) -> list[exp.Between]:
    """Whether each column is in its interval, and what is computed of them, which is no NULL."""
    bounds = {
        column: (beside(low, column.type), beside(high, column.type))
        for column, low, high in asked.columns
    }
    found = [_question(reference(column), ends) for column, ends in bounds.items()]
    for value in _values(asked, statistics):
        question = _question(_argument(value.argument, bounds), ends_of(value, value.decimal))
        if question not in found:
            found.append(question)
    return found


def _question(value: exp.Expr, ends: _Ends) -> exp.Between:
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


def _values(asked: Within, statistics: tuple[Statistic, ...]) -> Iterator[Measured]:
    for place in asked.places:
        match statistics[place].term:
            case Amount(value=value):
                yield value
            case _:
                raise ValueError("only sums of values are asked of")
