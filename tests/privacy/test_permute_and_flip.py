"""Chi-squared tests are made at 1e-6: that is the false-failure probability of each."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from privacy.laws import (
    exact,
    exponential_law,
    fit,
    loss_range,
    permute_and_flip_law,
    renyi,
)
from privacy.seeded import ReplayedRandomness, SeededRandomness

from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.mechanisms.selection.permute_and_flip import (
    PermuteAndFlip,
    permute_and_flip,
    rho_of_pure,
)

FALSE_FAILURE = 1e-6
ONE, HALF = Fraction(1), Fraction(1, 2)
SMALL = list(product(range(3), repeat=3))


@pytest.mark.parametrize(
    ("losses", "epsilon", "law"),
    [
        ([0, 1, 3], 1, [0.6302813511483393, 0.2807094493168813, 0.08900919953477947]),
        ([0, 1, 3], 2, [0.7972719581932582, 0.18088711410426547, 0.021840927702476278]),
        (
            [0, 1, 2, 3],
            1,
            [0.5356332497280949, 0.24767001165613156, 0.1372194498209884, 0.07947728879478501],
        ),
    ],
)
def test_draws_fit_the_known_laws(losses: list[int], epsilon: int, law: list[float]) -> None:
    mechanism = PermuteAndFlip(Fraction(epsilon), spread=2)
    computed = permute_and_flip_law(losses, mechanism.rate)
    assert [float(p) for p in computed] == pytest.approx(law, abs=1e-12)
    drawn = mechanism.choose(np.tile(losses, (200_000, 1)), SeededRandomness("known"))
    assert fit(drawn, computed) > FALSE_FAILURE
    slower = permute_and_flip_law(losses, mechanism.rate * Fraction(10, 11))
    assert fit(drawn, slower) < FALSE_FAILURE


def test_left_out_candidates_are_as_if_they_were_not_there() -> None:
    rows = np.tile([-9, 4, 2, 3], (100_000, 1))
    drawn = permute_and_flip(rows, HALF, SeededRandomness("absent"), [0, 1, 1, 1])
    assert not (drawn == 0).any()
    assert fit(drawn - 1, permute_and_flip_law([4, 2, 3], HALF)) > FALSE_FAILURE


def test_it_is_never_worse_than_the_exponential_mechanism() -> None:
    for losses, rate in product(SMALL, (Fraction(1, 10), ONE)):
        flipped, weighed = permute_and_flip_law(losses, rate), exponential_law(losses, rate)
        assert (
            sum(p * x for p, x in zip(flipped, losses, strict=True))
            <= sum(p * x for p, x in zip(weighed, losses, strict=True)) + mpf(10) ** -40
        )


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), ONE, Fraction(5)])
@pytest.mark.parametrize("monotone", [True, False])
def test_neighbours_stay_within_epsilon_and_its_rho(epsilon: Fraction, monotone: bool) -> None:
    moves = [move for move in product((-1, 0, 1), repeat=3) if not monotone or min(move) >= 0]
    mechanism = PermuteAndFlip(epsilon, spread=1 if monotone else 2)
    laws = {
        losses: permute_and_flip_law(losses, mechanism.rate)
        for losses in product(range(-1, 4), repeat=3)
    }
    worst = mpf(0)
    for losses, move in product(SMALL, moves):
        moved = tuple(loss + step for loss, step in zip(losses, move, strict=True))
        low, high = loss_range(laws[losses], laws[moved])
        worst = max(worst, high, -low)
        assert renyi(laws[losses], laws[moved], mpf("1.01")) <= mpf("1.01") * exact(mechanism.rho())
    assert worst <= exact(epsilon) + mpf(10) ** -40
    assert worst > exact(epsilon) * mpf("0.45")


@pytest.mark.parametrize(
    ("epsilon", "rho"),
    [
        ("0.1", 0.004995837495787998),
        ("1", 0.46211715726000974),
        ("2", 1.5231883119115297),
        ("5", 4.933071490757151),
    ],
)
def test_rho_has_its_known_values(epsilon: str, rho: float) -> None:
    mechanism = PermuteAndFlip(Fraction(epsilon), spread=1)
    assert float(mechanism.loss(Accounting.ZCDP).amount) == pytest.approx(rho, abs=1e-12)
    assert mechanism.loss(Accounting.PURE).amount == Fraction(epsilon)


@given(epsilon=st.fractions(Fraction(1, 10**9), 100))
def test_rho_is_rounded_up(epsilon: Fraction) -> None:
    rho = exact(rho_of_pure(epsilon))
    truth = exact(epsilon) * mp.tanh(exact(epsilon) / 2)
    assert truth * (1 - mpf(10) ** -35) <= rho <= truth * (1 + mpf(10) ** -28)
    assert rho_of_pure(epsilon) <= epsilon**2 / 2


def test_a_flip_too_close_to_call_is_decided_by_further_bits() -> None:
    # U begins with the 64 bits of e^-1: more are read, and decide that U = 0.0101… there is below.
    prefix = int(mp.floor(mp.exp(-1) * 2**64))
    flips = (2**63).to_bytes(8, "little") + prefix.to_bytes(8, "little")
    for rest, chosen in ((0, 1), (2**64 - 1, 0)):
        turns = (9).to_bytes(8, "little") + (5).to_bytes(8, "little")
        randomness = ReplayedRandomness(flips + rest.to_bytes(8, "big") + turns)
        assert permute_and_flip([0, 1], ONE, randomness).tolist() == [chosen]


def test_equally_early_turns_are_told_apart_by_further_bits() -> None:
    word = (77).to_bytes(8, "little")
    later = (2).to_bytes(8, "little") + (1).to_bytes(8, "little")
    # Two flips, two equal turns, two equal turns again, and at last different ones.
    randomness = ReplayedRandomness(word * 6 + later)
    assert permute_and_flip([3, 3], ONE, randomness).tolist() == [1]


def test_equal_candidates_are_equally_likely() -> None:
    drawn = permute_and_flip(np.zeros((50_000, 10), dtype=int), ONE, SeededRandomness("equal"))
    assert fit(drawn, [mpf(1) / 10] * 10) > FALSE_FAILURE


def test_large_batches_and_losses_choose_the_best_when_it_is_sure() -> None:
    losses = np.abs(np.arange(1000)[None, :] - np.arange(300)[:, None]) * 2**50
    assert permute_and_flip(losses, ONE, SeededRandomness("batch")).tolist() == list(range(300))
