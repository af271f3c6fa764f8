"""Selection mechanisms: the mechanism of each choice of cells within a loss."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.analysis.score_sensitivity import score_spread
from dpsql.analysis.sensitivity import Sensitivity
from dpsql.errors import InternalError
from dpsql.plan.bounded_release.cell_selection import (
    CellChoice,
    CountedCells,
    FrequentCell,
    Mode,
    QuantileRanks,
    ThresholdScores,
    TopCells,
)
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.pure_conversion import range_of_mu_squared
from dpsql.privacy.directed_rounding import ln
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.selection.candidates import LIMIT
from dpsql.privacy.mechanisms.selection.exponential import Exponential, epsilon_of_choice
from dpsql.privacy.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dpsql.privacy.mechanisms.selection.quantile import Quantiles
from dpsql.release.joint_noise import noisy_integers

Counts = NDArray[np.int64]
"""Rows of each group in each cell: shape (groups, cells)."""


class ModeMechanism(Struct, frozen=True):
    """Chooses the cell with the most rows in each group.

    A unit is in at most `groups` groups, and the loss covers all of them. A unit's rows are added
    to or taken from all its cells, so the losses of two cells come apart by no more than its rows:
    that is the mechanism's `spread`, once and not twice.
    """

    mechanism: Exponential | PermuteAndFlip
    groups: int

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return self.mechanism.name

    def loss(self, accounting: Accounting) -> PrivacyLoss:
        """Return the loss of the choices in all groups that a unit is in."""
        one = self.mechanism.loss(accounting)
        return PrivacyLoss(accounting, self.groups * one.amount)

    def rank_error(self, cells: int, confidence: Fraction) -> Fraction:
        """Return how many rows the chosen cell may have less than the largest, at this confidence.

        (Dwork & Roth 2014, Corollary 3.12; permute-and-flip is never worse.)
        """
        return ln(cells / (1 - confidence)).high / self.mechanism.rate

    def release(self, counts: Counts, randomness: Randomness) -> Counts:
        """Choose a cell of each group: (groups, cells) to (groups, 1)."""
        losses = counts.max(axis=1, keepdims=True) - counts
        return self.mechanism.choose(losses, randomness).reshape(-1, 1)


class TopMechanism(Struct, frozen=True):
    """Chooses the `count` cells with the most rows in each group, each from those that are left.

    That is so many choices, each of which reads which cells were chosen before it and no more, so
    that their losses add up. Whichever cells are left, the losses of two of them come apart by the
    `spread` of `mechanism` at most, as for one choice. A unit is in at most `groups` groups.
    """

    mechanism: Exponential | PermuteAndFlip
    count: int
    groups: int

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return self.mechanism.name

    def loss(self, accounting: Accounting) -> PrivacyLoss:
        """Return the loss of all choices in all groups that a unit is in."""
        one = self.mechanism.loss(accounting)
        return PrivacyLoss(accounting, self.count * self.groups * one.amount)

    def rank_error(self, cells: int, confidence: Fraction) -> Fraction:
        """Return how many rows any chosen cell may have less than the largest that was left.

        No chosen cell has less at this confidence: each is given an equal part of what is missing
        to it. The largest that is left for the i-th choice is no less than the i-th of all.
        """
        missed = (1 - confidence) / self.count
        return ln(cells / missed).high / self.mechanism.rate

    def release(self, counts: Counts, randomness: Randomness) -> Counts:
        """Choose cells of each group: (groups, cells) to (groups, count)."""
        left = np.tile(np.arange(counts.shape[1], dtype=np.int64), (len(counts), 1))
        chosen: list[Counts] = []
        for _ in range(self.count):
            losses = counts.max(axis=1, keepdims=True) - counts
            index = self.mechanism.choose(losses, randomness).reshape(-1, 1)
            chosen.append(np.take_along_axis(left, index, axis=1))
            stays = np.arange(counts.shape[1]) != index
            shape = len(counts), counts.shape[1] - 1
            counts, left = counts[stays].reshape(shape), left[stays].reshape(shape)
        return np.concatenate(chosen, axis=1)


class CountedTopMechanism(Struct, frozen=True):
    """Chooses cells by `top`, and adds `noise` to the counts of those that were chosen.

    The noise is drawn for the counts alone, after the choice: losses add up. What the choice drew
    says which counts are large, and would tell more of them if it were part of what is shown.
    """

    top: TopMechanism
    noise: Noise

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return self.top.name

    def rank_error(self, cells: int, confidence: Fraction) -> Fraction:
        """Return how many rows any chosen cell may have less than the largest that was left."""
        return self.top.rank_error(cells, confidence)

    def release(self, counts: Counts, randomness: Randomness) -> Integers:
        """Choose cells of each group, and count them: (groups, cells) to (groups, 2 * count)."""
        cells = self.top.release(counts, randomness)
        exact = np.take_along_axis(counts, cells, axis=1)
        (noisy,) = noisy_integers((self.noise,), [exact.reshape(-1)], randomness)
        return np.concatenate([cells, noisy.reshape(cells.shape)], axis=1)


class ScoreMechanism(Struct, frozen=True):
    """Chooses the candidate with the greatest of `scores` in each group.

    A unit is in at most `groups` groups, and the loss covers all of them. The mechanism's `spread`
    is how far the unit's rows move two scores apart.
    """

    mechanism: Exponential | PermuteAndFlip
    scores: ThresholdScores
    groups: int

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return self.mechanism.name

    def loss(self, accounting: Accounting) -> PrivacyLoss:
        """Return the loss of the choices in all groups that a unit is in."""
        one = self.mechanism.loss(accounting)
        return PrivacyLoss(accounting, self.groups * one.amount)

    def score_error(self, confidence: Fraction) -> Fraction:
        """Return how far the chosen score may be from the greatest, at this confidence.

        (Dwork & Roth 2014, Corollary 3.12; permute-and-flip is never worse.)
        """
        candidates = len(self.scores.weights)
        return ln(candidates / (1 - confidence)).high / self.mechanism.rate * self.scores.step

    def release(self, counts: Counts, randomness: Randomness) -> Counts:
        """Choose a candidate of each group: (groups, cells) to (groups, 1)."""
        scores = self._scores(counts)
        losses = scores.max(axis=1, keepdims=True) - scores
        return self.mechanism.choose(losses, randomness).reshape(-1, 1)

    def _scores(self, counts: Counts) -> Counts:
        groups, cells = counts.shape
        weights = np.array(self.scores.weights, dtype=np.int64)
        # Clamping the count of a cell moves it no further than its rows do, and of two candidates
        # that count a cell both count the same of it: no two scores come further apart. Losses
        # stay below 2^62.
        max_rows = LIMIT // (4 * max(cells, 1) * max(1, *map(abs, self.scores.weights)))
        # Of no row passes: 0, in the place after all cells.
        passing = np.zeros((groups, cells + 1), dtype=np.int64)
        passing[:, :cells] = counts.clip(0, max_rows)[:, ::-1].cumsum(axis=1)[:, ::-1]
        scores: Counts = passing[:, list(self.scores.first_cells)] * weights
        return scores


SelectionMechanism = Quantiles | ModeMechanism | TopMechanism | CountedTopMechanism | ScoreMechanism


def selection_mechanism(
    choice: CellChoice, sensitivity: Sensitivity, rows: int, query_loss: PrivacyLoss
) -> tuple[SelectionMechanism, PrivacyLoss]:
    """The most accurate mechanism for `choice` that costs at most `query_loss`, and its cost.

    `rows` is the number of rows of a unit that count in a group.
    """
    groups, units = sensitivity.groups, sensitivity.units
    match choice.target:
        case QuantileRanks(quantiles=quantiles):
            mechanism = Quantiles.calibrated(
                query_loss, quantiles, rows=rows, units=units, groups=groups
            )
            cost = mechanism.loss(units=units, groups=groups)
            return mechanism, _affordable(cost, query_loss)
        case Mode():
            frequent = ModeMechanism(_choice_of(units * rows, query_loss, groups), groups)
            return frequent, _affordable(frequent.loss(query_loss.accounting), query_loss)
        case FrequentCell(rows=rows_per_cell):
            # A unit that comes or goes moves all counts one way, each by so many rows at most.
            top = ModeMechanism(_choice_of(units * rows_per_cell, query_loss, groups), groups)
            return top, _affordable(top.loss(query_loss.accounting), query_loss)
        case TopCells(rows=rows_per_cell, count=count):
            # Of whichever cells are left, all counts move one way.
            each = _choice_of(units * rows_per_cell, query_loss, count * groups)
            several = TopMechanism(each, count, groups)
            return several, _affordable(several.loss(query_loss.accounting), query_loss)
        case CountedCells():
            raise InternalError("the counts of chosen cells are calibrated with their choice")
        case ThresholdScores() as scores:
            # Where no row moves two scores apart, any spread will do.
            spread = max(1, score_spread(scores, choice.cells.count, sensitivity, rows))
            best = ScoreMechanism(_choice_of(spread, query_loss, groups), scores, groups)
            return best, _affordable(best.loss(query_loss.accounting), query_loss)
        case missing:
            assert_never(missing)


def _choice_of(spread: int, query_loss: PrivacyLoss, choices: int) -> Exponential | PermuteAndFlip:
    """The mechanism of one of so many choices that share `query_loss`."""
    each: Fraction = query_loss.amount / choices
    match query_loss.accounting:
        case Accounting.PURE | Accounting.APPROX:
            return PermuteAndFlip(each, spread)
        case Accounting.ZCDP:
            return Exponential(epsilon_of_choice(each), spread)
        case Accounting.GDP:
            return Exponential(range_of_mu_squared(each), spread)
        case missing:
            assert_never(missing)


def _affordable(cost: PrivacyLoss, query_loss: PrivacyLoss) -> PrivacyLoss:
    if cost.amount > query_loss.amount or cost.delta:
        raise ArithmeticError("a choice passed its grant")
    return cost
