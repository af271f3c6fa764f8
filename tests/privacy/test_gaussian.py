from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy.seeded import SeededRandomness
from scipy import stats

from dpsql.privacy.accounting.zcdp_conversion import epsilon_of_rho
from dpsql.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpsql.privacy.mechanisms.mechanism import Mechanism
from dpsql.privacy.mechanisms.noise.gaussian_tail import gaussian_tail, normal_tail

variances = st.fractions(min_value=Fraction(1, 10), max_value=4096, max_denominator=100)


def slow_tail(variance: float, k: int) -> float:
    reach = int(14 * math.sqrt(variance)) + 14
    x = np.arange(-reach, reach + 1.0)
    weights = np.exp(-(x**2) / (2 * variance))
    return math.fsum(weights[x >= k]) / math.fsum(weights)


@given(variance=variances, l2_squared=st.integers(0, 10**9))
def test_rho_is_exact(variance: Fraction, l2_squared: int) -> None:
    assert DiscreteGaussian(variance).rho(l2_squared) == Fraction(l2_squared) / (2 * variance)


@pytest.mark.parametrize(("deviation", "move"), [(2, 1), (5, 3)])
def test_conversion_of_rho_covers_what_dp_accounting_finds(deviation: int, move: int) -> None:
    oracle = pld.from_discrete_gaussian_mechanism(deviation, sensitivity=move)
    rho = DiscreteGaussian(Fraction(deviation**2)).rho(move**2)
    epsilon = float(epsilon_of_rho(rho, Fraction(1, 10**6)))
    found = oracle.get_epsilon_for_delta(1e-6)
    assert 0.85 * epsilon < found < epsilon


@settings(max_examples=50)
@given(variance=variances, deviations=st.floats(0, 8))
def test_summed_tail_is_the_sum(variance: Fraction, deviations: float) -> None:
    k = 1 + int(deviations * math.sqrt(variance))
    expected = slow_tail(float(variance), k)
    assert float(gaussian_tail(variance, k)) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(("variance", "k"), [(Fraction(1, 3), 1), (2, 9), (300, 1), (4096, 300)])
def test_summed_tail_is_rounded_up_by_a_hair(variance: Fraction, k: int) -> None:
    with localcontext(prec=60):
        v = Decimal(Fraction(variance).numerator) / Decimal(Fraction(variance).denominator)
        weights = [(-Decimal(x * x) / (2 * v)).exp() for x in range(1100)]
        truth = Fraction(sum(weights[k:]) / (2 * sum(weights) - 1))
    tail = gaussian_tail(Fraction(variance), k)
    assert truth < tail < truth * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize("deviation", [65, 300, 3000])
@pytest.mark.parametrize("deviations", [0.01, 0.5, 0.99, 1.01, 2.0, 4.75, 8.0])
def test_normal_tail_is_above_the_sum_but_below_the_sum_one_before(
    deviation: int, deviations: float
) -> None:
    k = 2 + int(deviations * deviation)
    bound = float(gaussian_tail(Fraction(deviation**2), k))
    here, before = slow_tail(deviation**2, k), slow_tail(deviation**2, k - 1)
    assert here * (1 - 1e-12) <= bound <= here + 0.02 * (before - here)


@pytest.mark.parametrize("z", [0.0, 0.3, 1.0, 2.9999, 3.0, 3.0001, 5.0, 8.0, 20.0, 37.0])
def test_normal_tail_has_its_known_values(z: float) -> None:
    assert float(normal_tail(Fraction(z))) == pytest.approx(stats.norm.sf(z), rel=1e-12)


def test_normal_tail_agrees_where_its_two_formulas_meet() -> None:
    series, fraction = normal_tail(Fraction(3) - Fraction(1, 10**35)), normal_tail(Fraction(3))
    assert abs(series / fraction - 1) < Fraction(1, 10**33)


def test_normal_tail_never_ends() -> None:
    assert 0 < normal_tail(Fraction(10**9)) < Fraction(1, 10**400)


@settings(max_examples=30)
@given(
    variance=st.fractions(min_value=Fraction(1, 10), max_value=10**5, max_denominator=100),
    confidence=st.fractions(min_value=0, max_value=Fraction(9999, 10_000), max_denominator=10**6),
)
def test_half_width_is_the_least(variance: Fraction, confidence: Fraction) -> None:
    mechanism = DiscreteGaussian(variance)
    width = mechanism.half_width(confidence)
    assert 1 - 2 * mechanism.tail(width + 1) >= confidence
    assert width == 0 or 1 - 2 * mechanism.tail(width) < confidence


@pytest.mark.parametrize("deviation", [10, 100, 10**6, 2**80])
def test_half_width_is_the_normal_one(deviation: int) -> None:
    width = DiscreteGaussian(Fraction(deviation**2)).half_width(Fraction(95, 100))
    excess = width + 0.5 - 1.959963984540054 * deviation
    assert -0.01 - 1e-12 * deviation <= excess <= 1.01 + 1e-12 * deviation


def test_release_adds_noise_of_the_right_spread() -> None:
    # Six standard errors: false failure below 1e-8.
    values = [-(10**30)] * 20_000
    released = DiscreteGaussian(Fraction(100)).release(values, SeededRandomness("release"))
    noise = np.array([value + 10**30 for value in released], dtype=float)
    assert all(type(value) is int for value in released)
    assert abs(noise.mean()) < 6 * math.sqrt(100 / 20_000)
    assert abs(noise.var() - 100) < 6 * 100 * math.sqrt(2 / 20_000)


@pytest.mark.parametrize("value", [1.0, float("nan"), True, None, np.int64(1)])
def test_release_takes_nothing_but_integers(value: object) -> None:
    with pytest.raises(TypeError, match="integers"):
        DiscreteGaussian(Fraction(1)).release([value], SeededRandomness("types"))  # type: ignore[list-item]


def test_variances_are_positive_fractions() -> None:
    with pytest.raises(ValueError, match="positive"):
        DiscreteGaussian(Fraction(0))
    with pytest.raises(TypeError, match="fractions"):
        DiscreteGaussian(2.0)  # type: ignore[arg-type]


def test_questions_without_an_answer_are_refused() -> None:
    mechanism = DiscreteGaussian(Fraction(1))
    with pytest.raises(ValueError, match="begins"):
        mechanism.tail(0)
    with pytest.raises(ValueError, match="no tail"):
        mechanism.tail_point(Fraction(1, 10**400))
    with pytest.raises(ValueError, match="at least 0"):
        mechanism.rho(-1)


@pytest.mark.parametrize(
    ("mechanism", "name"), [(DiscreteGaussian, "gaussian"), (DiscreteLaplace, "laplace")]
)
def test_a_mechanism_answers_to_its_name(
    mechanism: type[DiscreteGaussian | DiscreteLaplace], name: str
) -> None:
    made: Mechanism = mechanism(Fraction(3))
    assert made.name == name
