from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy.seeded import SeededRandomness

from dpsql.privacy import partition_selection
from dpsql.privacy.accounting.zcdp_conversion import delta_of_rho, rho_of_epsilon
from dpsql.privacy.directed_rounding import ln, round_down
from dpsql.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.partition_selection import per_group_delta, selection_delta, threshold

MILLIONTH = Fraction(1, 10**6)
mechanisms = st.one_of(
    st.fractions(Fraction(1, 10), 100, max_denominator=20).map(DiscreteLaplace),
    st.fractions(Fraction(1, 10), 3000, max_denominator=20).map(DiscreteGaussian),
)


def all_show(mechanism: Noise, k: int, groups: int) -> Fraction:
    return 1 - (1 - mechanism.tail(k)) ** groups


@pytest.mark.parametrize(("groups", "tau"), [(1, 15), (2, 30), (4, 60), (8, 124), (16, 256)])
def test_laplace_thresholds_have_their_known_values(groups: int, tau: int) -> None:
    mechanism = DiscreteLaplace(Fraction(groups))
    assert threshold(mechanism, groups=groups, per_group=1, delta=MILLIONTH) == tau


@pytest.mark.parametrize(
    ("groups", "deviation", "continuous"),
    [
        (1, 4.365154941135746, 22.35275986244543),
        (2, 6.1732613196141015, 32.02874246305338),
        (4, 8.730309882271492, 46.02833042910563),
        (8, 12.346522639228203, 66.26407778288794),
        (16, 17.460619764542983, 95.48809282921609),
    ],
)
def test_gaussian_thresholds_are_next_to_the_continuous_ones(
    groups: int, deviation: float, continuous: float
) -> None:
    mechanism = DiscreteGaussian(Fraction(deviation) ** 2)
    tau = threshold(mechanism, groups=groups, per_group=1, delta=MILLIONTH / 2)
    # Counting the atom is the continuous tail from half an integer before.
    assert continuous < tau < continuous + 1.5


@settings(max_examples=60)
@given(
    mechanism=mechanisms,
    groups=st.integers(1, 40),
    per_group=st.integers(1, 10),
    delta=st.sampled_from([Fraction(1, 10**power) for power in (1, 2, 4, 6, 9, 12)]),
)
def test_threshold_is_the_least_that_keeps_delta(
    mechanism: Noise, groups: int, per_group: int, delta: Fraction
) -> None:
    k = threshold(mechanism, groups=groups, per_group=per_group, delta=delta) - per_group
    assert all_show(mechanism, k, groups) <= delta
    assert k == 1 or all_show(mechanism, k - 1, groups) > delta


@given(groups=st.integers(1, 60), delta=st.fractions(Fraction(1, 10**12), Fraction(99, 100)))
def test_each_may_show_is_the_largest_that_keeps_delta(groups: int, delta: Fraction) -> None:
    each = per_group_delta(groups, delta)
    assert 1 - (1 - each) ** groups <= delta
    assert 1 - (1 - each * (1 + Fraction(1, 10**20))) ** groups > delta
    assert each >= delta / groups * (1 - Fraction(1, 10**28))


@pytest.mark.parametrize(("groups", "linf"), [(1, 1), (4, 1), (3, 5), (64, 2)])
def test_opendp_charges_no_more_than_delta_at_our_laplace_threshold(groups: int, linf: int) -> None:
    # opendp's delta is of counts strictly above its threshold: ours less one.
    dp.enable_features("contrib")
    space = (
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T="i64")),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
    )
    scale = groups * linf
    tau = threshold(
        DiscreteLaplace(Fraction(scale)), groups=groups, per_group=linf, delta=MILLIONTH
    )

    def charged(at: int) -> float:
        measurement = dp.m.make_laplace_threshold(*space, scale=float(scale), threshold=at)
        return float(measurement.map((groups, scale, linf))[1])

    assert charged(tau - 1) <= 1e-6 < charged(tau - 2)


@pytest.mark.parametrize(("groups", "deviation"), [(1, 5.0), (4, 8.0), (16, 20.0)])
def test_opendp_charges_no_more_than_delta_at_our_gaussian_threshold(
    groups: int, deviation: float
) -> None:
    dp.enable_features("contrib")
    space = (
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T="i64")),
        dp.l02inf_distance(dp.absolute_distance(T=float)),
    )
    mechanism = DiscreteGaussian(Fraction(deviation) ** 2)
    tau = threshold(mechanism, groups=groups, per_group=1, delta=MILLIONTH)
    measurement = dp.m.make_gaussian_threshold(*space, scale=deviation, threshold=tau)
    assert measurement.map((groups, groups**0.5, 1.0))[1] <= 1e-6


def test_groups_of_changed_units_show_as_rarely_as_promised() -> None:
    # 200,000 releases of 4 groups at delta 1/100: 2,000 may show. Six standard deviations: false
    # failure below 1e-8. One less and a half more would show.
    delta, mechanism = Fraction(1, 100), DiscreteLaplace(Fraction(4))
    tau = threshold(mechanism, groups=4, per_group=1, delta=delta)
    released = mechanism.release([1] * 800_000, SeededRandomness("threshold"))
    highest = np.array(released).reshape(-1, 4).max(axis=1)
    shown, would_show = (highest >= tau).sum(), (highest >= tau - 1).sum()
    assert shown <= 2000 + 6 * 2000**0.5
    assert would_show > 2000


@pytest.mark.parametrize("units", [1, 2, 5])
def test_more_changed_units_move_the_threshold_by_more_than_their_count(units: int) -> None:
    mechanism = DiscreteLaplace(Fraction(10))
    one = threshold(mechanism, groups=3, per_group=1, delta=MILLIONTH)
    several = threshold(mechanism, groups=3 * units, per_group=units, delta=MILLIONTH)
    assert several >= one + units - 1


def test_a_large_delta_still_hides_single_units() -> None:
    mechanism = DiscreteLaplace(Fraction(1))
    assert threshold(mechanism, groups=1, per_group=2, delta=Fraction(9, 10)) == 3


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1)])
def test_delta_is_between_zero_and_one(delta: Fraction) -> None:
    with pytest.raises(ValueError, match="delta"):
        threshold(DiscreteLaplace(Fraction(1)), groups=1, per_group=1, delta=delta)


@pytest.mark.parametrize(("groups", "per_group"), [(0, 1), (1, 0)])
def test_a_changed_unit_is_counted_somewhere(groups: int, per_group: int) -> None:
    with pytest.raises(ValueError, match="counted"):
        threshold(DiscreteLaplace(Fraction(1)), groups=groups, per_group=per_group, delta=MILLIONTH)


def exact_delta(sigma: float, tau: int, groups: int, epsilon: float) -> float:
    """The δ of releasing noisy counts from τ on: the laws of all known groups, summed up."""
    x = np.arange(-80, 81)
    one = np.exp(-(x**2) / (2 * sigma**2))
    one /= one.sum()
    shows = one[x + 1 >= tau].sum()
    worst = 0.0
    for known in range(groups + 1):
        log_hidden = (groups - known) * math.log1p(-shows)
        # Only the sum of the known groups' noise matters to how likely an output is.
        law, at = np.ones(1), np.zeros(1)
        for _ in range(known):
            law = np.convolve(law, one)
            at = np.arange(law.size, dtype=np.float64) - (law.size - 1) // 2
        moved = law * np.exp(-(2 * at + known) / (2 * sigma**2))  # at the same place, one unit less

        def stick(e: float, law: np.ndarray = law, moved: np.ndarray = moved) -> float:
            return float(np.maximum(law - math.exp(e) * moved, 0).sum())

        hidden = math.exp(log_hidden)
        with_more = 1 - hidden + hidden * stick(epsilon - log_hidden)
        worst = max(worst, with_more, stick(epsilon + log_hidden))
    return worst


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize(("deviation", "tau"), [(4.5, 22), (4.5, 25), (6.0, 40), (10.0, 60)])
def test_a_threshold_and_its_noise_have_one_delta(groups: int, deviation: float, tau: int) -> None:
    mechanism = DiscreteGaussian(Fraction(deviation) ** 2)
    rho = mechanism.rho(l2_squared=1)
    joint = selection_delta(
        mechanism.tail(tau - 1),
        groups=groups,
        rho=groups * rho,
        rho_per_group=rho,
        epsilon=Fraction(1),
    )
    truth = exact_delta(deviation, tau, groups, 1.0)
    assert truth <= joint <= 6 * truth


@pytest.mark.parametrize("groups", [1, 4, 16])
def test_noise_and_threshold_need_not_share_a_delta(groups: int) -> None:
    # Each at the whole δ, where a sum of both would charge twice that.
    mechanism = DiscreteGaussian(groups / (2 * rho_of_epsilon(Fraction(1), MILLIONTH)))
    tau = threshold(mechanism, groups=groups, per_group=1, delta=MILLIONTH)
    rho = mechanism.rho(l2_squared=groups)
    joint = selection_delta(
        mechanism.tail(tau - 1),
        groups=groups,
        rho=rho,
        rho_per_group=rho / groups,
        epsilon=Fraction(1),
    )
    assert joint <= MILLIONTH


def plain_delta(
    shows: Fraction, groups: int, rho: Fraction, rho_per_group: Fraction, epsilon: Fraction
) -> Fraction:
    """The largest δ of any number of known groups, each looked at."""
    worst = Fraction(0)
    for known in range(groups + 1):
        hidden = round_down((1 - shows) ** (groups - known), digits=60)
        less = epsilon + ln(hidden).low if hidden else Fraction(-1)
        if less < 0:
            return Fraction(1)
        of_known = delta_of_rho(min(known * rho_per_group, rho), less)
        worst = max(worst, 1 - hidden + hidden * of_known)
    return worst


@pytest.mark.parametrize("groups", [1, 2, 3, 9, 40])
@pytest.mark.parametrize("times", [Fraction(1, 100), Fraction(9, 10), Fraction(1), Fraction(10**5)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(3)])
def test_no_number_of_known_groups_is_passed_over_that_has_the_largest_delta(
    groups: int, times: Fraction, epsilon: Fraction
) -> None:
    # As likely to show as δ allows, less, and more than that; all groups lose as much as the sum of
    # each or, where a unit's rows are few, as one or two of them.
    shows, rho = times * per_group_delta(groups, MILLIONTH), rho_of_epsilon(epsilon, MILLIONTH)
    for of_one in (rho / groups, rho / 2, rho):
        joint = selection_delta(
            shows, groups=groups, rho=rho, rho_per_group=of_one, epsilon=epsilon
        )
        looked_at = plain_delta(shows, groups, rho, of_one, epsilon)
        assert looked_at <= joint <= looked_at * (1 + Fraction(1, 10**45))


@pytest.mark.parametrize("splits", [1, 2, 3, 1000])
def test_a_search_that_ends_early_tells_no_less_than_the_largest_delta(
    monkeypatch: pytest.MonkeyPatch, splits: int
) -> None:
    # After its last split what is left may have less than what was looked at first.
    monkeypatch.setattr(partition_selection, "_MAX_SPLITS", splits)
    searched = selection_delta.__wrapped__  # of another number of splits nothing is remembered
    epsilon, groups = Fraction(1), 40
    rho = rho_of_epsilon(epsilon, MILLIONTH)
    for delta, alone in product((MILLIONTH / 2, MILLIONTH * 9 / 10), (1, 4, 40)):
        shows = per_group_delta(groups, delta)
        joint = searched(shows, groups=groups, rho=rho, rho_per_group=rho / alone, epsilon=epsilon)
        assert joint >= plain_delta(shows, groups, rho, rho / alone, epsilon)


@pytest.mark.parametrize("groups", [10**4, 10**9])
def test_the_delta_of_very_many_groups_is_proved(groups: int) -> None:
    # Exact powers have millions of digits: of 10,000 groups the proof took 18 seconds, before the
    # charge and with all other threads waiting, of 100,000 more than an hour.
    epsilon = Fraction(1)
    shows, rho = per_group_delta(groups, MILLIONTH / 10), rho_of_epsilon(epsilon, MILLIONTH)
    joint = selection_delta(
        shows, groups=groups, rho=rho, rho_per_group=rho / groups, epsilon=epsilon
    )
    assert MILLIONTH / 10 < joint <= MILLIONTH


@pytest.mark.parametrize("alone", [1, 10**5, 10**9])
def test_the_delta_of_very_many_groups_is_proved_wherever_one_is_the_worst(alone: int) -> None:
    # So many groups lose all of rho: if one does, as of a unit of one row, each number of known
    # groups has a little more than the next, and a search from above looked at every one of them.
    groups, epsilon, delta = 10**9, Fraction(1, 100), Fraction(1, 100)
    shows, rho = per_group_delta(groups, delta / 2), rho_of_epsilon(epsilon, delta)
    joint = selection_delta(
        shows, groups=groups, rho=rho, rho_per_group=rho / alone, epsilon=epsilon
    )
    # The δ of all groups known, that of none, and at most both.
    assert delta_of_rho(rho, epsilon) <= joint <= delta / 2 + delta_of_rho(rho, epsilon) * 2


def test_what_nearly_always_shows_has_no_delta_below_1() -> None:
    loss = Fraction(1, 100)
    shows = Fraction(9, 10)
    one = selection_delta(shows, groups=1, rho=loss, rho_per_group=loss, epsilon=Fraction(1))
    assert one == 1
    never = selection_delta(
        Fraction(0), groups=3, rho=loss, rho_per_group=loss, epsilon=Fraction(1)
    )
    assert 0 < never < Fraction(1, 10**6)
