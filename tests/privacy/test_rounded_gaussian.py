"""Rounded Gaussian noise has exactly its law, and exactly the loss of Gaussian noise."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from privacy.laws import exact
from privacy.seeded import ReplayedRandomness, SeededRandomness
from scipy import stats

from dpsql.privacy.accounting.gdp_conversion import delta_of_mu_squared
from dpsql.privacy.mechanisms.mechanism import Mechanism
from dpsql.privacy.mechanisms.noise.normal_sampler import NormalSampler, rounded_normal
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import LowBits

variances = st.fractions(min_value=Fraction(1, 100), max_value=10**5, max_denominator=100)


def probability(variance: Fraction, low: int, high: int) -> mpf:
    """Of the integers from `low` to `high`."""
    ends = ((2 * k - 1) / (2 * mp.sqrt(2 * exact(variance))) for k in (low, high + 1))
    first, last = map(mp.erfc, ends)
    return (first - last) / 2


def bins_of(variance: Fraction) -> list[int]:
    """Where bins of integers begin, some 60 over eight standard deviations; all lie between 0."""
    deviation = math.isqrt(int(variance)) + 1
    step = max(1, deviation * 8 // 60)
    return list(range(-4 * deviation - step // 2, 4 * deviation + step, step))


@pytest.mark.parametrize(
    "variance",
    [
        Fraction(1, 100),
        Fraction(1, 3),
        Fraction(1),
        Fraction(97, 7),
        Fraction(10**6),
        Fraction(10**12),
        Fraction(2**104),
        Fraction(2**140),
    ],
)
def test_draws_have_the_law(variance: Fraction) -> None:
    # A chi-squared test that fails falsely with probability 1e-9 for each variance.
    count = 200_000
    drawn = rounded_normal(variance, count, SeededRandomness(f"law {variance}"))
    starts = bins_of(variance)
    places = np.searchsorted(np.array(starts, dtype=object), drawn.astype(object), side="right")
    seen = np.bincount(places.astype(np.int64), minlength=len(starts) + 1).astype(float)
    far = 10 * (abs(starts[0]) + 1)
    ends = [-far, *starts, far]
    law = [float(probability(variance, low, high - 1)) for low, high in pairwise(ends)]
    expected = np.array(law) * count
    rare = expected < 10
    merged = [np.append(x[~rare], x[rare].sum()) for x in (seen, expected)]
    used = merged[1] > 0
    worst = ((merged[0] - merged[1]) ** 2)[used] / merged[1][used]
    assert stats.chi2.sf(worst.sum(), max(used.sum() - 1, 1)) > 1e-9


def test_wide_draws_fill_all_their_bits() -> None:
    # The lowest bit of noise of 2^70 is fair: 10,000 of them miss by 350 with probability 1e-11.
    drawn = rounded_normal(Fraction(2**140), 10_000, SeededRandomness("bits"))
    assert abs(sum(int(x) & 1 for x in drawn) - 5000) < 350


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(40), Fraction(2**120)])
@settings(max_examples=40)
@given(data=st.data())
def test_rounded_exponents_are_within_their_promise(
    variance: Fraction, data: st.DataObject
) -> None:
    sampler = NormalSampler.of(variance)
    outcome = data.draw(st.integers(0, sampler.gentle - 1))
    bits = data.draw(st.binary(min_size=40, max_size=40))
    positions = LowBits.sample(sampler.shift, 1, ReplayedRandomness(bits))
    (rounded,) = sampler._rounded_exponents(np.array([outcome]), positions)
    start, position = (outcome >> 1) << sampler.shift, positions.full(0)
    for end in (0, 1):
        truth = sampler.distribution.quadratic * ((start + position + end) ** 2 - start**2)
        assert 0 <= truth <= 1
        assert abs(Fraction(float(rounded)) - truth) < Fraction(1, 2**46)
        assert Fraction(int(sampler.certain[outcome]), 2**16) <= 1 - truth + truth**2 / 2


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(40), Fraction(2**120)])
@pytest.mark.parametrize("interval", [0, 1, 300, 1100])
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_what_floats_cannot_decide_is_decided_exactly(
    variance: Fraction, interval: int, off: int
) -> None:
    sampler = NormalSampler.of(variance)
    position = (1 << sampler.shift) * 5 // 7
    quadratic = exact(sampler.distribution.quadratic)
    with mp.workdps(200):
        # All bits that are read after these say ⅓.
        start = mpf(interval << sampler.shift)
        at = start + position + mpf(1) / 3
        accepted = mp.exp(-quadratic * (at**2 - start**2))
        prefix = int(mp.floor(accepted * 2**32)) + off
        if prefix < 0:
            return
        uniform = (prefix + mpf(1) / 3) / mpf(2) ** 32
        found = sampler._decided(interval, position, prefix, ReplayedRandomness(b""))
        assert found == (uniform < accepted)


@settings(max_examples=40)
@given(variance=variances, deviations=st.floats(0, 30))
def test_the_tail_is_that_of_the_normal_law(variance: Fraction, deviations: float) -> None:
    k = 1 + int(deviations * math.sqrt(variance))
    with mp.workdps(60):
        truth = mp.erfc((2 * k - 1) / (2 * mp.sqrt(2 * exact(variance)))) / 2
        found = exact(RoundedGaussian(variance).tail(k))
        assert truth <= found <= truth * (1 + mpf("1e-25")) + mpf("1e-499")


@settings(max_examples=30)
@given(variance=variances, exponent=st.integers(1, 250))
def test_tail_points_are_the_least(variance: Fraction, exponent: int) -> None:
    mechanism, wanted = RoundedGaussian(variance), Fraction(1, 3**exponent)
    k = mechanism.tail_point(wanted)
    assert mechanism.tail(k) <= wanted
    assert k == 1 or mechanism.tail(k - 1) > wanted


@settings(max_examples=30)
@given(
    variance=variances,
    confidence=st.fractions(min_value=0, max_value=Fraction(9999, 10_000), max_denominator=10**6),
)
def test_half_width_is_the_least(variance: Fraction, confidence: Fraction) -> None:
    mechanism = RoundedGaussian(variance)
    width = mechanism.half_width(confidence)
    assert 1 - 2 * mechanism.tail(width + 1) >= confidence
    assert width == 0 or 1 - 2 * mechanism.tail(width) < confidence


@pytest.mark.parametrize("variance", [Fraction(1, 50), Fraction(1, 2), Fraction(3), Fraction(90)])
def test_the_variance_is_bounded_closely(variance: Fraction) -> None:
    bound = RoundedGaussian(variance).variance
    true = 2 * mp.fsum(k * k * probability(variance, k, k) for k in range(1, 200))
    assert true <= exact(bound)
    if variance >= Fraction(1, 2):
        assert exact(bound) < true * mpf("1.001")


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(2), Fraction(15)])
@pytest.mark.parametrize("move", [1, 4])
def test_a_move_tells_no_more_than_the_curve_of_its_mu(variance: Fraction, move: int) -> None:
    mu_squared = RoundedGaussian(variance).mu_squared(move**2)
    law = [probability(variance, k, k) for k in range(-50, 51)]
    laws = list(zip(law[move:], law[:-move], strict=True))
    for epsilon in (Fraction(k, 4) for k in range(12)):
        told = mp.fsum(max(p - mp.exp(exact(epsilon)) * q, mpf(0)) for p, q in laws)
        bound = exact(delta_of_mu_squared(mu_squared, epsilon))
        assert told <= bound + mpf("1e-25")  # what is beyond the law's ends
        assert variance < 15 or bound < mpf("1e-12") or told > bound * mpf("0.7")


def test_discrete_noise_of_the_same_variance_tells_more() -> None:
    # With variance 1 and a move of 1, at ε = 0: 0.399 where the curve of μ = 1 has 0.383.
    weights = [mp.exp(-mpf(k * k) / 2) for k in range(-61, 61)]
    law = [weight / mp.fsum(weights) for weight in weights]
    told = mp.fsum(max(p - q, mpf(0)) for p, q in pairwise(law))
    assert told > exact(delta_of_mu_squared(Fraction(1), Fraction(0))) + mpf("0.015")


@given(variance=variances, l2_squared=st.integers(0, 10**9))
def test_mu_is_exact(variance: Fraction, l2_squared: int) -> None:
    assert RoundedGaussian(variance).mu_squared(l2_squared) == Fraction(l2_squared) / variance


def test_release_adds_noise_to_integers_of_any_size() -> None:
    mechanism: Mechanism = RoundedGaussian(Fraction(100))
    released = mechanism.release([-(10**30)] * 20_000, SeededRandomness("release"))
    noise = np.array([value + 10**30 for value in released], dtype=float)
    # Six standard errors: false failure below 1e-8.
    assert all(type(value) is int for value in released)
    assert abs(noise.mean()) < 6 * math.sqrt(100 / 20_000)
    assert abs(noise.var() - 100) < 6 * 100 * math.sqrt(2 / 20_000)
    assert mechanism.name == "rounded gaussian"
    near = np.array([2**62], dtype=np.int64)
    assert mechanism.release_vector(near, SeededRandomness("wide")).dtype == object


@pytest.mark.parametrize("value", [1.0, float("nan"), True, None, np.int64(1)])
def test_release_takes_nothing_but_integers(value: object) -> None:
    with pytest.raises(TypeError, match="integers"):
        RoundedGaussian(Fraction(1)).release([value], SeededRandomness("types"))  # type: ignore[list-item]


def test_questions_without_an_answer_are_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        RoundedGaussian(Fraction(0))
    with pytest.raises(TypeError, match="fractions"):
        RoundedGaussian(2.0)  # type: ignore[arg-type]
    mechanism = RoundedGaussian(Fraction(1))
    with pytest.raises(ValueError, match="begins"):
        mechanism.tail(0)
    with pytest.raises(ValueError, match="no tail"):
        mechanism.tail_point(Fraction(1, 10**400))
    with pytest.raises(ValueError, match="at least 0"):
        mechanism.mu_squared(-1)
