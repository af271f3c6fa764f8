"""Chi-squared tests are made at 1e-6: that is the false-failure probability of each."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from mpmath import mp, mpf
from privacy.laws import exact, fit
from privacy.seeded import SeededRandomness

from dpsql.privacy.mechanisms.level_law import level_cuts
from dpsql.privacy.mechanisms.noise.k_norm import KNorm, KNormNoise
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.one_direction import OneDirection, OneDirectionNoise

FALSE_FAILURE = 1e-6
ONE = Fraction(1)
LAWS = [
    OneDirection(ONE, (1,)),
    OneDirection(ONE, (1, 1)),
    OneDirection(Fraction(3, 2), (2, 6), 1, 2),
    OneDirection(Fraction(2), (4, 8), 1, 4),
    OneDirection(ONE, (1,), 3),
    OneDirection(Fraction(5), (16, 32), 1, 16),
]


def moves(law: OneDirection) -> tuple[int, ...]:
    """The move of each integer that is drawn together, column by column."""
    return tuple(move for move in law.moves for _ in range(law.cells))


def level(law: OneDirection, vector: tuple[int, ...]) -> int:
    """The level of a vector by the definition: how far up it is, and how far down."""
    steps = [move // law.levels for move in moves(law)]
    up = max(-(-z // e) for z, e in zip(vector, steps, strict=True))
    down = max(-(z // e) for z, e in zip(vector, steps, strict=True))
    return max(up, 0) + max(down, 0)


def weight_of(law: OneDirection, highest: int) -> mpf:
    """What e^-(ε/q · level) sums to over all vectors, by levels up to `highest`."""
    # Vectors of pairs (P, M) up to which they are: as many as the law says, all of which lie in one
    # box; of level exactly l are those of inclusion and exclusion.
    rate, k = exact(law.epsilon / law.levels), moves(law)
    steps = [move // law.levels for move in k]

    def boxes(total: int) -> int:
        # All vectors with up <= P and down <= M, over P + M = total.
        if total < 0:
            return 0
        return (total + 1) * int(np.prod([total * e + 1 for e in steps], dtype=object))

    exactly = (boxes(n) - 2 * boxes(n - 1) + boxes(n - 2) for n in range(highest + 1))
    return mp.fsum(number * mp.exp(-rate * n) for n, number in enumerate(exactly))


def drawn(law: OneDirection, answers: int, seed: str) -> np.ndarray:
    """Draws of the noise, one answer a row, its integers column by column."""
    zeros = [np.zeros(answers * law.cells, dtype=np.int64) for _ in law.moves]
    noisy = law.release(zeros, SeededRandomness(seed))
    return np.concatenate([column.reshape(answers, law.cells) for column in noisy], axis=1)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_draws_fit_the_law_of_the_level(law: OneDirection) -> None:
    # All vectors of few levels, each with its own probability, and the rest as one.
    reach = [range(-d, d + 1) for d in moves(law)]
    rate = exact(law.epsilon / law.levels)
    vectors = {v: mp.exp(-rate * level(law, v)) for v in product(*reach)}
    total = weight_of(law, 200 * law.levels)
    numbers = {vector: number for number, vector in enumerate(vectors)}
    law_of = [weight / total for weight in vectors.values()]
    law_of.append(1 - mp.fsum(law_of))
    draws = drawn(law, 100_000, f"law {law}")
    seen = np.array([numbers.get(tuple(row), len(numbers)) for row in draws.tolist()])
    assert fit(seen, law_of) > FALSE_FAILURE
    if len(moves(law)) > 1:  # integers of other draws each, as a seeded bug would have them
        mixed = np.stack([np.roll(column, n) for n, column in enumerate(draws.T)], axis=1)
        seen = np.array([numbers.get(tuple(row), len(numbers)) for row in mixed.tolist()])
        assert fit(seen, law_of) < FALSE_FAILURE


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_no_move_in_one_direction_changes_a_probability_by_more_than_epsilon(
    law: OneDirection,
) -> None:
    # A probability is e^-(ε/q · level): any move up or down, from any vector of a larger box.
    own = moves(law)
    vectors = [*product(*(range(-d - 1, d + 2, max(1, d // 4)) for d in own))]
    up = [*product(*({0, 1, d // 2, d} for d in own))]
    changed = {
        abs(
            level(law, tuple(z + v for z, v in zip(vector, move, strict=True))) - level(law, vector)
        )
        for vector in vectors
        for move in up
    }
    assert max(changed) == law.levels  # it is reached: ε is no less


def test_a_move_in_both_directions_is_of_twice_the_level() -> None:
    assert level(OneDirection(ONE, (1, 1)), (1, -1)) == 2


@pytest.mark.parametrize("units", [2, 3])
def test_each_of_several_units_moves_the_level_by_its_part(units: int) -> None:
    law = OneDirection.calibrated(Fraction(1, 2), (units, 5 * units), cells=1, units=units)
    assert law is not None
    assert law.levels % units == 0
    assert law.moves == (units, 5 * units)
    for vector in product(range(-6, 7), range(-30, 31)):
        for move in product((0, 1), (0, 2, 5)):
            moved = tuple(z + v for z, v in zip(vector, move, strict=True))
            assert abs(level(law, moved) - level(law, vector)) <= law.levels // units


@pytest.mark.parametrize("move", [1, 3, 50, 257, 10**7 + 1])
def test_moves_are_rounded_up_by_little(move: int) -> None:
    law = OneDirection.calibrated(Fraction(8), (move, 2 * move), cells=1, units=1)
    assert law is not None
    for given, taken in zip((move, 2 * move), law.moves, strict=True):
        assert given <= taken <= given * Fraction(65, 64)
    with pytest.raises(ValueError, match="whole number of steps"):
        OneDirection(ONE, (3,), 1, 2)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_cut_points_are_within_one(law: OneDirection) -> None:
    rate = exact(law.epsilon / law.levels)
    cuts = level_cuts(law, 64)
    steps = [move // law.levels for move in moves(law)]
    with mp.workdps(60):
        weights = [
            (t + 1) * mp.fprod(t * e + 1 for e in steps) * mp.exp(-rate * t)
            for t in range(3 * len(cuts))
        ]
        total, until = mp.fsum(weights), mpf(0)
        for cut, weight in zip(cuts, weights, strict=False):
            until += weight
            assert abs(cut - mpf(2) ** 64 * until / total) <= 1
    assert cuts[-1] == 2**64


def test_of_one_integer_it_is_laplace_noise() -> None:
    laplace, own = DiscreteLaplace(Fraction(3)), OneDirectionNoise(OneDirection(ONE / 3, (1,)), 0)
    assert own.variance == pytest.approx(float(laplace.variance), rel=1e-9)
    assert own.half_width(Fraction(95, 100)) == laplace.half_width(Fraction(95, 100))
    for at_least in (1, 5, 20):
        tail = laplace.tail(at_least)
        assert tail <= own.tail(at_least) <= tail + Fraction(1, 2**40)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_variances_and_tails_are_those_of_draws(law: OneDirection) -> None:
    # Of 200,000 draws: five standard deviations of a variance are 5 %, of a frequency 0.6 %.
    draws = drawn(law, 200_000, f"moments {law}").astype(float)
    for index in range(len(law.moves)):
        noise, column = OneDirectionNoise(law, index), draws[:, index * law.cells]
        assert np.mean(column**2) == pytest.approx(noise.variance, rel=0.05)
        width = noise.half_width(Fraction(95, 100))
        assert np.mean(np.abs(column) <= width) > 0.944
        assert width == 0 or np.mean(np.abs(column) < width) < 0.956
        for at_least in (1, 2, 5):
            assert np.mean(column >= at_least) == pytest.approx(
                float(noise.tail(at_least)), abs=6e-3
            )
    if law.cells > 1:
        common = float(noise.shared_part) * noise.variance
        assert np.mean(draws[:, 0] * draws[:, 1]) == pytest.approx(common, rel=0.1)


@pytest.mark.parametrize("count", [2, 6, 12, 100])
@pytest.mark.parametrize("move", [1, 1000])
def test_its_variance_is_that_of_the_hull_and_less_than_of_the_box(count: int, move: int) -> None:
    epsilon = Fraction(1, 2)
    law = OneDirection.calibrated(epsilon, (move,) * count, cells=1, units=1)
    box = KNorm.calibrated(epsilon, (move,) * count, cells=1, units=1)
    assert law is not None
    assert box is not None
    scaled = OneDirectionNoise(law, 0).variance * float(epsilon / move) ** 2
    assert scaled == pytest.approx((count + 2) * (count + 3) / 6, rel=0.03)
    assert OneDirectionNoise(law, 0).variance < KNormNoise(box, 0).variance


@pytest.mark.parametrize("count", [2, 8, 30])
def test_sums_of_its_integers_have_at_most_2_12_deviations_as_half_width(count: int) -> None:
    # Of 200,000 draws: a half-width is off by 1 % in one of 10^6.
    law = OneDirection.calibrated(Fraction(1, 10), (1,) * count, cells=1, units=1)
    assert law is not None
    draws = drawn(law, 200_000, f"sums {count}").astype(float)
    for direction in (np.eye(count)[0] + np.eye(count)[1], np.ones(count)):
        summed = draws @ direction
        assert np.quantile(np.abs(summed), 0.95) < 2.12 * 1.01 * summed.std()
