"""Choosing cells: the mechanism of each selection for a granted loss."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.plan.bounded_release.cell_selection import MostFrequent, Places, Selection
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.directed_rounding import ln
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.selection.exponential import Exponential, epsilon_of_choice
from dpsql.privacy.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dpsql.privacy.mechanisms.selection.quantile import Quantiles

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Frequent:
    """Chooses the cell with the most rows, in each of the `groups` groups that a unit is in.

    A unit's rows are added to or taken from all its cells, so the losses of two cells come apart
    by no more than its rows: `spread` is that of a single such step, and of each further one.
    """

    mechanism: Exponential | PermuteAndFlip
    groups: int

    @property
    def name(self) -> str:
        """What users call the mechanism."""
        return self.mechanism.name

    def loss(self, accounting: Accounting) -> PrivacyLoss:
        """Return what the choices of all groups cost."""
        one = self.mechanism.loss(accounting)
        return PrivacyLoss(accounting, self.groups * one.amount)

    def rank_error(self, cells: int, confidence: Fraction) -> Fraction:
        """Return how many rows fewer than the most the chosen cell has, at this confidence.

        (Dwork & Roth 2014, Corollary 3.12; permute-and-flip is never worse.)
        """
        return ln(cells / (1 - confidence)).high / self.mechanism.rate

    def release(self, counts: Counts, randomness: Randomness) -> Counts:
        """Choose a cell of each group: (groups, cells) to (groups, 1)."""
        losses = counts.max(axis=1, keepdims=True) - counts
        return self.mechanism.choose(losses, randomness).reshape(-1, 1)


Chooser = Quantiles | Frequent


def chooser(
    selection: Selection, sensitivity: Sensitivity, rows: int, grant: PrivacyLoss
) -> tuple[Chooser, PrivacyLoss]:
    """The mechanism for `selection` that costs at most `grant`, and what it costs.

    `rows` is how many rows of a unit are counted in a group.
    """
    groups, units = sensitivity.groups, sensitivity.units
    match selection.wanted:
        case Places(quantiles=quantiles):
            found = Quantiles.within(grant, quantiles, rows=rows, units=units, groups=groups)
            cost = found.loss(units=units, groups=groups)
            return found, _within(cost, grant)
        case MostFrequent():
            frequent = Frequent(_frequent(units * rows, grant, groups), groups)
            return frequent, _within(frequent.loss(grant.accounting), grant)
        case missing:
            assert_never(missing)


def _frequent(spread: int, grant: PrivacyLoss, groups: int) -> Exponential | PermuteAndFlip:
    each: Fraction = grant.amount / groups
    if grant.accounting is Accounting.ZCDP:
        return Exponential(epsilon_of_choice(each), spread)
    return PermuteAndFlip(each, spread)


def _within(cost: PrivacyLoss, grant: PrivacyLoss) -> PrivacyLoss:
    if cost.amount > grant.amount or cost.delta:
        raise ArithmeticError("a choice passed its grant")
    return cost
