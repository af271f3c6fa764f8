"""Chi-squared tests are made at 1e-6: that is the false-failure probability of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import opendp.prelude as dp
import pytest
from mpmath import mp, mpf
from neighbor_search.share import in_turn
from privacy.laws import (
    Law,
    Losses,
    exact,
    exponential_law,
    fit,
    loss_range,
    permute_and_flip_law,
)
from privacy.seeded import SeededRandomness
from privacy.splitting import Rows, Splitting

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.pure_conversion import mu_squared_of_range
from dpsql.privacy.mechanisms.selection import position
from dpsql.privacy.mechanisms.selection.position import choose_position
from dpsql.privacy.mechanisms.selection.quantile import Quantiles
from dpsql.privacy.mechanisms.selection.quantile_range import QuantileRange

FALSE_FAILURE = 1e-6
ONE, HALF = Fraction(1), Fraction(1, 2)
TINY = mpf(10) ** -35
LAWS: dict[Accounting, Callable[[Losses, Fraction], Law]] = {
    Accounting.ZCDP: exponential_law,
    Accounting.PURE: permute_and_flip_law,
}


def evenly(count: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(i, count + 1) for i in range(1, count + 1))


def whole(counts: list[list[int]], slices: int = 1) -> QuantileRange:
    table = np.array(counts)
    groups, cells = table.shape
    return QuantileRange(
        table, slices, np.zeros(groups, dtype=int), np.full(groups, cells * slices)
    )


def position_losses(counts: list[list[int]], target: Fraction) -> np.ndarray:
    """The losses at the cells' starts, and at the end of all, where an empty one starts."""
    part = whole([[*row, 0] for row in counts])
    every = [part.slice_losses(np.full(len(counts), c), target) for c in range(len(counts[0]) + 1)]
    return np.concatenate(every, axis=1)


@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(1, 4), HALF, Fraction(3, 4)])
def test_position_losses_are_opendps(alpha: Fraction) -> None:
    dp.enable_features("contrib")
    data, candidates = [1, 2, 3, 9, 9, 4], [0, 5, 10]
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    oracle = dp.t.make_quantile_score_candidates(*space, candidates, alpha=float(alpha))
    # Cells: from 0 to 5, from 5 to 10, and nothing beyond; the candidates are between them.
    counts = [sum(x < 5 for x in data), sum(x > 5 for x in data)]
    ours = position_losses([counts], alpha)[0].tolist()
    a, d = alpha.numerator, alpha.denominator
    assert oracle.map(1) * Fraction(max(a, d - a), oracle.map(1)) == max(a, d - a)
    scaled = [loss * Fraction(max(a, d - a), oracle.map(1)) for loss in oracle(data)]
    assert ours == scaled


def test_position_losses_have_their_known_values() -> None:
    # 1 … 100 at 0, 10, …, 100: as 10 is neither below nor above itself, 10's loss is the mean of
    # those just before and just after it.
    counts = [0] + [9, 1] * 10
    between = position_losses([counts], HALF)[0].tolist()
    losses = [between[0] / 2]
    losses += [(between[2 * tens] + between[2 * tens + 1]) / 4 for tens in range(1, 11)]
    assert losses == [50, 40.5, 30.5, 20.5, 10.5, 0.5, 9.5, 19.5, 29.5, 39.5, 49.5]
    law = exponential_law([int(2 * loss) for loss in losses], Fraction(1, 20))
    assert float(law[5]) == pytest.approx(0.4510089632652428, abs=1e-9)


@pytest.mark.parametrize("slices", [1, 3])
@pytest.mark.parametrize("rows", [1, 2])
def test_losses_move_no_further_than_rows_times_the_quantile(slices: int, rows: int) -> None:
    quantiles = [Fraction(0), Fraction(1, 10), HALF, Fraction(5, 6)]
    for counts in product(range(3), repeat=3):
        for added in combinations_with_replacement(range(3), rows):
            more = [count + added.count(cell) for cell, count in enumerate(counts)]
            for low, high in ((0, 3 * slices), (1, 2 * slices), (slices, slices)):
                ends = np.full(2, low), np.full(2, high)
                part = QuantileRange(np.array([counts, more]), slices, *ends)
                for target in quantiles:
                    a, d = target.numerator, target.denominator
                    cells = part.cell_losses(target)
                    moved = np.abs(cells[0] - cells[1])[part.cell_mask()[0]]
                    assert moved.max() <= rows * max(a, d - a) * slices
                    inside = part.cell_mask()[0].nonzero()[0]
                    for cell in inside:
                        at = np.array([cell, cell])
                        losses = part.slice_losses(at, target)
                        present = part.slice_mask(at)[0]
                        if present.any():
                            moved = np.abs(losses[0] - losses[1])[present]
                            assert moved.max() <= rows * max(a, d - a) * slices


@pytest.mark.parametrize(("alpha", "spread"), [("0.1", 9), ("0.25", 3), ("0.5", 1), ("0.75", 3)])
def test_two_losses_move_apart_by_twice_that(alpha: str, spread: int) -> None:
    # 20 rows on one side and one more on the other: with half the spread ε would be exceeded.
    target = Fraction(alpha)
    counts = [0, 0, 0, 20, 0] if target <= HALF else [0, 20, 0, 0, 0]
    more = list(counts)
    more[0 if target <= HALF else 4] += 1
    losses = position_losses([counts, more], target)
    changes = losses[1] - losses[0]
    assert max(changes) - min(changes) == 2 * spread
    laws = losses.tolist()
    halved = [exponential_law(law, Fraction(2, spread)) for law in laws]
    low, high = loss_range(*halved)
    assert max(high, -low) > 1


@pytest.mark.parametrize("accounting", [Accounting.ZCDP, Accounting.PURE])
@pytest.mark.parametrize("target", [Fraction(1, 10), HALF, Fraction(2, 3), ONE])
def test_one_quantile_fits_its_law(accounting: Accounting, target: Fraction) -> None:
    counts = (3, 0, 7, 1, 2)
    mechanism = Quantiles((target,), Fraction(2), rows=2, accounting=accounting, slices=8)
    drawn = mechanism.release(np.tile(counts, (100_000, 1)), SeededRandomness("one quantile"))
    again = Splitting((target,), Fraction(2), 2, 8, LAWS[accounting])
    law = again.cells(counts, (Fraction(0), Fraction(5)), target)
    assert fit(drawn[:, 0], [law[cell] for cell in range(5)]) > FALSE_FAILURE
    slower = Splitting((target,), Fraction(20, 11), 2, 8, LAWS[accounting])
    wrong = slower.cells(counts, (Fraction(0), Fraction(5)), target)
    assert fit(drawn[:, 0], [wrong[cell] for cell in range(5)]) < FALSE_FAILURE


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((3, 0, 7, 1), 0, 24),
        ((0, 90, 2, 60), 4, 21),  # begins and ends inside cells, of which two are heavy
        ((0, 0, 0, 0), 3, 20),
        ((5, 5, 5, 5), 10, 10),
        ((40, 50, 60, 70), 0, 24),  # more heavy cells than have their slices proposed
        ((9,), 1, 6),
        ((4,) * 8, 0, 48),
    ],
)
@pytest.mark.parametrize("target", [Fraction(1, 7), HALF])
def test_a_position_fits_its_law(counts: Rows, low: int, high: int, target: Fraction) -> None:
    groups, slices = 40_000, 6
    table = np.tile(counts, (groups, 1))
    part = QuantileRange(table, slices, np.full(groups, low), np.full(groups, high))
    splitting = Splitting((target,), ONE, 2, slices, exponential_law)
    rate = splitting.rate(target) / slices
    drawn = choose_position(part, target, rate, SeededRandomness(f"position {counts}{target}"))
    ends = Fraction(low, slices), Fraction(high, slices)
    law = splitting.positions(counts, ends, target)
    assert ((drawn >= low) & (drawn < low + len(law))).all()
    assert len(law) == 1 or fit(drawn - low, list(law.values())) > FALSE_FAILURE


def test_where_a_proposed_position_is_always_taken_the_law_is_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts, slices, target = (4,) * 8, 6, HALF
    monkeypatch.setattr(position, "accepted", lambda losses, *_: np.ones(losses.shape, dtype=bool))
    table = np.tile(counts, (40_000, 1))
    splitting = Splitting((target,), ONE, 2, slices, exponential_law)
    part = whole(table.tolist(), slices)
    drawn = choose_position(part, target, splitting.rate(target) / slices, SeededRandomness("all"))
    law = splitting.positions(counts, (Fraction(0), Fraction(8)), target)
    assert fit(drawn, list(law.values())) < FALSE_FAILURE


@pytest.mark.parametrize("accounting", [Accounting.ZCDP, Accounting.PURE])
def test_quantiles_by_splitting_fit_their_joint_law(accounting: Accounting) -> None:
    # Six quantiles over two cells, as tuples of cells: all paths through the tree, added up.
    counts, epsilon, quantiles = (5, 3), Fraction(3), evenly(6)
    mechanism = Quantiles(quantiles, epsilon, rows=1, accounting=accounting, slices=2)
    assert mechanism.splits
    drawn = mechanism.release(np.tile(counts, (50_000, 1)), SeededRandomness("splitting"))
    again = Splitting(quantiles, epsilon, 1, 2, LAWS[accounting])
    law: dict[tuple[int, ...], mpf] = defaultdict(mpf)
    for p, cells in again.outcomes(counts, 0, 6, (Fraction(0), Fraction(2))):
        law[tuple(sorted(cells))] += p
    numbers = {cells: number for number, cells in enumerate(law)}
    seen = np.array([numbers[tuple(row)] for row in drawn.tolist()])
    assert fit(seen, list(law.values())) > FALSE_FAILURE


NEIGHBOURS: list[tuple[Rows, tuple[int, ...]]] = [
    (counts, added)
    for counts in ((0, 0, 0), (0, 4, 0), (1, 1, 1), (5, 0, 1))
    for added in ((0,), (1,), (0, 1), (0, 2), (1, 1))
]


@pytest.mark.parametrize(
    ("counts", "added", "accounting"),
    in_turn(
        (
            (f"{counts} and {added}-{accounting.value}", (counts, added, accounting))
            for counts, added in NEIGHBOURS
            for accounting in (Accounting.ZCDP, Accounting.PURE)
        ),
        share=3,
    ),
)
def test_a_unit_never_changes_more_than_is_charged(
    accounting: Accounting, counts: Rows, added: tuple[int, ...]
) -> None:
    # The whole law, split positions included, with one unit more of one or two rows in any cells.
    more = tuple(count + added.count(cell) for cell, count in enumerate(counts))
    epsilon, quantiles = HALF, evenly(7)
    law = Splitting(quantiles, epsilon, len(added), 2, LAWS[accounting])
    charged = Quantiles(quantiles, epsilon, len(added), accounting, slices=2).loss(
        units=1, groups=1
    )
    for one, other in ((counts, more), (more, counts)):
        if accounting is Accounting.PURE:
            worst = law.gathered(one, other, lambda p, q: mp.log(p / q), max, lambda x, y: x + y)
            assert worst <= exact(charged.amount) + TINY
        else:
            for order in (mpf("1.01"), mpf(2), mpf(16)):

                def powers(p: mpf, q: mpf, order: mpf = order) -> mpf:
                    return p**order * q ** (1 - order)

                moment = law.gathered(one, other, powers, mp.fsum, lambda x, y: x * y)
                assert mp.log(moment) / (order - 1) <= order * exact(charged.amount)


@pytest.mark.parametrize("count", range(1, 100))
def test_splitting_is_used_where_it_is_cheaper(count: int) -> None:
    mechanism = Quantiles(evenly(count), ONE, 1, Accounting.ZCDP)
    levels = int(np.ceil(np.log2(count + 1)))
    assert mechanism.selections == min(count, levels)
    nodes = list(mechanism._nodes())
    assert sorted(node.index for node in nodes) == list(range(count))
    if mechanism.splits:
        depth = {-1: 0, count: 0}
        for node in nodes:
            depth[node.index] = 1 + max(depth[node.first - 1], depth[node.last])
            assert node.splits == (node.last - node.first > 1)
            assert not node.splits or depth[node.index] < levels
        assert max(depth.values()) == levels


@pytest.mark.parametrize("accounting", list(Accounting))
@pytest.mark.parametrize("count", [1, 3, 9])
@pytest.mark.parametrize(("units", "groups"), [(1, 1), (1, 4), (3, 2)])
def test_what_is_granted_is_what_is_charged(
    accounting: Accounting, count: int, units: int, groups: int
) -> None:
    granted = PrivacyLoss(accounting, Fraction(7, 10))
    mechanism = Quantiles.calibrated(granted, evenly(count), rows=5, units=units, groups=groups)
    charged = mechanism.loss(units=units, groups=groups)
    assert charged.amount <= granted.amount
    assert charged.amount >= granted.amount * (1 - Fraction(1, 10**20))
    if accounting is Accounting.GDP:
        of_all = mechanism.selections * groups * mu_squared_of_range(mechanism.epsilon * units)
        assert charged.amount == of_all
        return
    one = mechanism.loss(units=1, groups=1).amount
    exponent = 2 if accounting is Accounting.ZCDP else 1
    assert charged.amount == one * groups * units**exponent


def off_by(counts: np.ndarray, chosen: np.ndarray, quantiles: tuple[Fraction, ...]) -> np.ndarray:
    """How many rows lie between each quantile and the cell that was chosen for it."""
    ends = np.concatenate([[0], counts.cumsum()])
    wanted = np.array([float(quantile) * ends[-1] for quantile in quantiles])
    off: np.ndarray = np.maximum(ends[chosen] - wanted, wanted - ends[chosen + 1])
    return off.clip(0)


@pytest.mark.parametrize("accounting", [Accounting.ZCDP, Accounting.PURE])
@pytest.mark.parametrize("count", [1, 3, 9, 40])
def test_ranks_are_within_the_bound(accounting: Accounting, count: int) -> None:
    # One group in 10^9 may be beyond: false failure below 6e-8. A heavy cell shows that equal
    # values do no harm.
    quantiles = evenly(count)
    counts = np.full(200, 50)
    counts[70] += 10_000
    mechanism = Quantiles(quantiles, HALF, 2, accounting)
    chosen = mechanism.release(np.tile(counts, (60, 1)), SeededRandomness("ranks"))
    slack = mechanism.selections * counts.max() / 1024
    bound = float(mechanism.rank_error(200, 1 - Fraction(1, 10**9))) + slack
    assert off_by(counts, chosen, quantiles).max() <= bound


def test_the_rank_bound_has_its_known_value() -> None:
    # (2·Δ/ε)·ln(G/β) with Δ = ½, 1,000 candidates and β = 5 %.
    mechanism = Quantiles((HALF,), ONE, 1, Accounting.ZCDP)
    bound = mechanism.rank_error(1000, Fraction(95, 100))
    assert float(bound) == pytest.approx(9.903487552536127, abs=1e-12)


@pytest.mark.parametrize("count", [1, 5, 9])
def test_quantiles_of_a_group_are_in_order(count: int) -> None:
    mechanism = Quantiles(evenly(count), Fraction(1, 100), 1, Accounting.ZCDP)
    counts = np.arange(40).reshape(4, 10)
    chosen = mechanism.release(counts, SeededRandomness("order"))
    assert chosen.shape == (4, count)
    assert (np.diff(chosen, axis=1) >= 0).all()
    assert ((chosen >= 0) & (chosen < 10)).all()


@pytest.mark.parametrize(("count", "groups"), [(1, 20_000), (9, 100)])
def test_an_empty_group_has_any_cells(count: int, groups: int) -> None:
    mechanism = Quantiles(evenly(count), ONE, 1, Accounting.PURE)
    chosen = mechanism.release(np.zeros((groups, 4), dtype=int), SeededRandomness("empty"))
    if count == 1:
        assert fit(chosen[:, 0], [mpf(1) / 4] * 4) > FALSE_FAILURE
    assert set(chosen.ravel().tolist()) == {0, 1, 2, 3}


def test_huge_counts_do_not_overflow() -> None:
    counts = np.full((2, 3), 2**63 - 1)
    counts[:, 0] = 0
    mechanism = Quantiles((Fraction(1, 65_536), HALF), Fraction(10), 1, Accounting.ZCDP)
    chosen = mechanism.release(counts, SeededRandomness("huge"))
    assert (chosen >= 1).all()


def test_a_single_cell_is_chosen() -> None:
    mechanism = Quantiles(evenly(9), ONE, 1, Accounting.ZCDP)
    assert (mechanism.release(np.array([[7], [0]]), SeededRandomness("cell")) == 0).all()


def test_groups_are_worked_on_in_parts() -> None:
    counts = np.zeros((3, 2**19), dtype=int)
    counts[[0, 1, 2], [5, 77, 300_000]] = 1000
    mechanism = Quantiles((HALF,), Fraction(10), 1, Accounting.PURE)
    chosen = mechanism.release(counts, SeededRandomness("parts"))
    assert chosen[:, 0].tolist() == [5, 77, 300_000]


@pytest.mark.parametrize(
    "quantiles",
    [(), (HALF, HALF), (HALF, Fraction(1, 3)), (Fraction(-1, 2),), (Fraction(3, 2),), evenly(100)],
)
def test_quantiles_increase_from_0_to_1(quantiles: tuple[Fraction, ...]) -> None:
    with pytest.raises(ValueError, match="quantiles"):
        Quantiles(quantiles, ONE, 1, Accounting.ZCDP)


@pytest.mark.parametrize("counts", [np.zeros(3, dtype=int), np.zeros((2, 0), dtype=int)])
def test_counts_are_a_table(counts: np.ndarray) -> None:
    with pytest.raises(TypeError, match="table"):
        Quantiles((HALF,), ONE, 1, Accounting.ZCDP).release(counts, SeededRandomness("table"))


@pytest.mark.parametrize("confidence", [Fraction(0), ONE])
def test_a_confidence_is_between_0_and_1(confidence: Fraction) -> None:
    with pytest.raises(ValueError, match="confidence"):
        Quantiles((HALF,), ONE, 1, Accounting.ZCDP).rank_error(10, confidence)
