"""Released numbers may be of any size: a sum of them is NULL where it overflows."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsql.errors import ExecutionFailed
from dpsql.session.run.execution import Execution
from dpsql.session.session import Session

SCHEMA = """\
dataset: shop
source: data
tables:
  readings:
    unit: row
    columns:
      value: {type: bigint, bounds: [0, 9]}
      town: {type: varchar, values: [a, b, c]}
budget: {epsilon: 8, delta: 1e-6, accounting: approx}
per_query: {epsilon: 0.0625, delta: 1e-9}
ledger: ledger.db
"""
LARGE = 10**38 - 5
RELEASED = f"""
(
    SELECT town, count(*) AS n, CAST({LARGE} AS HUGEINT) AS whole,
        CAST('{LARGE // 1000}.123' AS DECIMAL(38,3)) AS exact,
        CASE town WHEN 'b' THEN -1e308 ELSE 1e308 END AS far,
        DATE '2024-01-01' + CASE town WHEN 'b' THEN 2000000000 ELSE 0 END AS day
    FROM readings WHERE town IS NOT NULL GROUP BY town
) t
"""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    (tmp_path / "data").mkdir()
    rows = pa.table({"value": [n % 10 for n in range(900)], "town": ["a", "b", "c"] * 300})
    pq.write_table(rows, tmp_path / "data" / "readings.parquet")
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    opened = Session(tmp_path / "schema.yaml")
    yield opened
    opened.close()


def column(session: Session, value: str) -> list[object]:
    asked = session.query(f"SELECT {value} AS x FROM {RELEASED}").table.column(0)
    values: list[object] = asked.to_pylist()
    return values


def test_a_sum_that_overflows_is_null(session: Session) -> None:
    for value in ("sum(whole)", "sum(exact)", "skewness(far)", "kurtosis(far)"):
        assert column(session, value) == [None]
    assert column(session, "avg(whole)") == [pytest.approx(LARGE)]
    exact = Decimal(f"{LARGE // 1000}.123")
    assert column(session, "sum(exact) OVER (ORDER BY town)") == [exact, None, None]
    # What has a sum keeps it, beside one that has none.
    sums = "sum(whole) FILTER (WHERE town = 'a') - sum(whole) FILTER (WHERE town = 'b')"
    assert column(session, f"coalesce(sum(whole), {sums})") == [0]
    # One release: it was drawn once.
    assert session.balance().spent.amount == Fraction(1, 16)


def test_a_frame_ends_where_its_type_does(session: Session) -> None:
    ordered = "exact RANGE BETWEEN CURRENT ROW AND 99 FOLLOWING"
    assert column(session, f"count(*) OVER (ORDER BY {ordered})") == [3, 3, 3]
    of_days = "count(*) OVER (ORDER BY day RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW)"
    assert sorted(map(str, column(session, of_days))) == ["1", "2", "2"]
    assert column(session, "median(day) = TIMESTAMP '2024-01-01'") == [True]
    assert session.balance().spent.amount == Fraction(1, 16)


@pytest.mark.parametrize(
    "window",
    [
        "lag(coalesce(whole * 10, 1)) OVER ()",
        "sum(coalesce(whole * 10, 1)) OVER (ROWS UNBOUNDED PRECEDING)",
        "count(*) OVER (ORDER BY whole * 10)",
    ],
)
def test_a_window_has_all_rows_where_a_common_value_overflows(
    session: Session, window: str
) -> None:
    assert len(column(session, window)) == 3


def test_a_failure_above_stored_answers_says_that_nothing_was_charged(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ExecutionFailed

    monkeypatch.setattr(Execution, "finish", fails)
    with pytest.raises(ExecutionFailed, match="its charge stands"):
        column(session, "sum(n)")
    for _ in range(2):
        with pytest.raises(ExecutionFailed, match="nothing was charged"):
            column(session, "sum(n)")
    assert session.balance().spent.amount == Fraction(1, 16)
