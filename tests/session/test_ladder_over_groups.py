"""What becomes of units in too many groups, where ladders choose it: drawn, or scaled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness
from session.test_ladders import only_release

from dpsql.dbapi.connection import Connection
from dpsql.plan.bounded_release.bounded_release import ByNorm, LimitGroups
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
      product: {{type: bigint, bounds: [0, 99], nullable: false}}
      few: {{type: bigint, bounds: [0, 1], nullable: false}}
      kind: {{type: bigint}}
      amount: {{type: integer, bounds: [0, 9]}}
budget: {{epsilon: 400, delta: 1.0e-6, allow_large_epsilon: true}}
per_query: {{epsilon: 1, max_epsilon: 200}}
"""

CUSTOMERS = 3000
BY_PRODUCT = "SELECT product, count(*) AS n FROM orders GROUP BY product"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return made(tmp_path)


def made(folder: Path) -> Path:
    """Each customer has one row in most of some 60 products, and six in one of them."""
    with attached(folder / "shop.duckdb") as connection:
        connection.execute(
            f"CREATE TABLE customers AS SELECT c FROM range({CUSTOMERS}) t(c);"
            "CREATE TABLE orders AS SELECT c, (c + p) % 100 AS product, 0::BIGINT AS few,"
            f" p AS kind, 3::INT AS amount FROM range({CUSTOMERS}) a(c), range(60) b(p),"
            " range(6) d(n) WHERE n = 0 OR p = 0"
        )
    return folder


def opened(shop: Path, limits: str = "calibrated") -> Connection:
    (shop / "schema.yaml").write_text(SCHEMA.format(limits=limits))
    return Connection(Session(shop / "schema.yaml", randomness=SeededRandomness("over")))


@pytest.fixture(scope="module")
def of_all_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    with closing(opened(made(tmp_path_factory.mktemp("shop")))) as connection:
        for keys in ("product", "kind", "few"):
            connection.execute(f"CALIBRATE orders BY {keys} FOR 20")
        yield connection


@pytest.fixture
def calibrated(of_all_tests: Connection) -> Connection:
    """A connection with settings of its own to a shop that was calibrated once."""
    return Connection(of_all_tests._session)


def is_scaled(connection: Connection, sql: str) -> bool:
    limited = only_release(connection, sql).step.bounded.limited
    return isinstance(limited, LimitGroups) and isinstance(limited.limit, ByNorm)


def test_units_are_scaled_where_that_has_less_error(calibrated: Connection) -> None:
    """The norm of one group of eight rows is more than that of six in one and one in 59."""
    release = only_release(calibrated, BY_PRODUCT)
    assert is_scaled(calibrated, BY_PRODUCT)
    (note,) = [note for note in release.limit_notes if "less error than if" in note]
    assert note in calibrated.explain(BY_PRODUCT).text()


def test_units_are_drawn_where_all_groups_of_a_unit_are_alike(shop: Path) -> None:
    """Where its rows are one in each, and ε is large enough for all of them, nothing is gained."""
    with attached(shop / "shop.duckdb") as connection:
        connection.execute("CREATE OR REPLACE TABLE orders AS SELECT DISTINCT * FROM orders")
    with closing(opened(shop)) as connection:
        connection.execute("CALIBRATE orders BY product FOR 20")
        connection.execute("SET dpsql.epsilon = 100")
        assert not is_scaled(connection, BY_PRODUCT)
        notes = only_release(connection, BY_PRODUCT).limit_notes
        assert any("leave out" in note for note in notes)
        assert not any("less error than if" in note for note in notes)


@pytest.mark.parametrize("way", ["sample", "scale"])
def test_what_an_analyst_says_is_done(calibrated: Connection, way: str) -> None:
    calibrated.execute(f"SET dpsql.over_groups = {way}")
    assert is_scaled(calibrated, BY_PRODUCT) == (way == "scale")


@pytest.mark.parametrize("way", ["sample", "scale"])
def test_what_the_owner_says_is_done(shop: Path, way: str) -> None:
    with closing(opened(shop, f"{{calibrated: true, over_groups: {way}}}")) as connection:
        connection.execute("CALIBRATE orders BY product FOR 20")
        assert is_scaled(connection, BY_PRODUCT) == (way == "scale")


def test_the_choice_is_part_of_an_answers_key(calibrated: Connection) -> None:
    calibrated.execute("SET dpsql.groups = 4")
    calibrated.execute("SET dpsql.rows_per_group = 4")
    keys = set()
    for way in ("DEFAULT", "sample", "scale"):
        calibrated.execute(f"SET dpsql.over_groups = {way}")
        keys.add(only_release(calibrated, BY_PRODUCT).key)
    assert len(keys) == 2


def lost(connection: Connection, sql: str) -> tuple[int, float]:
    """The limit of groups, and the part of all rows that is left out, as expected."""
    release = only_release(connection, sql)
    limited = release.step.bounded.limited
    assert isinstance(limited, LimitGroups)
    (bias,) = release.biases.values()
    groups = limited.limit.groups if isinstance(limited.limit, ByNorm) else 0
    return groups or release.sensitivity.groups, bias.expected / bias.total


def test_a_bias_is_that_of_the_way_that_is_done(calibrated: Connection) -> None:
    """Of 60 groups g are kept where they are drawn; scaled, √(60·g) of them.

    And of 65 rows 60, which are not the second to sixth in a group.
    """
    calibrated.execute("SET dpsql.groups = 8")
    calibrated.execute("SET dpsql.rows_per_group = 1")
    calibrated.execute("SET dpsql.over_groups = sample")
    groups, part = lost(calibrated, BY_PRODUCT)
    assert part == pytest.approx(1 - groups / 60 * 60 / 65, abs=0.05)
    calibrated.execute("SET dpsql.over_groups = scale")
    groups, part = lost(calibrated, BY_PRODUCT)
    assert part == pytest.approx(1 - (groups / 60) ** 0.5 * 60 / 65, abs=0.05)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT product, count(DISTINCT c) FROM orders GROUP BY product",
        "SELECT product, median(amount) FROM orders GROUP BY product",
        "SELECT kind, count(*) FROM orders GROUP BY kind",
        "SELECT few, count(*) FROM orders GROUP BY few",
    ],
)
def test_what_has_no_parts_is_drawn(calibrated: Connection, sql: str) -> None:
    assert not is_scaled(calibrated, sql)
    release = only_release(calibrated, sql)
    assert not any("less error than if" in note for note in release.limit_notes)


def test_where_units_are_counted_too_they_are_drawn_and_the_bias_is_that(
    calibrated: Connection,
) -> None:
    calibrated.execute("SET dpsql.groups = 8")
    calibrated.execute("SET dpsql.rows_per_group = 2")
    # With one row of a unit in a group, units would be rows.
    sql = "SELECT product, count(*), count(DISTINCT c) FROM orders GROUP BY product"
    assert not is_scaled(calibrated, sql)
    groups, part = lost(calibrated, sql)
    assert part == pytest.approx(1 - groups / 60 * 61 / 65, abs=0.05)
