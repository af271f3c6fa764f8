"""Joint sensitivity: statistics that can't all be extreme at once, in a row's additions to them.

var_pop(x) with x within R of its centre: (1, x, x² - R²) is (1, ±R, 0) or (1, 0, -R²) at worst, and
never (1, R, -R²). Squared and weighted, w0 + w1·x² + w2·(R² - x²)² is convex in x², so that its
largest value lies where x² is 0 or R²; with products of two columns, it is convex in each of x² and
y², so that it lies in a corner. Both statistics are computed of one clamped value in the emitted
SQL, so no bound is believed. A NULL or a FILTER makes entries 0, which is no more than a corner
has.

count(*) FILTER (a), count(*) FILTER (NOT a): no row is in both, whatever `a` is.

sum(x), sum(y) of rows that are scaled into a ball of radius R (`ball_corners`): weighted sums of
powers are largest where one of them is R and the other 0.

Of a unit's rows in a group, m have at most m times the norm of the worst row; where more than m
count, their sums are scaled down together by m / n, toward 0, and clamping them afterwards makes
none larger.

A sum with a cap is bounded alone, and by its cap: it isn't m times what a row adds. Of 10 rows with
x in [0, 10], 2 may be where `a` is and 2 where it isn't, so that sum(x) FILTER (a) and sum(x)
FILTER (NOT a), capped at 20, are (20, 20), and not (20, 0) or (0, 20) at worst. Nor does a ball say
more of it: sums of norm 5, one of them capped at 3, may be (3, 4), and not (3, 0) or (0, 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from math import comb, isqrt, prod

from msgspec import Struct

from dpsql.plan.bounded_release.statistic import (
    CappedSum,
    Discretized,
    NormBall,
    Product,
    Square,
    Statistic,
    Sum,
)
from dpsql.plan.comparison import negated
from dpsql.plan.expression import (
    Compare,
    Comparison,
    Expression,
    InList,
    Literal,
    Or,
    Scalar,
    conjuncts,
)

MAX_CORNERS = 64
"""In a group of statistics with more corners, each statistic is bounded on its own."""

Corner = dict[int, int]
"""The largest addition of one row to each statistic, by index; 0 to statistics that are missing."""


class StatisticGroup(Struct, frozen=True):
    """Statistics whose changes are bounded together, by a list of corners.

    A row's additions to the statistics at `indices` have at most the norm that the largest of
    `corners` has, however the statistics are weighted. Each corner has one integer for each of
    `indices`. A sum with a cap is alone in its group, and counts in steps: its corner is 1.
    """

    indices: tuple[int, ...]
    corners: tuple[tuple[int, ...], ...]

    def of_rows(self, rows: Sequence[int]) -> StatisticGroup:
        """The bound of several rows' additions: `rows[i]` rows add to the statistic at index i.

        Of a sum with a cap, `rows[i]` is how many steps it comes to at most.
        """
        corners = tuple(
            tuple(rows[p] * addition for p, addition in zip(self.indices, corner, strict=True))
            for corner in self.corners
        )
        return StatisticGroup(self.indices, corners)


def statistic_groups(
    statistics: Sequence[Statistic], *, squared: bool
) -> tuple[StatisticGroup, ...]:
    """Partition the statistics into groups that are bounded jointly.

    With `squared` the bounds hold for weighted L2 norms, else for weighted L1 norms. Each index of
    `statistics` is in one group.
    """
    by_filter: dict[Expression | None, list[int]] = {}
    groups: list[StatisticGroup] = []
    for index, statistic in enumerate(statistics):
        if isinstance(statistic.term, CappedSum):
            groups.append(_block([{index: 1}]))
        else:
            by_filter.setdefault(statistic.filter, []).append(index)
    families = _exclusive([f for f in by_filter if f is not None])
    for family in families:
        parts = {only: _parts(by_filter[only], statistics, squared=squared) for only in family}
        indices = [index for only in family for index in by_filter[only]]
        # A unit, or a value, may have rows under two filters, even if no row is under both.
        has_unit_terms = not all(statistics[p].is_row_sum for p in indices)
        # Counted before they are made: twenty variances under one filter have 2^20 of them.
        many = sum(prod(len(part) for part in own) for own in parts.values())
        if has_unit_terms or len(family) == 1 or many > MAX_CORNERS:
            groups += [_block(part) for own in parts.values() for part in own]
        else:
            groups.append(_block([c for own in parts.values() for c in _combined(own)]))
    if None in by_filter:
        groups += [_block(p) for p in _parts(by_filter[None], statistics, squared=squared)]
    return tuple(groups)


def _block(corners: Sequence[Corner]) -> StatisticGroup:
    """The group of all statistics that `corners` name."""
    indices = tuple(sorted({index for corner in corners for index in corner}))
    # A set has another order in each process, and a release another key with it.
    changes = sorted(tuple(c.get(index, 0) for index in indices) for c in corners)
    return StatisticGroup(indices, tuple(changes))


def _combined(parts: Sequence[Sequence[Corner]]) -> list[Corner]:
    """The combinations of one corner of each part."""
    chosen = product(*parts)
    return [
        {p: addition for corner in corners for p, addition in corner.items()} for corners in chosen
    ]


def _parts(
    indices: Sequence[int], statistics: Sequence[Statistic], *, squared: bool
) -> list[list[Corner]]:
    """The corners of statistics of the same rows, in parts whose terms have no value in common."""
    rest, parts = set(indices), []
    if squared:
        for values in _connected([statistics[p] for p in indices]):
            own = [p for p in indices if _values(statistics[p]) & values]
            # In the order of their indices: nothing may depend on how a set lies in memory.
            terms = [statistics[p].term for p in own]
            squared_values = [t.value for t in terms if isinstance(t, Square)]
            if squared_values and 2 ** len(squared_values) <= MAX_CORNERS:
                parts.append(
                    [
                        _corner(extreme, squared_values, own, statistics)
                        for extreme in _subsets(squared_values)
                    ]
                )
                rest -= set(own)
    for ball, own in _by_ball(sorted(rest), statistics).items():
        parts.append(ball_corners(ball, {p: statistics[p].magnitude for p in own}, squared=squared))
        rest -= set(own)
    return [*parts, *([{index: statistics[index].magnitude}] for index in sorted(rest))]


def _by_ball(indices: Iterable[int], statistics: Sequence[Statistic]) -> dict[NormBall, list[int]]:
    """The indices of sums of one row's different columns that are scaled into one ball."""
    sums: dict[NormBall, list[int]] = {}
    for index in indices:
        term = statistics[index].term
        if isinstance(term, Sum) and term.value.scaled is not None:
            sums.setdefault(term.value.scaled.ball, []).append(index)
    return sums


def ball_corners(ball: NormBall, radii: Mapping[int, int], *, squared: bool) -> list[Corner]:
    """The corners that bound integers (a_1, …) of a ball of radius R, the largest of `radii`.

    In weighted L2 norms Σ w·a² is linear in the a² of an L2 ball, whose sum is R² at most, and
    convex in the a of an L1 ball: the largest is at a corner where one a is R, the others 0. So is
    Σ w·a in an L1 ball. In an L2 ball, of k values no a is above R and their sum not above √k·R
    (Cauchy and Schwarz): Σ w·a is largest where as many as fit are R, one is the rest, and the
    others are 0. Of (3, 4) with R = 5 no corner (5, 0), (0, 5) has the sum 7; (5, 2.1) has.
    """
    radius, indices = max(radii.values()), sorted(radii)
    if squared or ball.order == 1:
        return [{p: radius if p == only else 0 for p in indices} for only in indices]
    full = isqrt(len(indices))
    rest = isqrt(len(indices) * radius**2 - 1) + 1 - full * radius
    many = comb(len(indices), full) * (len(indices) - full if rest else 1)
    if many > MAX_CORNERS:
        return [dict.fromkeys(indices, radius)]
    corners: list[Corner] = []
    for chosen in combinations(indices, full):
        others = [p for p in indices if p not in chosen] if rest else [None]
        corners += [
            {p: radius if p in chosen else rest if p == other else 0 for p in indices}
            for other in others
        ]
    return corners


def _corner(
    extreme: frozenset[Discretized],
    squared_values: Sequence[Discretized],
    indices: Iterable[int],
    statistics: Sequence[Statistic],
) -> Corner:
    """The largest additions when the squared values in `extreme` are at an end of their interval.

    The other squared values are at their centre; values that aren't squared are at an end.
    """
    central = frozenset(squared_values) - extreme
    corner: Corner = {}
    for index in indices:
        term = statistics[index].term
        is_zero = isinstance(term, Square) and term.value in extreme
        is_zero |= isinstance(term, Sum | Product) and bool(_values(statistics[index]) & central)
        corner[index] = 0 if is_zero else statistics[index].magnitude
    return corner


def _connected(statistics: Sequence[Statistic]) -> list[frozenset[Discretized]]:
    """The sets of values that products connect, directly or over others, each set once."""
    connected: list[frozenset[Discretized]] = []
    for statistic in statistics:
        values = _values(statistic)
        touching = [known for known in connected if known & values]
        connected = [known for known in connected if known not in touching]
        if values:
            connected.append(values.union(*touching))
    return connected


def _values(statistic: Statistic) -> frozenset[Discretized]:
    match statistic.term:
        case Sum(value=value) | Square(value=value):
            return frozenset({value})
        case Product(left=left, right=right):
            return frozenset({left, right})
        case _:
            return frozenset()


def _subsets(values: Sequence[Discretized]) -> list[frozenset[Discretized]]:
    return [
        frozenset(chosen)
        for size in range(len(values) + 1)
        for chosen in combinations(values, size)
    ]


def _exclusive(filters: Sequence[Expression]) -> list[list[Expression]]:
    """Filters grouped into families, in each of which no two hold for the same row."""
    families: list[list[Expression]] = []
    for only in filters:
        for family in families:
            if all(excludes(only, other) for other in family):
                family.append(only)
                break
        else:
            families.append([only])
    return families


def excludes(left: Expression, right: Expression) -> bool:
    """No row meets both conditions: a part of one contradicts a part of the other."""
    if isinstance(left, Or):
        return all(excludes(operand, right) for operand in left.operands)
    if isinstance(right, Or):
        return all(excludes(left, operand) for operand in right.operands)
    return any(_contradict(ours, theirs) for ours in conjuncts(left) for theirs in conjuncts(right))


def _contradict(left: Expression, right: Expression) -> bool:
    if negated(left) == right or negated(right) == left:
        return True
    ours, theirs = _choices(left), _choices(right)
    if ours is None or theirs is None or ours[0] != theirs[0]:
        return False
    return not ours[1] & theirs[1]


def _choices(condition: Expression) -> tuple[Expression, frozenset[Scalar]] | None:
    """An expression and the values that `condition` restricts it to; None for other conditions."""
    match condition:
        case Compare(op=Comparison.EQUAL, left=left, right=Literal(value=value)):
            return left, frozenset({value})
        case InList(operand=operand, values=values):
            return operand, frozenset(value.value for value in values)
        case _:
            return None
