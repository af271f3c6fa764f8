"""Each goodness of fit is a chi-squared test at 1e-6: that is its false-failure probability."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from privacy.seeded import SeededRandomness
from scipy import stats

from dpsql.privacy.mechanisms.noise.sampler import discrete_gaussian, discrete_laplace
from dpsql.privacy.mechanisms.randomness import SystemRandomness

FALSE_FAILURE = 1e-6
COUNT = 1_000_000
COUNTS = [100_000, pytest.param(COUNT, marks=pytest.mark.slow)]

LAPLACE = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(10),
    Fraction(31),
    Fraction(201, 2),
    Fraction(1000),
]
GAUSSIAN = [Fraction(1, 9), Fraction(1), Fraction(100), Fraction(15_999), Fraction(10**6)]
HUGE = [Fraction(10**6), Fraction(2**50), Fraction(2**60), Fraction(2**121)]


def laplace_at_most(x: np.ndarray, scale: float) -> np.ndarray:
    p = math.exp(-1 / scale)
    below = np.exp(np.minimum(x, -1) / scale) / (1 + p)
    above: np.ndarray = 1 - np.exp(-(np.maximum(x, 0) + 1) / scale) / (1 + p)
    return np.where(x < 0, below, above)


def gaussian_at_most(x: np.ndarray, variance: float) -> np.ndarray:
    deviation = math.sqrt(variance)
    if deviation > 2000:  # the sum differs from the integral by less than 1e-8
        return np.asarray(stats.norm.cdf((x + 0.5) / deviation))
    reach = int(12 * deviation) + 12
    weights = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * variance))
    sums = np.cumsum(weights) / weights.sum()
    found: np.ndarray = sums[np.clip(x.astype(int) + reach, 0, 2 * reach)]
    return found


def fit(
    draws: np.ndarray, at_most: Callable[[np.ndarray, float], np.ndarray], parameter: float
) -> float:
    """The probability of a worse fit: integers for bins, or up to 2000 ranges, and both tails."""
    low, high = np.quantile(draws, [0.0005, 0.9995]).astype(int)
    step = max((high - low) // 2000, 1)
    edges = np.arange(low, high, step)
    expected = np.diff(at_most(edges, parameter), prepend=0.0, append=1.0) * draws.size
    seen = np.bincount(np.searchsorted(edges, draws), minlength=edges.size + 1)
    enough = expected >= 25
    statistic = ((seen - expected) ** 2 / np.where(enough, expected, 1))[enough].sum()
    return float(stats.chi2.sf(statistic, enough.sum() - 1))


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("scale", [*LAPLACE, HUGE[0]], ids=str)
def test_discrete_laplace_draws_fit_their_law(scale: Fraction, count: int) -> None:
    draws = discrete_laplace(scale, count, SeededRandomness(f"laplace {scale}"))
    assert fit(draws, laplace_at_most, float(scale)) > FALSE_FAILURE


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("variance", [*GAUSSIAN, Fraction(10**12)], ids=str)
def test_discrete_gaussian_draws_fit_their_law(variance: Fraction, count: int) -> None:
    draws = discrete_gaussian(variance, count, SeededRandomness(f"gaussian {variance}"))
    assert fit(draws, gaussian_at_most, float(variance)) > FALSE_FAILURE


@pytest.mark.parametrize("factor", [0.9, 1.1])
@pytest.mark.parametrize(
    "scale", [Fraction(1, 3), Fraction(1), Fraction(10), Fraction(1000)], ids=str
)
def test_a_scale_wrong_by_a_tenth_is_noticed(scale: Fraction, factor: float) -> None:
    draws = discrete_laplace(scale, COUNT // 10, SeededRandomness("wrong scale"))
    assert fit(draws, laplace_at_most, factor * float(scale)) < FALSE_FAILURE


@pytest.mark.parametrize("factor", [0.9, 1.1])
@pytest.mark.parametrize(
    "variance", [Fraction(1, 9), Fraction(1), Fraction(100), Fraction(10**6)], ids=str
)
def test_a_deviation_wrong_by_a_tenth_is_noticed(variance: Fraction, factor: float) -> None:
    draws = discrete_gaussian(variance, COUNT // 10, SeededRandomness("wrong deviation"))
    assert fit(draws, gaussian_at_most, factor**2 * float(variance)) < FALSE_FAILURE


@pytest.mark.parametrize("scale", HUGE, ids=str)
def test_huge_laplace_draws_fit_after_division(scale: Fraction) -> None:
    # Floor division of discrete Laplace by a power of two m: mass p^m moves one step, so the law
    # is known, and is compared at a scale of 10 or so.
    unit = 1 << (int(scale / 10).bit_length() - 1)
    draws = discrete_laplace(scale, COUNT // 5, SeededRandomness("huge laplace"))
    divided = np.array([draw // unit for draw in draws.tolist()])

    def at_most(x: np.ndarray, divided_scale: float) -> np.ndarray:  # P(X <= m·x + m - 1)
        below = np.exp((np.minimum(x, -1) + 1) / divided_scale) / 2
        return np.where(x < 0, below, 1 - np.exp(-(x + 1) / divided_scale) / 2)

    # P(X < 0) is ½ up to 1/(4·scale), far below what so many draws can show.
    assert fit(divided, at_most, float(scale / unit)) > FALSE_FAILURE


@pytest.mark.parametrize("deviation", [2**50, 2**60, 2**121])
def test_huge_gaussian_draws_fit_after_division(deviation: int) -> None:
    unit = deviation // 8
    draws = discrete_gaussian(Fraction(deviation**2), COUNT // 5, SeededRandomness("huge gaussian"))
    divided = np.array([draw // unit for draw in draws.tolist()])
    assert fit(divided, lambda x, d: stats.norm.cdf((x + 1) / d), 8.0) > FALSE_FAILURE


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
@pytest.mark.parametrize("parameter", [Fraction(2**20), Fraction(2**60), Fraction(2**200)])
def test_low_bits_of_wide_draws_are_uniform(
    draw: Callable[..., np.ndarray], parameter: Fraction
) -> None:
    # The law modulo 64 is uniform up to e^-2π²·… for these parameters.
    draws = draw(parameter, COUNT // 5, SeededRandomness("low bits"))
    seen = np.bincount([int(x) % 64 for x in draws.tolist()], minlength=64)
    statistic = ((seen - seen.mean()) ** 2).sum() / seen.mean()
    assert stats.chi2.sf(statistic, 63) > FALSE_FAILURE


@pytest.mark.parametrize(
    ("scale", "variance"),
    [(1.0, 1.8413471884155848), (10.0, 199.8334166336092), (7.5, 112.33348137703284)],
)
def test_laplace_moments(scale: float, variance: float) -> None:
    # Six standard errors, of the mean and (kurtosis 6) of the variance: false failure below 1e-8.
    draws = discrete_laplace(Fraction(scale), COUNT, SeededRandomness("moments")).astype(float)
    assert abs(draws.mean()) < 6 * math.sqrt(variance / COUNT)
    assert abs(draws.var() - variance) < 6 * variance * math.sqrt(6 / COUNT)


@pytest.mark.parametrize(
    ("parameter", "variance"),
    [(0.25, 0.21501267508813848), (1.0, 0.9999997887677281), (2.25, 2.25), (1e8, 1e8)],
)
def test_gaussian_moments(parameter: float, variance: float) -> None:
    draws = discrete_gaussian(Fraction(parameter), COUNT, SeededRandomness("moments")).astype(float)
    assert abs(draws.mean()) < 6 * math.sqrt(variance / COUNT)
    assert abs(draws.var() - variance) < 6 * variance * math.sqrt(4 / COUNT)


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
@pytest.mark.parametrize("size", [0, 1, 2, 1000, 2**15 + 1, 100_000])
@pytest.mark.parametrize("parameter", [Fraction(1, 3), Fraction(10**9)])
def test_as_many_draws_as_asked_for(
    draw: Callable[..., np.ndarray], size: int, parameter: Fraction
) -> None:
    draws = draw(parameter, size, SeededRandomness("sizes"))
    assert draws.shape == (size,)
    assert draws.dtype == np.int64


@pytest.mark.parametrize("size", [0, 3, 100_000])
def test_beyond_int64_draws_are_python_integers(size: int) -> None:
    for draws in (
        discrete_laplace(Fraction(2**55), size, SeededRandomness("wide")),
        discrete_gaussian(Fraction(2**200), size, SeededRandomness("wide")),
    ):
        assert draws.shape == (size,)
        assert draws.dtype == object
        assert all(type(draw) is int for draw in draws.tolist()[:1000])


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
def test_tiny_scales_give_nothing_but_zero(draw: Callable[..., np.ndarray]) -> None:
    assert not draw(Fraction(1, 10**6), 100_000, SeededRandomness("tiny")).any()


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
@pytest.mark.parametrize("parameter", [Fraction(0), Fraction(-1)])
def test_laws_without_width_are_refused(
    draw: Callable[..., np.ndarray], parameter: Fraction
) -> None:
    with pytest.raises(ValueError, match="positive"):
        draw(parameter, 1, SystemRandomness())


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
@pytest.mark.parametrize("parameter", [1.0, float("nan"), 2, "1"])
def test_parameters_that_are_no_fraction_are_refused(
    draw: Callable[..., np.ndarray], parameter: object
) -> None:
    with pytest.raises(TypeError, match="fractions"):
        draw(parameter, 1, SystemRandomness())


def test_the_same_bits_give_the_same_draws() -> None:
    first = discrete_gaussian(Fraction(10**9), 1000, SeededRandomness("same"))
    second = discrete_gaussian(Fraction(10**9), 1000, SeededRandomness("same"))
    other = discrete_gaussian(Fraction(10**9), 1000, SeededRandomness("other"))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_the_system_never_repeats_itself() -> None:
    source = SystemRandomness()
    assert source.bytes(32) != source.bytes(32)
    assert len(source.bytes(1000)) == 1000
