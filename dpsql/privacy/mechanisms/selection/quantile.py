"""Quantiles of counts per cell: the cell that each quantile falls into, chosen privately.

A position between rows has, for the quantile a/d, the loss |(d - a)·below - a·above|, in rows below
and above it: d times its distance in ranks from the quantile (Smith 2011; the OpenDP library's
quantile scores). A cell has the loss of the best position inside it, its rows lying evenly in it;
so a cell of many equal values is as good as any of them.

A changed row moves `below` by one at positions on one side of it and `above` on the other, so each
loss moves by at most max(a, d - a), and `rows` changed rows of a group by as many times that. The
directions differ: rows below both of two positions move one loss up and the other down when the
quantile is between them. So the spread is twice that, and the exponential mechanism's factor 2
can't be dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import assert_never

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.pure_conversion import range_of_mu_squared
from dpsql.privacy.directed_rounding import ln
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.selection.candidates import LIMIT, check_selection
from dpsql.privacy.mechanisms.selection.exponential import (
    amount_of_range,
    choose,
    epsilon_of_choice,
)
from dpsql.privacy.mechanisms.selection.permute_and_flip import permute_and_flip
from dpsql.privacy.mechanisms.selection.position import choose_position
from dpsql.privacy.mechanisms.selection.quantile_range import QuantileRange

Counts = NDArray[np.int64]
"""Rows of each group in each cell: shape (groups, cells)."""

MAX_QUANTILES = 99
SLICES = 2**10
# Quantiles are rounded to fractions no finer than this: a rank in 65,536.
FINEST = 2**16
BATCH = 2**20


class Quantiles(Struct, frozen=True):
    """Several quantiles of each of many groups, at a range of ε for each of `selections`.

    `rows` is the largest number of rows of one unit in one group. Quantiles are increasing, from 0
    to 1. Few are chosen one by one. More are chosen by splitting (Kaplan, Schnapp & Stemmer 2022,
    "Differentially Private Approximate Quantiles"): the middle one first, then those below it from
    the rows below, and those above it from the rows above. Where to split inside a cell, whose rows
    may be many and equal, is chosen with the cell: it is at one of its `slices` even parts.
    Raises ValueError for quantiles that don't increase, or are too many.
    """

    quantiles: tuple[Fraction, ...]
    epsilon: Fraction
    rows: int
    accounting: Accounting
    slices: int = SLICES

    def __post_init__(self) -> None:
        check_selection(self.epsilon, self.rows)
        if not 1 <= len(self.quantiles) <= MAX_QUANTILES:
            raise ValueError(f"from 1 to {MAX_QUANTILES} quantiles are chosen together")
        if not all(0 <= quantile <= 1 for quantile in self.quantiles):
            raise ValueError("quantiles are from 0 to 1")
        if not all(low < high for low, high in pairwise(self.quantiles)):
            raise ValueError("quantiles increase")

    @classmethod
    def calibrated(
        cls,
        loss: PrivacyLoss,
        quantiles: tuple[Fraction, ...],
        *,
        rows: int,
        units: int,
        groups: int,
    ) -> Quantiles:
        """Return the most accurate choices that cost at most `loss`.

        `units` units differ on neighbours, each in at most `groups` groups, by at most `rows` rows
        in each.
        """
        each = loss.amount / (_selections(len(quantiles)) * groups)
        match loss.accounting:
            case Accounting.PURE | Accounting.APPROX:
                epsilon = each / units
            case Accounting.ZCDP:
                epsilon = epsilon_of_choice(each / units**2)
            case Accounting.GDP:
                epsilon = range_of_mu_squared(each) / units
            case missing:
                assert_never(missing)
        return cls(quantiles, epsilon, rows, loss.accounting)

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        if self._is_by_range:
            return "exponential"
        # There are too many positions to flip for each; of cells there aren't.
        return "exponential, permute-and-flip" if self.splits else "permute-and-flip"

    @property
    def _is_by_range(self) -> bool:
        """Whether the range of a choice counts, which only the exponential mechanism bounds."""
        return self.accounting in {Accounting.ZCDP, Accounting.GDP}

    @property
    def selections(self) -> int:
        """The number of choices paid for: k one by one, or ⌈log2(k + 1)⌉ by splitting."""
        return _selections(len(self.quantiles))

    @property
    def splits(self) -> bool:
        """Splitting costs fewer choices than choosing quantiles one by one."""
        return self.selections < len(self.quantiles)

    def loss(self, *, units: int, groups: int) -> PrivacyLoss:
        """Return the loss of a release for databases `units` apart, each unit in `groups` groups.

        Of the choices that are paid for once, one for each group and, when splitting, for each
        part of it at one level, let choice j have r_j changed rows. They move its candidates'
        losses by r_j times as much as one row does, so its privacy loss is at most ε·r_j/rows, and
        by bounded range (ε·r_j/rows)²/8 of zCDP. Parts are disjoint sets of rows, or of fractions
        of rows that add up to 1: a row lies evenly in its cell, and each slice of the cell is in
        one part. So in a group all r_j add up to at most units·rows, however a unit's rows are
        spread over parts, and over all groups to at most units·groups·rows.
            Σ ε·r_j/rows <= ε·units·groups.
            Σ (ε·r_j/rows)²/8, convex, is largest with the whole units·rows in one part of each
            of `groups` groups: groups·(ε·units)²/8. So is the sum of their μ² of GDP, each of which
            is a function of the range ε·r_j/rows that falls faster than in proportion to it.
        Where the parts begin and end was chosen before: composition is adaptive. Were a unit
        replaced (change-one), two units differ, units = 2: rows may leave one part and enter
        another, and no part may be left out of the sum.
        """
        amount = groups * amount_of_range(self.epsilon * units, self.accounting)
        return PrivacyLoss(self.accounting, self.selections * amount)

    def rank_error(self, cells: int, confidence: Fraction) -> Fraction:
        """Return a bound on the rank errors of all of a group's quantiles, at this confidence.

        From a choice's cell to the quantile it aimed at there are at most (2·rows·max(a, d - a)/
        (d·ε))·ln(candidates/β) rows, but for a probability of β (Dwork & Roth 2014, Corollary 3.12;
        permute-and-flip is never worse: McKenna & Sheldon 2020). Candidates are cells, or slices
        where a part is split. The errors of a part's two ends add to it, and so does a slice of a
        heavy cell per split, which depends on the data and is left out here.
        """
        if not 0 < confidence < 1:
            raise ValueError("a confidence is between 0 and 1")
        nodes = list(self._nodes())
        share = (1 - confidence) / len(nodes)
        worst = Fraction(0)
        off: dict[int, Fraction] = {}
        for node in nodes:
            reach = 2 * self.rows * max(node.target, 1 - node.target) / self.epsilon
            before = max(off.get(node.first - 1, Fraction(0)), off.get(node.last, Fraction(0)))
            candidates = cells * self.slices if node.splits else cells
            off[node.index] = before + reach * ln(candidates / share).high
            worst = max(worst, off[node.index])
        return worst

    def release(self, counts: Counts, randomness: Randomness) -> Counts:
        """Choose a cell for each quantile of each group: (groups, cells) to (groups, quantiles).

        Cells are in the order of their values, and so are the chosen ones of a group. Counts are at
        least 0. Raises TypeError unless they are a table of int64.
        """
        if counts.ndim != 2 or counts.shape[1] < 1 or counts.dtype != np.int64:
            raise TypeError("counts are a table of int64, groups by cells")
        # Clamping a count moves it no further than its rows do, and nothing below can overflow.
        bounded = counts.clip(0, LIMIT // (counts.shape[1] * self.slices))
        candidates = counts.shape[1] + (2 * self.slices if self.splits else 0)
        step = max(BATCH // candidates, 1)
        parts = [
            self._release(bounded[start : start + step], randomness)
            for start in range(0, counts.shape[0], step)
        ]
        return np.concatenate([np.empty((0, len(self.quantiles)), dtype=np.int64), *parts])

    def _release(self, counts: Counts, randomness: Randomness) -> Counts:
        groups, cells = counts.shape
        chosen = np.empty((groups, len(self.quantiles)), dtype=np.int64)
        # Where, in slices, the quantile that was split at ended up.
        split_at = {
            -1: np.zeros(groups, dtype=np.int64),
            len(self.quantiles): np.full(groups, cells * self.slices),
        }
        for node in self._nodes():
            part = QuantileRange(counts, self.slices, split_at[node.first - 1], split_at[node.last])
            if node.splits:
                position = choose_position(part, node.target, self._rate(node), randomness)
                split_at[node.index] = position
                chosen[:, node.index] = position // self.slices
            else:
                chosen[:, node.index] = self._choose_cell(part, node, randomness)
        chosen.sort(axis=1)
        return chosen

    def _choose_cell(self, part: QuantileRange, node: Node, randomness: Randomness) -> Counts:
        losses, present = part.cell_losses(node.target), part.cell_mask().astype(np.int64)
        if self._is_by_range:
            return choose(losses, self._rate(node), randomness, present)
        return permute_and_flip(losses, self._rate(node), randomness, present)

    def _rate(self, node: Node) -> Fraction:
        """The rate of a choice by losses in slice-rows: their spread is twice the largest move."""
        a, d = node.target.numerator, node.target.denominator
        return self.epsilon / (2 * max(a, d - a) * self.rows * self.slices)

    def _nodes(self) -> Iterator[Node]:
        """Yield the quantiles so that those at which a part ends come before those inside it."""
        count = len(self.quantiles)
        if not self.splits:
            for index, quantile in enumerate(self.quantiles):
                yield Node(index, 0, count, quantile.limit_denominator(FINEST), splits=False)
            return
        ends = {-1: Fraction(0), count: Fraction(1)} | dict(enumerate(self.quantiles))
        waiting = [(0, count)]
        while waiting:
            first, last = waiting.pop()
            index = (first + last) // 2
            low, high = ends[first - 1], ends[last]
            target = (self.quantiles[index] - low) / (high - low)
            splits = last - first > 1
            yield Node(index, first, last, target.limit_denominator(FINEST), splits=splits)
            waiting += [part for part in ((first, index), (index + 1, last)) if part[0] < part[1]]


class Node(Struct, frozen=True):
    """The quantile at `index`, chosen from the part that holds those from `first` to before `last`.

    `target` is the quantile to choose in this part. `splits`: the part is split there.
    """

    index: int
    first: int
    last: int
    target: Fraction
    splits: bool


def _selections(count: int) -> int:
    # There are count.bit_length() = ⌈log2(count + 1)⌉ levels.
    return min(count, count.bit_length())
