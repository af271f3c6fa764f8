"""What is chosen by its rank is one of the values that there may be, also in the last cell.

The bounds of days and moments are such that the middle of the last cell lies beyond the last year.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest
from data.database import attached
from narrowed import number

from dpsql.dbapi.connect import connect
from dpsql.dbapi.connection import Connection

SCHEMA = """
dataset: quantile_ends
source: stays.duckdb
ledger: ledger.sqlite
tables:
  stays:
    unit: row
    columns:
      cost: {type: integer, bounds: [0, 9999]}
      price: {type: "decimal(12,2)", bounds: [0, 1000000]}
      until: {type: date, bounds: ["9977-07-26", "9999-12-31"]}
      moment:
        type: timestamp
        bounds: ["9999-12-31 23:59:43.218687", "9999-12-31 23:59:59.999999"]
budget: {epsilon: 60, delta: 1.0e-3}
per_query: {epsilon: 8, max_epsilon: 8}
"""

LAST = dt.datetime.fromisoformat("9999-12-31")
LAST_MOMENT = dt.datetime.fromisoformat("9999-12-31 23:59:59.999999")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """Every stay has the highest values there may be: it has no end."""
    with attached(tmp_path / "stays.duckdb") as made:
        made.execute(
            "CREATE TABLE stays AS SELECT 9999::INTEGER AS cost, 1e6::DECIMAL(12,2) AS price,"
            " DATE '9999-12-31' AS until, TIMESTAMP '9999-12-31 23:59:59.999999' AS moment"
            " FROM range(500)"
        )
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    with connect(tmp_path / "schema.yaml") as found:
        yield found


@pytest.mark.parametrize(
    ("value", "most", "near"),
    [
        ("quantile_disc(cost, 0.5)", 9999, 3),
        ("median(price)", 1_000_000, 250),
        ("quantile_disc(until, 0.5)", dt.date(9999, 12, 31), dt.timedelta(days=3)),
        ("median(until)", LAST, dt.timedelta(days=3)),
        ("median(moment)", LAST_MOMENT, dt.timedelta(seconds=1)),
        ("quantile_disc(DATE '9999-12-31', 0.5)", dt.date(9999, 12, 31), dt.timedelta()),
        ("median(DATE '9999-12-31')", LAST, dt.timedelta()),
        ("median(7)", 7, 0),
    ],
)
def test_no_quantile_is_beyond_the_highest_value(
    connection: Connection, value: str, most: dt.date | int, near: dt.timedelta | int
) -> None:
    # 500 ranks away from the middle at ε = 8, another cell is chosen with probability below e^-500.
    ((found,),) = connection.execute(f"SELECT {value} FROM stays").fetchall()
    if isinstance(most, int):
        assert isinstance(near, int)
        assert most - near <= number(found) <= most
    else:
        assert isinstance(near, dt.timedelta)
        assert isinstance(found, dt.date)
        assert most - near <= found <= most
