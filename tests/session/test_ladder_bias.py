"""What limits leave out, as ladders let expect, beside how far noise moves values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.dbapi.connection import Connection
from dpsql.session.session import Session

SCHEMA = """
dataset: shop
source: shop.duckdb
units: {{customer: {{table: customers, key: c}}}}
tables:
  customers: {{key: c, unit: customer, columns: {{c: {{type: bigint}}}}}}
  orders:
    unit: {{column: c, references: customers.c}}
    limits: {limits}
    columns:
      c: {{type: bigint}}
      product: {{type: bigint, bounds: [0, 9], nullable: false}}
      rush: {{type: boolean, nullable: false}}
      amount: {{type: integer, bounds: [0, 1000]}}
budget: {{epsilon: 400, allow_large_epsilon: true}}
per_query: {{epsilon: 50, max_epsilon: 200}}
"""

ERRORS = ["±", "bias", "bias low", "bias high"]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Each of 400 customers has two orders of each of four products, each of 20.

    Two, four and eight are the ends of rungs: what most units have, a ladder takes for these.
    """
    with attached(tmp_path / "shop.duckdb") as connection:
        connection.execute(
            "CREATE TABLE customers AS SELECT c FROM range(400) t(c);"
            "CREATE TABLE orders AS SELECT c, (c + p) % 10 AS product, n = 0 AS rush,"
            " 20::INT AS amount FROM range(400) a(c), range(4) b(p), range(2) d(n)"
        )
    return tmp_path


def opened(shop: Path, limits: str = "calibrated") -> Connection:
    (shop / "schema.yaml").write_text(SCHEMA.format(limits=limits))
    return Connection(Session(shop / "schema.yaml", randomness=SeededRandomness("bias")))


@pytest.fixture
def calibrated(shop: Path) -> Iterator[Connection]:
    with closing(opened(shop)) as connection:
        connection.execute("CALIBRATE orders BY product FOR 100")
        yield connection


BY_PRODUCT = "SELECT product, count(*) AS n FROM orders GROUP BY product"
MEAN_TOO = "SELECT product, count(*) AS n, avg(amount) AS mean FROM orders GROUP BY product"


def test_a_bias_has_columns_of_its_own_beside_the_error(calibrated: Connection) -> None:
    cursor = calibrated.execute(MEAN_TOO).with_errors()
    names = [column[0] for column in cursor.description or ()]
    beside = [f"{name} {error}" for name in ("n", "mean") for error in ERRORS]
    assert names == ["product", "n", *beside[:4], "mean", *beside[4:]]
    for row in cursor:
        # What limits leave out of a mean no ladder tells.
        assert row[-3:] == (None, None, None)


def test_a_bias_is_what_the_limits_that_hold_leave_out(calibrated: Connection) -> None:
    """Of four groups and two rows in each, two groups and one row are kept: a quarter."""
    calibrated.execute("SET dpsql.groups = 2")
    calibrated.execute("SET dpsql.rows_per_group = 1")
    cursor = calibrated.execute(BY_PRODUCT)
    (bias,) = set((cursor.biases or [])[1] or [])
    assert bias is not None
    expected, low, high = bias
    assert low <= expected <= high
    assert expected == pytest.approx(320 * 3 / 4, rel=0.05)
    (note,) = [n for n in (cursor.privacy.notes if cursor.privacy else ()) if "leave out" in n]
    assert f"about {expected:.3g} of" in note


def test_where_rows_in_all_are_limited_no_bias_is_told(calibrated: Connection) -> None:
    """How a unit's rows in all are spread over its groups, no ladder says."""
    calibrated.execute("SET dpsql.rows = 4")
    cursor = calibrated.execute(BY_PRODUCT)
    assert cursor.biases == [None, None]
    assert any("can't tell" in n for n in (cursor.privacy.notes if cursor.privacy else ()))
    assert len(cursor.with_errors().description or ()) == 3


@pytest.mark.parametrize("limits", ["{groups: 4, rows_per_group: 1}", "{}"])
def test_what_declared_or_default_limits_leave_out_has_no_column(shop: Path, limits: str) -> None:
    with closing(opened(shop, limits)) as connection:
        cursor = connection.execute(BY_PRODUCT)
        assert cursor.biases == [None, None]
        names = [column[0] for column in cursor.with_errors().description or ()]
        assert names == ["product", "n", "n ±"]


def test_declared_limits_below_what_units_have_count_in_the_bias(shop: Path) -> None:
    limits = "{calibrated: true, groups: 1, rows_per_group: 2}"
    with closing(opened(shop, limits)) as connection:
        connection.execute("CALIBRATE orders BY product FOR 100")
        (bias, *_) = (connection.execute(BY_PRODUCT).biases or [])[1] or []
        assert bias is not None
        assert bias[0] >= 320 * 3 / 4 * 0.95


def test_each_level_has_the_bias_of_its_own_limits(calibrated: Connection) -> None:
    """Totals have no ladder here but that of rows in each group, and none of all."""
    calibrated.execute("CALIBRATE orders FOR 100")
    calibrated.execute("SET dpsql.rows_per_group = 1")
    cursor = calibrated.execute(
        "SELECT product, count(*) AS n FROM orders GROUP BY ROLLUP (product)"
    )
    biases = (cursor.biases or [])[1] or []
    by_level = {
        product is None: bias
        for (product, _), bias in zip(cursor.fetchall(), biases, strict=True)
        if bias is not None
    }
    assert by_level.keys() == {False, True}
    # One row of eight in all, one of two in a group.
    assert by_level[True][0] == pytest.approx(3200 * 7 / 8, rel=0.1)
    assert by_level[False][0] == pytest.approx(320 / 2, rel=0.1)
    # Errors of rows are in the order of the rows.
    shown = cursor.again().with_errors().fetch_arrow_table().column("n bias").to_pylist()
    assert shown == [None if bias is None else bias[0] for bias in biases]


def test_a_sum_of_stored_groups_lacks_what_all_of_them_do(calibrated: Connection) -> None:
    calibrated.execute("SET dpsql.groups = 1")
    calibrated.execute("CALIBRATE orders BY product, rush FOR 60")
    finer = "SELECT rush, product, count(*) AS n FROM orders GROUP BY ALL"
    (one, *_) = (calibrated.execute(finer).biases or [])[2] or []
    calibrated.execute("SET dpsql.reuse = on")
    cursor = calibrated.execute("SELECT rush, count(*) AS n FROM orders GROUP BY rush")
    assert cursor.privacy is not None
    assert cursor.privacy.summed == 10
    assert one is not None
    assert one[0] > 0
    (bias, *_) = (cursor.biases or [])[1] or []
    assert bias == pytest.approx([10 * each for each in one])


def test_a_capped_sum_has_one(calibrated: Connection) -> None:
    calibrated.execute("CALIBRATE orders MEASURE amount BY product FOR 60")
    calibrated.execute("SET dpsql.unit_sum = 20")
    cursor = calibrated.execute("SELECT product, sum(amount) AS s FROM orders GROUP BY product")
    (bias, *_) = (cursor.biases or [])[1] or []
    assert bias is not None
    assert bias[0] >= 320 * 20 / 2 * 0.9


def test_explain_tells_noise_and_bias_together(calibrated: Connection) -> None:
    calibrated.execute("SET dpsql.rows_per_group = 1")
    explained = calibrated.explain(BY_PRODUCT)
    (noise,) = explained.report.releases[0].noise
    assert noise.bias is not None
    assert f"bias {noise.bias.expected:.3g}, " in explained.text()
    assert '"bias": {' in explained.json()
