"""Limits of groups and caps, chosen together: near the best pair in hindsight."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from privacy.ladder_data import HALF_EPSILON, RUNGS, Floats, exact_ladder, laplace, rung_counts

from dpsql.privacy.ladder.excess_draws import excess_draws
from dpsql.privacy.ladder.expected_bias import expected_bias
from dpsql.privacy.ladder.joint_choice import Measured, Ways, best_limits, lost_pairs
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.ladder.rungs import half_octaves
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.over_groups import OverGroups

GROUP_RUNGS = half_octaves(Fraction(1), 16)
GROUPS = 200

Noise = Callable[[int, Fraction], float]


def by_laplace(groups: int, cap: Fraction) -> float:
    return float(groups * cap)


def by_gauss(groups: int, cap: Fraction) -> float:
    return 4 * math.sqrt(groups) * float(cap)


@dataclass(frozen=True)
class Pairs:
    """One entry a pair: the group, the pair's place among its unit's, and what it sums to."""

    units_groups: Floats
    group: NDArray[np.int64]
    place: NDArray[np.int64]
    value: Floats

    @classmethod
    def drawn(cls, random: np.random.Generator, *, heavy: bool) -> Pairs:
        """Of 20,000 units; the groups of each are independent of how many they are."""
        numbers = np.minimum(random.zipf(1.8, 20_000), GROUPS) if heavy else None
        numbers = random.integers(1, 20, 20_000) if numbers is None else numbers
        place = np.concatenate([np.arange(number) for number in numbers])
        value = random.lognormal(3, 1.2, place.size)
        group = random.integers(0, GROUPS, place.size)
        return cls(numbers.astype(np.float64), group, place, value)

    def error(self, noise: Noise, group: int, limit: int, cap: Fraction) -> float:
        """The mean absolute error of this group's sum, with Laplace's formula."""
        mine = self.group == group
        kept = np.minimum(self.value[mine & (self.place < limit)], float(cap))
        bias, scale = float(self.value[mine].sum() - kept.sum()), noise(limit, cap)
        return bias + scale * math.exp(-bias / scale)


def ladders(pairs: Pairs, random: np.random.Generator) -> tuple[Ladder, Ladder]:
    groups = rung_counts(pairs.units_groups, GROUP_RUNGS) + laplace(random, 4.0, 16)
    sums = rung_counts(pairs.value) + laplace(random, 4.0, len(RUNGS))
    noise = DiscreteLaplace(Fraction(4))
    return (
        Ladder(tuple(groups.tolist()), GROUP_RUNGS, noise, Fraction(1)),
        Ladder(tuple(sums.tolist()), RUNGS, noise),
    )


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("noise", [by_laplace, by_gauss])
def test_limits_are_near_the_best_pair_in_hindsight(noise: Noise, *, heavy: bool) -> None:
    found, best = [], []
    for seed in range(6):
        random = np.random.default_rng([12, seed])
        pairs = Pairs.drawn(random, heavy=heavy)
        groups, sums = ladders(pairs, random)
        share = Fraction(int((pairs.group == 0).sum()), pairs.group.size)
        chosen = best_limits(groups, [Measured(sums, share, noise, None)], GROUPS)
        (cap,) = chosen.caps
        found.append(pairs.error(noise, 0, chosen.groups, cap.cap))
        best.append(
            min(
                pairs.error(noise, 0, int(limit), each)
                for limit in GROUP_RUNGS[1:]
                for each in RUNGS[1:26]
            )
        )
        assert found[-1] <= 3 * best[-1]
    assert np.median(found) <= 1.3 * np.median(best)


def exact_groups(numbers: list[int]) -> Ladder:
    counts = rung_counts(np.repeat(np.array(numbers, dtype=np.float64), 1000), GROUP_RUNGS)
    return Ladder(tuple(counts.tolist()), GROUP_RUNGS, DiscreteLaplace(Fraction(1, 9)), Fraction(1))


def test_no_pair_is_left_out_where_that_saves_no_noise() -> None:
    sums = exact_ladder(np.full(10_000, 100.0))
    measured = Measured(sums, Fraction(1, 10), lambda _, cap: float(cap), None)
    chosen = best_limits(exact_groups([1, 2, 2, 3, 8]), [measured], None)
    assert chosen.groups >= 8
    assert chosen.lost == 0


def test_what_is_lost_is_what_the_groups_leave_out_and_what_the_caps_cut_off() -> None:
    # Of 1, 2, 3 and 4 groups a limit of 1 leaves out 6 pairs of 10.
    def only_one(limit: int, cap: Fraction) -> float:
        return float(cap) * 1e-3 if limit == 1 else 1e12

    sums = exact_ladder(np.repeat([1.0, 4.0], 5000), step=1)
    measured = Measured(sums, Fraction(1), only_one, Fraction(2))
    chosen = best_limits(exact_groups([1, 2, 3, 4]), [measured], 4)
    assert chosen.groups == 1
    assert chosen.lost == pytest.approx(0.6)
    (cap,) = chosen.caps
    assert cap.cap == 2
    assert cap.total == pytest.approx(5000 * 1 + 5000 * 2)
    assert cap.bias == pytest.approx(0.6 * cap.total)


def test_a_bias_at_the_chosen_limits_is_that_of_the_choice() -> None:
    sums = exact_ladder(np.repeat([1.0, 4.0, 60.0], 3000), step=1)
    measured = Measured(sums, Fraction(1, 9), by_laplace, None)
    groups = exact_groups([1, 2, 2, 3, 8, 12])
    chosen = best_limits(groups, [measured], None)
    (cap,) = chosen.caps
    bias = expected_bias(groups, measured, chosen.groups, cap.cap)
    assert (bias.expected, bias.low, bias.high) == pytest.approx((cap.bias, cap.low, cap.high))
    assert bias.total == pytest.approx(cap.total)
    tighter = expected_bias(groups, measured, 1, Fraction(1))
    # Of 28 pairs six are kept, of 65 in three pairs 3.
    assert tighter.expected == pytest.approx(bias.total * (1 - 6 / 28 * 3 / 65), rel=0.01)
    assert tighter.times(7).high == pytest.approx(7 * tighter.high)


def lost(numbers: list[int], limit: int, rows: list[float], cap: int, order: int) -> float:
    """The part of the pairs that is lost where units are scaled, by the ladders."""
    measured = Measured(exact_ladder(np.repeat(rows, 3000), step=1), Fraction(1), by_gauss, None)
    groups = exact_groups(numbers)
    parts = lost_pairs(groups, measured, [limit], [Fraction(cap)], OverGroups.SCALE, order)
    return float(parts.mean())


def test_scaled_units_lose_what_the_norm_is_short_of() -> None:
    # Of 1, 4 and 16 groups √(4·16), eight, are kept of the last.
    assert lost([1, 4, 16], 4, [1.0], 1, 2) == pytest.approx(8 / 21, abs=0.01)
    # In the L1 norm as many as are drawn.
    assert lost([1, 4, 16], 4, [1.0], 1, 1) == pytest.approx(12 / 21, abs=0.01)
    # Pairs of one row, and of four: their squares have a mean of (1 + 16)/2.
    assert lost([16], 4, [1.0, 4.0], 4, 2) == pytest.approx(
        1 - math.sqrt(4 * 16 / 8.5 / 16), abs=0.02
    )
    assert lost([16], 4, [1.0, 4.0], 4, 1) == pytest.approx(1 - 4 * 4 / 2.5 / 16, abs=0.02)
    assert lost([1, 2, 3], 4, [1.0], 1, 2) == 0


def test_scaling_is_chosen_where_it_gains_a_tenth_and_drawing_where_it_does_not() -> None:
    rows = exact_ladder(np.ones(10_000), step=1)
    both = Ways((OverGroups.SAMPLE, OverGroups.SCALE))

    def noisy(limit: int, cap: Fraction) -> float:
        return 100 * math.sqrt(limit) * float(cap)

    wide = exact_groups([60, 80, 100])
    chosen = best_limits(wide, [Measured(rows, Fraction(1, 20), noisy, None)], 200, both)
    drawn = best_limits(wide, [Measured(rows, Fraction(1, 20), noisy, None)], 200)
    assert chosen.over_groups is OverGroups.SCALE
    assert chosen.gain > 0.1
    assert chosen.lost < drawn.lost
    narrow = best_limits(
        exact_groups([1, 2]), [Measured(rows, Fraction(1), by_gauss, None)], 9, both
    )
    assert narrow.over_groups is OverGroups.SAMPLE
    assert narrow.gain == 0


def test_a_share_that_is_not_known_is_anything_between() -> None:
    ladder = exact_ladder(np.full(10_000, 64.0), step=1)
    known = excess_draws(ladder, Fraction(1, 100))
    unknown = excess_draws(ladder, Fraction(1), lowest_share=Fraction(1, 100))
    assert np.median(unknown.total) == pytest.approx(64_000, rel=0.2)
    low, high = np.quantile(unknown.total, [0.02, 0.98])
    assert low < 2 * np.median(known.total)
    assert high > 64 * 10_000 / 2


def test_limits_of_several_statistics_are_one_and_their_caps_their_own() -> None:
    rows = exact_ladder(np.repeat([1.0, 2.0, 3.0], 3000), step=1)
    sums = exact_ladder(np.repeat([100.0, 900.0], 4500))
    share = Fraction(1, 20)
    measured = [Measured(rows, share, by_laplace, None), Measured(sums, share, by_laplace, None)]
    chosen = best_limits(exact_groups([1, 2, 3, 4]), measured, 3)
    of_rows, of_sums = chosen.caps
    assert chosen.groups <= 3
    assert of_rows.cap <= 4
    assert of_sums.cap >= 100


@pytest.mark.parametrize("highest", [1, 5, 7])
def test_no_limit_is_above_the_declared_one(highest: int) -> None:
    sums = exact_ladder(np.full(10_000, 100.0))
    measured = Measured(sums, Fraction(1), lambda _, cap: float(cap) * 1e-6, Fraction(50))
    chosen = best_limits(exact_groups([1, 2, 9, 16]), [measured], highest)
    # What the schema's own limits leave out is no loss of this choice's.
    assert (chosen.groups, chosen.lost) == (highest, 0)
    assert chosen.caps[0].cap == 50


def test_limits_are_chosen_of_any_counts() -> None:
    for count in (0, -9, 10**40):
        groups = Ladder((count,) * 16, GROUP_RUNGS, HALF_EPSILON, Fraction(1))
        sums = Ladder((count,) * len(RUNGS), RUNGS, HALF_EPSILON)
        for share in (Fraction(0), Fraction(1)):
            chosen = best_limits(groups, [Measured(sums, share, by_laplace, None)], None)
            assert 0 <= chosen.lost <= 1
            assert math.isfinite(chosen.caps[0].bias)


def test_nothing_measured_has_no_limits() -> None:
    with pytest.raises(ValueError, match="measured"):
        best_limits(exact_groups([1]), [], None)


def test_a_limit_of_no_groups_is_refused() -> None:
    measured = Measured(exact_ladder(np.ones(9)), Fraction(1), by_laplace, None)
    with pytest.raises(ValueError, match="above 0"):
        best_limits(exact_groups([1]), [measured], 0)
