"""Several of the most frequent listed keys, where no count is shown: how, and by which law.

Laws are compared by chi-squared tests, each of which fails falsely with a probability of 10^-6.
"""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from data.database import attached
from data.insertion import insert
from notes.exact import raw_groups
from privacy.laws import Law, exponential_law, fit, permute_and_flip_law
from privacy.seeded import SeededRandomness

from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.directed_rounding import sqrt
from dpsql.release.add_noise import choose_cells, rows_in_cells
from dpsql.release.selection_mechanism import TopMechanism
from dpsql.session.session import Session

ALPHA = 1e-6
ITEMS = "abcdefgh"
READERS = 40

SCHEMA = """
dataset: library-{accounting}
source: data.duckdb
neighbors: {neighbors}
units:
  reader: {{table: readers, key: reader_id}}
tables:
  readers: {{key: reader_id, unit: reader, columns: {{reader_id: {{type: bigint}}}}}}
  loans:
    unit: {{column: reader_id, references: readers.reader_id}}
    limits: {{groups: 9, rows_per_group: 2, rows: 18}}
    columns:
      reader_id: {{type: bigint}}
      book: {{type: varchar, values: [a, b, c, d, e, f, g, h]}}
budget: {{epsilon: 64, delta: {delta}, accounting: {accounting}}}
per_query: {{epsilon: 1, max_epsilon: 64}}
"""

TOP = "SELECT book FROM loans GROUP BY book ORDER BY count(*) DESC LIMIT 2"


def rows() -> list[tuple[int, str | None]]:
    """The n-th of the books is read by 3n readers less, once each; reader 0 has a thousand of h."""
    found: list[tuple[int, str | None]] = [
        (reader, item) for n, item in enumerate(ITEMS) for reader in range(READERS - 3 * n)
    ]
    return [*found, *[(1, None)] * 2, *[(0, "h")] * 999]


COUNTS = [READERS - 3 * n + (item == "h") for n, item in enumerate(ITEMS)] + [2]
"""Of each reader, two loans of a book at most; the last is of no known book."""


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
                f"CREATE TABLE readers AS SELECT range AS reader_id FROM range({READERS})"
            )
            connection.execute("CREATE TABLE loans (reader_id BIGINT, book VARCHAR)")
            insert(connection, "loans", rows())
    delta = 0 if accounting is Accounting.PURE else "1.0e-6"
    path = folder / f"{accounting.value}-{neighbors}.yaml"
    path.write_text(SCHEMA.format(accounting=accounting.value, delta=delta, neighbors=neighbors))
    return Session(path, epsilon=epsilon, randomness=SeededRandomness("top"))


def pairs_law(accounting: Accounting, rate: Fraction) -> Law:
    """The law of two choices without replacement, over all pairs of cells in order."""
    one = exponential_law if accounting is Accounting.ZCDP else permute_and_flip_law
    most = max(COUNTS)
    first = one([most - count for count in COUNTS], rate)
    law: Law = []
    for chosen in range(len(COUNTS)):
        left = [count for cell, count in enumerate(COUNTS) if cell != chosen]
        second = one([max(left) - count for count in left], rate)
        law += [first[chosen] * each for each in second]
    return law


@pytest.mark.parametrize(
    ("accounting", "neighbors"),
    [
        (Accounting.PURE, "add_remove"),
        (Accounting.ZCDP, "add_remove"),
        (Accounting.ZCDP, "change_one"),
    ],
)
def test_keys_have_the_law_of_choices_without_replacement(
    tmp_path: Path, accounting: Accounting, neighbors: str
) -> None:
    with closing(opened(tmp_path, accounting, neighbors)) as session:
        (release,) = session.compile(TOP).releases
    with attached(tmp_path / "data.duckdb", read_only=True) as connection:
        raw = raw_groups(connection, release, "1")
    step = release.step
    (choice,), (chooser,) = step.bounded.contributions.cell_choices, step.measurement.choosers
    assert isinstance(chooser, TopMechanism)
    counted = rows_in_cells(raw.histograms[0], step.bounded, step.query)
    assert counted[()].counts[counted[()].cells.argsort()].tolist() == COUNTS
    keys: list[Cell] = [(n,) for n in range(50_000)]
    source = SeededRandomness(f"{accounting}{neighbors}")
    drawn = choose_cells(dict.fromkeys(keys, counted[()]), keys, choice, chooser, source)
    numbers = {pair: n for n, pair in enumerate(permutations(range(len(COUNTS)), 2))}
    seen = np.array([numbers[pair] for pair in zip(*(d.tolist() for d in drawn), strict=True)])
    reach = 2 if neighbors == "add_remove" else 4
    each = step.measurement.loss.amount / 2
    rate = (sqrt(8 * each).low if accounting is Accounting.ZCDP else each) / reach
    rate = rate.limit_denominator(10**12)
    assert fit(seen, pairs_law(accounting, rate)) > ALPHA
    assert fit(seen, pairs_law(accounting, rate * 11 / 10)) < ALPHA


def test_keys_come_in_the_order_of_their_choice_and_are_given_again(tmp_path: Path) -> None:
    with closing(opened(tmp_path, epsilon=Fraction(60))) as session:
        assert session.query(TOP).table.column(0).to_pylist() == ["a", "b"]
        again = session.query(TOP.replace("book", "upper(book)", 1))
        assert again.table.column(0).to_pylist() == ["A", "B"]
        assert not again.privacy.epsilon


def test_no_key_comes_twice_where_all_are_equal(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as session:
        (chooser,) = session.compile(TOP).releases[0].step.measurement.choosers
    counts = np.zeros((1000, len(COUNTS)), dtype=np.int64)
    chosen = chooser.release(counts, SeededRandomness("ties"))
    assert chosen.shape == (1000, 2)
    assert (chosen[:, 0] != chosen[:, 1]).all()


@pytest.mark.parametrize("accounting", [Accounting.PURE, Accounting.APPROX, Accounting.ZCDP])
def test_choices_cost_what_was_asked_for_and_no_more(
    tmp_path: Path, accounting: Accounting
) -> None:
    with closing(opened(tmp_path, accounting)) as session:
        compiled = session.compile(TOP)
        (one,) = compiled.releases
        (single,) = session.compile(TOP.replace("LIMIT 2", "LIMIT 1")).releases
    (chooser,) = one.step.measurement.choosers
    assert isinstance(chooser, TopMechanism)
    assert chooser.count == 2
    assert one.step.measurement.loss.amount <= compiled.query_loss.amount
    assert chooser.mechanism.rate < single.step.measurement.choosers[0].mechanism.rate  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("sql", "is_chosen"),
    [
        (TOP, True),
        (TOP.replace("LIMIT 2", "LIMIT 3"), False),
        (TOP.replace("LIMIT 2", "LIMIT 9"), False),  # all there are
        (TOP.replace("LIMIT 2", "LIMIT 2 OFFSET 1"), False),
        (TOP.replace("SELECT book", "SELECT book, count(*)"), False),
        (TOP.replace("count(*) DESC", "count(*)"), False),
        (TOP.replace("count(*) DESC", "count(*) DESC, book"), False),
    ],
)
def test_counts_are_released_where_choices_are_no_better(
    tmp_path: Path, sql: str, *, is_chosen: bool
) -> None:
    with closing(opened(tmp_path)) as session:
        (release,) = session.compile(sql).releases
    assert bool(release.step.measurement.choosers) == is_chosen


def test_two_choices_of_one_statement_share_its_loss(tmp_path: Path) -> None:
    sql = (
        f"SELECT a.book, b.book AS other FROM ({TOP}) a CROSS JOIN"
        " (SELECT book FROM loans WHERE book <> 'a' GROUP BY book ORDER BY count(*) DESC LIMIT 2) b"
    )
    with closing(opened(tmp_path, epsilon=Fraction(60))) as session:
        rows = session.query(sql).table.to_pylist()
    assert sorted(tuple(row.values()) for row in rows) == [
        ("a", "b"), ("a", "c"), ("b", "b"), ("b", "c"),
    ]  # fmt: skip


def test_an_empty_table_has_keys_all_the_same(tmp_path: Path) -> None:
    with closing(opened(tmp_path)):
        pass
    with attached(tmp_path / "data.duckdb") as connection:
        connection.execute("DELETE FROM loans")
    with closing(opened(tmp_path)) as session:
        keys = session.query(TOP).table.column(0).to_pylist()
    assert len(set(keys)) == 2
    assert set(keys) <= {*ITEMS, None}


def test_the_report_tells_the_error_in_rank(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as session:
        answer = session.query(TOP)
        (column,) = answer.privacy.columns[:1]
        error = TopMechanism.rank_error(
            session.compile(TOP).releases[0].step.measurement.choosers[0],  # type: ignore[arg-type]
            len(COUNTS),
            Fraction(95, 100),
        )
    assert column.rank_error == float(error)
