"""Chi-squared tests are made at 1e-6: that is the false-failure probability of each."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from mpmath import mp, mpf
from privacy.laws import exact, fit
from privacy.seeded import SeededRandomness

from dpsql.privacy.allocation.correlated_allocation import split_correlated
from dpsql.privacy.allocation.noise_allocation import split_gaussian
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedGaussian

FALSE_FAILURE = 1e-6
RHO = Fraction(1, 10)


def gaussian(variance: Fraction, reach: int) -> dict[int, mpf]:
    weights = {
        x: mp.exp(-exact(Fraction(x * x) / (2 * variance))) for x in range(-reach, reach + 1)
    }
    total = mp.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def drawn(law: CorrelatedGaussian, answers: int, seed: str) -> np.ndarray:
    """Draws of the noise, one answer a row, its integers column by column."""
    zeros = [np.zeros(answers * law.cells, dtype=np.int64) for _ in law.centers]
    noisy = law.release(zeros, SeededRandomness(seed))
    return np.concatenate([column.reshape(answers, law.cells) for column in noisy], axis=1)


@pytest.mark.parametrize(
    "law",
    [
        CorrelatedGaussian((Fraction(3), Fraction(5)), Fraction(2), (1, 1)),
        CorrelatedGaussian((Fraction(4), Fraction(2)), Fraction(3, 2), (3, 0)),
        CorrelatedGaussian((Fraction(3),), Fraction(2), (-2,), cells=2),
    ],
    ids=str,
)
def test_draws_fit_the_joint_law(law: CorrelatedGaussian) -> None:
    # Both integers together: own noise, the shared one, and a fair bit for the half of odd numbers.
    columns = [
        (v, m) for v, m in zip(law.variances, law.centers, strict=True) for _ in range(law.cells)
    ]
    expected: Counter[tuple[int, ...]] = Counter()
    for common, p in gaussian(law.shared, 12).items():
        halves = []
        for variance, center in columns:
            own: dict[int, mpf] = Counter()
            for g, q in gaussian(variance, 18).items():
                for rounding in (0, 1):
                    own[(g + center * common + rounding) // 2] += q / 2
            halves.append(own)
        for (x, a), (y, b) in product(*(own.items() for own in halves)):
            expected[x, y] += p * a * b
    likely = {pair: n for n, (pair, _) in enumerate(expected.most_common(60))}
    law_of = [expected[pair] for pair in likely]
    law_of.append(1 - mp.fsum(law_of))
    draws = drawn(law, 200_000, f"correlated {law}")
    seen = np.array([likely.get(tuple(row), len(likely)) for row in draws.tolist()])
    assert fit(seen, law_of) > FALSE_FAILURE
    if all(law.centers):
        # A seeded bug: a shared part for each.
        apart = np.stack([draws[:, 0], np.roll(draws[:, 1], 1)], axis=1)
        seen = np.array([likely.get(tuple(row), len(likely)) for row in apart.tolist()])
        assert fit(seen, law_of) < FALSE_FAILURE


def renyi(one: dict[int, mpf], moved: int, order: int) -> mpf:
    total = mp.fsum(
        p**order * one.get(x - moved, mpf(0)) ** (1 - order)
        for x, p in one.items()
        if x - moved in one
    )
    return mp.log(total) / (order - 1)


@pytest.mark.parametrize("order", [2, 5])
@pytest.mark.parametrize("moves", list(product((0, 1, 2), (0, 3))))
def test_no_unit_loses_more_than_rho(order: int, moves: tuple[int, int]) -> None:
    """Of what the noise follows from by postprocessing: 2·x - m·N with G, and N with H."""
    law = CorrelatedGaussian((Fraction(6), Fraction(11)), Fraction(3), (2, 3))
    widths = (2, 3)
    loss = renyi(gaussian(law.shared, 200), 1, order)
    for move, center, variance in zip(moves, law.centers, law.variances, strict=True):
        loss += renyi(gaussian(variance, 200), 2 * move - center, order)
    assert loss <= order * exact(law.rho(widths)) + mpf(10) ** -20
    # It is reached, where all moves are to an end.
    assert loss == pytest.approx(float(order * exact(law.rho(widths))), rel=1e-6) or moves != (2, 3)
    assert law.rho(widths) < law.rho((4, 6))


@pytest.mark.parametrize(
    ("count", "less"), [(2, 0.13), (6, 0.29), (12, 0.35), (100, 0.44)], ids=str
)
@pytest.mark.parametrize("width", [1, 1000])
def test_counts_and_sums_have_less_deviation_than_with_noise_each(
    count: int, less: float, width: int
) -> None:
    law = split_correlated([(0, width)], [1.0], count, RHO)
    assert law is not None
    assert RHO * (1 - Fraction(1, 10**4)) <= law.rho([width]) <= RHO
    (independent, *_) = split_gaussian([width] * count, [1.0] * count, 1, RHO)
    ratio = math.sqrt(law.parts()[0].variance / independent.variance)
    assert ratio < 1 - less
    # Of 20,000 answers: five standard deviations of a variance are 5 %.
    draws = drawn(law, 20_000, f"less {count} {width}")
    assert draws[:, 0].var() == pytest.approx(float(law.parts()[0].variance), rel=0.05)
    assert draws[:, -1].mean() == pytest.approx(0, abs=0.04 * draws[:, -1].std())


def test_weights_and_signs_are_respected() -> None:
    law = split_correlated([(0, 1), (-10, 0), (-7, 8)], [1.0, 0.01, 0.0001], 1, RHO)
    assert law is not None
    assert law.centers == (1, -10, 1)
    assert law.rho((1, 10, 15)) <= RHO
    rarer = split_correlated([(0, 1), (-10, 0), (-7, 8)], [100.0, 0.01, 0.0001], 1, RHO)
    assert rarer is not None
    assert rarer.parts()[0].variance < law.parts()[0].variance


@pytest.mark.parametrize("count", [2, 6, 30])
def test_half_widths_and_parts_are_those_of_draws(count: int) -> None:
    # Of 100,000 draws: five standard deviations of a frequency of 95 % are 0.35 %.
    law = split_correlated([(0, 20)], [1.0], count, RHO)
    assert law is not None
    noise, draws = law.parts()[0], drawn(law, 100_000, f"widths {count}").astype(float)
    width = noise.half_width(Fraction(95, 100))
    assert 0.946 < np.mean(np.abs(draws[:, 0]) <= width) < 0.96
    summed = noise.variance * (count + count * (count - 1) * noise.shared_part)
    assert draws.sum(axis=1).var() == pytest.approx(float(summed), rel=0.05)
    assert np.corrcoef(draws[:, 0], draws[:, 1])[0, 1] == pytest.approx(
        1 / (math.sqrt(count) + 1), abs=0.03
    )
    for at_least in (1, width, 2 * width):
        assert np.mean(draws[:, 0] >= at_least) <= float(noise.tail(at_least))
    assert noise.tail(noise.tail_point(Fraction(1, 10**6))) <= Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("intervals", "rho"),
    [([(-5, 5)], RHO), ([(0, 2**41)], RHO), ([(0, 1)], Fraction(50))],
    ids=["no direction", "wide", "generous"],
)
def test_there_is_none_where_it_helps_nothing(
    intervals: list[tuple[int, int]], rho: Fraction
) -> None:
    assert split_correlated(intervals, [1.0], 3, rho) is None


@pytest.mark.parametrize("sizes", [(3,), (4, 6), (3, 3)])
def test_columns_are_as_the_law_has_them(sizes: tuple[int, ...]) -> None:
    law = CorrelatedGaussian((Fraction(3), Fraction(3)), Fraction(2), (1, 1), cells=2)
    columns = [np.zeros(size, dtype=np.int64) for size in sizes]
    with pytest.raises(ValueError, match=r"column|together"):
        law.release(columns, SeededRandomness("columns"))
