"""Keys as columns: every cell once, ascending, whatever their types."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from dpsql.release.columns import group_keys
from dpsql.release.columns.group_keys import ascending, take

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

DAY = dt.date(1995, 3, 1)


@pytest.fixture(params=["few", "many"], autouse=True)
def how_many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to sort, whatever the number of keys."""
    if request.param == "many":
        monkeypatch.setattr(group_keys, "_SMALL", 0)


@pytest.mark.parametrize(
    "values",
    [
        [3, None, -1],
        ["b", None, "a", "é", "\U0001f600", "\uffff", "Z", ""],
        [True, None, False],
        [DAY, None, DAY - dt.timedelta(days=400)],
        [dt.datetime(2020, 1, 2), None, dt.datetime(1960, 1, 1)],  # noqa: DTZ001
        [None],
    ],
)
def test_keys_ascend_as_python_has_it_and_null_is_last(
    values: list[SupportsRichComparison | None],
) -> None:
    for nulls in (True, False):
        keys = [v for v in values if nulls or v is not None]
        order = ascending((pa.array(keys),), np.arange(len(keys), dtype=np.int64))
        known = sorted(v for v in keys if v is not None)
        assert [keys[place] for place in order] == [*known, *[None] * (len(keys) - len(known))]


def test_later_keys_break_ties_of_earlier_ones() -> None:
    keys = pa.array(["x", "y", "x", None]), pa.array([2, 1, 1, 0])
    assert ascending(keys, np.arange(4, dtype=np.int64)).tolist() == [2, 0, 1, 3]
    assert ascending(keys, np.array([3, 1])).tolist() == [1, 3]


def test_keys_are_taken_in_any_order_and_keep_their_type() -> None:
    column = pa.array([DAY, None, DAY], pa.date32())
    found = take(column, np.array([1, 2, 1]))
    assert found.equals(pa.array([None, DAY, None], pa.date32()))
