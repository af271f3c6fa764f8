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

from dpsql.privacy.mechanisms import DiscreteLaplace

scales = st.fractions(min_value=Fraction(1, 4), max_value=1000, max_denominator=100)


def renyi(scale: float, move: int, order: float) -> float:
    """The Rényi divergence of noise and moved noise, by summing over the integers."""
    x = np.arange(-int(60 * scale) - 60, move + int(60 * scale) + 61)
    p = math.exp(-1 / scale)
    log_first = math.log((1 - p) / (1 + p)) - np.abs(x) / scale
    loss = (np.abs(x - move) - np.abs(x)) / scale
    exponents = log_first + (order - 1) * loss
    peak = exponents.max()
    return float((peak + math.log(np.exp(exponents - peak).sum())) / (order - 1))


@given(scale=scales, l1=st.integers(0, 10**6))
def test_epsilon_is_exactly_sensitivity_over_scale(scale: Fraction, l1: int) -> None:
    assert DiscreteLaplace(scale).epsilon(l1) == Fraction(l1) / scale


@pytest.mark.parametrize(("scale", "move"), [(2, 1), (3, 7)])
def test_epsilon_is_what_dp_accounting_finds(scale: int, move: int) -> None:
    oracle = pld.from_discrete_laplace_mechanism(1 / scale, sensitivity=move)
    epsilon = float(DiscreteLaplace(Fraction(scale)).epsilon(move))
    assert oracle.get_delta_for_epsilon(epsilon + 1e-3) == 0
    assert oracle.get_delta_for_epsilon(epsilon - 1e-2) > 0


@pytest.mark.parametrize(
    ("scale", "move", "rho"),
    [
        (10, 10, 0.3689317476075365),
        (1, 1, 0.46211715726000974),  # ε·tanh(ε/2)
        (Fraction(1, 2), 1, 1.5231883119115297),
        (10**6, 10**6, 0.36787944117144233),  # ε + e^-ε - 1, the limit of fine grids
    ],
)
def test_rho_has_its_known_values(scale: Fraction, move: int, rho: float) -> None:
    assert float(DiscreteLaplace(Fraction(scale)).rho(move)) == pytest.approx(rho, rel=1e-9)


@settings(max_examples=60)
@given(
    scale=st.fractions(min_value=Fraction(1, 4), max_value=30, max_denominator=20),
    move=st.integers(1, 60),
    order=st.sampled_from([1.0001, 1.1, 1.5, 2.0, 4.0, 16.0, 256.0]),
)
def test_rho_bounds_every_renyi_divergence(scale: Fraction, move: int, order: float) -> None:
    divergence = renyi(float(scale), move, order)
    assert divergence <= order * float(DiscreteLaplace(scale).rho(move)) * (1 + 1e-9) + 1e-11


@pytest.mark.parametrize(("scale", "move"), [(0.5, 1), (1.0, 3), (10.0, 10), (20.0, 1)])
def test_rho_is_reached_as_the_order_falls_to_one(scale: float, move: int) -> None:
    divergence = renyi(scale, move, 1 + 1e-6)
    assert float(DiscreteLaplace(Fraction(scale)).rho(move)) == pytest.approx(divergence, rel=1e-4)


@given(scale=scales, move=st.integers(1, 5000))
def test_rho_is_rounded_up(scale: Fraction, move: int) -> None:
    with localcontext(prec=100):
        b = Decimal(scale.numerator) / Decimal(scale.denominator)
        p = (-1 / b).exp()
        truth = (move - 2 * p * (1 - (-move / b).exp()) / (1 - p * p)) / b
        rho = DiscreteLaplace(scale).rho(move)
        assert Fraction(truth) <= rho <= Fraction(truth) * (1 + Fraction(1, 10**25))


@given(scale=scales, l1=st.integers(1, 2000), linf=st.integers(1, 2000))
def test_rho_is_at_most_what_any_pure_loss_costs(scale: Fraction, l1: int, linf: int) -> None:
    mechanism = DiscreteLaplace(scale)
    epsilon = float(mechanism.epsilon(l1))
    assert float(mechanism.rho(l1, linf)) <= epsilon * math.tanh(epsilon / 2) * (1 + 1e-12)
    assert mechanism.rho(l1, linf) <= mechanism.rho(l1)


@given(scale=scales, moves=st.lists(st.integers(0, 40), min_size=1, max_size=8))
def test_rho_bounds_the_sum_over_coordinates(scale: Fraction, moves: list[int]) -> None:
    mechanism = DiscreteLaplace(scale)
    total = sum((mechanism.rho(move) for move in moves), Fraction(0))
    bound = mechanism.rho(sum(moves), max(moves) or None)
    assert total <= bound * (1 + Fraction(1, 10**25))


def test_many_small_moves_cost_less_than_a_large_one() -> None:
    mechanism = DiscreteLaplace(Fraction(10))
    assert mechanism.rho(100, 1) == 100 * mechanism.rho(1)
    assert mechanism.rho(100, 1) < mechanism.rho(100) / 15


@given(scale=scales, at_least=st.integers(1, 5000))
def test_tail_is_rounded_up(scale: Fraction, at_least: int) -> None:
    with localcontext(prec=100, Emin=-(10**7)):
        b = Decimal(scale.numerator) / Decimal(scale.denominator)
        truth = Fraction((-at_least / b).exp() / (1 + (-1 / b).exp()))
    tail = DiscreteLaplace(scale).tail(at_least)
    assert truth <= tail
    assert tail <= truth * (1 + Fraction(1, 10**28)) or tail < Fraction(1, 10**900)


@pytest.mark.parametrize(("scale", "radius"), [(1, 3), (10, 30), (Fraction(15, 2), 22)])
def test_half_width_has_its_known_values(scale: Fraction, radius: int) -> None:
    assert DiscreteLaplace(Fraction(scale)).half_width(Fraction(95, 100)) == radius


@given(scale=scales, confidence=st.fractions(min_value=0, max_value=Fraction(9999, 10_000)))
def test_half_width_is_the_least(scale: Fraction, confidence: Fraction) -> None:
    mechanism = DiscreteLaplace(scale)
    width = mechanism.half_width(confidence)
    assert 1 - 2 * mechanism.tail(width + 1) >= confidence
    assert width == 0 or 1 - 2 * mechanism.tail(width) < confidence


def test_half_width_of_huge_scales() -> None:
    scale = 2**100
    width = DiscreteLaplace(Fraction(scale)).half_width(Fraction(95, 100))
    assert width / scale == pytest.approx(math.log(20), rel=1e-9)


@pytest.mark.parametrize(
    ("scale", "variance"),
    [(1.0, 1.8413471884155848), (10.0, 199.8334166336092), (7.5, 112.33348137703284), (1e-4, 0.0)],
)
def test_variance_has_its_known_values(scale: float, variance: float) -> None:
    found = DiscreteLaplace(Fraction(scale)).variance
    assert float(found) == pytest.approx(variance, rel=1e-12, abs=1e-200)


def test_variance_is_continuous_where_the_formula_changes() -> None:
    below, above = DiscreteLaplace(Fraction(2**20)), DiscreteLaplace(Fraction(2**20) + 1)
    assert float(below.variance) == pytest.approx(float(above.variance), rel=1e-5)


def test_release_adds_noise_of_the_right_spread() -> None:
    # Six standard errors: false failure below 1e-8.
    values = [10**30] * 20_000
    released = DiscreteLaplace(Fraction(10)).release(values, SeededRandomness("release"))
    noise = np.array([value - 10**30 for value in released], dtype=float)
    assert all(type(value) is int for value in released)
    assert abs(noise.mean()) < 6 * math.sqrt(200 / 20_000)
    assert abs(noise.var() - 199.8334) < 6 * 199.8334 * math.sqrt(6 / 20_000)


@pytest.mark.parametrize("value", [1.0, float("nan"), True, None, "1", np.int64(1), Fraction(1)])
def test_release_takes_nothing_but_integers(value: object) -> None:
    with pytest.raises(TypeError, match="integers"):
        DiscreteLaplace(Fraction(1)).release([1, value], SeededRandomness("types"))  # type: ignore[list-item]


def test_release_of_nothing_is_nothing() -> None:
    assert DiscreteLaplace(Fraction(1)).release([], SeededRandomness("none")) == []


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1)])
def test_scales_are_positive(scale: Fraction) -> None:
    with pytest.raises(ValueError, match="positive"):
        DiscreteLaplace(scale)


def test_scales_are_fractions() -> None:
    with pytest.raises(TypeError, match="fractions"):
        DiscreteLaplace(1.5)  # type: ignore[arg-type]


def test_questions_without_an_answer_are_refused() -> None:
    mechanism = DiscreteLaplace(Fraction(1))
    with pytest.raises(ValueError, match="confidence"):
        mechanism.half_width(Fraction(1))
    with pytest.raises(ValueError, match="no tail"):
        mechanism.tail_point(Fraction(0))
    with pytest.raises(ValueError, match="begins"):
        mechanism.tail(0)
    with pytest.raises(ValueError, match="at least 0"):
        mechanism.rho(-1)
    with pytest.raises(ValueError, match="don't move"):
        mechanism.rho(1, 0)
