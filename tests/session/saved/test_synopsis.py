"""CREATE SYNOPSIS: paid once, queried freely; its accounting, its bounds and its error."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import pytest
from privacy.seeded import SeededRandomness

from dpsql.dbapi.connection import Connection
from dpsql.errors import BadParameter, Error, NameTaken, Refused, SyntaxFault
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.allocation.mwem_calibration import (
    CHOICE_SHARE,
    TOTAL_SHARE,
    HistogramSensitivity,
    MwemParameters,
    mwem_calibration,
)
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.selection.exponential import Exponential
from dpsql.release.synopsis.cell_partition import (
    MAX_PARTITIONS,
    Partition,
    count_partitions,
    partitions,
)
from dpsql.release.synopsis.margin_error import (
    MeasuredNoise,
    decode_measured,
    encode_measured,
)
from dpsql.release.synopsis.mwem import fit_weights
from dpsql.session.answer.answer import ColumnPrivacy
from dpsql.session.session import Session

KEYS = (
    "SELECT o_orderstatus, o_orderpriority, date_trunc('month', o_orderdate) AS month FROM orders"
)
MADE = f"CREATE SYNOPSIS by_month ON {KEYS} WITH (epsilon = 1)"

Open = Callable[..., Connection]


@pytest.fixture
def connection(tpch_schema: Path) -> Iterator[Connection]:
    session = Session(tpch_schema, analyst="alice", randomness=SeededRandomness("synopsis"))
    with Connection(session) as found:
        yield found


def spent(connection: Connection) -> float:
    return float(connection.budget.dataset.epsilon_spent)


def test_a_pure_synopsis_costs_what_the_reference_says() -> None:
    """MWEM's own sum, ε = Σ (ε_choice + ε_noise), for a histogram that moves by 1."""
    epsilon, rounds = Fraction(1), 10
    made, loss = mwem_calibration(
        HistogramSensitivity(1, 1), rounds, PrivacyLoss(Accounting.PURE, epsilon)
    )
    part = epsilon * (1 - TOTAL_SHARE) / rounds
    assert made.choice(1).epsilon == part * CHOICE_SHARE
    assert made.noise(1, 1) == DiscreteLaplace(1 / (part * (1 - CHOICE_SHARE)))
    assert made.choice(1).spread == 2
    assert loss == PrivacyLoss(Accounting.PURE, epsilon)


def test_a_zcdp_synopsis_costs_what_the_reference_says() -> None:
    """ρ = Σ (ε0²/8 + 1/(2σ²)), for a histogram that moves by 1."""
    rho, rounds = Fraction(1, 50), 10
    made, loss = mwem_calibration(
        HistogramSensitivity(1, 1), rounds, PrivacyLoss(Accounting.ZCDP, rho)
    )
    noise = made.noise(1, 1)
    assert isinstance(noise, DiscreteGaussian)
    spent = rounds * (made.choice(1).epsilon ** 2 / 8 + 1 / (2 * noise.variance))
    assert loss.amount == rho
    assert rho * (1 - Fraction(1, 10**9)) < rho * TOTAL_SHARE + spent <= rho


@pytest.mark.parametrize(
    "moves",
    [
        HistogramSensitivity(1, 1),
        HistogramSensitivity(12, 24, 40),
        HistogramSensitivity(3, 2),
    ],
    ids=repr,
)
@pytest.mark.parametrize("accounting", list(Accounting))
def test_what_a_unit_moves_is_in_all_of_it(
    moves: HistogramSensitivity, accounting: Accounting
) -> None:
    delta = Fraction(0) if accounting is Accounting.PURE else Fraction(1, 10**6)
    made, loss = mwem_calibration(moves, 4, PrivacyLoss(accounting, Fraction(1, 2), delta))
    assert loss.amount <= Fraction(1, 2)
    assert loss.delta <= delta
    for taken, merged in product((1, 3, 4), (1, 2, 100)):
        assert made.choice(taken).spread == 2 * moves.l1
        noise, paid = made.noise(taken, merged), made.part * taken * (1 - CHOICE_SHARE)
        if isinstance(noise, DiscreteLaplace):
            assert noise.epsilon(moves.l1) == paid
        elif isinstance(noise, RoundedGaussian):
            assert noise.mu_squared(moves.l2_squared(merged)) == paid
        else:
            assert noise.rho(moves.l2_squared(merged)) == paid


def test_rounds_take_all_parts_and_none_twice() -> None:
    """Of no rows each round finds noise alone, so that the next one takes four times as much."""
    moves = HistogramSensitivity(1, 1)
    for parts in (1, 2, 3, 8, 21, 50):
        made, _ = mwem_calibration(moves, parts, PrivacyLoss(Accounting.PURE, Fraction(1)))
        for rows in (0, 10**6):
            taken: list[int] = []
            cells = np.zeros((4, 4), np.int64)
            cells[2, 1] = rows
            fit_weights(cells, cast("Any", _Noting(made, taken)), SeededRandomness("parts"))
            assert sum(taken) == parts
            assert all(k >= 1 for k in taken)


@dataclass
class _Noting:
    """Parameters of a synopsis that note how many parts each of its choices takes."""

    made: MwemParameters
    taken: list[int]

    def choice(self, taken: int) -> Exponential:
        self.taken.append(taken)
        return self.made.choice(taken)

    def __getattr__(self, name: str) -> object:
        return getattr(self.made, name)


def test_no_neighbour_moves_a_partition_or_a_score_by_more_than_derived() -> None:
    """Under both relations: a unit in at most `groups` cells, with at most `rows` in each."""
    chance, shape = random.Random(7), (3, 4)
    for groups, rows, steps in product((1, 2, 5), (1, 3), (1, 2, 4)):
        in_all = chance.choice([None, groups * rows, 2 * rows + 1, 1])
        limit = None if in_all is None else steps * in_all
        moves = HistogramSensitivity(groups, steps * rows, limit)
        for _ in range(40):
            cells = np.array(chance.choices(range(9), k=12)).reshape(shape)
            other = cells.copy()
            corner = chance.random() < 0.5
            for step in range(steps):
                sign = 1 if step % 2 else -1
                chosen = range(groups) if corner else chance.sample(range(12), groups)
                left = groups * rows if in_all is None else in_all
                for place in chosen:
                    size = min(left, rows if corner else chance.randint(0, rows))
                    other.flat[place] += sign * size
                    left -= size
            assert abs(cells.sum() - other.sum()) <= moves.l1
            weights = np.array(chance.choices(range(9), k=12)).reshape(shape)
            for one in partitions(shape):
                change = one.sums(cells) - one.sums(other)
                assert np.abs(change).sum() <= moves.l1
                assert np.square(change).sum() <= moves.l2_squared(one.merged)
                before, after = (
                    np.abs(one.sums(weights) - one.sums(c)).sum() for c in (cells, other)
                )
                assert abs(before - after) <= moves.l1


def test_partitions_are_of_the_whole_grid() -> None:
    cells = np.arange(3 * 5 * 84).reshape(3, 5, 84)
    found = partitions(cells.shape)
    assert len(found) == count_partitions(cells.shape) == 3 * 4 * 8 - 1
    for one in found:
        sums = one.sums(cells)
        assert sums.size == one.boxes
        assert sums.sum() == cells.sum()
        assert np.array_equal(one.sums(np.ones(cells.shape)), one.sums(one.spread(sums) * 0 + 1))
        assert one.sums(np.ones(cells.shape)).max() == one.merged
    assert count_partitions((2,) * 16) == len(partitions((2,) * 16)) == MAX_PARTITIONS
    assert Partition((3,), (4,)).boxes == 1


@pytest.mark.parametrize("accounting", [Accounting.ZCDP, Accounting.PURE])
def test_sums_over_measured_margins_are_within_their_intervals(accounting: Accounting) -> None:
    """Seeds are fixed. Of some 95 % of them, or more: weights know more than a single margin."""
    chance = np.random.default_rng(11)
    moves, held, asked = HistogramSensitivity(2, 1), 0, 0
    made, _ = mwem_calibration(moves, 4, PrivacyLoss(accounting, Fraction(1, 5)))
    for run in range(60):
        cells = chance.poisson(np.outer([3, 40, 90], chance.integers(1, 20, 6))).astype(np.int64)
        found = fit_weights(cells, made, SeededRandomness(f"interval {run}"))
        factor = 1.96 if accounting is Accounting.ZCDP else 2.118
        noise = decode_measured(encode_measured(found.measured), cells.shape, factor)
        for single in ((), (0,), (1,), (0, 1)):
            if (variance := noise.variance(single)) is not None:
                other = tuple(axis for axis in (0, 1) if axis not in single)
                off = np.abs((found.weights - cells).sum(axis=other))
                held += int((off <= factor * variance**0.5).sum())
                asked += off.size
    assert asked > 400
    assert held / asked >= 0.93


def test_an_error_is_that_of_all_measurements_that_tell_a_margin() -> None:
    def of(*sizes: int) -> Partition:
        return Partition((3, 5), sizes)

    noise = MeasuredNoise(((of(4, 8), 9.0), (of(1, 8), 6.0), (of(1, 2), 2.0), (of(2, 1), 1.0)), 2.0)
    assert noise.variance((0,)) == pytest.approx(1 / (1 / 6 + 1 / (3 * 2)))
    assert noise.variance(()) == pytest.approx(1 / (1 / 9 + 1 / 18 + 1 / 18 + 1 / 10))
    assert noise.variance((1,)) == 2
    assert noise.variance((0, 1)) is None


def ranges(shape: tuple[int, ...], count: int) -> list[tuple[slice, ...]]:
    chance = random.Random("ranges")
    drawn = [[sorted(chance.choices(range(n), k=2)) for n in shape] for _ in range(count)]
    return [tuple(slice(a, b + 1) for a, b in ends) for ends in drawn]


def test_a_generous_synopsis_is_near_the_rows() -> None:
    chance = np.random.default_rng(3)
    cells = chance.poisson(np.outer([5, 50, 500], np.arange(1, 33)))
    made, _ = mwem_calibration(
        HistogramSensitivity(1, 1), 8, PrivacyLoss(Accounting.ZCDP, Fraction(5))
    )
    found = fit_weights(cells.astype(np.int64), made, SeededRandomness("near")).weights
    errors = [abs(found[r].sum() - cells[r].sum()) for r in ranges(cells.shape, 200)]
    assert np.mean(errors) < 0.005 * cells.sum()


def test_two_hundred_ranges_have_half_the_error_of_asking_for_each_and_of_an_even_spread(
    connection: Connection, tpch_folder: Path
) -> None:
    """Seeds are fixed: of the synopsis' noise, and of the ranges.

    Each count that is asked for alone has its share of the same ρ, and a unit the schema's 40 rows.
    """
    rows = connection.execute(MADE).fetchall()
    assert len(rows) == 3 * 5 * 84
    exact = {
        row[:3]: row[3]
        for row in duckdb.connect()
        .execute(
            "SELECT o_orderstatus, o_orderpriority, date_trunc('month', o_orderdate)::DATE,"
            f" count(*) FROM read_parquet('{tpch_folder}/orders.parquet') GROUP BY ALL"
        )
        .fetchall()
    }
    estimated = np.array([row[3] for row in rows]).reshape(3, 5, 84)
    true = np.array([exact.get((a, b, day_of(c)), 0) for a, b, c, _ in rows]).reshape(3, 5, 84)
    assert true.sum() == 15_000
    asked = ranges(true.shape, 200)
    errors = [abs(estimated[r].sum() - true[r].sum()) for r in asked]
    spread_evenly = [abs(true.sum() * true[r].size / true.size - true[r].sum()) for r in asked]
    assert np.mean(errors) <= np.mean(spread_evenly) / 2
    schema = connection.schema
    rho = rho_of_epsilon(Fraction(1), schema.budget.delta / 2)
    alone = math.sqrt(2 / math.pi) * 40 / math.sqrt(2 * float(rho) / 200)
    assert np.mean(errors) <= alone / 2


def day_of(found: object) -> object:
    return found.date() if hasattr(found, "date") else found


def test_it_is_paid_once_and_read_like_a_public_table(connection: Connection) -> None:
    connection.execute(MADE)
    cost = spent(connection)
    assert 0.9 < cost <= 1
    told = connection.execute(
        "SELECT o_orderstatus, sum(count) FROM by_month GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert [row[0] for row in told] == ["F", "O", "P"]
    connection.execute("SELECT count(*) FROM orders JOIN by_month USING (o_orderstatus)").fetchall()
    (row,) = connection.execute("SHOW dpsql.releases").fetchall()
    assert row[:3] == ("by_month", "synopsis", "alice")
    with pytest.raises(NameTaken):
        connection.execute(MADE)
    connection.execute("DROP SYNOPSIS by_month")
    before = spent(connection)
    connection.execute(MADE)
    assert spent(connection) == before


def shown(connection: Connection, sql: str) -> tuple[ColumnPrivacy | None, ...]:
    privacy = connection.execute(sql).privacy
    assert privacy is not None
    return privacy.shown_columns


def test_sums_over_what_was_measured_have_an_error_and_others_have_none(
    connection: Connection,
) -> None:
    connection.execute(MADE)
    (whole,) = shown(connection, "SELECT sum(count) AS n FROM by_month")
    assert whole is not None
    assert whole.mechanism == "multiplicative weights"
    assert whole.half_width == pytest.approx(1.959964 * whole.scale)
    # The number of rows has a twentieth of the loss, and each measurement tells it once more.
    assert 0 < whole.scale < 40 / math.sqrt(2 * 0.0229 / 20)
    of_range = "SELECT sum(count) FROM by_month WHERE month > DATE '1995-01-01'"
    assert shown(connection, of_range) == (None,)


def test_its_price_and_its_rounds_are_told_for_nothing(connection: Connection) -> None:
    text = str(connection.explain(MADE))
    assert "multiplicative weights" in text
    assert "8 rounds at most" in text
    assert "95 partitions" in text
    assert "by 40 rows at most" in text
    assert spent(connection) == 0


ON = "CREATE SYNOPSIS s ON SELECT "


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        (ON + "o_clerk FROM orders WITH (epsilon = 1)", Refused),
        (ON + "o_orderstatus, count(*) FROM orders GROUP BY 1 WITH (epsilon = 1)", Refused),
        (ON + "DISTINCT o_orderstatus FROM orders WITH (epsilon = 1)", Refused),
        (
            ON + "upper(o_orderstatus) FROM orders GROUP BY o_orderstatus WITH (epsilon = 1)",
            Refused,
        ),
        (ON + "n_name FROM nation WITH (epsilon = 1)", Refused),
        (ON + "o_orderstatus FROM orders", SyntaxFault),
        (ON + "o_orderstatus FROM orders WITH (rounds = 3)", SyntaxFault),
        (ON + "o_orderstatus FROM orders WITH (epsilon = 1, rounds = 0)", SyntaxFault),
        (ON + "o_orderstatus FROM orders WITH (epsilon = 1, rounds = 51)", SyntaxFault),
        (ON + "o_orderstatus FROM orders WITH (epsilon = 1, other = 2)", BadParameter),
        (ON + "o_orderstatus FROM orders WITH (epsilon = 1, epsilon = 2)", BadParameter),
        (ON + "o_orderstatus FROM orders WITH (epsilon = 1, groups = -1)", BadParameter),
        (ON + "o_orderstatus FROM orders WITH (epsilon = 100)", BadParameter),
        (
            "CREATE SYNOPSIS orders" + ON[17:] + "o_orderstatus FROM orders WITH (epsilon = 1)",
            NameTaken,
        ),
    ],
)
def test_what_has_no_synopsis_is_refused_for_nothing(
    connection: Connection, statement: str, error: type[Error]
) -> None:
    with pytest.raises(error):
        connection.execute(statement)
    assert spent(connection) == 0
