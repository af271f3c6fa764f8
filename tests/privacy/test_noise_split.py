from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.privacy.allocation.noise_allocation import (
    laplace_where_less,
    split_gaussian,
    split_laplace,
)
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace

statistics = st.lists(
    st.tuples(
        st.integers(1, 10**12),
        st.one_of(st.floats(1e-12, 1e12), st.fractions(Fraction(1, 10**9), 10**9)),
    ),
    min_size=1,
    max_size=8,
)
groups = st.integers(1, 1000)
losses = st.fractions(min_value=Fraction(1, 10**6), max_value=64)


@given(statistics=statistics, groups=groups, rho=losses)
def test_gaussian_split_never_exceeds_the_loss(
    statistics: list[tuple[int, float]], groups: int, rho: Fraction
) -> None:
    deltas, weights = [s[0] for s in statistics], [s[1] for s in statistics]
    split = split_gaussian(deltas, weights, groups, rho)
    spent = sum(m.rho(groups * d**2) for m, d in zip(split, deltas, strict=True))
    assert Fraction(999, 1000) * rho <= spent <= rho


@given(statistics=statistics, groups=groups, epsilon=losses)
def test_laplace_split_never_exceeds_the_loss(
    statistics: list[tuple[int, float]], groups: int, epsilon: Fraction
) -> None:
    deltas, weights = [s[0] for s in statistics], [s[1] for s in statistics]
    split = split_laplace(deltas, weights, groups, epsilon)
    spent = sum(m.epsilon(groups * d) for m, d in zip(split, deltas, strict=True))
    assert Fraction(999, 1000) * epsilon <= spent <= epsilon


def test_gaussian_split_is_the_optimal_one() -> None:
    split = split_gaussian((1, 72), (1, 1), 1, Fraction(1, 2))
    assert [float(m.variance) for m in split] == pytest.approx([73, 5256], rel=1e-4)


def test_laplace_split_is_the_optimal_one() -> None:
    split = split_laplace((1, 72), (1, 1), 1, Fraction(1))
    found = [float(m.scale) for m in split]
    assert found == pytest.approx([18.306994843688898, 76.1601676461038], rel=1e-4)


@given(
    deltas=st.lists(st.integers(1, 1000), min_size=2, max_size=2),
    weights=st.lists(st.floats(0.01, 100), min_size=2, max_size=2),
    shift=st.floats(0.5, 1.5),
)
def test_no_other_split_has_less_weighted_variance(
    deltas: list[int], weights: list[float], shift: float
) -> None:
    rho = Fraction(1, 10)
    split = split_gaussian(deltas, weights, 1, rho)
    best = sum(c * float(m.variance) for c, m in zip(weights, split, strict=True))
    first = min(float(split[0].rho(deltas[0] ** 2)) * shift, float(rho) * 0.999)
    shares = first, float(rho) - first
    other = sum(c * d**2 / (2 * r) for c, d, r in zip(weights, deltas, shares, strict=True))
    assert best <= other * 1.001


@given(deltas=st.lists(st.integers(1, 1000), min_size=2, max_size=2), shift=st.floats(0.5, 1.5))
def test_no_other_laplace_split_has_less_weighted_variance(deltas: list[int], shift: float) -> None:
    epsilon = Fraction(1, 10)
    split = split_laplace(deltas, (1, 1), 1, epsilon)
    best = sum(2 * float(m.scale) ** 2 for m in split)
    first = min(float(split[0].epsilon(deltas[0])) * shift, float(epsilon) * 0.999)
    shares = first, float(epsilon) - first
    other = sum(2 * (d / e) ** 2 for d, e in zip(deltas, shares, strict=True))
    assert best <= other * 1.001


def test_equal_relative_noise_is_an_equal_split() -> None:
    deltas = (1, 7, 300)
    weights = [Fraction(1, d**2) for d in deltas]
    for mechanism, d in zip(split_gaussian(deltas, weights, 3, Fraction(3)), deltas, strict=True):
        assert float(mechanism.rho(3 * d**2)) == pytest.approx(1, rel=1e-4)


@given(statistics=statistics, groups=groups, rho=losses)
def test_parameters_have_few_bits(
    statistics: list[tuple[int, float]], groups: int, rho: Fraction
) -> None:
    deltas, weights = [s[0] for s in statistics], [s[1] for s in statistics]
    for mechanism in split_gaussian(deltas, weights, groups, rho):
        number = mechanism.variance
        odd = number.numerator // (number.numerator & -number.numerator)
        assert odd.bit_length() <= 17
        assert number.denominator & (number.denominator - 1) == 0


def test_extreme_weights_leave_everyone_something() -> None:
    split = split_gaussian((1, 10**300), (1e-300, 1e300), 1, Fraction(1))
    assert sum(m.rho(d**2) for m, d in zip(split, (1, 10**300), strict=True)) <= 1


@pytest.mark.parametrize("split", [split_gaussian, split_laplace])
@pytest.mark.parametrize(
    ("deltas", "weights", "groups", "loss"),
    [
        ((0,), (1,), 1, Fraction(1)),
        ((1,), (0,), 1, Fraction(1)),
        ((1,), (float("nan"),), 1, Fraction(1)),
        ((1,), (float("inf"),), 1, Fraction(1)),
        ((1,), (1,), 0, Fraction(1)),
        ((1,), (1,), 1, Fraction(0)),
        ((1, 2), (1,), 1, Fraction(1)),
        ((), (), 1, Fraction(1)),
    ],
)
def test_splits_without_sense_are_refused(
    split: Callable[[Sequence[int], Sequence[float], int, Fraction], object],
    deltas: tuple[int, ...],
    weights: tuple[float, ...],
    groups: int,
    loss: Fraction,
) -> None:
    with pytest.raises(ValueError, match=r"split|weights|shorter|empty|argument"):
        split(deltas, weights, groups, loss)


@given(statistics=statistics, groups=groups, rho=losses)
def test_laplace_noise_in_place_of_gaussian_noise_loses_no_more(
    statistics: list[tuple[int, float]], groups: int, rho: Fraction
) -> None:
    deltas, weights = [s[0] for s in statistics], [s[1] for s in statistics]
    split = split_gaussian(deltas, weights, groups, rho)
    for before, after, delta in zip(split, laplace_where_less(split, deltas), deltas, strict=True):
        if isinstance(after, DiscreteLaplace):
            assert after.rho(delta) <= before.rho(delta**2)
            assert after.variance < before.variance


@pytest.mark.parametrize(
    ("delta", "rho", "kind"),
    # Continuous laws cross at 1.634; a count's, at 2.2, as little discrete Gaussian noise has less
    # variance than its parameter says.
    [
        (10**6, "1.6", DiscreteGaussian),
        (10**6, "1.7", DiscreteLaplace),
        (1, "2", DiscreteGaussian),
        (1, "3", DiscreteLaplace),
    ],
)
def test_generous_losses_are_spent_on_laplace_noise(delta: int, rho: str, kind: type) -> None:
    (noise,) = laplace_where_less(split_gaussian((delta,), (1,), 1, Fraction(rho)), (delta,))
    assert isinstance(noise, kind)
