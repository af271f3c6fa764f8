"""Values that aren't shown are NULL, of whatever type, and nothing of them is left."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from dpsql.release.columns.null_values import null_outside

_SHOWN = [True, False, True, True, False, True, False, True, True, False]

_COLUMNS = {
    "double": pa.array([0.5 * n for n in range(1, 11)], pa.float64()),
    "float": pa.array([0.5 * n for n in range(1, 11)], pa.float32()),
    "integer": pa.array(range(-10, 0), pa.int32()),
    "unsigned": pa.array(range(2**63, 2**63 + 10), pa.uint64()),
    "decimal": pa.array([Decimal(n) / 100 for n in range(-5, 5)], pa.decimal128(38, 2)),
    "hugeint": pa.array([Decimal(10**30 + n) for n in range(10)], pa.decimal128(38, 0)),
    "boolean": pa.array([True, False] * 5),
    "varchar": pa.array(list("abcdefghij")),
    "date": pa.array([dt.date(2020, 1, day) for day in range(1, 11)]),
    "timestamp": pa.array(range(10), pa.timestamp("us")),
    "some NULL": pa.array([1.5, None] * 5),
    "a slice": pa.array([0.5 * n for n in range(12)], pa.float64()).slice(1, 10),
}


@pytest.mark.parametrize("name", _COLUMNS)
def test_what_is_not_shown_is_null_and_all_else_is_as_it_was(name: str) -> None:
    values = _COLUMNS[name]
    nulled = null_outside(values, np.array(_SHOWN))
    nulled.validate(full=True)
    assert nulled.type == values.type
    assert nulled.to_pylist() == [
        value if shown else None for value, shown in zip(values.to_pylist(), _SHOWN, strict=True)
    ]


@pytest.mark.parametrize("name", ["double", "float", "integer", "unsigned", "hugeint"])
def test_no_value_is_left_behind_its_null(name: str) -> None:
    nulled = null_outside(_COLUMNS[name], np.array(_SHOWN))
    words = np.frombuffer(nulled.buffers()[1], np.uint8).reshape(len(_SHOWN), -1)
    assert [bool(word.any()) for word in words] == _SHOWN


def test_a_column_without_rows_stays_one() -> None:
    assert not len(null_outside(pa.array([], pa.float64()), np.array([], dtype=np.bool_)))
