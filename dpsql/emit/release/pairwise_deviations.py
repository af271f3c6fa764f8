"""The squared differences of all pairs of rows, in 128 bits and in one number.

Of n rows with values y they are n·Σy² - (Σy)², Σ (y_i - y_j)² over pairs. A row that is replaced
moves its n - 1 pairs, each by at most w², the square of the width of the values: all together by
(n - 1)·w². So (rows - 1)/(n - 1) of it moves by (rows - 1)·w² at most, however many rows n there
are; where there are `rows` of them, that is all of it.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.emit.release.contribution import number_of_rows, sum_of
from dpsql.emit.sql.function_call import try_
from dpsql.emit.sql.literal import integer
from dpsql.plan.bounded_release.statistic import MAX_ROWS


def of_pairs(value: exp.Expr) -> exp.Expr:
    """n·Σy² - (Σy)² of clamped values, NULL being 0; NULL where it may not fit 128 bits."""
    squares = sum_of(exp.Mul(this=value, expression=value.copy()))
    product = exp.Mul(this=number_of_rows(), expression=squares)
    square = exp.Mul(this=sum_of(value.copy()), expression=sum_of(value.copy()))
    few = exp.LTE(this=number_of_rows(), expression=integer(MAX_ROWS))
    # y² < 2^52 and n <= 2^36: either product is below 2^124. How many rows there are is the same in
    # all neighbours, so that whether it is NULL is no secret.
    return exp.case().when(few, exp.Sub(this=product, expression=square), copy=False)


def scaled(pairs: exp.Expr, count: exp.Expr, declared: int) -> exp.Expr:
    """(declared - 1)/(count - 1) of `pairs`, rounded down; 0 where no two rows are there.

    Rounding keeps a difference of a whole number at most within it. Whole parts first, since
    (declared - 1)·pairs may not fit 128 bits.
    """
    others = exp.Paren(this=exp.Sub(this=count.copy(), expression=integer(1)))
    whole = exp.Paren(this=exp.IntDiv(this=pairs.copy(), expression=others.copy()))
    rest = exp.Paren(this=exp.Mod(this=pairs.copy(), expression=others.copy()))
    times = integer(declared - 1)
    part = exp.IntDiv(
        this=exp.Paren(this=exp.Mul(this=rest, expression=times.copy())), expression=others
    )
    quotient = exp.Add(this=exp.Mul(this=whole, expression=times), expression=part)
    several = exp.GT(this=count, expression=integer(1))
    case = exp.case().when(several, quotient, copy=False)
    return exp.Coalesce(this=try_(case), expressions=[integer(0)])
