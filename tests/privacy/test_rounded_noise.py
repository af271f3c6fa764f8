from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from privacy.seeded import SeededRandomness

from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise

PARTS = 1024
NOISE: list[IndependentNoise] = [
    DiscreteGaussian(Fraction(30)),
    DiscreteLaplace(Fraction(4)),
    DiscreteGaussian(Fraction(1, 9)),
]


def test_a_move_by_all_parts_loses_what_a_move_by_an_integer_does() -> None:
    gaussian, laplace = DiscreteGaussian(Fraction(30)), DiscreteLaplace(Fraction(4))
    fine = RoundedNoise.of(gaussian, PARTS).fine
    assert isinstance(fine, DiscreteGaussian)
    assert fine.rho((3 * PARTS) ** 2) == gaussian.rho(9)
    rounded = RoundedNoise.of(laplace, PARTS).fine
    assert isinstance(rounded, DiscreteLaplace)
    assert rounded.epsilon(3 * PARTS) == laplace.epsilon(3)


@pytest.mark.parametrize("parts", [1, 2, 3, 1024])
def test_the_nearest_integer_is_released(parts: int) -> None:
    values = list(range(-5 * parts, 5 * parts + 1))
    expected = [(2 * value + parts) // (2 * parts) for value in values]
    none = RoundedNoise(DiscreteLaplace(Fraction(1, 1000)), parts)
    assert none.release(values, SeededRandomness("rounding")) == expected
    vector = none.release_vector(np.array(values), SeededRandomness("rounding"))
    assert vector.dtype == np.int64
    assert vector.tolist() == expected


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 2**62 + 511, 2**90 + 512, -(2**90) - 512])
def test_numbers_beyond_64_bits_are_rounded_as_others(value: int) -> None:
    values = np.array([value], dtype=np.int64 if -(2**63) <= value < 2**63 else object)
    noise = RoundedNoise(DiscreteLaplace(Fraction(1, 1000)), PARTS)
    (found,) = noise.release_vector(values, SeededRandomness("wide")).tolist()
    assert type(found) is int
    assert found == (2 * value + PARTS) // (2 * PARTS)


@pytest.mark.parametrize("noise", NOISE, ids=str)
def test_tails_and_widths_hold_for_every_part_of_an_integer(noise: IndependentNoise) -> None:
    rounded = RoundedNoise.of(noise, 8)
    for k in range(1, 12):
        # Of any value, of which some are no integers: its own law, to 8 · 60 parts.
        for value in range(8):
            least = next(
                d for d in range(-8, 8 * 60) if (2 * (value + d) + 8) // 16 >= k + value / 8
            )
            assert rounded.fine.tail(max(least, 1)) <= rounded.tail(k)
    for confidence in (Fraction(1, 2), Fraction(95, 100), Fraction(999_999, 10**6)):
        width = rounded.half_width(confidence)
        within = rounded.fine.half_width(confidence)
        for value in range(8):
            for draw in (-within, within):
                assert abs(Fraction((2 * (value + draw) + 8) // 16) - Fraction(value, 8)) <= width
    for probability in (Fraction(1, 3), Fraction(1, 1000), Fraction(1, 10**9)):
        point = rounded.tail_point(probability)
        assert rounded.tail(point) <= probability
        assert point == 1 or rounded.tail(point - 1) > probability


@pytest.mark.parametrize("noise", NOISE[:2], ids=str)
def test_the_variance_is_that_of_the_results(noise: IndependentNoise) -> None:
    rounded = RoundedNoise.of(noise, PARTS)
    draws = rounded.release_vector(np.full(200_000, 300), SeededRandomness("variance"))
    # The variance's own deviation is below 0.8 %, so that 5 % are missed once in 10^9.
    assert np.mean((draws - 300 / PARTS) ** 2) == pytest.approx(float(rounded.variance), rel=0.05)


def test_there_is_a_tail_from_1_on_and_a_part_at_least() -> None:
    with pytest.raises(ValueError, match="begins at 1"):
        RoundedNoise(NOISE[0], 8).tail(0)
    with pytest.raises(ValueError, match="1 part"):
        RoundedNoise(NOISE[0], 0)
