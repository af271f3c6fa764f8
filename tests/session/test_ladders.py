"""CALIBRATE: ladders that are drawn once, and the limits of all later queries by them.

Answers are asked for with an ε of 50 or more where they are compared with true ones: noise is then
beyond what is allowed for with a probability below 10^-9.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.bind.statements.calibrate import Rungs
from dpsql.dbapi.connection import Connection
from dpsql.errors import BudgetSpent, Error, Refused
from dpsql.plan.bounded_release.bounded_release import ByNorm, LimitGroups
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.schema.load.load import load_schema
from dpsql.schema.policy_diff import policy_relaxations
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.ladders.group_share import counted_share
from dpsql.session.ladders.stored_ladders import ROWS, LadderForm, LadderMetadata, StoredLadders
from dpsql.session.session import Session

SCHEMA = """
dataset: shop
source: shop.duckdb
neighbors: {neighbors}
units:
  customer: {{table: customers, key: c}}
tables:
  customers:
    key: c
    unit: customer
    limits: {limits}
    columns:
      c: {{type: bigint}}
      kind: {{type: varchar, values: [few, many], nullable: false}}
      worth: {{type: double}}
  orders:
    unit: {{column: c, references: customers.c}}
    limits: {limits}
    columns:
      c: {{type: bigint}}
      product: {{type: bigint, bounds: [0, 19]}}
      amount: {{type: "decimal(12,2)"}}
      size: {{type: integer, bounds: [0, 10]}}
budget: {{epsilon: 400, allow_large_epsilon: true{budget}}}
per_query: {{epsilon: 50, max_epsilon: 200}}
"""

CUSTOMERS = 400


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Most customers have four orders of each of two products; four have 40 of each of ten."""
    with attached(tmp_path / "shop.duckdb") as connection:
        connection.execute(
            "CREATE TABLE customers AS"
            " SELECT c, CASE WHEN c < 4 THEN 'many' ELSE 'few' END AS kind,"
            f" (10 + c % 7)::DOUBLE AS worth FROM range({CUSTOMERS}) t(c);"
            "CREATE TABLE orders AS SELECT c, (c + p) % 20 AS product,"
            " (5 + n)::DECIMAL(12,2) AS amount, 3::INT AS size"
            f" FROM range({CUSTOMERS}) a(c), range(10) b(p), range(40) d(n)"
            " WHERE c < 4 OR (p < 2 AND n < 4)"
        )
    return tmp_path


def schema_file(folder: Path, limits: str = "calibrated", budget: str = "", **others: str) -> Path:
    path = folder / "schema.yaml"
    neighbors = others.get("neighbors", "add_remove")
    path.write_text(SCHEMA.format(limits=limits, budget=budget, neighbors=neighbors))
    return path


@pytest.fixture
def shop_connection(shop: Path) -> Iterator[Connection]:
    with closing(opened(schema_file(shop))) as connection:
        yield connection


def opened(path: Path, analyst: str = "analyst", seed: str = "ladders") -> Connection:
    return Connection(Session(path, analyst=analyst, randomness=SeededRandomness(seed)))


def only_release(connection: Connection, sql: str) -> CompiledRelease:
    (release,) = connection._session.compile(sql, connection._options).releases
    return release


def limits_of(connection: Connection, sql: str) -> tuple[int, int]:
    """The groups of a unit that count, and its rows in each."""
    release = only_release(connection, sql)
    limited = release.step.bounded.limited
    assert isinstance(limited, LimitGroups)
    limit, per_group = limited.limit, limited.source.rows_per_group
    return limit.groups if isinstance(limit, ByNorm) else release.sensitivity.groups, per_group


def spent(connection: Connection) -> Fraction:
    return connection._session.balance().spent.amount


def value(connection: Connection, sql: str) -> float:
    (column,) = connection.execute(sql).fetch_arrow_table().columns
    return float(column.to_pylist()[0])


def counts(connection: Connection, sql: str) -> dict[tuple[str, float | None, str | None], int]:
    """The noisy counts of ladders, by part, rung and key."""
    rows = connection.execute(sql).fetch_arrow_table().to_pylist()
    return {(row["part"], row["up_to"], row["key"]): row["count"] for row in rows}


BY_PRODUCT = "SELECT product, count(*) FROM orders GROUP BY product"


def test_ladders_cost_what_they_are_asked_for_and_nothing_again(
    shop_connection: Connection,
) -> None:
    first = shop_connection.execute("CALIBRATE orders BY product FOR 40").fetchall()
    assert float(spent(shop_connection)) == pytest.approx(40, rel=1e-3)
    assert shop_connection.execute("CALIBRATE orders BY product FOR 40").fetchall() == first
    assert spent(shop_connection) <= 40


def test_counts_are_those_of_most_units_and_their_rungs(shop_connection: Connection) -> None:
    drawn = counts(shop_connection, "CALIBRATE orders BY product FOR 200")
    assert drawn["groups of a unit", 2.0, None] == pytest.approx(396, abs=3)
    assert drawn["rows of a unit in a group", 4.0, None] == pytest.approx(792, abs=30)


def test_rungs_that_nobody_is_in_have_noise(shop_connection: Connection) -> None:
    """Noise of scale 10 is 0 once in twenty draws: half of 45 are with a probability of 10^-16."""
    drawn = counts(shop_connection, "CALIBRATE orders BY product FOR 0.1")
    for part in ("groups of a unit", "rows of a unit in a group"):
        highest = [n for (name, end, _), n in drawn.items() if name == part and (end or 0) > 64]
        assert len(highest) >= 45
        assert sum(count != 0 for count in highest) > len(highest) / 2


def test_limits_follow_the_ladders_and_differ_by_epsilon(shop_connection: Connection) -> None:
    shop_connection.execute("CALIBRATE orders BY product FOR 100")
    shop_connection.execute("SET dpsql.over_groups = sample")
    assert limits_of(shop_connection, BY_PRODUCT)[0] >= 2
    shop_connection.execute("SET dpsql.epsilon = 0.01")
    groups, rows = limits_of(shop_connection, BY_PRODUCT)
    assert groups <= 2
    assert rows <= 4


def test_without_ladders_default_limits_hold_and_are_told(shop_connection: Connection) -> None:
    assert limits_of(shop_connection, BY_PRODUCT) == (8, 8)
    privacy = shop_connection.execute(BY_PRODUCT).privacy
    assert privacy is not None
    assert any("CALIBRATE orders FOR 0.5" in note for note in privacy.notes)


def test_ladders_that_are_noise_choose_nothing(shop_connection: Connection) -> None:
    """At ε = 0.001 no count of 400 units is beyond noise of thousands: false failure below 1e-4."""
    shop_connection.execute("CALIBRATE orders FOR 0.001 AS faint")
    shop_connection.execute("CALIBRATE customers MEASURE worth FOR 0.001")
    release = only_release(shop_connection, "SELECT count(*) FROM orders")
    assert not any("faint" in note for note in release.limit_notes)
    with pytest.raises(Refused, match="needs bounds"):
        shop_connection.execute("SELECT sum(worth) FROM customers")


def test_a_count_of_all_rows_is_near_the_true_one(shop_connection: Connection) -> None:
    shop_connection.execute("CALIBRATE orders FOR 50")
    assert value(shop_connection, "SELECT count(*) FROM orders") == pytest.approx(4768, rel=0.06)


def test_a_ladder_counts_whole_units_where_those_in_too_many_groups_are_scaled(shop: Path) -> None:
    """What it chooses are limits of units that are scaled, too, unless their sums are capped."""
    limits = "{calibrated: true, over_groups: scale}"
    with closing(opened(schema_file(shop, limits))) as connection:
        drawn = counts(connection, "CALIBRATE orders BY product FOR 100")
        assert drawn["groups of a unit", 2.0, None] == pytest.approx(396, abs=3)
        connection.execute("CALIBRATE orders MEASURE amount BY product FOR 100")
        count = only_release(connection, BY_PRODUCT).step.bounded
        assert isinstance(count.limited, LimitGroups)
        assert isinstance(count.limited.limit, ByNorm)
        assert count.limited.limit.groups < 20
        summed = only_release(connection, "SELECT product, sum(amount) FROM orders GROUP BY 1")
        assert isinstance(summed.step.bounded.limited, LimitGroups)
        assert not isinstance(summed.step.bounded.limited.limit, ByNorm)


def test_a_column_without_bounds_is_summed_and_averaged_within_a_cap(
    shop_connection: Connection,
) -> None:
    with pytest.raises(Refused, match="needs bounds"):
        shop_connection.execute("SELECT sum(worth) FROM customers")
    shop_connection.execute("CALIBRATE customers MEASURE worth FOR 50")
    true = sum(10 + c % 7 for c in range(CUSTOMERS))
    total = value(shop_connection, "SELECT sum(worth) FROM customers")
    assert total == pytest.approx(true, rel=0.02)
    mean = value(shop_connection, "SELECT avg(worth) FROM customers")
    assert mean == pytest.approx(true / CUSTOMERS, rel=0.05)


def test_a_sum_by_keys_has_a_cap_in_each_group(shop_connection: Connection) -> None:
    shop_connection.execute("CALIBRATE orders MEASURE amount BY product FOR 100 AS by_product")
    release = only_release(shop_connection, "SELECT product, sum(amount) FROM orders GROUP BY 1")
    assert any("by_product" in note and "leave out" in note for note in release.limit_notes)
    (statistic,) = release.step.bounded.contributions.statistics
    # Four orders of up to 8.00 each, of most customers: 26.00 in a group.
    assert Fraction(16) <= release.sensitivity.per_group[0] * statistic.step <= Fraction(2000)


def test_a_mean_divides_the_sum_whose_cap_was_chosen(shop_connection: Connection) -> None:
    """Half of all orders are of four customers with 400 each: their part is cut, of both alike."""
    shop_connection.execute("CALIBRATE orders MEASURE amount FOR 60")
    shop_connection.execute("CALIBRATE orders FOR 60")
    release = only_release(shop_connection, "SELECT avg(amount), sum(amount), count(*) FROM orders")
    terms = [type(s.term).__name__ for s in release.step.bounded.contributions.statistics]
    assert sorted(terms) == ["CappedSum", "NonNullCount", "RowCount"]
    mean = value(shop_connection, "SELECT avg(amount) FROM orders")
    assert 5 <= mean <= 30


def test_what_is_left_out_of_a_group_is_told_of_one_group(shop: Path) -> None:
    """A ladder of all sums is read by the groups that another one has seen."""
    path = schema_file(shop, budget=", delta: 1.0e-6")
    path.write_text(path.read_text().replace("bigint, bounds: [0, 19]", "bigint"))
    with closing(opened(path)) as connection:
        connection.execute("CALIBRATE orders BY product FOR 100")
        connection.execute("CALIBRATE orders MEASURE amount FOR 100")
        sql = "SELECT product, sum(amount) FROM orders GROUP BY 1"
        (told,) = only_release(connection, sql).limit_notes
    in_a_group = float(told.split(" of ")[1].split()[0].replace(",", ""))
    # 396 customers have 8 orders, of 26.00 for each of two products; four have 400, of 9,800.00.
    assert in_a_group == pytest.approx((396 * 52 + 4 * 9800) / 20, rel=0.5)


def test_an_expression_is_known_whatever_it_is_called(shop_connection: Connection) -> None:
    shop_connection.execute("CALIBRATE orders MEASURE amount * size FOR 50")
    sql = "WITH t AS (SELECT size AS a, amount AS b FROM orders) SELECT sum(b * a) FROM t"
    assert only_release(shop_connection, sql).limit_notes
    with pytest.raises(Refused, match="needs bounds"):
        shop_connection.execute("SELECT sum(amount * size * 2) FROM orders")


def test_ladders_are_of_all_that_units_have_whatever_limits_the_schema_states(shop: Path) -> None:
    path = schema_file(shop, limits="{groups: 1, rows_per_group: 1, rows: 1}")
    with closing(opened(path)) as connection:
        drawn = counts(connection, "CALIBRATE orders BY product FOR 200")
        assert drawn["rows of a unit in a group", 4.0, None] == pytest.approx(2 * 396, abs=8)


def test_ladders_of_other_keys_choose_no_limits_by_these(shop_connection: Connection) -> None:
    shop_connection.execute("CALIBRATE orders BY size FOR 100 AS by_size")
    release = only_release(shop_connection, BY_PRODUCT)
    assert not any("by_size" in note for note in release.limit_notes)


def test_ladders_of_another_table_choose_no_limits_here(shop_connection: Connection) -> None:
    shop_connection.execute("CALIBRATE customers FOR 100 AS of_customers")
    release = only_release(shop_connection, "SELECT count(*) FROM orders")
    assert not any("of_customers" in note for note in release.limit_notes)


def test_a_key_that_a_condition_fixes_is_one_of_the_ladders_groups(
    shop_connection: Connection,
) -> None:
    shop_connection.execute("CALIBRATE orders BY product FOR 100 AS by_product")
    release = only_release(shop_connection, "SELECT count(*) FROM orders WHERE product = 7")
    assert any("by_product" in note for note in release.limit_notes)


def test_a_part_of_the_units_is_read_off_the_counts_of_its_groups(
    shop_connection: Connection,
) -> None:
    """Of four customers noise is much, of 396 it is little: the cap of the few is no higher."""
    shop_connection.execute("CALIBRATE customers MEASURE worth BY kind FOR 50")
    shop_connection.execute("SET dpsql.epsilon = 0.1")
    sql = "SELECT sum(worth) FROM customers WHERE kind = '{}'"
    few, many = (only_release(shop_connection, sql.format(kind)) for kind in ("few", "many"))
    assert many.sensitivity.per_group[0] <= few.sensitivity.per_group[0]
    (told,) = many.limit_notes
    total = float(told.split(" of ")[1].split()[0].replace(",", ""))
    assert total == pytest.approx(4 * 13, abs=60)


def test_rows_in_all_are_limited_where_that_leaves_out_less(shop: Path) -> None:
    """Of twelve orders of each customer ten are of one product: ten in each of three are thirty."""
    with attached(shop / "shop.duckdb") as connection:
        connection.execute(
            "CREATE OR REPLACE TABLE orders AS SELECT c, (c + greatest(n - 9, 0)) % 20 AS product,"
            " 1::DECIMAL(12,2) AS amount, 3::INT AS size"
            f" FROM range({CUSTOMERS}) a(c), range(12) d(n)"
        )
    with closing(opened(schema_file(shop))) as connection:
        connection.execute("CALIBRATE orders BY product FOR 100")
        assert only_release(connection, BY_PRODUCT).sensitivity.l1.total(moved) > 20
        connection.execute("CALIBRATE orders FOR 100")
        release = only_release(connection, BY_PRODUCT)
        assert 12 <= release.sensitivity.l1.total(moved) <= 16
        rows = connection.execute(BY_PRODUCT).fetch_arrow_table().to_pylist()
        assert sum(row["count_star()"] for row in rows) == pytest.approx(12 * CUSTOMERS, abs=60)


def moved(_: int, change: int) -> Fraction:
    """What a statistic of noise 1 loses that moves so far."""
    return Fraction(change)


def test_a_part_that_noise_hides_is_taken_for_as_large_as_noise() -> None:
    form = LadderForm(Rungs(0, 4), DiscreteLaplace(Fraction(2)))
    about = LadderMetadata("t", (), ("of kind",), None, 1, 1, 100, {ROWS: form})
    units = {'["few"]': -70, '["many"]': 9900}
    ladders = StoredLadders(1, "kinds", about, {ROWS: form.ladder([0] * 5)}, units)
    assert counted_share(ladders, {"of kind": frozenset(["few"])}) == (Fraction(1, 100), 1)


def test_who_has_a_cap_of_their_own_pays_for_a_first_look(shop: Path) -> None:
    path = schema_file(shop)
    path.write_text(path.read_text() + "analysts: {bob: {epsilon: 60}}\n")
    with closing(opened(path)) as connection:
        connection.execute("CALIBRATE orders BY product FOR 40 AS by_product")
    with closing(opened(path, "bob")) as connection:
        connection.execute("SELECT 1")
        explained = connection.explain(BY_PRODUCT).text()
        assert "by_product" not in explained
        assert connection.budget.own.epsilon_spent == 0
        connection.execute("SET dpsql.epsilon = 1")
        connection.execute(BY_PRODUCT)
        assert float(connection.budget.own.epsilon_spent) == pytest.approx(41, rel=1e-3)
        assert "by_product" in connection.explain(BY_PRODUCT).text()


def test_declared_limits_stay_the_highest(shop: Path) -> None:
    path = schema_file(shop, limits="{calibrated: true, groups: 2, rows_per_group: 3, rows: 5}")
    with closing(opened(path)) as connection:
        connection.execute("CALIBRATE orders BY product FOR 100")
        groups, rows = limits_of(connection, BY_PRODUCT)
        assert groups <= 2
        assert rows <= 3


def test_what_is_set_is_no_looser_than_what_is_declared(shop: Path) -> None:
    with closing(opened(schema_file(shop, limits="{groups: 2, rows_per_group: 3}"))) as connection:
        connection.execute("SET dpsql.groups = 9")
        connection.execute("SET dpsql.rows_per_group = 50")
        assert limits_of(connection, BY_PRODUCT) == (2, 3)


def test_what_is_set_stays_tighter(shop_connection: Connection) -> None:
    shop_connection.execute("CALIBRATE orders BY product FOR 100")
    shop_connection.execute("SET dpsql.over_groups = sample")
    assert limits_of(shop_connection, BY_PRODUCT)[1] > 1
    shop_connection.execute("SET dpsql.rows_per_group = 1")
    assert limits_of(shop_connection, BY_PRODUCT)[1] == 1


def test_limits_are_part_of_an_answers_key(shop_connection: Connection) -> None:
    before = only_release(shop_connection, BY_PRODUCT).key
    shop_connection.execute("CALIBRATE orders BY product FOR 50")
    assert limits_of(shop_connection, BY_PRODUCT) != (8, 8)
    assert only_release(shop_connection, BY_PRODUCT).key != before
    shop_connection.execute(BY_PRODUCT)
    again = shop_connection.execute(BY_PRODUCT).privacy
    assert again is not None
    assert again.stored


def test_no_row_is_read_for_a_choice(shop: Path) -> None:
    """Two databases with one ladder: what is chosen, and what it is told by, is the same."""
    path = schema_file(shop)
    with closing(opened(path)) as connection:
        connection.execute("CALIBRATE orders MEASURE amount BY product FOR 20")
        connection.execute("CALIBRATE orders BY product FOR 20")
        sqls = [BY_PRODUCT, "SELECT product, sum(amount) FROM orders GROUP BY 1"]
        before = [only_release(connection, sql) for sql in sqls]
    with attached(shop / "shop.duckdb") as changed:
        changed.execute("DELETE FROM orders WHERE c < 200; DELETE FROM customers WHERE c < 200")
    with closing(opened(path)) as connection:
        for sql, release in zip(sqls, before, strict=True):
            now = only_release(connection, sql)
            assert now.step.bounded.limited == release.step.bounded.limited
            old = set(release.limit_notes)
            assert old <= set(now.limit_notes)


def test_ladders_of_an_earlier_version_are_told_to_be_old(shop: Path) -> None:
    path = schema_file(shop)
    with closing(opened(path)) as connection:
        connection.execute("CALIBRATE orders FOR 20 AS rows_of_orders")
        sql = "SELECT count(*) FROM orders"
        assert not any("earlier" in n for n in only_release(connection, sql).limit_notes)
    with attached(shop / "shop.duckdb") as changed:
        changed.execute("DELETE FROM orders WHERE c = 7")
    with closing(opened(path)) as connection:
        notes = only_release(connection, sql).limit_notes
        assert any("earlier version" in note and "rows_of_orders" in note for note in notes)


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
@pytest.mark.parametrize("budget", ["", ", delta: 1.0e-6", ", delta: 1.0e-6, accounting: approx"])
def test_every_accounting_draws_ladders_within_their_price(
    shop: Path, budget: str, neighbors: str
) -> None:
    path = schema_file(shop, budget=budget, neighbors=neighbors)
    with closing(opened(path)) as connection:
        for clauses in ("", "BY product", "MEASURE amount", "MEASURE amount BY product, size"):
            before = connection.budget.dataset.epsilon_spent
            connection.execute(f"CALIBRATE orders {clauses} FOR 8")
            assert connection.budget.dataset.epsilon_spent - before <= 8.001
        connection.execute("CALIBRATE customers MEASURE worth BY kind FOR 8")
        assert connection.execute(BY_PRODUCT).fetchall()


def test_units_are_counted_by_keys_that_they_determine(shop_connection: Connection) -> None:
    drawn = counts(shop_connection, "CALIBRATE customers MEASURE worth BY kind FOR 50")
    assert drawn["units in a group", None, '["few"]'] == pytest.approx(396, abs=9)
    assert drawn["units in a group", None, '["many"]'] == pytest.approx(4, abs=9)


def test_only_whom_the_owner_names_may_draw_them(shop: Path) -> None:
    path = schema_file(shop, budget=", calibrators: [alice]")
    with closing(opened(path, "bob")) as connection:
        with pytest.raises(Refused, match="bob may not CALIBRATE"):
            connection.execute("CALIBRATE orders FOR 1")
        assert spent(connection) == 0
    with closing(opened(path, "alice")) as connection:
        connection.execute("CALIBRATE orders FOR 50")
    with closing(opened(path, "bob")) as connection:
        assert only_release(connection, "SELECT count(*) FROM orders").limit_notes


def test_what_costs_more_than_is_left_draws_nothing(shop: Path) -> None:
    path = schema_file(shop)
    with closing(opened(path)) as connection:
        for price in ("200", "150"):
            connection.execute(f"CALIBRATE orders FOR {price}")
        with pytest.raises(BudgetSpent):
            connection.execute("CALIBRATE customers FOR 120")


def test_a_price_is_told_and_free(shop_connection: Connection) -> None:
    told = shop_connection.explain("CALIBRATE orders BY product FOR 3")
    assert told.report.price is not None
    assert told.report.price.epsilon == pytest.approx(3, rel=1e-3)
    assert len(told.report.releases) == 3
    assert spent(shop_connection) == 0
    assert shop_connection.share("CALIBRATE orders BY product FOR 100") == Fraction(1, 4)


def test_ladders_are_dropped_by_name(shop_connection: Connection) -> None:
    shop_connection.execute("CALIBRATE orders FOR 50 AS mine")
    sql = "SELECT count(*) FROM orders"
    assert "mine" in "".join(only_release(shop_connection, sql).limit_notes)
    shop_connection.execute("DROP LADDER mine")
    assert "mine" not in "".join(only_release(shop_connection, sql).limit_notes)


@pytest.mark.parametrize(
    "sql",
    [
        "CALIBRATE",
        "CALIBRATE orders",
        "CALIBRATE orders FOR",
        "CALIBRATE orders FOR x",
        "CALIBRATE orders FOR 0",
        "CALIBRATE orders FOR -1",
        "CALIBRATE orders FOR 1 AS",
        "CALIBRATE orders BY FOR 1",
        "CALIBRATE orders MEASURE BY product FOR 1",
        "CALIBRATE orders BY product MEASURE amount FOR 1",
        "CALIBRATE orders BY product, FOR 1",
        "CALIBRATE orders MEASURE (amount FOR 1",
        "CALIBRATE orders MEASURE sum(amount) FOR 1",
        "CALIBRATE orders MEASURE amount FROM customers FOR 1",
        "CALIBRATE orders ALONG customers, nothing FOR 1",
        "CALIBRATE nothing FOR 1",
        "CALIBRATE orders, customers FOR 1",
        "CALIBRATE orders FOR 1 AS customers",
        "CALIBRATE orders FOR 1; SELECT 1",
        "CALIBRATE orders MEASURE (SELECT count(*) FROM orders) FOR 1",
        "CALIBRATE orders MEASURE amount BY (SELECT max(c) FROM customers) FOR 1",
        "CALIBRATE orders BY * FOR 1",
    ],
)
def test_what_is_written_otherwise_is_refused_and_free(
    shop_connection: Connection, sql: str
) -> None:
    with pytest.raises(Error):
        shop_connection.execute(sql)
    assert spent(shop_connection) == 0


def test_calibrated_limits_are_looser_than_defaults_for_a_ledger(shop: Path) -> None:
    old = load_schema(schema_file(shop, limits="{groups: 8}"))
    new = load_schema(schema_file(shop))
    looser = policy_relaxations(old.policy, new.policy)
    assert any("limits.groups of orders" in line for line in looser)
    assert not any("limits" in line for line in policy_relaxations(new.policy, old.policy))
