"""Chi-squared tests are made at 1e-6: that is the false-failure probability of each."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, product

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from privacy.laws import exact, exponential_law, fit, loss_range, renyi
from privacy.seeded import ReplayedRandomness, SeededRandomness, replayed

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.mechanisms.selection.exp_enclosure import MAX_EXPONENT, RELATIVE_ERROR, decays
from dpsql.privacy.mechanisms.selection.exponential import (
    Exponential,
    choose,
    choose_exactly,
    epsilon_of_choice,
)

FALSE_FAILURE = 1e-6
ONE, HALF = Fraction(1), Fraction(1, 2)

vectors = st.lists(st.integers(-50, 50), min_size=1, max_size=8)
rates = st.fractions(Fraction(1, 1000), 20, max_denominator=1000)


def script(uniform: int, bits: int) -> bytes:
    """The bytes from which a choice reads uniform/2^bits: a word, then twice as many bits."""
    said = (uniform >> (bits - 64)).to_bytes(8, "little")
    read = 64
    while read < bits:
        said += (uniform >> (bits - 2 * read) & (1 << read) - 1).to_bytes(read // 8, "big")
        read *= 2
    return said


@pytest.mark.parametrize(
    ("losses", "epsilon", "law"),
    [
        ([0, 1, 3], 1, [0.5465493872661796, 0.3314989604240915, 0.12195165230972885]),
        ([0, 1, 3], 2, [0.7053845126982412, 0.25949646034241913, 0.03511902695933973]),
        (
            [0, 1, 2, 3],
            1,
            [0.45505423392341127, 0.27600434470659363, 0.16740509737844333, 0.1015363240915518],
        ),
    ],
)
def test_draws_fit_the_known_laws(losses: list[int], epsilon: int, law: list[float]) -> None:
    mechanism = Exponential(Fraction(epsilon), spread=2)
    computed = exponential_law(losses, mechanism.rate)
    assert [float(p) for p in computed] == pytest.approx(law, abs=1e-9)
    drawn = mechanism.choose(np.tile(losses, (200_000, 1)), SeededRandomness("known"))
    assert fit(drawn, computed) > FALSE_FAILURE
    slower = exponential_law(losses, mechanism.rate * Fraction(10, 11))
    assert fit(drawn, slower) < FALSE_FAILURE


@given(losses=vectors, rate=rates, uniform=st.integers(0, 2**128 - 1))
def test_the_uniform_falls_into_the_cell_that_is_chosen(
    losses: list[int], rate: Fraction, uniform: int
) -> None:
    (chosen,) = choose(losses, rate, ReplayedRandomness(script(uniform, 128)))
    ends = [mpf(0), *accumulate(exponential_law(losses, rate))]
    assert ends[chosen] - mpf(10) ** -40 <= exact(replayed(uniform, 128))
    assert exact(replayed(uniform, 128)) <= ends[chosen + 1] + mpf(10) ** -40


@pytest.mark.parametrize("candidate", range(3))
@pytest.mark.parametrize("bits", [64, 128, 256])
@pytest.mark.parametrize("offset", [-40, 40])
def test_next_to_the_end_of_a_cell_bits_are_read_until_they_decide(
    candidate: int, bits: int, offset: int
) -> None:
    mp.dps = 120
    ends = list(accumulate(exponential_law([5, 7, 4, 9], HALF)))
    uniform = int(mp.floor(ends[candidate] * 2**bits)) + offset
    mp.dps = 50
    randomness = ReplayedRandomness(script(uniform, bits))
    (chosen,) = choose([5, 7, 4, 9], HALF, randomness)
    assert chosen == candidate + (offset > 0)
    assert randomness.read == (16 if bits == 64 else bits // 8)


@given(losses=vectors, rate=rates, word=st.integers(0, 2**64 - 1), rest=st.binary(min_size=8))
def test_the_quick_way_and_the_exact_one_agree(
    losses: list[int], rate: Fraction, word: int, rest: bytes
) -> None:
    (chosen,) = choose(losses, rate, ReplayedRandomness(word.to_bytes(8, "little") + rest))
    shifted = [loss - min(losses) for loss in losses]
    again = choose_exactly(shifted, [1] * len(losses), rate, word, ReplayedRandomness(rest))
    assert chosen == again


def test_exact_draws_fit_the_law() -> None:
    source = SeededRandomness("exact")
    losses, weights = [0, 3, 1, 700, 2], [2, 1, 0, 5, 4]
    drawn = [
        choose_exactly(losses, weights, HALF, int.from_bytes(source.bytes(8), "big"), source)
        for _ in range(1200)
    ]
    assert fit(np.array(drawn), exponential_law(losses, HALF, weights)) > FALSE_FAILURE


@pytest.mark.parametrize("rate", [Fraction(1, 10**6), Fraction(1, 200), ONE, Fraction(3)])
def test_many_candidates_fit_their_law(rate: Fraction) -> None:
    losses = [abs(200 - place) + place % 3 for place in range(500)]
    drawn = choose(np.tile(losses, (8_000, 1)), rate, SeededRandomness(f"many {rate}"))
    assert fit(drawn, exponential_law(losses, rate)) > FALSE_FAILURE


def test_a_weight_stands_for_equal_candidates() -> None:
    losses, weights = [4, 0, 2, 1, 0], [5, 0, 10**9, 3, 2]
    drawn = choose(np.tile(losses, (100_000, 1)), Fraction(8), SeededRandomness("weights"), weights)
    assert fit(drawn, exponential_law(losses, Fraction(8), weights)) > FALSE_FAILURE
    assert not (drawn == 1).any()


def test_each_row_has_its_own_weights() -> None:
    losses = np.zeros((3, 3), dtype=np.int64)
    assert choose(losses, ONE, SeededRandomness("rows"), np.eye(3, dtype=np.int64)).tolist() == [
        0,
        1,
        2,
    ]


def test_candidates_without_weight_do_not_count_as_the_best() -> None:
    drawn = choose(
        np.tile([-(2**62) + 1, 5, 6], (50_000, 1)), ONE, SeededRandomness("absent"), [0, 1, 1]
    )
    assert fit(drawn, exponential_law([0, 5, 6], ONE, [0, 1, 1])) > FALSE_FAILURE


@pytest.mark.parametrize(
    ("losses", "rate"),
    [
        ([2**62 - 1, -(2**62) + 1], Fraction(1, 2**63)),
        ([2**62 - 1, 2**62 - 3], HALF),
        ([0, 2**62 - 1], Fraction(1, 10**400)),
        ([7, 7], Fraction(10**400)),
        ([0, 1], Fraction(3, 10**7)),
    ],
)
def test_extreme_losses_and_rates_fit_their_law(losses: list[int], rate: Fraction) -> None:
    drawn = choose(np.tile(losses, (20_000, 1)), rate, SeededRandomness("extreme"))
    assert fit(drawn, exponential_law(losses, rate)) > FALSE_FAILURE


@pytest.mark.parametrize("rate", [Fraction(10**400), Fraction(130)])
def test_hopeless_candidates_are_never_seen(rate: Fraction) -> None:
    assert set(choose(np.tile([1, 0, 9], (1000, 1)), rate, SeededRandomness("far"))) == {1}


def test_batches_are_rows_one_by_one() -> None:
    # 300 rows of 1,000 candidates are worked on in several parts; row r has its best at r.
    losses = np.abs(np.arange(1000)[None, :] - np.arange(300)[:, None])
    chosen = choose(losses, Fraction(200), SeededRandomness("batch"))
    assert chosen.tolist() == list(range(300))


@given(
    losses=st.lists(st.integers(0, 2**62), min_size=1, max_size=50),
    rate=st.fractions(Fraction(1, 10**30), 10**6),
)
def test_decays_keep_their_relative_error(losses: list[int], rate: Fraction) -> None:
    for loss, decay in zip(losses, decays(np.array(losses), rate), strict=True):
        truth = mp.exp(-exact(rate * loss))
        if rate * loss < Fraction(MAX_EXPONENT) - 1:
            assert abs(mpf(float(decay)) - truth) <= RELATIVE_ERROR / 2 * truth
        elif rate * loss > Fraction(MAX_EXPONENT) + 1:
            assert decay == 0
    assert decays(np.array([0]), rate) == 1


SMALL = list(product(range(3), repeat=3))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), ONE, Fraction(5)])
@pytest.mark.parametrize("monotone", [True, False])
def test_neighbours_stay_within_epsilon_and_its_rho(epsilon: Fraction, monotone: bool) -> None:
    # All vectors over {0, 1, 2}³ and all moves by at most 1 in each coordinate: the definition.
    moves = [move for move in product((-1, 0, 1), repeat=3) if not monotone or min(move) >= 0]
    mechanism = Exponential(epsilon, spread=1 if monotone else 2)
    worst = mpf(0)
    for losses, move in product(SMALL, moves):
        moved = [loss + step for loss, step in zip(losses, move, strict=True)]
        one = exponential_law(losses, mechanism.rate)
        other = exponential_law(moved, mechanism.rate)
        low, high = loss_range(one, other)
        assert high - low <= exact(epsilon) + mpf(10) ** -40
        worst = max(worst, high, -low)
        for order in (mpf("1.001"), mpf(2), mpf(20)):
            assert renyi(one, other, order) <= order * exact(mechanism.rho())
    assert worst <= exact(epsilon)
    assert worst > exact(epsilon) * mpf("0.45")


def test_losses_are_charged_in_each_currency() -> None:
    mechanism = Exponential(Fraction(3, 10), spread=2)
    assert mechanism.loss(Accounting.PURE) == PrivacyLoss(Accounting.PURE, Fraction(3, 10))
    assert mechanism.loss(Accounting.APPROX) == PrivacyLoss(Accounting.APPROX, Fraction(3, 10))
    assert mechanism.loss(Accounting.ZCDP) == PrivacyLoss(Accounting.ZCDP, Fraction(9, 800))


@given(rho=st.fractions(Fraction(1, 10**12), 100))
def test_epsilon_is_the_largest_that_rho_pays_for(rho: Fraction) -> None:
    epsilon = epsilon_of_choice(rho)
    assert epsilon**2 / 8 <= rho
    assert (epsilon * (1 + Fraction(1, 10**25))) ** 2 / 8 > rho


@pytest.mark.parametrize("scale", [0.5, 2.0, 7.0])
@pytest.mark.parametrize("monotone", [True, False])
def test_opendp_charges_the_same(scale: float, monotone: bool) -> None:
    dp.enable_features("contrib")
    space = (
        dp.vector_domain(dp.atom_domain(T="i64")),
        dp.linf_distance(T="i64", monotonic=monotone),
    )
    spread = 1 if monotone else 2
    mechanism = Exponential(spread / Fraction(scale), spread)
    pure = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale)
    assert pure.map(1) == pytest.approx(float(mechanism.epsilon), rel=1e-12)
    concentrated = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale)
    assert concentrated.map(1) == pytest.approx(float(mechanism.rho()), rel=1e-12)


def test_opendp_charges_as_much_for_the_best_three_as_for_three_choices() -> None:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    one = Exponential(ONE, spread=2)
    pure = dp.m.make_noisy_top_k(*space, dp.max_divergence(), k=3, scale=2.0)
    assert pure.map(1) == pytest.approx(3 * float(one.epsilon), rel=1e-12)
    concentrated = dp.m.make_noisy_top_k(*space, dp.zero_concentrated_divergence(), k=3, scale=2.0)
    assert concentrated.map(1) == pytest.approx(3 * float(one.rho()), rel=1e-12)


@pytest.mark.parametrize("losses", [[0.5, 1.0], [True, False], [2**64, 1], [float("nan"), 1]])
def test_only_integers_are_losses(losses: list[int]) -> None:
    with pytest.raises(TypeError, match="integers"):
        choose(losses, ONE, SeededRandomness("types"))


@pytest.mark.parametrize("losses", [[2**62, 0], [-(2**62), 0]])
def test_losses_are_below_2_to_the_62(losses: list[int]) -> None:
    with pytest.raises(ValueError, match="integers below"):
        choose(losses, ONE, SeededRandomness("range"))


@pytest.mark.parametrize("losses", [[], [[], []]])
def test_something_is_there_to_choose_from(losses: list[int]) -> None:
    with pytest.raises(ValueError, match="nothing"):
        choose(losses, ONE, SeededRandomness("none"))


def test_no_rows_make_no_choice() -> None:
    losses = np.empty((0, 4), dtype=np.int64)
    assert choose(losses, ONE, SeededRandomness("none")).shape == (0,)


@pytest.mark.parametrize("weights", [[0, 0], [-1, 2], [2**61, 1]])
def test_weights_leave_something_to_choose(weights: list[int]) -> None:
    with pytest.raises(ValueError, match="weights"):
        choose([1, 2], ONE, SeededRandomness("weights"), weights)


@pytest.mark.parametrize("weights", [[1], [[1, 1], [1, 1]]])
def test_each_candidate_has_a_weight(weights: list[int]) -> None:
    with pytest.raises(ValueError, match="weight"):
        choose([1, 2], ONE, SeededRandomness("weights"), weights)


@pytest.mark.parametrize(("epsilon", "spread"), [(Fraction(0), 1), (ONE, 0), (-ONE, 1)])
def test_epsilon_and_spread_are_positive(epsilon: Fraction, spread: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        Exponential(epsilon, spread)


def test_floats_are_no_epsilon() -> None:
    with pytest.raises(TypeError, match="fraction"):
        Exponential(0.5, 1)  # type: ignore[arg-type]
