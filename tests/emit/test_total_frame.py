"""Frames whose ends lie beyond what their keys can be have the rows within their distance."""

from __future__ import annotations

from decimal import Context
from decimal import Decimal as Number
from fractions import Fraction
from functools import cache
from random import Random

import duckdb
import pytest

from dpsql.emit.dialect.duckdb.aggregate import emit_aggregate, emit_window
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.plan.aggregate import AggregateCall, AggregateFunction
from dpsql.plan.expression import Column, Literal
from dpsql.plan.frame import Frame, FrameKind, RangeOffset
from dpsql.plan.operator import Values, WindowCall
from dpsql.plan.sort_key import SortKey
from dpsql.schema.sql_type import (
    BIGINT,
    HUGEINT,
    Date,
    Decimal,
    Interval,
    SqlType,
    Timestamp,
)

MOMENTS = 2**63 - 2
KINDS: dict[SqlType, tuple[int, int]] = {
    BIGINT: (-(2**63), 2**63 - 1),
    HUGEINT: (-(2**127), 2**127 - 1),
    Decimal(38, 0): (1 - 10**38, 10**38 - 1),
    Decimal(38, 38): (1 - 10**38, 10**38 - 1),
    Decimal(20, 2): (1 - 10**20, 10**20 - 1),
    Timestamp(): (-MOMENTS, MOMENTS),
}
"""Types of keys, and the least and the greatest number of their last digits."""


@cache
def engine() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def of_units(units: int | None, kind: SqlType) -> str:
    """A key of so many last digits, or microseconds after 1970."""
    if units is None:
        return f"CAST(NULL AS {kind})"
    if isinstance(kind, Timestamp):
        return f"make_timestamp({units}::BIGINT)"
    scale = kind.scale if isinstance(kind, Decimal) else 0
    return f"CAST('{Number(units).scaleb(-scale, Context(prec=40)):f}' AS {kind})"


def distance_of(units: int, kind: SqlType) -> Literal:
    match kind:
        case Timestamp():
            return Literal(f"{units} microseconds", Interval())
        case Decimal(scale=scale):
            return Literal(Fraction(units, 10**scale), kind)
        case _:
            return Literal(units, HUGEINT)


def rows_in_frames(
    kind: SqlType, keys: list[int | None], frame: Frame, *, descending: bool, is_total: bool
) -> list[int]:
    """The rows of each row's frame, as the sum of 2^n for the row n."""
    order = (SortKey(Column(1, "x", kind), descending, nulls_first=False),)
    call = WindowCall("sum", (Column(2, "bit", BIGINT),), (), order, frame, BIGINT)
    window = rendered(emit_window(call, Values((), ()), is_total=is_total))
    rows = ", ".join(f"({n}, {2**n}::BIGINT, {of_units(k, kind)})" for n, k in enumerate(keys))
    sql = f"SELECT {window} FROM (VALUES {rows}) t(n, c2, c1) ORDER BY n"
    return [int(total) for (total,) in engine().execute(sql).fetchall()]


def is_within(
    frame: Frame, key: int | None, other: int | None, reach: tuple[int, int], *, descending: bool
) -> bool:
    """Whether a row is in the `frame` of another, whose key it is `reach` from at most."""
    if key is None or other is None:
        return key is None and (other is None or frame.first is None)
    low, high = reach
    apart = other - key
    if frame.first is None:
        return apart >= low if descending else apart <= high
    return low <= apart <= high


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_frame_has_the_rows_within_its_distance(kind: SqlType) -> None:
    random = Random(str(kind))
    least, most = KINDS[kind]
    failed = 0
    farthest = 10**18 if isinstance(kind, Timestamp) else min(most, 2**63 - 1)
    for _ in range(40):
        near = [random.choice((least, most, 0)) for _ in range(3)]
        keys = [
            random.choice(
                (
                    None,
                    min(max(random.choice(near) + random.randint(-3, 3), least), most),
                    random.randint(least, most),
                )
            )
            for _ in range(7)
        ]
        before, after = (random.choice((0, 1, 4, farthest)) for _ in range(2))
        frame = Frame(
            FrameKind.RANGE,
            random.choice((None, RangeOffset(distance_of(before, kind), following=False))),
            RangeOffset(distance_of(after, kind), following=True),
            None,
        )
        descending = random.random() < 0.5
        reach = (-after, before) if descending else (-before, after)
        expected = [
            sum(
                2**n
                for n, other in enumerate(keys)
                if is_within(frame, key, other, reach, descending=descending)
            )
            for key in keys
        ]
        total = rows_in_frames(kind, keys, frame, descending=descending, is_total=True)
        assert total == expected, (keys, frame, descending)
        try:
            plain = rows_in_frames(kind, keys, frame, descending=descending, is_total=False)
        except (duckdb.OutOfRangeException, duckdb.ConversionException):
            failed += 1
        else:
            assert plain == expected
    # The form is for what fails, which isn't what is ordered in more bits.
    assert (failed == 0) == (kind in {BIGINT, Decimal(20, 2)})


def test_days_that_no_timestamp_holds_have_no_distance() -> None:
    week = RangeOffset(Literal("7 days", Interval()), following=False)
    frame = Frame(FrameKind.RANGE, week, 0, None)
    order = (SortKey(Column(1, "day", Date()), descending=False, nulls_first=False),)
    call = WindowCall("count", (), (), order, frame, BIGINT)
    middle = AggregateCall(
        AggregateFunction.QUANTILE_CONT,
        (Column(1, "day", Date()),),
        distinct=False,
        filter=None,
        type=Timestamp(),
        fraction=Fraction(1, 2),
    )
    days = "('5881580-07-10'::DATE), ('2024-01-01'::DATE), ('2024-01-05'::DATE), (NULL)"
    window = rendered(emit_window(call, Values((), ()), is_total=True))
    sql = f"SELECT {window} FROM (VALUES {days}) t(c1) ORDER BY c1"
    assert engine().execute(sql).fetchall() == [(1,), (2,), (2,), (2,)]
    median = rendered(emit_aggregate(middle, None, guarded=False, is_total=True))
    sql = f"SELECT {median} = TIMESTAMP '2024-01-03' FROM (VALUES {days}) t(c1)"
    assert engine().execute(sql).fetchall() == [(True,)]
