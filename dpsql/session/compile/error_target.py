"""The least ε with which an answer's errors are no larger than the analyst set beforehand.

Errors are told from the plan alone: the law of a sum's noise doesn't depend on the data. A mean's
error does, by the count beside it, so there is no loss to choose for it without looking.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpsql.errors import OverTarget, Refused
from dpsql.schema.model import Schema
from dpsql.session.answer.column_errors import answer_columns
from dpsql.session.compile.column_provenance import origins
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.loss_conversion import MIN_EPSILON

_DIGITS = 900
"""ε has three digits: so many numbers of a decade have."""


def min_loss_for_error(
    max_error: Fraction, schema: Schema, compile_at: Callable[[Fraction], CompiledStatement]
) -> CompiledStatement:
    """The statement at the least ε of three digits with which every column is within ± `max_error`.

    `compile_at` gives the statement at an ε. Half-widths are those of 95 %. Raises Refused where a
    column's error isn't known before the answer, OverTarget where no query may spend enough.
    """
    highest = schema.per_query.max_epsilon
    cheapest = compile_at(highest)
    if not cheapest.releases:
        return cheapest
    _check_known(cheapest)
    if _width(cheapest) > max_error:
        raise OverTarget(
            f"with epsilon = {float(highest):g}, the most for a query, errors are up to "
            f"± {_width(cheapest):.6g}",
            hint=f"SET dpsql.max_error = {_above(_width(cheapest))}, or ask for fewer columns",
        )
    # The last of these is enough, the first may be.
    first, last = _grid_index(MIN_EPSILON), _grid_index(highest)
    while first < last:
        middle = (first + last) // 2
        compiled = compile_at(_epsilon(middle))
        if _width(compiled) <= max_error:
            cheapest, last = compiled, middle
        else:
            first = middle + 1
    return cheapest


def _check_known(compiled: CompiledStatement) -> None:
    statement = compiled.statement
    for column, privacy in zip(statement.columns, answer_columns(compiled), strict=True):
        known = (
            origins(compiled.plan, column.id) == ()
            if privacy is None
            else privacy.half_width is not None
        )
        if not known:
            raise Refused(
                f"the error of column {column.name} isn't known before the answer",
                hint="SET dpsql.max_error = DEFAULT, or ask for counts and sums alone",
                note="error_functions",
            )


def _width(compiled: CompiledStatement) -> float:
    widths = [privacy.half_width for privacy in answer_columns(compiled) if privacy is not None]
    return max((width for width in widths if width is not None), default=0.0)


def _above(width: float) -> str:
    """A number of three digits that isn't below `width`."""
    shown = f"{width:.2e}"
    return f"{float(shown) if float(shown) >= width else float(shown) * 1.01:.6g}"


def _epsilon(index: int) -> Fraction:
    decade, digits = divmod(index, _DIGITS)
    return (digits + 100) * Fraction(10) ** decade


def _grid_index(epsilon: Fraction) -> int:
    """The index of the largest number of three digits that isn't above `epsilon`."""
    decade = 0
    while epsilon < 100 * Fraction(10) ** decade:
        decade -= 1
    return decade * _DIGITS + int(epsilon / Fraction(10) ** decade) - 100
