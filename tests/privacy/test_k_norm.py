"""Chi-squared tests are made at 1e-6: that is the false-failure probability of each."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from mpmath import mp, mpf
from privacy.laws import exact, fit
from privacy.seeded import SeededRandomness

from dpsql.privacy.mechanisms.level_law import MAX_LEVELS, level_cuts
from dpsql.privacy.mechanisms.noise import k_norm
from dpsql.privacy.mechanisms.noise.k_norm import KNorm, KNormNoise, evenly
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace

FALSE_FAILURE = 1e-6
ONE = Fraction(1)
LAWS = [
    KNorm(ONE, (1,), 1, 1),
    KNorm(ONE, (1, 1), 1, 1),
    KNorm(Fraction(3, 2), (1, 3), 1, 2),
    KNorm(Fraction(2), (2, 5), 1, 4),
    KNorm(ONE, (1,), 3, 1),
    KNorm(Fraction(5), (1, 2, 3), 1, 16),
]


@cache
def level(law: KNorm, vector: tuple[int, ...]) -> int:
    """The least level whose box has the vector, by the definition."""
    found = 0
    while any(abs(z) > found * d // law.levels for z, d in zip(vector, moves(law), strict=True)):
        found += 1
    return found


def moves(law: KNorm) -> tuple[int, ...]:
    """The move of each integer that is drawn together, column by column."""
    return tuple(move for move in law.moves for _ in range(law.cells))


def drawn(law: KNorm, answers: int, seed: str) -> np.ndarray:
    """Draws of the noise, one answer a row, its integers column by column."""
    zeros = [np.zeros(answers * law.cells, dtype=np.int64) for _ in law.moves]
    noisy = law.release(zeros, SeededRandomness(seed))
    return np.concatenate([column.reshape(answers, law.cells) for column in noisy], axis=1)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_draws_fit_the_law_of_the_level(law: KNorm) -> None:
    # All vectors of the first levels, each with its own probability, and the rest as one.
    highest = 2 * law.levels
    edges = [range(-(highest * d // law.levels), highest * d // law.levels + 1) for d in moves(law)]
    rate = exact(law.epsilon / law.levels)
    vectors = {v: mp.exp(-rate * level(law, v)) for v in product(*edges)}
    total = mp.nsum(
        lambda t: volume(law, int(t)) * mp.exp(-rate * t) * (1 - mp.exp(-rate)), [0, mp.inf]
    )
    numbers = {vector: number for number, vector in enumerate(vectors)}
    law_of = [weight / total for weight in vectors.values()]
    law_of.append(1 - mp.fsum(law_of))
    draws = drawn(law, 200_000, f"law {law}")
    seen = np.array([numbers.get(tuple(row), len(numbers)) for row in draws.tolist()])
    assert fit(seen, law_of) > FALSE_FAILURE
    # A seeded bug: each integer by a level of its own is told apart.
    if len(moves(law)) > 1:
        mixed = np.stack([np.roll(column, n) for n, column in enumerate(draws.T)], axis=1)
        seen = np.array([numbers.get(tuple(row), len(numbers)) for row in mixed.tolist()])
        assert fit(seen, law_of) < FALSE_FAILURE


def volume(law: KNorm, at: int) -> int:
    return int(np.prod([2 * (at * d // law.levels) + 1 for d in moves(law)], dtype=object))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_no_move_changes_a_probability_by_more_than_epsilon(law: KNorm) -> None:
    # A probability is e^-(ε/q · level): any move within the box, from any vector of a larger box.
    own = moves(law)
    reach = [range(-2 * d, 2 * d + 1) for d in own]
    steps = [{-d, -1, 0, 1, d} for d in own]
    highest = max(
        level(law, tuple(z + v for z, v in zip(vector, move, strict=True))) - level(law, vector)
        for vector in product(*reach)
        for move in product(*steps)
    )
    assert highest == law.levels  # it is reached: ε is no less


@pytest.mark.parametrize("units", [2, 3])
def test_each_of_several_units_moves_the_level_by_its_part(units: int) -> None:
    law = KNorm.calibrated(Fraction(1, 2), (units, 5 * units), cells=1, units=units)
    assert law is not None
    assert law.levels % units == 0
    for vector in product(range(-6, 7), range(-30, 31)):
        for move in product((-1, 0, 1), (-5, -2, 0, 5)):
            moved = tuple(z + v for z, v in zip(vector, move, strict=True))
            assert level(law, moved) - level(law, vector) <= law.levels // units


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_cut_points_are_within_one(law: KNorm, bits: int) -> None:
    rate = exact(law.epsilon / law.levels)
    cuts = level_cuts(law, bits)
    weights = [volume(law, t) * mp.exp(-rate * t) for t in range(3 * len(cuts))]
    total, until = mp.fsum(weights), mpf(0)
    with mp.workdps(80):
        for cut, weight in zip(cuts, weights, strict=False):
            until += weight
            assert abs(cut - mpf(2) ** bits * until / total) <= 1
    assert cuts[-1] == 2**bits
    assert all(a <= b for a, b in pairwise(cuts))


def test_of_one_integer_it_is_laplace_noise() -> None:
    laplace, own = DiscreteLaplace(Fraction(3)), KNormNoise(KNorm(Fraction(1, 3), (1,)), 0)
    assert own.variance == pytest.approx(float(laplace.variance), rel=1e-9)
    assert own.half_width(Fraction(95, 100)) == laplace.half_width(Fraction(95, 100))
    for at_least in (1, 5, 20):
        tail = laplace.tail(at_least)
        assert tail <= own.tail(at_least) <= tail + Fraction(1, 2**40)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_variances_and_tails_are_those_of_draws(law: KNorm) -> None:
    # Of 200,000 draws: five standard deviations of a variance are 5 %, of a frequency 0.6 %.
    draws = drawn(law, 200_000, f"moments {law}")
    for index in range(len(law.moves)):
        noise, column = KNormNoise(law, index), draws[:, index * law.cells].astype(float)
        assert np.mean(column**2) == pytest.approx(noise.variance, rel=0.05)
        width = noise.half_width(Fraction(95, 100))
        assert np.mean(np.abs(column) <= width) > 0.944
        assert width == 0 or np.mean(np.abs(column) < width) < 0.956
        for at_least in (1, 2, 5):
            assert np.mean(column >= at_least) == pytest.approx(
                float(noise.tail(at_least)), abs=6e-3
            )


@pytest.mark.parametrize("count", [2, 3, 4, 6, 12, 100])
@pytest.mark.parametrize("move", [1, 1000])
def test_its_variance_is_that_of_the_box(count: int, move: int) -> None:
    epsilon = Fraction(1, 2)
    law = KNorm.calibrated(epsilon, (move,) * count, cells=1, units=1)
    assert law is not None
    scaled = KNormNoise(law, 0).variance * float(epsilon / move) ** 2
    assert scaled == pytest.approx((count + 1) * (count + 2) / 3, rel=0.02)
    assert scaled < 2 * count**2 / (1.9 if count == 2 else 2.5)


@pytest.mark.parametrize("count", [2, 3, 4, 8, 30])
def test_sums_of_its_integers_have_at_most_2_12_deviations_as_half_width(count: int) -> None:
    # Of 200,000 draws: a half-width is off by 1 % in one of 10^6.
    law = KNorm.calibrated(Fraction(1, 10), (1,) * count, cells=1, units=1)
    assert law is not None
    draws = drawn(law, 200_000, f"sums {count}").astype(float)
    rng = np.random.default_rng(7)
    directions = [np.eye(count)[0] + np.eye(count)[1], np.ones(count), *rng.normal(size=(6, count))]
    for direction in directions:
        summed = draws @ direction
        assert np.quantile(np.abs(summed), 0.95) < 2.12 * 1.01 * summed.std()
        # No two are correlated.
        expected = KNormNoise(law, 0).variance * float(direction @ direction)
        assert summed.var() == pytest.approx(expected, rel=0.05)


def test_integers_are_even() -> None:
    edges = np.repeat([0, 1, 2, 5, 2**60], 40_000)
    found = evenly(edges, SeededRandomness("even"))
    assert (np.abs(found) <= edges).all()
    for edge in (1, 2, 5):
        assert fit(found[edges == edge] + edge, [mpf(1) / (2 * edge + 1)] * (2 * edge + 1)) > 1e-6
    widest = found[edges == 2**60]
    assert fit((widest > 0).astype(int), [mpf(1) / 2] * 2) > FALSE_FAILURE


def test_cells_of_an_answer_are_drawn_together_and_answers_are_not() -> None:
    law = KNorm(Fraction(1, 10), (1,), 2, 1)
    draws = np.abs(drawn(law, 100_000, "cells")).astype(float)
    assert np.corrcoef(draws[:, 0], draws[:, 1])[0, 1] > 0.1
    # Five standard deviations.
    assert abs(np.corrcoef(draws[:-1, 0], draws[1:, 1])[0, 1]) < 0.016


def test_huge_values_get_noise_too() -> None:
    law = KNorm(ONE, (1, 7), 1, 4)
    columns = [np.array([2**70, -(2**70)], dtype=object), np.array([2**62, 0])]
    noisy = law.release(columns, SeededRandomness("huge"))
    assert all(
        abs(int(n) - int(v)) < 1000
        for new, old in zip(noisy, columns, strict=True)
        for n, v in zip(new, old, strict=True)
    )


def test_moves_of_many_levels_may_be_nearly_as_large_as_64_bits() -> None:
    """A level times a move passes 64 bits, though no edge does: the listing never came to an end.

    sum(x) of x up to 10^15 beside count(*), in some of several groups, with a limit on all rows.
    """
    small, large = (KNorm(ONE, (2**e, 4), levels=64) for e in (40, 51))
    # They have as many more vectors in each level, but for roundings.
    told = [np.array(level_cuts(law, 64), dtype=float) for law in (small, large)]
    assert told[0] == pytest.approx(told[1], abs=2**50)
    nothing = np.zeros(1000, dtype=np.int64)
    drawn = [law.release([nothing] * 2, SeededRandomness("large"))[0] for law in (small, large)]
    deviations = [float(np.std(noise)) for noise in drawn]
    assert deviations[1] / deviations[0] == pytest.approx(2**11, rel=0.2)  # 5 deviations and more


@pytest.mark.parametrize(
    ("epsilon", "count", "cells"), [(Fraction(1, 10**4), 2, 1), (ONE, 2, 10**6), (ONE, 300, 1)]
)
def test_there_is_none_where_levels_or_integers_are_too_many(
    epsilon: Fraction, count: int, cells: int
) -> None:
    assert KNorm.calibrated(epsilon, (1,) * count, cells=cells, units=1) is None
    assert KNorm.calibrated(ONE, (2**62, 1), cells=1, units=1) is None


@pytest.mark.parametrize(
    ("epsilon", "cells"),
    [
        (Fraction(1, 200), 1),
        (Fraction(1, 10), 1),
        (ONE, 1),
        (Fraction(40), 1),
        (Fraction(7, 200), 128),
    ],
)
@pytest.mark.parametrize("largest", [1, 10**6])
def test_its_table_is_short(epsilon: Fraction, cells: int, largest: int) -> None:
    law = KNorm.calibrated(epsilon, (1, largest), cells=cells, units=1)
    assert law is not None
    # Outcomes of 16 bits are told by numbers below 2^15.
    assert len(level_cuts(law, 32)) <= MAX_LEVELS * 5 // 4


@pytest.mark.parametrize("sizes", [(3,), (4, 6), (3, 3)])
def test_columns_are_as_the_law_has_them(sizes: tuple[int, ...]) -> None:
    law = KNorm(ONE, (1, 1), 2, 1)
    columns = [np.zeros(size, dtype=np.int64) for size in sizes]
    with pytest.raises(ValueError, match=r"column|together"):
        law.release(columns, SeededRandomness("columns"))


def test_moves_are_positive() -> None:
    for wrong in ((0, 1), ()):
        with pytest.raises(ValueError, match="at least 1"):
            KNorm(ONE, wrong)


@pytest.mark.parametrize("at_least", [0, -1])
def test_a_tail_begins_at_1(at_least: int) -> None:
    with pytest.raises(ValueError, match="tail"):
        KNormNoise(LAWS[1], 0).tail(at_least)


def test_small_tails_are_found() -> None:
    noise = KNormNoise(KNorm(ONE, (1, 1)), 0)
    points = [noise.tail_point(Fraction(1, 10**digits)) for digits in (3, 9, 30, 60)]
    assert points == sorted(set(points))
    # Each factor of 10 takes some 2.3 more.
    assert points[-1] - points[-2] == pytest.approx(30 * 2.3, rel=0.1)


def test_a_tail_point_is_found_in_a_few_tries_wherever_the_search_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law = KNorm(Fraction(999, 1000), (84, 84 * 50, 10**9), 2, 4)
    probabilities = [Fraction(1, 2), Fraction(1, 20), Fraction(1, 10**9), Fraction(1, 10**18)]
    tried: list[int] = []
    tail = k_norm._tail

    def counted(edges: k_norm.Edges, point: int, bits: int) -> Fraction:
        tried.append(point)
        return tail(edges, point, bits)

    monkeypatch.setattr(k_norm, "_tail", counted)
    found = [part.tail_point(p) for part in law.parts() for p in probabilities]
    assert len(tried) < 6 * len(found)
    monkeypatch.setattr(k_norm, "_half_width", lambda *_: 7)
    assert [part.tail_point(p) for part in law.parts() for p in probabilities] == found
