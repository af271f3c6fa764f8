"""The mean of all rows, as an integer: (rows + 1)·Σy over their number n, or over `rows` if more.

The values y are differences from the middle of an interval of width w, at most r from it. Of n rows
of which a table has `rows` at least, one that is left out moves Σy/n by w/n at most, and n is
rows + 1 or more: the integer by w. Where a table has fewer than it was declared to have, both sums
are over `rows`, and one row moves the integer by (rows + 1)·r/rows, which may be more than w where
`rows` is 1. Rounding toward 0 keeps what differs by a whole number at most within it.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer, quotient


def of_all_rows(total: exp.Expr, count: exp.Expr, declared: int) -> exp.Expr:
    """(declared + 1)·total/count, of at least `declared` rows; 0 where there is no row.

    Whole parts first, since (declared + 1)·total may not fit 128 bits.
    """
    few = exp.LT(this=count.copy(), expression=integer(declared))
    rows = exp.case().when(few, integer(declared), copy=False).else_(count, copy=False)
    whole = exp.Paren(this=quotient(total.copy(), rows.copy()))
    rest = exp.Paren(this=exp.Mod(this=total.copy(), expression=exp.Paren(this=rows.copy())))
    times = integer(declared + 1)
    part = quotient(exp.Paren(this=exp.Mul(this=rest, expression=times.copy())), rows)
    mean = exp.Add(this=exp.Mul(this=whole, expression=times), expression=part)
    return exp.Coalesce(this=mean, expressions=[integer(0)])
