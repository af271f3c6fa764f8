"""The law of quantiles by splitting, worked out again in fractions, and how far neighbours are.

A part is a pair of positions (in cells); what is left to choose is a range of quantiles. Nothing
here is taken from dpsql but the laws that tests/privacy/laws.py has in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from mpmath import mpf
from privacy.laws import Law, Losses, exponential_law

Rows = tuple[int, ...]
Ends = tuple[Fraction, Fraction]


def spread_evenly(rows: Rows, low: Fraction, high: Fraction) -> Fraction:
    """How many rows lie from position `low` to `high`, each evenly in its cell."""
    return sum(
        (
            count * max(min(high, Fraction(cell + 1)) - max(low, Fraction(cell)), Fraction(0))
            for cell, count in enumerate(rows)
        ),
        Fraction(0),
    )


@dataclass(frozen=True)
class Splitting:
    """`law` maps losses in rows, times the denominator, and a rate to probabilities."""

    quantiles: tuple[Fraction, ...]
    epsilon: Fraction
    rows_per_unit: int
    slices: int
    law: Callable[[Losses, Fraction], Law]

    def node(self, first: int, last: int) -> tuple[int, Fraction]:
        index = (first + last) // 2
        low = self.quantiles[first - 1] if first else Fraction(0)
        high = self.quantiles[last] if last < len(self.quantiles) else Fraction(1)
        return index, (self.quantiles[index] - low) / (high - low)

    def loss(self, rows: Rows, part: Ends, target: Fraction, at: Fraction) -> Fraction:
        below, above = spread_evenly(rows, part[0], at), spread_evenly(rows, at, part[1])
        a, d = target.numerator, target.denominator
        return (d - a) * below - a * above

    def rate(self, target: Fraction) -> Fraction:
        a, d = target.numerator, target.denominator
        return self.epsilon / (2 * max(a, d - a) * self.rows_per_unit)

    def cells(self, rows: Rows, part: Ends, target: Fraction) -> dict[int, mpf]:
        losses = {}
        for cell in range(len(rows)):
            low, high = max(part[0], Fraction(cell)), min(part[1], Fraction(cell + 1))
            if low < high:
                start, end = (self.loss(rows, part, target, at) for at in (low, high))
                losses[cell] = max(start, -end, Fraction(0))
        if not losses:
            losses[min(int(part[0]), len(rows) - 1)] = Fraction(0)
        law = self.law(list(losses.values()), self.rate(target))
        return dict(zip(losses, law, strict=True))

    def positions(self, rows: Rows, part: Ends, target: Fraction) -> dict[Fraction, mpf]:
        """Where the part is split: at the start of one of its slices."""
        steps = max(int((part[1] - part[0]) * self.slices), 1)
        places = [part[0] + Fraction(step, self.slices) for step in range(steps)]
        losses = [abs(self.loss(rows, part, target, at)) for at in places]
        law = exponential_law(losses, self.rate(target))
        return dict(zip(places, law, strict=True))

    def outcomes(
        self, rows: Rows, first: int, last: int, part: Ends
    ) -> Iterator[tuple[mpf, tuple[int, ...]]]:
        """Every probability with the cells of the quantiles from `first` to before `last`."""
        if first == last:
            yield mpf(1), ()
            return
        index, target = self.node(first, last)
        if last - first == 1:
            for cell, p in self.cells(rows, part, target).items():
                yield p, (cell,)
            return
        for at, p in self.positions(rows, part, target).items():
            for r, left in self.outcomes(rows, first, index, (part[0], at)):
                for s, right in self.outcomes(rows, index + 1, last, (at, part[1])):
                    yield p * r * s, (*left, int(at), *right)

    def gathered(
        self,
        one: Rows,
        other: Rows,
        combine: Callable[[mpf, mpf], mpf],
        gather: Callable[[list[mpf]], mpf],
        join: Callable[[mpf, mpf], mpf],
    ) -> mpf:
        """Fold both laws over the tree: `combine` two probabilities of an outcome, `join` what is
        independent or follows, `gather` over outcomes."""
        known: dict[tuple[int, int, Ends], mpf] = {}

        def fold(first: int, last: int, part: Ends) -> mpf:
            if first == last:
                return combine(mpf(1), mpf(1))
            key = (first, last, part)
            if key in known:
                return known[key]
            index, target = self.node(first, last)
            if last - first == 1:
                here = self.cells(one, part, target), self.cells(other, part, target)
                known[key] = gather([combine(here[0][cell], here[1][cell]) for cell in here[0]])
                return known[key]
            there = self.positions(one, part, target), self.positions(other, part, target)
            known[key] = gather(
                [
                    join(
                        combine(there[0][at], there[1][at]),
                        join(
                            fold(first, index, (part[0], at)),
                            fold(index + 1, last, (at, part[1])),
                        ),
                    )
                    for at in there[0]
                ]
            )
            return known[key]

        return fold(0, len(self.quantiles), (Fraction(0), Fraction(len(one))))
