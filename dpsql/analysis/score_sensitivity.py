"""How far neighbours move the scores of two candidates apart.

A row in cell j adds its candidate's weight to the score of each candidate whose first cell is j or
before, and nothing to the others'. A choice by scores depends on their differences alone, so what
counts is the range of these moves, from the least to the greatest: a range of sums is at most the
sum of ranges. With weights of one sign it is the largest weight at most, once and not twice: all
scores move in one direction.

Prices of 10, 11 and 12 as weights: a bid of 11.50 moves the scores by 10, 11 and 0, a range of 11;
one of 50 moves them by 10, 11 and 12, a range of 2.
"""

from __future__ import annotations

from itertools import accumulate

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.plan.bounded_release.cell_selection import ThresholdScores


def score_spread(scores: ThresholdScores, cells: int, changed: Sensitivity, rows: int) -> int:
    """How far apart neighbours move two of `scores`, which are of so many `cells`.

    `changed` units differ, each in at most so many `rows`. Where one half of them takes the place
    of the other half, the rows of two units pair up as far as they go; what is left is added or
    removed, and moves scores no further than a replaced row does.
    """
    each = score_range(scores, cells)
    if not changed.is_replacement:
        return changed.units * rows * each
    return changed.units // 2 * rows * min(2 * each, _replaced_range(scores, cells))


def score_range(scores: ThresholdScores, cells: int) -> int:
    """The largest range of moves by one row, in whichever cell it lies."""
    last = max(scores.first_cells)
    ranked = _reachable(scores, cells)
    highest = accumulate((weight for _, weight in ranked), max)
    lowest = accumulate((weight for _, weight in ranked), min)
    ranges = [0]
    for (cell, _), high, low in zip(ranked, highest, lowest, strict=True):
        # Within a cell only the last of its candidates sees all of them; the others see fewer,
        # and so a smaller range.
        others = [0] if cell < last else []
        ranges.append(max([high, *others]) - min([low, *others]))
    return max(ranges)


def _replaced_range(scores: ThresholdScores, cells: int) -> int:
    """The largest range of moves by one row that goes from one cell to another, at most.

    It moves the scores between the two cells by their weights, all up or all down, and no others.
    So it is the largest weight where all have one sign: thresholds are passed one after the other.
    Of a mode's cells, which no order connects, it would move one up and another down.
    """
    weights = [weight for _, weight in _reachable(scores, cells)]
    return max([0, *weights]) - min([0, *weights])


def _reachable(scores: ThresholdScores, cells: int) -> list[tuple[int, int]]:
    """First cells and weights of the candidates that a row can pass, in the order of cells."""
    pairs = zip(scores.first_cells, scores.weights, strict=True)
    return sorted(pair for pair in pairs if pair[0] < cells)
