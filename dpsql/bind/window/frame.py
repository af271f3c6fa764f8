"""Frames of window functions: ROWS, GROUPS and RANGE, as DuckDB reads them."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from dpsql.bind.expression.interval_literal import length
from dpsql.bind.expression.literal import number
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.bind.syntax.parse import span, written_number
from dpsql.errors import Refused, TypeFault
from dpsql.plan.duration import DAY, Duration
from dpsql.plan.expression import Literal
from dpsql.plan.frame import Frame, FrameEnd, FrameExclusion, FrameKind, RangeOffset
from dpsql.plan.numeric_types import holds
from dpsql.plan.sort_key import SortKey
from dpsql.schema.sql_type import (
    BIGINT,
    Date,
    Decimal,
    Double,
    Integer,
    Interval,
    SqlType,
    Timestamp,
)


def frame_of(node: exp.Window, order: tuple[SortKey, ...]) -> Frame | None:
    """The frame of `node`, whose rows are in `order`; None for the default one."""
    spec = node.args.get("spec")
    if spec is None:
        return None
    require_args(spec, "kind", "start", "start_side", "end", "end_side", "exclude")
    kind = FrameKind(str(spec.args["kind"]).upper())
    ends = [spec.args.get("start"), spec.args.get("end") or "CURRENT ROW"]
    sides = [str(spec.args.get(side) or "").upper() for side in ("start_side", "end_side")]
    if ends[0] == "UNBOUNDED" and sides[0] != "PRECEDING":
        raise _backwards(node)
    if ends[1] == "UNBOUNDED" and sides[1] != "FOLLOWING":
        raise _backwards(node)
    first, last = (
        _end(node, kind, end, order, following=side == "FOLLOWING")
        for end, side in zip(ends, sides, strict=True)
    )
    if first is not None and last is not None and _side(first) > _side(last):
        raise _backwards(node)
    excluded = _excluded(spec)
    if kind is not FrameKind.ROWS and first is None and last == 0 and excluded is None:
        return None  # the default frame, written out
    return Frame(kind, first, last, excluded)


def _excluded(spec: exp.WindowSpec) -> FrameExclusion | None:
    written = str(spec.args.get("exclude") or "NO OTHERS").upper()
    return None if written == "NO OTHERS" else FrameExclusion(written)


def _end(
    node: exp.Window, kind: FrameKind, end: object, order: tuple[SortKey, ...], *, following: bool
) -> FrameEnd:
    """One end of a frame: None if it is unbounded, 0 at the current row, negative before it."""
    if isinstance(end, str):
        return None if end.upper() == "UNBOUNDED" else 0
    if kind is FrameKind.RANGE and isinstance(end, exp.Expr):
        return RangeOffset(_distance(node, end, order), following=following)
    rows = written_number(end)
    if rows is not None:
        if not holds(BIGINT, rows):
            raise unsupported(node, "a window frame of 2^63 rows or more", hint="write UNBOUNDED")
        return rows if following else -rows
    raise unsupported(node, "this window frame", "ROWS BETWEEN 6 PRECEDING AND CURRENT ROW")


def _distance(node: exp.Window, end: exp.Expr, order: tuple[SortKey, ...]) -> Literal:
    """The distance `end` of a RANGE from the current row's key, of the type that keys differ by."""
    if len(order) != 1:
        raise Refused(
            "a RANGE with a distance needs one ORDER BY key",
            at=span(node),
            hint="order by one number or date, or write ROWS instead of RANGE",
            note="window",
        )
    kind = order[0].expression.type
    if isinstance(kind, Date | Timestamp):
        interval = length(end)
        if interval is not None and interval.count is None and _reaches(interval.duration):
            return Literal(str(interval.duration), Interval())
    elif isinstance(end, exp.Literal) and not end.is_string and isinstance(kind, Integer):
        if end.this.isdigit() and int(end.this) < 2**63:
            return Literal(int(end.this), Integer(128))
    elif isinstance(end, exp.Literal) and not end.is_string and isinstance(kind, Decimal | Double):
        distance = _exact(number(end.this, span(node)))
        if isinstance(kind, Double) or _fits(distance, kind):
            return Literal(distance, kind)
    raise TypeFault(
        f"this is no distance of two keys of type {kind}", at=span(node), hint=_distance_of(kind)
    )


def _reaches(distance: Duration) -> bool:
    """Whether `distance` isn't negative, nor longer than the 290,000 years that DuckDB has."""
    months, days, microseconds = distance.parts
    return min(distance.parts) >= 0 and 31 * months + days + microseconds // DAY < 36_500_000


def _exact(distance: Literal) -> Fraction:
    assert isinstance(distance.value, int | Fraction)
    return Fraction(distance.value)


def _fits(distance: Fraction, kind: Decimal) -> bool:
    steps = distance * Fraction(10**kind.scale)
    return bool(steps.denominator == 1 and steps < 10**kind.precision)


def _distance_of(kind: SqlType) -> str:
    if isinstance(kind, Date | Timestamp):
        return "RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW"
    return "RANGE BETWEEN 6 PRECEDING AND CURRENT ROW, over a number"


def _side(end: int | RangeOffset) -> int:
    """Where a frame's end lies: -1 before the current row, 0 at it, 1 after it."""
    if isinstance(end, RangeOffset):
        return 1 if end.following else -1
    return (end > 0) - (end < 0)


def _backwards(node: exp.Window) -> Refused:
    return unsupported(node, "a window frame that ends before it begins", hint="swap its ends")
