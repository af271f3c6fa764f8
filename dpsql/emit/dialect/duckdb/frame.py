"""Frames of windows, whose ends may be keys plus a distance.

    sum(n) OVER (ORDER BY day RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW)

DuckDB adds the distance to each row's key, which fails the statement where the type has no such
number. In total form an end that lies beyond the type lies at its last number: the rows of a frame
are the same, as no key is farther. Days that no timestamp holds have no distance: they are NULL.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.duckdb.expression import emit_expression
from dpsql.emit.dialect.duckdb.function_call import try_, try_cast, unknown
from dpsql.emit.dialect.duckdb.literal import emit_literal
from dpsql.emit.dialect.nodes import integer
from dpsql.emit.dialect.sort_key import sort_key
from dpsql.plan.frame import Frame, FrameEnd, RangeOffset
from dpsql.plan.sort_key import SortKey
from dpsql.schema.sql_type import BIGINT, HUGEINT, Date, Decimal, Integer, Timestamp

_LAST_MOMENT: Final = 2**63 - 2
"""Microseconds after 1970 of the last moment that DuckDB has; as many before it for the first."""


def ordered(frame: Frame | None, key: SortKey, *, is_total: bool) -> exp.Ordered:
    """A key of a window's order; the distance of a frame that has one is added to it.

    The largest BIGINT and 1 would raise.
    """
    rendered = sort_key(key)
    own, kind = emit_expression(key.expression), key.expression.type
    has_distance = frame is not None and frame.has_distance
    if has_distance and isinstance(kind, Integer):
        own = try_cast(own, HUGEINT)
    elif has_distance and is_total and isinstance(kind, Date):
        own = try_cast(own, Timestamp())
    rendered.set("this", own)
    return rendered


def emit_frame(frame: Frame, keys: tuple[SortKey, ...], *, is_total: bool) -> exp.WindowSpec:
    """`frame` of rows in the order of `keys`, of which there is one where it has a distance."""
    first, first_side = _end(frame.first, "PRECEDING", keys, is_total=is_total)
    last, last_side = _end(frame.last, "FOLLOWING", keys, is_total=is_total)
    return exp.WindowSpec(
        kind=frame.kind.value,
        start=first,
        start_side=first_side,
        end=last,
        end_side=last_side,
        exclude=frame.excluded and exp.var(frame.excluded.value),
    )


def _end(
    end: FrameEnd, side: str, keys: tuple[SortKey, ...], *, is_total: bool
) -> tuple[str | exp.Expr, str | None]:
    match end:
        case None:
            return "UNBOUNDED", side
        case RangeOffset(distance=distance, following=following):
            length = emit_literal(distance.value, distance.type)
            if is_total:
                length = _held(length, keys[0], following=following)
            return length, "FOLLOWING" if following else "PRECEDING"
        case 0:
            return "CURRENT ROW", None
        case rows:
            return integer(abs(rows)), "PRECEDING" if rows < 0 else "FOLLOWING"


def _held(length: exp.Expr, key: SortKey, *, following: bool) -> exp.Expr:
    """A row's `length` to the end, or to the last number of the type, whichever is shorter.

    What `length` can't be added to is no farther than it from that number. Doubles become infinite
    instead, narrower integers are ordered in 128 bits, and a NULL has no end.
    """
    upward = following != key.descending
    moved: type[exp.Binary] = exp.Add if upward else exp.Sub
    to_last = _to_last(key, upward=upward)
    if to_last is None:
        return length
    end = try_(moved(this=_key(key), expression=length.copy()))
    fits = exp.case().when(end.is_(exp.null()).not_(), length.copy(), copy=False)
    return exp.Coalesce(this=fits, expressions=[try_(to_last), length])


def _to_last(key: SortKey, *, upward: bool) -> exp.Expr | None:
    """How far the last number of the key's type is, upward or downward; None if none is the last.

    It has no value for a key of the other sign, which the length can be added to.
    """
    own = _key(key)
    kind = key.expression.type
    match kind:
        case Date() | Timestamp():
            last = emit_literal(_LAST_MOMENT if upward else -_LAST_MOMENT, BIGINT)
            own = exp.Anonymous(this="epoch_us", expressions=[own])
        case Integer(bits=128):
            last = emit_literal(2**127 - 1 if upward else -(2**127), HUGEINT)
        case Decimal(precision=precision, scale=scale):
            largest = Fraction(10**precision - 1, 10**scale)
            last = emit_literal(largest if upward else -largest, kind)
        case _:
            return None
    far, near = (last, own) if upward else (own, last)
    difference = exp.Sub(this=far, expression=near)
    if not isinstance(kind, Date | Timestamp):
        return difference
    return exp.Anonymous(this="to_microseconds", expressions=[exp.Paren(this=difference)])


def _key(key: SortKey) -> exp.Expr:
    """The key as it is ordered by; not its statistics, by which DuckDB tries sums."""
    own = emit_expression(key.expression)
    kind = key.expression.type
    if isinstance(kind, Integer):
        return try_cast(own, HUGEINT)
    return try_cast(own, Timestamp()) if isinstance(kind, Date) else unknown(own)
