"""How far noise moves the values of a statement at each of several ε, without data or budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from fractions import Fraction

from msgspec import Struct

from dpsql.errors import BadParameter, Refused
from dpsql.schema.model import Schema
from dpsql.session.answer.answer import ColumnPrivacy
from dpsql.session.answer.column_errors import answer_columns
from dpsql.session.compile.column_provenance import origins
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.loss_conversion import MIN_EPSILON, parse_epsilon

_STEPS = (1, 2, 5)


class Measure(Enum):
    """What an error is told in."""

    VALUE = "±"
    """In its own units, for each of its values."""

    ROWS = "± · rows"
    """A mean's: to be divided by the rows of the group, where these are many."""

    RANK = "rank"
    """So many rows too many lie on one side of what was chosen."""


class SweptColumn(Struct, frozen=True):
    """A column of the answer, and its 95 % errors, one for each ε."""

    name: str
    measure: Measure
    errors: tuple[float, ...]


class Sweep(Struct, frozen=True):
    """The ε of the grid, ascending, and what each column's errors are there.

    `unknown` are columns that are computed of released values: their error is known afterwards.
    """

    epsilons: tuple[float, ...]
    columns: tuple[SweptColumn, ...]
    unknown: tuple[str, ...]


def epsilon_grid(schema: Schema, epsilons: str | None = None) -> tuple[Fraction, ...]:
    """1, 2 and 5 of each decade between the ends of `epsilons`, FROM..TO, and these.

    Without it, from a hundredth of the most that a query may spend up to that.
    """
    max_epsilon = schema.per_query.max_epsilon
    first, last = max(max_epsilon / 100, MIN_EPSILON), max_epsilon
    if epsilons is not None:
        low, dots, high = epsilons.partition("..")
        if not dots:
            raise _no_range(schema)
        first, last = parse_epsilon(low.strip()), parse_epsilon(high.strip())
    if not MIN_EPSILON <= first <= last <= max_epsilon:
        raise _no_range(schema)
    decade = Fraction(1, 10**6)
    grid = {first, last}
    while decade <= last:
        grid |= {step * decade for step in _STEPS if first < step * decade < last}
        decade *= 10
    return tuple(sorted(grid))


def error_curve(
    compile_at: Callable[[Fraction], CompiledStatement], epsilons: Sequence[Fraction]
) -> Sweep:
    """The errors of a statement, which `compile_at` gives at an ε."""
    statements = [compile_at(epsilon) for epsilon in epsilons]
    first = statements[0]
    if not first.releases:
        raise Refused(
            "the statement reads no private table: it has no noise at any epsilon",
            hint="name a private table in FROM",
        )
    shown = [answer_columns(each) for each in statements]
    columns: list[SweptColumn] = []
    unknown: list[str] = []
    for index, column in enumerate(first.statement.columns):
        name = first.statement.names[index]
        measured = [_column_name(each[index]) for each in shown]
        known = [each for each in measured if each is not None]
        if len(known) == len(measured):
            columns.append(SweptColumn(name, known[0][0], tuple(error for _, error in known)))
        elif origins(first.plan, column.id) != ():
            unknown.append(name)
    if not columns:
        raise Refused(
            "no column's error is known before the answer",
            hint="name the counts, sums and means in the SELECT list as they are",
            note="error_functions",
        )
    return Sweep(tuple(map(float, epsilons)), tuple(columns), tuple(unknown))


def _column_name(column: ColumnPrivacy | None) -> tuple[Measure, float] | None:
    match column:
        case ColumnPrivacy(half_width=float(error)):
            return Measure.VALUE, error
        case ColumnPrivacy(rank_error=float(error)):
            return Measure.RANK, error
        case ColumnPrivacy(threshold_error=float(error)):
            return Measure.VALUE, error
        case ColumnPrivacy(rows_error=float(error)):
            return Measure.ROWS, error
        case _:
            return None


def _no_range(schema: Schema) -> BadParameter:
    max_epsilon = float(schema.per_query.max_epsilon)
    return BadParameter(
        "a sweep goes from an epsilon that a query may spend to a larger one",
        hint=f"write --sweep {max_epsilon / 100:g}..{max_epsilon:g}",
    )
