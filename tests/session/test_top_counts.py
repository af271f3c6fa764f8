"""The most frequent of listed keys beside their counts: how both are drawn, and by which law.

Laws are compared by chi-squared tests, each of which fails falsely with a probability of 10^-6.
"""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from data.database import attached
from data.insertion import insert
from mpmath import mp
from notes.exact import raw_groups
from privacy.laws import Law, exact, exponential_law, fit
from privacy.seeded import SeededRandomness

from dpsql.bounding.options import ContributionLimits, ReleaseOptions
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.plan.bounded_release.cell_selection import CountedCells
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.add_noise import choose_cells, rows_in_cells
from dpsql.release.columns.confidence_interval import CONFIDENCE
from dpsql.release.selection_mechanism import CountedTopMechanism
from dpsql.session.options import AnswerOptions, PriceOptions, QueryOptions
from dpsql.session.session import Session

ALPHA = 1e-6
AREAS = 14
BUYERS = 60
CLIP = 40
"""Noise that is farther off counts as this far."""

SCHEMA = """
dataset: shop-{name}
source: data.duckdb
neighbors: {neighbors}
units:
  buyer: {{table: buyers, key: buyer_id}}
tables:
  buyers: {{key: buyer_id, unit: buyer, columns: {{buyer_id: {{type: bigint}}}}}}
  orders:
    unit: {{column: buyer_id, references: buyers.buyer_id}}
    limits: {{groups: 15, rows_per_group: 2, rows: 30}}
    columns:
      buyer_id: {{type: bigint}}
      area: {{type: integer, bounds: [1, 14]}}
budget: {{epsilon: 64, delta: {delta}, accounting: {accounting}{sample}}}
per_query: {{epsilon: 1, max_epsilon: 64}}
"""

TOP = "SELECT area, count(*) AS n FROM orders GROUP BY area ORDER BY count(*) DESC LIMIT 1"


def rows() -> list[tuple[int, int | None]]:
    """The n-th area has an order of 3n buyers less than all; buyer 0 has a thousand of the last."""
    found: list[tuple[int, int | None]] = [
        (buyer, area) for area in range(1, AREAS + 1) for buyer in range(BUYERS - 3 * (area - 1))
    ]
    return [*found, *[(1, None)] * 2, *[(0, AREAS)] * 999]


COUNTS = [BUYERS - 3 * n + (n == AREAS - 1) for n in range(AREAS)] + [2]
"""Of each buyer, two orders of an area at most; the last are of no known area."""


def opened(
    folder: Path,
    accounting: Accounting = Accounting.PURE,
    neighbors: str = "add_remove",
    epsilon: Fraction = Fraction(1),
    sample: str = "",
) -> Session:
    source = folder / "data.duckdb"
    if not source.exists():
        with attached(source) as connection:
            connection.execute(
                f"CREATE TABLE buyers AS SELECT range AS buyer_id FROM range({BUYERS})"
            )
            connection.execute("CREATE TABLE orders (buyer_id BIGINT, area INTEGER)")
            insert(connection, "orders", rows())
    name = f"{accounting.value}-{neighbors}{'-sample' if sample else ''}"
    path = folder / f"{name}.yaml"
    path.write_text(
        SCHEMA.format(
            name=name,
            accounting=accounting.value,
            delta=0 if accounting is Accounting.PURE else "1.0e-6",
            neighbors=neighbors,
            sample=sample,
        )
    )
    return Session(path, epsilon=epsilon, randomness=SeededRandomness("counted"))


def chooser_of(session: Session, sql: str = TOP) -> CountedTopMechanism:
    (release,) = session.compile(sql).releases
    (chooser,) = release.step.measurement.choosers
    assert isinstance(chooser, CountedTopMechanism)
    return chooser


def noise_law(noise: Noise) -> Law:
    """Of noise from -CLIP to CLIP, farther draws at these ends; the laws are symmetric."""
    match noise:
        case DiscreteLaplace(scale=scale):
            weights = [mp.exp(-exact(Fraction(n) / scale)) for n in range(400)]
        case DiscreteGaussian(variance=variance):
            weights = [mp.exp(-exact(Fraction(n * n) / (2 * variance))) for n in range(400)]
        case _:
            raise TypeError("one count has independent noise")
    total = 2 * mp.fsum(weights) - weights[0]
    half = [weight / total for weight in weights]
    half = [*half[:CLIP], mp.fsum(half[CLIP:])]
    return [*half[:0:-1], *half]


def drawn(
    folder: Path, accounting: Accounting, neighbors: str
) -> tuple[CountedTopMechanism, Integers, Integers]:
    """The mechanism, the cells that it chooses, and how far off counts are, + CLIP."""
    with closing(opened(folder, accounting, neighbors, Fraction(3))) as session:
        (release,) = session.compile(TOP).releases
        chooser = chooser_of(session)
    with attached(folder / "data.duckdb", read_only=True) as connection:
        raw = raw_groups(connection, release, "1")
    step = release.step
    (choice,) = step.bounded.contributions.cell_choices
    counted = rows_in_cells(raw.histograms[0], step.bounded, step.query)
    assert counted[()].counts[counted[()].cells.argsort()].tolist() == COUNTS
    keys: list[Cell] = [(n,) for n in range(20_000)]
    source = SeededRandomness(f"{accounting}{neighbors}")
    cells, shown = choose_cells(dict.fromkeys(keys, counted[()]), keys, choice, chooser, source)
    off = np.clip(shown - np.array(COUNTS)[cells], -CLIP, CLIP) + CLIP
    return chooser, cells, off


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
def test_a_key_and_its_count_have_the_law_of_a_choice_and_of_noise_apart_from_it(
    tmp_path: Path, neighbors: str
) -> None:
    chooser, cells, off = drawn(tmp_path, Accounting.ZCDP, neighbors)
    rate, losses = chooser.top.mechanism.rate, [max(COUNTS) - count for count in COUNTS]
    of_noise = noise_law(chooser.noise)
    outcomes = cells * len(of_noise) + off
    law = exponential_law(losses, rate)
    assert fit(outcomes, [p * q for p in law for q in of_noise]) > ALPHA
    faster = exponential_law(losses, rate * 11 / 10)
    assert fit(outcomes, [p * q for p in faster for q in of_noise]) < ALPHA


def test_the_noise_of_a_count_knows_nothing_of_what_permute_and_flip_drew(tmp_path: Path) -> None:
    chooser, cells, off = drawn(tmp_path, Accounting.PURE, "add_remove")
    law = noise_law(chooser.noise)
    assert fit(off[cells == 0], law) > ALPHA
    assert fit(off[cells > 0], law) > ALPHA
    assert min((cells == 0).sum(), (cells > 0).sum()) > 1000


@pytest.mark.parametrize("accounting", [*Accounting])
@pytest.mark.parametrize(("neighbors", "limit"), [("add_remove", 2), ("change_one", 1)])
def test_choice_and_counts_share_the_loss_and_err_less_than_all_counts(
    tmp_path: Path, accounting: Accounting, neighbors: str, limit: int
) -> None:
    sql = TOP.replace("LIMIT 1", f"LIMIT {limit}")
    with closing(opened(tmp_path, accounting, neighbors)) as session:
        compiled, chooser = session.compile(sql), chooser_of(session, sql)
        (everything,) = session.compile(sql.replace(f" LIMIT {limit}", "")).releases
    (one,) = compiled.releases
    spent, target = one.step.measurement.loss, choice_of(one)
    assert spent.amount <= compiled.query_loss.amount
    assert chooser.top.loss(accounting).amount <= target.choice_share * compiled.query_loss.amount
    (noise,) = everything.step.measurement.noise
    least = chooser.noise.half_width(CONFIDENCE)
    assert least <= Fraction(3, 4) * noise.half_width(CONFIDENCE)
    error = chooser.rank_error(len(COUNTS), CONFIDENCE)
    each = noise.half_width(1 - (1 - CONFIDENCE) / len(COUNTS))
    assert error <= Fraction(3, 4) * 2 * each


def choice_of(release: object) -> CountedCells:
    target = release.step.bounded.contributions.cell_choices[0].target  # type: ignore[attr-defined]
    assert isinstance(target, CountedCells)
    return target


def test_rows_stand_in_the_order_of_their_counts_and_are_given_again(tmp_path: Path) -> None:
    sql = TOP.replace("LIMIT 1", "LIMIT 2")
    with closing(opened(tmp_path, Accounting.ZCDP)) as session:
        width = float(chooser_of(session, sql).noise.half_width(CONFIDENCE))
        answer = session.query(sql)
        again = session.query(sql.replace("area, count(*) AS n", "-area, 2 * count(*)"))
    keys, counts = (column.to_pylist() for column in answer.table.columns)
    assert counts == sorted(counts, reverse=True)
    assert len(set(keys)) == len(keys) == 2
    found = [column.to_pylist() for column in again.table.columns]
    assert found == [[-key for key in keys], [2 * count for count in counts]]
    assert not again.privacy.epsilon
    key, count = answer.privacy.shown_columns
    assert key is not None
    assert count is not None
    assert key.rank_error is not None
    assert count.half_width == width


def test_an_empty_table_has_keys_and_counts_all_the_same(tmp_path: Path) -> None:
    with closing(opened(tmp_path)):
        pass
    with attached(tmp_path / "data.duckdb") as connection:
        connection.execute("DELETE FROM orders")
    options = QueryOptions(release=ReleaseOptions(nonnegative=True))
    with closing(opened(tmp_path, Accounting.ZCDP)) as session:
        table = session.query(TOP.replace("LIMIT 1", "LIMIT 2"), options=options).table
    assert len(set(table.column(0).to_pylist())) == 2
    assert min(table.column(1).to_pylist()) >= 0


@pytest.mark.parametrize(
    "sql",
    [
        TOP.replace("LIMIT 1", "LIMIT 12"),
        TOP.replace("LIMIT 1", "LIMIT 15"),
        TOP.replace("LIMIT 1", "LIMIT 1 OFFSET 1"),
        TOP.replace("DESC", ""),
        TOP.replace("DESC", "DESC, area"),
        TOP.replace("GROUP BY area", "GROUP BY area HAVING count(*) > 3"),
        TOP.replace("AS n", "AS n, sum(area)"),
        TOP.replace("count(*)", "count(area)"),
        f"SELECT sum(n) FROM ({TOP})",
        f"SELECT a.n - b.n FROM ({TOP}) a CROSS JOIN (SELECT count(*) AS n FROM buyers) b",
    ],
)
def test_all_counts_are_released_where_that_is_as_good_or_more_is_read(
    tmp_path: Path, sql: str
) -> None:
    with closing(opened(tmp_path)) as session:
        assert not any(r.step.measurement.choosers for r in session.compile(sql).releases)


@pytest.mark.parametrize(
    "options",
    [
        QueryOptions(answer=AnswerOptions(reuse=True)),
        QueryOptions(price=PriceOptions(max_error=Fraction(30))),
        QueryOptions(release=ReleaseOptions(min_units=3)),
        QueryOptions(limits=ContributionLimits(groups=1)),
    ],
    ids=["reuse", "max_error", "min_units", "one group"],
)
def test_all_counts_are_released_where_a_setting_is_about_them(
    tmp_path: Path, options: QueryOptions
) -> None:
    with closing(opened(tmp_path)) as session:
        (release,) = session.compile(TOP, options).releases
    assert not release.step.measurement.choosers


@pytest.mark.parametrize("sql", [TOP, TOP.replace("area, count(*) AS n", "area")])
def test_keys_of_stored_counts_are_sorted_for_nothing(tmp_path: Path, sql: str) -> None:
    with closing(opened(tmp_path, Accounting.ZCDP)) as session:
        everything = session.query(TOP.partition(" ORDER")[0]).table
        answer = session.query(sql)
        other = session.query(sql, QueryOptions(Fraction(2)))
    keys, counts = (column.to_pylist() for column in everything.columns)
    assert not answer.privacy.epsilon
    assert answer.table.column(0).to_pylist() == [keys[counts.index(max(counts))]]
    assert other.privacy.epsilon


def test_counts_of_a_sample_are_released_and_scaled(tmp_path: Path) -> None:
    with closing(opened(tmp_path, Accounting.PURE, sample=", sample: 0.5")) as session:
        (release,) = session.compile(TOP).releases
    assert not release.step.measurement.choosers
