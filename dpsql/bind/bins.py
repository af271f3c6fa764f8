"""How histograms are asked for: maps of counts have no type here, groups of bins have."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

MOST_BINS = 20
"""More would make no hint that anybody reads."""


def bins_instead(node: exp.Expr) -> str | None:
    """What to write for DuckDB's histogram() or PostgreSQL's width_bucket(); None of other calls.

    Bins are told by their upper ends, which are in them, as histogram() has them.
    """
    if isinstance(node, exp.WidthBucket):
        ends = [_number(node.args.get(name)) for name in ("min_value", "max_value", "num_buckets")]
        low, high, count = ends
        if low is None or high is None or not count:
            return None
        width = Fraction(high - low) / count
        number = f"floor(({_text(node.this)} - {_shown(low)}) / {_shown(width)})"
        return f"group by CAST({number} AS BIGINT) + 1, with bounds of {_text(node.this)} declared"
    if not isinstance(node, exp.Anonymous) or node.name.lower() != "histogram":
        return None
    match node.expressions:
        case [value, exp.Array(expressions=[*numbers])] if 0 < len(numbers) <= MOST_BINS:
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
        return sign * Fraction(node.this)
    return None


def _shown(number: Fraction) -> str:
    return str(number.numerator if number.denominator == 1 else float(number))


def _text(node: exp.Expr) -> str:
    return node.sql(dialect="duckdb", comments=False)
