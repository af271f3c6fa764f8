"""Statistics that can't all be extreme at once: what a row may add to several of them together.

var_pop(x) with x within R of its centre: (1, x, x² - R²) is (1, ±R, 0) or (1, 0, -R²) at worst, and
never (1, R, -R²). Squared and weighted, w0 + w1·x² + w2·(R² - x²)² is convex in x², so that its
largest value lies where x² is 0 or R²; with products of two columns, it is convex in each of x² and
y², so that it lies in a corner. Both come from one clamped value in the emitted SQL, so no bound is
believed. A NULL or a FILTER makes entries 0, which is no more than a corner has.

count(*) FILTER (a), count(*) FILTER (NOT a): no row is in both, whatever `a` is.

A unit's rows in a group: m of them have at most m times the norm of the worst; of more than m the
sums are scaled down together by m / n, toward 0, and clamping them afterwards makes none larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

from dpsql.plan.bounded_release.statistic import (
    Discretized,
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
"""Of a block with more, each statistic is taken for itself."""

Corner = dict[int, int]
"""A row's largest addition to each statistic, by its place; 0 to those that aren't named."""


@dataclass(frozen=True, slots=True)
class StatisticGroup:
    """What a row adds to the statistics at `indices` has no larger norm than one of `corners` has.

    That holds however the statistics are weighted.
    """

    indices: tuple[int, ...]
    corners: tuple[tuple[int, ...], ...]

    def of_rows(self, rows: Sequence[int]) -> StatisticGroup:
        """What so many rows add: `rows[place]` of them to the statistic at `place`."""
        corners = tuple(
            tuple(rows[p] * most for p, most in zip(self.indices, corner, strict=True))
            for corner in self.corners
        )
        return StatisticGroup(self.indices, corners)


def statistic_groups(
    statistics: Sequence[Statistic], *, squared: bool
) -> tuple[StatisticGroup, ...]:
    """A partition of the statistics' places; `squared`: for L2 norms, else for L1 norms."""
    by_filter: dict[Expression | None, list[int]] = {}
    for place, statistic in enumerate(statistics):
        by_filter.setdefault(statistic.filter, []).append(place)
    found: list[StatisticGroup] = []
    families = _exclusive([f for f in by_filter if f is not None])
    for family in families:
        parts = {only: _parts(by_filter[only], statistics, squared=squared) for only in family}
        places = [place for only in family for place in by_filter[only]]
        # Units and their values are counted beside the rows, which needn't exclude each other.
        beside = not all(statistics[p].is_row_sum for p in places)
        # Counted before they are made: twenty variances under one filter have 2^20 of them.
        many = sum(prod(len(part) for part in own) for own in parts.values())
        if beside or len(family) == 1 or many > MAX_CORNERS:
            found += [_block(part) for own in parts.values() for part in own]
        else:
            found.append(_block([c for own in parts.values() for c in _combined(own)]))
    if None in by_filter:
        found += [_block(p) for p in _parts(by_filter[None], statistics, squared=squared)]
    return tuple(found)


def _block(corners: Sequence[Corner]) -> StatisticGroup:
    places = tuple(sorted({place for corner in corners for place in corner}))
    # A set has another order in each process, and a release another key with it.
    changes = sorted(tuple(c.get(place, 0) for place in places) for c in corners)
    return StatisticGroup(places, tuple(changes))


def _combined(parts: Sequence[Sequence[Corner]]) -> list[Corner]:
    """One corner of each part, in all combinations."""
    chosen = product(*parts)
    return [{p: most for corner in corners for p, most in corner.items()} for corners in chosen]


def _parts(
    indices: Sequence[int], statistics: Sequence[Statistic], *, squared: bool
) -> list[list[Corner]]:
    """The corners of statistics of the same rows, in parts that have no value in common."""
    rest, parts = set(indices), []
    if squared:
        for values in _connected([statistics[p] for p in indices]):
            own = [p for p in indices if _values(statistics[p]) & values]
            # In the order of their places: nothing may depend on how a set lies in memory.
            terms = [statistics[p].term for p in own]
            bent = [t.value for t in terms if isinstance(t, Square)]
            if bent and 2 ** len(bent) <= MAX_CORNERS:
                parts.append([_corner(far, bent, own, statistics) for far in _subsets(bent)])
                rest -= set(own)
    return [*parts, *([{place: statistics[place].magnitude}] for place in sorted(rest))]


def _corner(
    far: frozenset[Discretized],
    bent: Sequence[Discretized],
    indices: Iterable[int],
    statistics: Sequence[Statistic],
) -> Corner:
    """The largest additions where, of the values that are squared, those in `far` are at an end.

    The others are in their centre; values that aren't squared are at an end.
    """
    central = frozenset(bent) - far
    found: Corner = {}
    for place in indices:
        term = statistics[place].term
        gone = isinstance(term, Square) and term.value in far
        gone |= isinstance(term, Sum | Product) and bool(_values(statistics[place]) & central)
        found[place] = 0 if gone else statistics[place].magnitude
    return found


def _connected(statistics: Sequence[Statistic]) -> list[frozenset[Discretized]]:
    """Values that products connect, each set once."""
    found: list[frozenset[Discretized]] = []
    for statistic in statistics:
        values = _values(statistic)
        touching = [known for known in found if known & values]
        found = [known for known in found if known not in touching]
        if values:
            found.append(values.union(*touching))
    return found


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
    """Filters of which no two hold for one row, family by family."""
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
    """No row meets both conditions, whatever it is: it would meet a part of one and not of both."""
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
    """What a condition says an expression is one of; None if it says nothing like it."""
    match condition:
        case Compare(op=Comparison.EQUAL, left=left, right=Literal(value=value)):
            return left, frozenset({value})
        case InList(operand=operand, values=values):
            return operand, frozenset(value.value for value in values)
        case _:
            return None
