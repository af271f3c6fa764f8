from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from privacy.seeded import ReplayedRandomness, uniform_script

from dpsql.privacy.mechanisms.noise.distribution import Cells, NoiseDistribution, cut_points
from dpsql.privacy.mechanisms.noise.sampler import Sampler
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import LowBits

LAWS = {
    "laplace 1/3": NoiseDistribution.laplace(Fraction(1, 3)),
    "laplace 1/1000000": NoiseDistribution.laplace(Fraction(1, 10**6)),
    "laplace 10": NoiseDistribution.laplace(Fraction(10)),
    "laplace 100.5": NoiseDistribution.laplace(Fraction(201, 2)),
    "laplace 2^60": NoiseDistribution.laplace(Fraction(2**60)),
    "laplace 2^130": NoiseDistribution.laplace(Fraction(2**130)),
    "gaussian 1/9": NoiseDistribution.gaussian(Fraction(1, 9)),
    "gaussian 4": NoiseDistribution.gaussian(Fraction(4)),
    "gaussian 10^4": NoiseDistribution.gaussian(Fraction(10**4)),
    "gaussian 10^6": NoiseDistribution.gaussian(Fraction(10**6)),
    "gaussian 2^121": NoiseDistribution.gaussian(Fraction(2**121)),
}
each_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())


@lru_cache(maxsize=32)
def slow_ends(law: NoiseDistribution, digits: int) -> list[Fraction]:
    """Where each (cell, sign) ends, from plain sums of correctly rounded exponentials."""
    cells = law.cells()
    with localcontext(prec=digits, Emin=-(10**6), Emax=10**6):
        weights, cell = [], 0
        while True:
            energy = cells.quadratic * cell**2 + cells.linear * cell
            weight = (-Decimal(energy.numerator) / Decimal(energy.denominator)).exp()
            if weight < Decimal(10) ** -digits:
                break
            weights += [weight] * (2 if cells.shift or cell else 1)
            cell += 1
        total, running, ends = sum(weights), Decimal(0), []
        for weight in weights:
            running += weight
            ends.append(Fraction(running / total))
    return ends


@each_law
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_cut_points_are_at_most_one_off(law: NoiseDistribution, bits: int) -> None:
    cuts, ends = cut_points(law.cells(), bits), slow_ends(law, 60)
    assert cuts[-1] == 2**bits
    assert len(cuts) <= len(ends)
    margin = 1 + Fraction(1, 2**20)
    assert all(abs(int(cut) - end * 2**bits) < margin for cut, end in zip(cuts, ends, strict=False))
    assert (1 - ends[len(cuts) - 1]) * 2**bits < 1


@settings(max_examples=200, deadline=None)
@given(
    energy=st.fractions(Fraction(33, 4), 33),
    share=st.sampled_from([Fraction(0), Fraction(1)]) | st.fractions(0, 1),
)
def test_cut_points_of_doubles_are_those_of_integers(energy: Fraction, share: Fraction) -> None:
    # All that wide cells can be: E(512) <= 33 < E(1024), of either law or between the two.
    cells = Cells(1, energy * share / 512**2, energy * (1 - share) / 512)
    assume(cells.quadratic * 1024**2 + cells.linear * 1024 > 33)
    cuts, exact = cut_points(cells, 32), cut_points(cells, 64)
    assert cuts[-1] == 2**32
    assert all(a <= b for a, b in pairwise(cuts))
    # By the proof they are within 0.9 of the exact ends, and those of 64 bits within 2^-32.
    assert all(abs(int(a) * 2**32 - b) < 0.9 * 2**32 for a, b in zip(cuts, exact, strict=False))
    assert 2**64 - exact[len(cuts) - 1] < 2**32


_COEFFICIENTS = st.builds(
    lambda number, power: Fraction(number) * Fraction(2) ** power,
    st.integers(1, 2**17),
    st.integers(-300, 20),
)


@each_law
def test_cells_of_each_law_are_as_wide_as_they_may_be(law: NoiseDistribution) -> None:
    _check_width(law)


@given(
    law=st.builds(NoiseDistribution, st.just(Fraction(0)), _COEFFICIENTS)
    | st.builds(NoiseDistribution, _COEFFICIENTS, st.just(Fraction(0)) | _COEFFICIENTS)
)
def test_cells_are_as_wide_as_they_may_be(law: NoiseDistribution) -> None:
    _check_width(law)


def _check_width(law: NoiseDistribution) -> None:
    shift = law.cells().shift
    assert shift == 0 or law.energy(512 << shift) <= 33
    assert law.energy(1024 << shift) > 33


@each_law
@pytest.mark.parametrize("offset", [-1, 1])
def test_beside_each_cut_point_the_right_outcome_is_drawn(
    law: NoiseDistribution, offset: int
) -> None:
    # 2^-100 beside a cut point: the tables can't decide, the exact arithmetic must.
    inversion = Sampler.of(law).inversion
    ends = [end for end in slow_ends(law, 60) if 1 - end > Fraction(1, 2**90)]
    for index in range(0, len(ends), len(ends) // 12 + 1):
        uniform = int(ends[index] * 2**128) + offset * 2**28
        (outcome,) = inversion.sample(1, ReplayedRandomness(uniform_script(uniform, 128)))
        assert outcome == index + (offset > 0)


@each_law
def test_outcomes_after_the_table_are_drawn_exactly(law: NoiseDistribution) -> None:
    inversion, ends = Sampler.of(law).inversion, slow_ends(law, 60)
    for bits_of_rest in (33, 40, 60):
        uniform = 2**128 - 2 ** (128 - bits_of_rest)
        if ends[0] > Fraction(uniform, 2**128):
            continue
        (outcome,) = inversion.sample(1, ReplayedRandomness(uniform_script(uniform, 128)))
        assert ends[outcome - 1] <= Fraction(uniform, 2**128) < ends[outcome]


@pytest.mark.parametrize("name", [name for name, law in LAWS.items() if law.cells().shift])
@settings(max_examples=40)
@given(data=st.data())
def test_rounded_exponents_are_within_their_promise(name: str, data: st.DataObject) -> None:
    law = LAWS[name]
    sampler = Sampler.of(law)
    outcome = data.draw(st.integers(0, sampler.gentle - 1))
    place = data.draw(st.integers(0, 2 ** law.cells().shift - 1))
    exact = sampler._exact_exponent(outcome, place)
    (rounded,) = sampler._rounded_exponents(np.array([outcome]), places_of(place, sampler))
    assert 0 <= exact <= 1
    assert abs(Fraction(float(rounded)) - exact) < Fraction(1, 2**46)
    assert Fraction(int(sampler.certain[outcome]), 2**16) <= 1 - exact + exact**2 / 2


@pytest.mark.parametrize("name", [name for name, law in LAWS.items() if law.cells().shift])
def test_exponents_of_steep_cells_are_not_rounded_at_all(name: str) -> None:
    sampler = Sampler.of(LAWS[name])
    beyond = np.array([sampler.gentle, sampler.gentle + 10**6])
    places = LowBits.sample(sampler.cells.shift, 2, ReplayedRandomness(b"\0" * 100))
    assert np.isnan(sampler._rounded_exponents(beyond, places)).all()


def places_of(place: int, sampler: Sampler) -> LowBits:
    shift = sampler.cells.shift
    empty = LowBits.sample(shift, 1, ReplayedRandomness(b"\0" * 100))
    lows, left = list[NDArray[np.uint64]](), place
    for bits in reversed(empty.low_bits):
        lows.insert(0, np.array([left & (1 << bits) - 1], dtype=np.uint64))
        left >>= bits
    places = LowBits(np.array([left]), empty.high_bits, tuple(lows), empty.low_bits)
    assert places.full(0) == place
    return places
