"""A decimal becomes as many steps as it is worth, within its bounds, whatever its type."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from emit.decimals import COLUMN, evaluated

from dpsql.emit.dialect.nodes import as_steps
from dpsql.emit.release.contribution import in_range
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.plan.expression import Column
from dpsql.schema.sql_type import Decimal

TYPES = [(5, 2), (10, 2), (15, 2), (18, 2), (18, 4), (18, 6), (18, 17), (20, 12), (38, 2), (38, 30)]


@pytest.mark.parametrize(("precision", "scale"), TYPES)
@pytest.mark.parametrize("magnitude", [1, 10**4, 2**52])
@pytest.mark.parametrize("coarser", [0, 1])
def test_values_are_as_many_steps_and_others_the_nearest_bound(
    precision: int, scale: int, magnitude: int, coarser: int
) -> None:
    kind, step = Decimal(precision, scale), Fraction(10**coarser, 10**scale)
    value = Discretized(Column(1, "x", kind), step, -magnitude, magnitude, 0)
    powers = [10**digits for digits in range(precision)]
    held = sorted({s * (p + d) for p in powers for d in (-1, 0, 1) for s in (1, -1)} | {0})
    held += [s * 5 * p for p in powers[:-1] for s in (1, -1)]
    held = [number for number in held if abs(number) < 10**precision]
    found = evaluated(in_range(value, as_steps(value, COLUMN)), kind, held)
    steps = [_away_from_zero(Fraction(number, 10**coarser)) for number in held]
    assert found == [min(max(s, -magnitude), magnitude) for s in steps]


def _away_from_zero(value: Fraction) -> int:
    whole = math.floor(abs(value) + Fraction(1, 2))
    return whole if value > 0 else -whole
