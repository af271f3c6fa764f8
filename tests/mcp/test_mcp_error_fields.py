from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from dpsql.engine.duckdb.failure_cause import causes_hidden, causes_logged, causes_shown
from dpsql.errors import BadParameter, ExecutionFailed, LedgerFault, OverTarget, Span
from dpsql.mcp.error_fields import corrections, fault
from dpsql.mcp.json_rows import json_value
from dpsql.mcp.tool_results import Fix


def test_a_fault_of_our_own_says_its_kind_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = fault(ValueError("zq7cell of Ada"))
    assert told.sqlstate == "XX000"
    assert "ValueError" in told.message
    assert "zq7cell" not in f"{told} {caplog.text}"


def test_what_an_owner_reads_goes_to_the_log_alone(caplog: pytest.LogCaptureFixture) -> None:
    error = LedgerFault("/srv/ledger.db is damaged", hint="restore it")
    error.charge = "nothing was charged"
    told = fault(error)
    assert "/srv" not in str(told)
    assert told.message.endswith("; nothing was charged")
    assert "/srv/ledger.db" in caplog.text


def test_places_count_from_one_and_end_after_the_last_character() -> None:
    told = fault(BadParameter("no", at=Span(7, 9)))
    assert (told.position, told.end) == (8, 10)
    assert (fault(ExecutionFailed()).position, fault(ExecutionFailed()).end) == (None, None)


@pytest.mark.parametrize(
    ("hint", "sql", "said", "fixes"),
    [
        (
            "SET dpsql.epsilon = 0.2, or SET dpsql.max_cost = DEFAULT",
            "SELECT 1",
            "call it with epsilon = 0.2, or leave max_cost out",
            [Fix(epsilon=0.2), Fix(sql="SELECT 1")],
        ),
        (
            "OPTIONS (epsilon = 0.2)",
            "SELECT epsilon FROM t OPTIONS (groups = 2, epsilon=1)",
            "OPTIONS (epsilon = 0.2)",
            [Fix(sql="SELECT epsilon FROM t OPTIONS (groups = 2, epsilon = 0.2)")],
        ),
        (
            "SET dpsql.groups = 4",
            "SELECT 1",
            "end the statement with OPTIONS (groups = 4)",
            [],
        ),
        ("write SELECT …", "SELECT 1", "write SELECT …", []),
    ],
)
def test_a_hint_is_told_as_a_tool_can_follow_it(
    hint: str, sql: str, said: str, fixes: list[Fix]
) -> None:
    error = OverTarget("no", hint=hint)
    assert fault(error).hint == said
    assert list(corrections(error, sql)) == fixes


def test_an_analysts_client_isnt_told_why_the_engine_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail() -> None:
        with pytest.raises(duckdb.Error), causes_logged():
            raise duckdb.ConversionException("zq7cell")

    with causes_shown():
        with causes_hidden():
            fail()
        assert not caplog.records
        fail()
    assert "a value can't be converted" in caplog.text


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, None),
        (True, True),
        (2**53, 2**53),
        (-(2**53) - 1, str(-(2**53) - 1)),
        (1.5, 1.5),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (Decimal("1.50"), 1.5),
        (Decimal("12345678901234567.89"), "12345678901234567.89"),
        (Decimal("NaN"), "NaN"),
        (dt.date(2024, 2, 29), "2024-02-29"),
        (dt.datetime(2024, 2, 29, 1, 2, 3), "2024-02-29T01:02:03"),  # noqa: DTZ001 - SQL's
        (b"\x00\xff", "00ff"),
        ([1, None, Decimal(2)], [1, None, 2]),
        ({"a": float("inf")}, {"a": "inf"}),
        (dt.timedelta(days=1), "1 day, 0:00:00"),
        (Path("x"), "x"),
    ],
)
def test_a_value_is_json_without_losing_a_digit(value: object, told: object) -> None:
    assert json_value(value) == told
