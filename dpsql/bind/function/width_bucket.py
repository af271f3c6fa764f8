"""Bins: PostgreSQL's width_bucket(), and histograms written as groups of bins.

Maps of counts, which DuckDB's histogram() gives, have no type here.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from dpsql.bind.expression.literal import number
from dpsql.bind.syntax.allowlist import require_args
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.plan.expression import Expression, Literal
from dpsql.plan.numeric_types import is_number

MAX_BUCKETS = 10_000

MAX_BINS = 20
"""The bins of a hint at most: nobody would read a longer one."""


def width_bucket(node: exp.WidthBucket, bound: Callable[[exp.Expr], Expression]) -> exp.Case:
    """`width_bucket(x, low, high, count)` as CASE: 0 below, count + 1 from `high` on.

    Between them x is compared with both ends, so that its bins are known whatever its bounds are.
    """
    require_args(node, "this", "min_value", "max_value", "num_buckets")
    ends = [node.args.get(name) for name in ("min_value", "max_value", "num_buckets")]
    low, high, count = (_value(end, bound) for end in ends)
    if low is None or high is None or count is None or low == high or count.denominator > 1:
        raise _no_bins(node)
    if not 0 < count <= MAX_BUCKETS:
        raise _no_bins(node)
    x, first, last, bins = (exp.paren(p.copy()) for p in (node.this, *ends) if p is not None)
    if low > high:
        # Bins are counted from the larger end: those of -x, from its smaller one.
        x, first, last = (exp.paren(exp.Neg(this=part)) for part in (x, first, last))
    inside = exp.and_(exp.GTE(this=x, expression=first), exp.LT(this=x, expression=last))
    done = exp.Mul(this=exp.paren(exp.Sub(this=x, expression=first)), expression=bins)
    share = exp.Div(this=done, expression=exp.paren(exp.Sub(this=last, expression=first)))
    number = exp.cast(exp.Floor(this=share), "INTEGER", dialect="duckdb")
    return (
        exp.case()
        .when(exp.LT(this=x, expression=first), exp.Literal.number(0))
        .when(exp.GTE(this=x, expression=last), exp.Literal.number(int(count) + 1))
        .when(inside, exp.Add(this=number, expression=exp.Literal.number(1)))
    )


def bins_instead(node: exp.Expr) -> str | None:
    """The hint for a call of DuckDB's histogram(); None for other calls.

    A bin is named by its upper end, which is in it, as in histogram().
    """
    if not isinstance(node, exp.Anonymous) or node.name.lower() != "histogram":
        return None
    match node.expressions:
        case [value, exp.Array(expressions=[*numbers])] if 0 < len(numbers) <= MAX_BINS:
            ends = [_number(number) for number in numbers]
            if any(end is None for end in ends):
                return None
            text = _text(value)
            whens = " ".join(f"WHEN {text} <= {_text(n)} THEN {_text(n)}" for n in numbers)
            return f"SELECT CASE {whens} END AS bin, count(*) … GROUP BY bin"
        case [value]:
            return f"SELECT {_text(value)}, count(*) … GROUP BY {_text(value)}"
        case _:
            return None


def _number(node: exp.Expr | None) -> Fraction | None:
    sign = 1
    if isinstance(node, exp.Neg):
        sign, node = -1, node.this
    if isinstance(node, exp.Literal) and not node.is_string:
        value = number(node.this, None).value
        return sign * Fraction(value) if isinstance(value, int | Fraction) else None
    return None


def _value(node: exp.Expr | None, bound: Callable[[exp.Expr], Expression]) -> Fraction | None:
    value = None if node is None else bound(node)
    if not isinstance(value, Literal) or not is_number(value.type):
        return None
    return Fraction(value.value) if isinstance(value.value, int | Fraction) else None


def _no_bins(node: exp.Expr) -> Refused:
    return Refused(
        f"width_bucket() takes two different ends and up to {MAX_BUCKETS:,} bins, all constant",
        at=span(node),
        hint="write width_bucket(x, 0, 100, 10)",
        note="scalar_functions",
    )


def _text(node: exp.Expr) -> str:
    return node.sql(dialect="duckdb", comments=False)
