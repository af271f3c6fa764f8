from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal as Exact

import pyarrow as pa
import pytest

from dpsql.release.columns.arrow import arrow_type
from dpsql.report.result.python_value import Value, python_rows
from dpsql.report.result.result import Result, unique_names
from dpsql.schema.sql_type import (
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Varchar,
)


@pytest.mark.parametrize(
    ("kind", "stored", "found"),
    [
        (Integer(64), -5, -5),
        (Integer(64, signed=False), 2**64 - 1, 2**64 - 1),
        (Integer(128), Exact(10**37), 10**37),
        (Decimal(15, 2), Exact("12.30"), Exact("12.30")),
        (Double(), 0.25, 0.25),
        (Varchar(), "ä", "ä"),
        (Boolean(), True, True),
        (Date(), dt.date(1992, 1, 31), dt.date(1992, 1, 31)),
        (Timestamp(), dt.datetime(1992, 1, 31, 1, 2, 3), dt.datetime(1992, 1, 31, 1, 2, 3)),  # noqa: DTZ001
    ],
)
def test_a_value_is_pythons_own(kind: SqlType, stored: object, found: Value) -> None:
    table = pa.table({"c": pa.array([stored, None], arrow_type(kind))})
    assert python_rows(table, [kind]) == [(found,), (None,)]
    ((value,), _) = python_rows(table, [kind])
    assert type(value) is type(found)


def test_nan_stays_nan() -> None:
    ((value,),) = python_rows(pa.table({"c": [math.nan]}), [Double()])
    assert isinstance(value, float)
    assert math.isnan(value)


def test_a_description_has_seven_fields_and_a_decimals_digits() -> None:
    table = pa.table({"x": pa.array([], pa.decimal128(15, 2)), "y": pa.array([], pa.int64())})
    result = Result(("x", "x"), (Decimal(15, 2), Integer(64)), table)
    assert result.description == (
        ("x", "DECIMAL(15,2)", None, None, 15, 2, None),
        ("x", "BIGINT", None, None, None, None, None),
    )


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["a", "b"], ["a", "b"]),
        (["a", "a", "a"], ["a", "a_1", "a_2"]),
        (["a", "a", "a_1"], ["a", "a_2", "a_1"]),
        (["a_1", "a", "a", "a_1"], ["a_1", "a", "a_2", "a_1_1"]),
    ],
)
def test_names_are_made_distinct(names: list[str], found: list[str]) -> None:
    assert unique_names(names) == found
