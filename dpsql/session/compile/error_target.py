"""What an analyst sets beforehand: the largest error that will do, the most a statement may cost.

Both are told from the plan alone: the law of a sum's noise doesn't depend on the data. A mean's
error does, by the count beside it, so there is no loss to choose for it without looking.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction

from dpsql.bounding.settings import Settings
from dpsql.errors import OverTarget, Refused
from dpsql.ledger.ledger import Ledger
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.schema.model import Schema
from dpsql.session.answer.column_errors import answer_columns
from dpsql.session.compile.column_provenance import origins
from dpsql.session.compile.compiled import CompiledRelease, CompiledStatement
from dpsql.session.compile.loss_conversion import MIN_EPSILON, epsilon_of
from dpsql.session.run.charge_and_run import unique_releases, unpaid

_DIGITS = 900
"""ε has three digits: so many numbers of a decade have."""


def min_loss_for_error(
    max_error: Fraction, schema: Schema, prepared: Callable[[Fraction], CompiledStatement]
) -> CompiledStatement:
    """The statement at the least ε of three digits with which every column is within ± `max_error`.

    `prepared` gives the statement at an ε. Half-widths are those of 95 %. Raises Refused where a
    column's error isn't known before the answer, OverTarget where no query may spend enough.
    """
    highest = schema.per_query.max_epsilon
    found = prepared(highest)
    if not found.releases:
        return found
    _check_known(found)
    if _width(found) > max_error:
        raise OverTarget(
            f"with epsilon = {float(highest):g}, the most for a query, errors are up to "
            f"± {_width(found):.6g}",
            hint=f"SET dpsql.max_error = {_above(_width(found))}, or ask for fewer columns",
        )
    # The last of these is enough, the first may be.
    first, last = _grid_index(MIN_EPSILON), _grid_index(highest)
    while first < last:
        middle = (first + last) // 2
        tried = prepared(_epsilon(middle))
        if _width(tried) <= max_error:
            found, last = tried, middle
        else:
            first = middle + 1
    return found


def meets_max_cost(settings: Settings, query_loss: Fraction, schema: Schema) -> bool:
    """Nothing that is asked at ε costs more than is allowed, whatever is decided of its groups.

    Only then is a table that the reader has a cap for opened while a statement is proved: a refusal
    for its cost would have been paid for.
    """
    highest = query_loss if settings.max_error is None else schema.per_query.max_epsilon
    most = settings.cost_cap
    return most is None or highest <= most


def check_due(
    statements: Sequence[CompiledStatement],
    ledger: Ledger,
    schema: Schema,
    loss: Callable[[list[CompiledRelease]], PrivacyLoss],
    free: Container[str] = (),
) -> None:
    """Refuse what would cost more than `max_cost` or the ceiling, as ε of the statements alone.

    `loss` is what all that is due costs together; the releases named `free` aren't. Done before
    anything that is stored is looked at, for which the reader's own cap may pay.
    """
    due = unique_releases(unpaid(prepared, ledger, free) for prepared in statements)
    settings = next((prepared.settings for prepared in statements), None)
    if settings is None or settings.cost_cap is None or not due:
        return
    cost = epsilon_of(schema, loss(due).amount)
    most, ceiling = settings.max_cost, settings.ceiling
    if ceiling is not None and cost > ceiling:
        raise OverTarget(
            f"the statement costs epsilon = {float(cost):.6g}, and no more than"
            f" {_below(ceiling)} may be spent on it here",
            hint="what was answered before is still free"
            if ceiling < MIN_EPSILON
            else f"SET dpsql.epsilon = {_below(ceiling)}",
        )
    if most is not None and cost > most:
        raise OverTarget(
            f"the statement costs epsilon = {float(cost):.6g}, above dpsql.max_cost",
            hint=f"SET dpsql.epsilon = {float(most):g}, or SET dpsql.max_cost = DEFAULT",
        )


def _check_known(prepared: CompiledStatement) -> None:
    statement = prepared.statement
    for column, made in zip(statement.columns, answer_columns(prepared), strict=True):
        known = (
            origins(prepared.plan, column.id) == () if made is None else made.half_width is not None
        )
        if not known:
            raise Refused(
                f"the error of column {column.name} isn't known before the answer",
                hint="SET dpsql.max_error = DEFAULT, or ask for counts and sums alone",
                note="error_functions",
            )


def _width(prepared: CompiledStatement) -> float:
    widths = [m.half_width for m in answer_columns(prepared) if m is not None]
    return max((width for width in widths if width is not None), default=0.0)


def _above(width: float) -> str:
    """A number of three digits that isn't below `width`."""
    shown = f"{width:.2e}"
    return f"{float(shown) if float(shown) >= width else float(shown) * 1.01:.6g}"


def _below(epsilon: Fraction) -> str:
    """Of ε six digits, and never more than it."""
    number = Decimal(epsilon.numerator)
    found = Context(prec=6, rounding=ROUND_DOWN).divide(number, Decimal(epsilon.denominator))
    return f"{float(found):g}"


def _epsilon(index: int) -> Fraction:
    decade, digits = divmod(index, _DIGITS)
    return (digits + 100) * Fraction(10) ** decade


def _grid_index(epsilon: Fraction) -> int:
    """The place of the largest number of three digits that isn't above `epsilon`."""
    decade = 0
    while epsilon < 100 * Fraction(10) ** decade:
        decade -= 1
    return decade * _DIGITS + int(epsilon / Fraction(10) ** decade) - 100
