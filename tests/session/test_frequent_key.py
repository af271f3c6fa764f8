"""The most frequent of listed keys, where no count is shown: how it is chosen, and by which law.

Laws are compared by chi-squared tests, each of which fails falsely with a probability of 10^-6.
"""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from math import sqrt
from pathlib import Path

import pytest
from data.database import attached
from data.insertion import insert
from notes.exact import raw_groups
from privacy.laws import exponential_law, fit, permute_and_flip_law
from privacy.seeded import SeededRandomness

from dpsql.bounding.options import ReleaseOptions
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.privacy.accounting.loss import Accounting
from dpsql.release.add_noise import choose_cells, rows_in_cells
from dpsql.session.options import AnswerOptions, PriceOptions, QueryOptions
from dpsql.session.session import Session

ALPHA = 1e-6

SCHEMA = """
dataset: shop-{accounting}
source: data.duckdb
neighbors: {neighbors}
units:
  buyer: {{table: buyers, key: buyer_id}}
tables:
  buyers: {{key: buyer_id, unit: buyer, columns: {{buyer_id: {{type: bigint}}}}}}
  orders:
    unit: {{column: buyer_id, references: buyers.buyer_id}}
    limits: {{groups: 4, rows_per_group: 2, rows: 8}}
    columns:
      buyer_id: {{type: bigint}}
      item: {{type: varchar, values: [book, lamp, pen]}}
      shelf: {{type: varchar}}
budget: {{epsilon: 64, delta: {delta}, accounting: {accounting}}}
per_query: {{epsilon: 1, max_epsilon: 64}}
"""

MOST = "SELECT item FROM orders GROUP BY item ORDER BY count(*) DESC LIMIT 1"
BUYERS = 60


def rows() -> list[tuple[int, str | None]]:
    """Each buyer has two lamps, most have books, some pens; buyer 0 has a thousand pens."""
    found: list[tuple[int, str | None]] = [(n, "lamp") for n in range(BUYERS) for _ in "ab"]
    found += [(n, "book") for n in range(BUYERS - 4) for _ in "ab"]
    found += [(n, "pen") for n in range(BUYERS - 12) for _ in "ab"]
    found += [(n, None) for n in range(40)]
    return found + [(0, "pen")] * 1000


COUNTS = {"lamp": 2 * BUYERS, "book": 2 * (BUYERS - 4), "pen": 2 * (BUYERS - 12), None: 40}
"""Of each buyer, two of an item at most."""


def opened(
    folder: Path,
    accounting: Accounting = Accounting.PURE,
    neighbors: str = "add_remove",
    epsilon: Fraction = Fraction(1),
) -> Session:
    source = folder / "data.duckdb"
    if not source.exists():
        with attached(source) as connection:
            connection.execute(
                f"CREATE TABLE buyers AS SELECT range AS buyer_id FROM range({BUYERS})"
            )
            connection.execute("CREATE TABLE orders (buyer_id BIGINT, item VARCHAR, shelf VARCHAR)")
            insert(connection, "orders", [(*row, "x") for row in rows()])
    delta = 0 if accounting is Accounting.PURE else "1.0e-6"
    path = folder / f"{accounting.value}-{neighbors}.yaml"
    path.write_text(SCHEMA.format(accounting=accounting.value, delta=delta, neighbors=neighbors))
    return Session(path, epsilon=epsilon, randomness=SeededRandomness("frequent"))


def test_where_counts_are_nearly_as_good_they_are_sorted(tmp_path: Path) -> None:
    # Replaced units cost a choice twice as much, and noise of all counts together no more.
    with closing(opened(tmp_path, Accounting.PURE, "change_one")) as session:
        (release,) = session.compile(MOST).releases
    assert not release.step.measurement.choosers


@pytest.mark.parametrize(
    ("accounting", "neighbors"),
    [
        (Accounting.PURE, "add_remove"),
        (Accounting.ZCDP, "add_remove"),
        (Accounting.ZCDP, "change_one"),
    ],
)
def test_the_key_has_the_law_of_its_count(
    tmp_path: Path, accounting: Accounting, neighbors: str
) -> None:
    epsilon = Fraction(1, 2)
    with closing(opened(tmp_path, accounting, neighbors, epsilon)) as session:
        (release,) = session.compile(MOST).releases
    with attached(tmp_path / "data.duckdb", read_only=True) as connection:
        raw = raw_groups(connection, release, "1")
    step = release.step
    (choice,), (chooser,) = step.bounded.contributions.cell_choices, step.measurement.choosers
    counted = rows_in_cells(raw.histograms[0], step.bounded, step.query)
    keys: list[Cell] = [(n,) for n in range(50_000)]
    source = SeededRandomness(f"{accounting}{neighbors}")
    (drawn,) = choose_cells(dict.fromkeys(keys, counted[()]), keys, choice, chooser, source)
    losses = [max(COUNTS.values()) - COUNTS[item] for item in ("book", "lamp", "pen", None)]
    reach = 2 if neighbors == "add_remove" else 4
    granted = step.measurement.loss.amount
    if accounting is Accounting.ZCDP:
        rate = Fraction(sqrt(8 * granted)).limit_denominator(10**12) / reach
        law, faster = exponential_law(losses, rate), exponential_law(losses, rate * 11 / 10)
    else:
        rate = granted / reach
        law, faster = (
            permute_and_flip_law(losses, rate),
            permute_and_flip_law(losses, rate * 11 / 10),
        )
    assert fit(drawn.astype(int), law) > ALPHA
    assert fit(drawn.astype(int), faster) < ALPHA


def test_one_buyers_rows_are_limited_in_each_item(tmp_path: Path) -> None:
    with closing(opened(tmp_path, epsilon=Fraction(60))) as session:
        assert session.query(MOST).table.column(0).to_pylist() == ["lamp"]


@pytest.mark.parametrize(
    ("sql", "is_chosen"),
    [
        (MOST, True),
        (MOST.replace("SELECT item", "SELECT upper(item) AS i"), True),
        (f"SELECT count(*) FROM ({MOST})", False),  # of rows that are read, empty groups are none
        (MOST.replace("SELECT item", "SELECT item, count(*)"), False),
        (MOST.replace("LIMIT 1", "LIMIT 3"), False),
        (MOST.replace("DESC", ""), False),
        (MOST.replace("DESC", "DESC, item"), False),
        (MOST.replace("GROUP BY item", "GROUP BY item HAVING count(*) > 3"), False),
        (MOST.replace("count(*)", "count(shelf)"), False),
        (MOST.replace("item", "shelf"), False),
    ],
)
def test_counts_that_are_used_otherwise_are_released(
    tmp_path: Path, sql: str, *, is_chosen: bool
) -> None:
    accounting = Accounting.ZCDP if "shelf" in sql else Accounting.PURE
    with closing(opened(tmp_path, accounting)) as session:
        (release,) = session.compile(sql).releases
    assert bool(release.step.measurement.choosers) == is_chosen


@pytest.mark.parametrize(
    "options",
    [
        QueryOptions(answer=AnswerOptions(reuse=True)),
        QueryOptions(price=PriceOptions(max_error=Fraction(30))),
        QueryOptions(release=ReleaseOptions(min_units=3)),
    ],
    ids=["reuse", "max_error", "min_units"],
)
def test_counts_that_a_setting_is_about_are_released(tmp_path: Path, options: QueryOptions) -> None:
    with closing(opened(tmp_path)) as session:
        (release,) = session.compile(MOST, options).releases
    assert not release.step.measurement.choosers


def test_a_statement_that_reads_the_counts_again_releases_them(tmp_path: Path) -> None:
    sql = (
        "WITH c AS (SELECT item, count(*) AS n FROM orders GROUP BY item)"
        " SELECT item, 'most' AS what FROM (SELECT item FROM c ORDER BY n DESC LIMIT 1)"
        " UNION ALL SELECT item, 'all' FROM c WHERE n > 3"
    )
    with closing(opened(tmp_path)) as session:
        (release,) = session.compile(sql).releases
    assert not release.step.measurement.choosers
