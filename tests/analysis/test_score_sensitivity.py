"""How far neighbours move two scores apart, beside all the rows that there are."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.analysis.score_sensitivity import score_range, score_spread
from dpsql.analysis.sensitivity import Norm, Sensitivity
from dpsql.plan.bounded_release.cell_selection import ThresholdScores

CELLS = 3

candidates = st.lists(
    st.tuples(st.integers(0, CELLS), st.integers(-6, 6)), min_size=1, max_size=6
).filter(lambda found: any(cell < CELLS for cell, _ in found))


def scores_of(found: list[tuple[int, int]]) -> ThresholdScores:
    cells, weights = zip(*found, strict=True)
    return ThresholdScores(cells, weights, Fraction(1))


def moves(scores: ThresholdScores, cells: tuple[int | None, ...]) -> list[int]:
    """What rows in `cells` add to each score; a row in None is in no cell."""
    return [
        weight * sum(cell is not None and cell >= first for cell in cells)
        for first, weight in zip(scores.first_cells, scores.weights, strict=True)
    ]


def spread(scores: ThresholdScores, units: int, rows: int, *, replaced: bool) -> int:
    changed = Sensitivity(1, (), units, Norm((), ()), Norm((), ()), is_replacement=replaced)
    return score_spread(scores, CELLS, changed, rows)


PLACES = (None, *range(CELLS))


@given(found=candidates)
def test_the_range_of_a_row_is_the_largest_of_all_cells(found: list[tuple[int, int]]) -> None:
    scores = scores_of(found)
    ranges = [max(own) - min(own) for own in (moves(scores, (place,)) for place in PLACES)]
    assert score_range(scores, CELLS) == max(ranges)


@pytest.mark.parametrize("rows", [1, 2, 3])
@given(found=candidates)
def test_no_unit_that_is_replaced_moves_scores_further_apart(
    rows: int, found: list[tuple[int, int]]
) -> None:
    """Its rows may be fewer before or after: some are in no cell."""
    scores = scores_of(found)
    held = [moves(scores, own) for own in combinations_with_replacement(PLACES, rows)]
    bound = spread(scores, 2, rows, replaced=True)
    for before, after in product(held, held):
        differences = [b - a for a, b in zip(before, after, strict=True)]
        assert max(differences) - min(differences) <= bound


@given(found=candidates)
def test_a_replaced_unit_counts_once_where_weights_have_one_sign(
    found: list[tuple[int, int]],
) -> None:
    scores = scores_of([(cell, abs(weight)) for cell, weight in found])
    largest = max(w for c, w in zip(scores.first_cells, scores.weights, strict=True) if c < CELLS)
    assert spread(scores, 2, 3, replaced=True) <= 3 * largest


def test_a_candidate_that_no_row_passes_stays_where_it_is() -> None:
    scores = ThresholdScores((0, CELLS), (5, 7), Fraction(1))
    assert score_range(scores, CELLS) == 5


def test_one_candidate_moves_apart_from_none() -> None:
    assert score_range(ThresholdScores((0,), (9,), Fraction(1)), CELLS) == 0
