"""A sum of decimals becomes exactly as many steps, at every width that DuckDB has for it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from data.database import attached
from emit.decimals import COLUMN, evaluated
from neighbor_search.share import in_turn
from sqlglot import exp

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.release.contribution import to_steps
from dpsql.plan.bounded_release.statistic import Discretized, Statistic, Sum
from dpsql.plan.expression import Column
from dpsql.schema.sql_type import Decimal


def summed(scale: int, magnitude: int) -> Statistic:
    """The sum of a decimal column within `magnitude` steps of 0."""
    column = Column(1, "x", Decimal(38, scale))
    return Statistic(
        Sum(Discretized(column, Fraction(1, 10**scale), -magnitude, magnitude, 0)), None
    )


@pytest.mark.parametrize(
    ("scale", "magnitude", "few"),
    in_turn(
        (
            (f"{scale}-{magnitude}-{few}", (scale, magnitude, few))
            for scale in range(1, 39)
            for magnitude in (1, 10**8, 2**52)
            for few in (False, True)
        ),
        share=5,
    ),
)
def test_every_sum_is_as_many_steps(scale: int, magnitude: int, *, few: bool) -> None:
    # No more than 2^63 rows of so many each.
    most = magnitude * 2**63
    powers = [*(10**digits for digits in range(len(str(most)))), most - 1]
    steps = sorted({sign * (p + d) for p in powers for d in (-1, 0, 1) for sign in (1, -1)} | {0})
    taken = to_steps(summed(scale, magnitude), COLUMN, has_few_rows=few)
    assert evaluated(taken, Decimal(38, scale), steps) == steps


@pytest.mark.parametrize("scale", [2, 4, 6])
@pytest.mark.parametrize("few", [False, True])
def test_no_way_to_steps_has_a_try(scale: int, *, few: bool) -> None:
    """Where rows are joined, each would be a lambda: a third of what prepared Q1 takes to plan."""
    taken = rendered(to_steps(summed(scale, 10**9), COLUMN, has_few_rows=few))
    assert "TRY(" not in taken


def test_no_rows_add_up_to_nothing() -> None:
    taken = rendered(to_steps(summed(6, 10**9), exp.cast(exp.null(), "DECIMAL(38, 6)")))
    with attached() as connection:
        assert connection.execute(f"SELECT {taken}").fetchall() == [(0,)]
