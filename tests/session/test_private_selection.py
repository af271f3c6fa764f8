"""The best of public rows by counts of private ones: what is chosen, by which law, at what price.

Laws are compared by chi-squared tests, each of which fails falsely with a probability of 10^-6.
"""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from data.database import attached
from data.insertion import insert
from notes.exact import raw_groups
from privacy.laws import exponential_law, fit, permute_and_flip_law
from privacy.seeded import SeededRandomness

import dpsql
from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.plan.bounded_release.estimator import ChosenValue
from dpsql.privacy.accounting.loss import Accounting
from dpsql.release.add_noise import choose_cells, rows_in_cells
from dpsql.session.session import Session

ALPHA = 1e-6

SCHEMA = """
dataset: auction-{accounting}
source: data.duckdb
neighbors: {neighbors}
units:
  bidder: {{table: bidders, key: bidder_id}}
tables:
  bidders: {{key: bidder_id, unit: bidder, columns: {{bidder_id: {{type: bigint}}}}}}
  bids:
    unit: {{column: bidder_id, references: bidders.bidder_id}}
    limits: {{groups: 1, rows_per_group: 2, rows: 2}}
    columns:
      bidder_id: {{type: bigint}}
      bid: {{type: "decimal(6,2)", bounds: [0, 50]}}
  prices:
    public: true
    columns:
      price: {{type: "decimal(6,2)"}}
      cost: {{type: "decimal(6,2)"}}
budget: {{epsilon: 64, delta: {delta}, accounting: {accounting}}}
per_query: {{epsilon: 1, max_epsilon: 64}}
"""

PRICES = [(5, 9), (12, 9), (20, 11), (30, 18)]
BIDS = [bid + Fraction(1, 4) * (n % 3) for n in range(40) for bid in (4, 11, 12, 19, 20, 33)]
"""Of 120 bidders, two each; quarters above or at a price."""

PRICE = """
SELECT price FROM prices
ORDER BY (SELECT count(*) * price FROM bids WHERE bid >= price) DESC LIMIT 1
"""
PROFIT = """
SELECT price FROM prices
ORDER BY (price - cost) * (SELECT count(*) FROM bids WHERE price < bid) DESC LIMIT 1
"""
FEWEST = "SELECT price FROM prices ORDER BY (SELECT count(*) FROM bids WHERE bid <= price) LIMIT 1"


def opened(
    folder: Path,
    accounting: Accounting = Accounting.PURE,
    *,
    neighbors: str = "add_remove",
    seed: str = "choice",
    epsilon: Fraction = Fraction(1),
) -> Session:
    source = folder / "data.duckdb"
    if not source.exists():
        with attached(source) as connection:
            connection.execute("CREATE TABLE bidders AS SELECT range AS bidder_id FROM range(120)")
            connection.execute("CREATE TABLE bids (bidder_id BIGINT, bid DECIMAL(6,2))")
            connection.execute("CREATE TABLE prices (price DECIMAL(6,2), cost DECIMAL(6,2))")
            rows = [(n // 2, float(bid)) for n, bid in enumerate(BIDS)]
            insert(connection, "bids", rows)
            insert(connection, "prices", PRICES)
    delta = 0 if accounting is Accounting.PURE else "1.0e-6"
    path = folder / f"{accounting.value}-{neighbors}.yaml"
    path.write_text(SCHEMA.format(accounting=accounting.value, delta=delta, neighbors=neighbors))
    return Session(path, epsilon=epsilon, randomness=SeededRandomness(seed))


def scores(sql: str) -> tuple[list[Fraction], Fraction]:
    """The score of each price, the best being greatest, and how far a row moves two apart."""
    match sql:
        case _ if sql == PRICE:
            return [p * Fraction(sum(b >= p for b in BIDS)) for p, _ in PRICES], Fraction(30 - 5)
        case _ if sql == PROFIT:
            # Of a bid of more than 30 the profits of 12 and of -4 come apart.
            found = [(p - c) * Fraction(sum(b > p for b in BIDS)) for p, c in PRICES]
            return found, Fraction(12 + 4)
        case _:
            return [-Fraction(sum(b <= p for b in BIDS)) for p, _ in PRICES], Fraction(1)


@pytest.mark.parametrize("accounting", [Accounting.PURE, Accounting.ZCDP])
@pytest.mark.parametrize("sql", [PRICE, PROFIT, FEWEST], ids=["price", "profit", "fewest"])
def test_the_choice_has_the_law_of_its_scores(
    tmp_path: Path, sql: str, accounting: Accounting
) -> None:
    found, apart = scores(sql)
    # So little that several candidates are likely.
    epsilon = 2 * 2 * apart / (max(found) - sorted(found)[-2])
    with closing(opened(tmp_path, accounting, epsilon=epsilon.limit_denominator(1000))) as session:
        (release,) = session.compile(sql).releases
    with attached(tmp_path / "data.duckdb", read_only=True) as connection:
        raw = raw_groups(connection, release, "1")
    step, source = release.step, SeededRandomness(f"{sql}{accounting}")
    (choice,), (chooser,) = step.bounded.contributions.cell_choices, step.measurement.choosers
    # All draws at once, as if so many groups had these rows.
    counted = rows_in_cells(raw.histograms[0], step.bounded, step.query)
    keys: list[Cell] = [(n,) for n in range(50_000)]
    tiled = dict.fromkeys(keys, counted[()])
    (chosen,) = choose_cells(tiled, keys, choice, chooser, source)
    estimator = step.bounded.outputs[0].estimator
    assert isinstance(estimator, ChosenValue)
    drawn = [[p for p, _ in PRICES].index(estimator.values[n]) for n in chosen.tolist()]
    granted = step.measurement.loss.amount
    losses = [max(found) - score for score in found]
    rows = 2
    if accounting is Accounting.ZCDP:
        rate = Fraction(sqrt(8 * granted)).limit_denominator(10**12) / (rows * apart)
        law = exponential_law(losses, rate)
        faster = exponential_law(losses, rate * 11 / 10)
    else:
        rate = granted / (rows * apart)
        law = permute_and_flip_law(losses, rate)
        faster = permute_and_flip_law(losses, rate * 11 / 10)
    assert fit(np.array(drawn), law) > ALPHA
    assert fit(np.array(drawn), faster) < ALPHA


@pytest.mark.parametrize("sql", [PRICE, PROFIT, FEWEST], ids=["price", "profit", "fewest"])
def test_with_a_large_epsilon_the_best_is_chosen(tmp_path: Path, sql: str) -> None:
    found, _ = scores(sql)
    best = PRICES[found.index(max(found))][0]
    with closing(opened(tmp_path, epsilon=Fraction(60))) as session:
        answer = session.query(sql)
        assert answer.table.column(0).to_pylist() == [best]
        assert answer.privacy.loss is not None
        assert answer.privacy.loss.amount == 60
        (column,) = answer.privacy.columns
        assert (column.mechanism, column.half_width) == ("permute-and-flip", None)
        assert column.score_error is not None


def test_where_rows_are_replaced_all_scores_move_in_one_direction_too(tmp_path: Path) -> None:
    """A bid of 35 instead of 12 moves the scores of 20 and 30 up, and those of 5 and 12 nowhere."""
    removed, replaced = (
        opened(tmp_path, neighbors=neighbors).compile(PRICE).releases[0].step.measurement.choosers
        for neighbors in ("add_remove", "change_one")
    )
    # Two bids, from 5 to 30 apart; and from 0 to 30 apart.
    assert [c.mechanism.spread for c in (*removed, *replaced)] == [2 * 25, 2 * 30]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "other",
    [
        PRICE.replace(">=", ">"),
        PRICE.replace("* price", "* cost"),
        PRICE.replace("* price", "* (price + 1)"),
        PRICE.replace("FROM prices", "FROM prices WHERE price < 30"),
        PRICE.replace("DESC", ""),
        PRICE.replace("SELECT price", "SELECT price + 0 * cost AS price"),
        PRICE.replace("bid >=", "bid <> 4 AND bid >="),
    ],
)
def test_other_candidates_weights_or_rows_are_another_answer(tmp_path: Path, other: str) -> None:
    with closing(opened(tmp_path)) as session:
        keys = [session.compile(sql).releases[0].key for sql in (PRICE, other)]
    assert len({*keys}) == 2


def test_the_same_choice_written_otherwise_is_free(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as session:
        first = session.query(PRICE)
        again = session.query(
            "SELECT q.price AS p FROM (SELECT price FROM prices ORDER BY price) AS q ORDER BY"
            " q.price * (SELECT count(*) FROM bids AS b WHERE q.price <= b.bid) DESC LIMIT 1"
        )
        assert again.table.column(0).to_pylist() == first.table.column(0).to_pylist()
        assert again.privacy.stored


def test_a_table_without_rows_chooses_as_well(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with attached(tmp_path / "data.duckdb") as connection:
        connection.execute("DELETE FROM bids")
    with closing(opened(tmp_path)) as session:
        (value,) = session.query(PRICE).table.column(0).to_pylist()
        assert value in [price for price, _ in PRICES]


def test_columns_of_the_chosen_row_are_chosen_together(tmp_path: Path) -> None:
    with closing(opened(tmp_path, epsilon=Fraction(1, 100))) as session:
        answer = session.query(PRICE.replace("SELECT price", "SELECT *, price - cost AS margin"))
        (row,) = answer.table.to_pylist()
        price, cost, margin = row.values()
        assert (price, cost) in PRICES
        assert margin == price - cost


def test_a_choice_cannot_read_what_is_private_of_its_candidates(tmp_path: Path) -> None:
    sql = PRICE.replace("count(*) * price", "count(*) * bid")
    with closing(opened(tmp_path)) as session, pytest.raises(Refused, match="by equalities"):
        session.query(sql)


OF_LIST = "SELECT x FROM (VALUES {}) AS t(x, w) ORDER BY (SELECT {} FROM bids WHERE {}) LIMIT 1"
DAY = "DATE '2024-01-01' + CAST(bid AS INTEGER)"
HUGE = 4 * 10**19

ANSWERS = {
    # A column that nobody reads, of a row that is there all the same.
    f"SELECT count(*) FROM ({PRICE})": ["1"],
    f"SELECT price + 1 AS p FROM ({PRICE}) UNION ALL SELECT 7 ORDER BY p": ["7.00", "13.00"],
    f"WITH best AS ({PRICE}) SELECT p.cost FROM best JOIN prices AS p USING (price)": ["9.00"],
    f"SELECT ({PRICE}) * 2": ["24.00"],
    OF_LIST.format("(NULL, 1), (12, 1)", "w * count(*)", "bid >= x"): ["None"],
    OF_LIST.format(f"(12, 1), ({HUGE}, 1)", "-x * count(*)", "bid < x"): [str(HUGE)],
    OF_LIST.format("(0.1::DOUBLE, 1), (3e300, 1), (20.0, 1)", "-x * count(*)", "bid >= x"): [
        "20.0"
    ],
    OF_LIST.format("(DATE '2024-01-01', 1), (DATE '2024-03-01', 1)", "count(*)", f"{DAY} >= x"): [
        "2024-03-01"
    ],
    OF_LIST.format(
        "(TIMESTAMP '2024-01-01 12:00:00', 1), (TIMESTAMP '2024-01-20', 1)",
        "count(*)",
        f"{DAY} < x",
    ): ["2024-01-01 12:00:00"],
    OF_LIST.format("('a', NULL), ('b', 0)", "w * count(*)", "bid >= w"): ["b"],
}
"""What SQL says of statements, but for noise that is next to none at ε = 60."""


@pytest.mark.parametrize("sql", ANSWERS)
def test_any_candidates_and_any_query_around(tmp_path: Path, sql: str) -> None:
    with closing(opened(tmp_path, epsilon=Fraction(60))) as session:
        found = session.query(sql).table.column(0).to_pylist()
    assert list(map(str, found)) == ANSWERS[sql]


@pytest.mark.parametrize(
    "sql",
    [
        PRICE.replace("LIMIT 1", "LIMIT 2"),
        PRICE.replace("LIMIT 1", "LIMIT 1 OFFSET 1"),
        PRICE.replace("LIMIT 1", ""),
        PRICE.replace("count(*)", "count(DISTINCT bid)"),
        PRICE.replace("count(*)", "(count(*) + 1)"),
        PRICE.replace("bid >= price", "bid >= price AND bid < price + 5"),
        PRICE.replace("bid >= price", "bid BETWEEN price AND 40"),
        PRICE.replace("bid >= price", "bid + price >= 30"),
        PRICE.replace("bid >= price", "NOT bid < price"),
        PRICE.replace("bid >= price", "bid >= price OR bid = 4"),
        PRICE.replace("bid >= price", "bid >= 12 HAVING count(*) > price"),
        PRICE.replace("bid >= price", "bid >= (SELECT min(price) FROM prices WHERE cost < p)"),
        PRICE.replace("FROM prices", "FROM prices JOIN bids AS c ON c.bid = price"),
        PRICE.replace("FROM prices", "FROM (SELECT bid AS price, count(*) FROM bids GROUP BY 1)"),
        PRICE.replace("SELECT price FROM", "SELECT DISTINCT price FROM"),
    ],
)
def test_what_is_no_such_choice_is_refused(tmp_path: Path, sql: str) -> None:
    with closing(opened(tmp_path)) as session, pytest.raises(dpsql.Error):
        session.compile(sql)


def test_nested_choices_take_no_longer_than_their_text(tmp_path: Path) -> None:
    """Each that was tried twice would take twice as long: 2^40 of the innermost."""
    sql = PRICE
    for _ in range(40):
        sql = PRICE.replace("FROM bids", f"FROM bids JOIN ({sql}) AS b ON bid <> b.price")
    with closing(opened(tmp_path)) as session, pytest.raises(dpsql.Error):
        session.compile(sql)


def test_candidates_may_be_an_answer_that_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "pure-add_remove.yaml"
    opened(tmp_path).close()
    with dpsql.connect(path, analyst="alice", epsilon=1) as connection:
        connection.execute("CREATE RELEASE offers AS SELECT 5 * count(*) AS price FROM bidders")
        kept = PRICE.replace("prices", "offers")
        (row,) = connection.execute(kept).fetchall()
        assert row in connection.execute("SELECT price FROM offers").fetchall()


def test_the_error_of_a_score_is_told(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with dpsql.connect(tmp_path / "pure-add_remove.yaml", analyst="alice", epsilon=1) as connection:
        text = str(connection.explain(PRICE))
        # ln(4 / 0.05) · 2 rows · 25 apart / 1
        assert "its score is off the best by 219.101 at most" in text
        (column,) = connection.explain(PRICE).report.releases[0].noise
        assert column.score_error == pytest.approx(219.101, abs=0.001)
