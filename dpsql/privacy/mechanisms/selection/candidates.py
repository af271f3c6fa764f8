"""The candidates of a private selection: integer losses, one row for each choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Table = NDArray[np.int64] | Sequence[int] | Sequence[Sequence[int]]
"""Integers of one choice, or of several, one row per choice."""

LIMIT = 2**62
BATCH = 2**16  # candidates that are worked on together: they stay in a core's cache


class Candidates(Struct, frozen=True, eq=False):
    """Losses of shape (choices, candidates); weights of the same shape, or None where all are 1."""

    losses: NDArray[np.int64]
    weights: NDArray[np.int64] | None

    @classmethod
    def of(
        cls,
        losses: Table,
        weights: Table | None = None,
    ) -> Candidates:
        """Check shapes and ranges; messages of errors say nothing about values.

        Raises TypeError unless losses and weights are integers, and ValueError unless they are
        below 2^62, weights aren't negative, and each choice has a candidate of positive weight.
        """
        table = _integers(losses)
        if table.shape[1] == 0:
            raise ValueError("nothing to choose from")
        if weights is None:
            return cls(table, None)
        weighed = _integers(weights)
        if weighed.shape[1] != table.shape[1] or weighed.shape[0] not in {1, table.shape[0]}:
            raise ValueError("each candidate has one weight")
        # The sum in doubles overflows nowhere, and is off by far less than the factor 2.
        totals = weighed.sum(axis=1, dtype=np.float64)
        if (weighed < 0).any() or (totals < 1).any() or (totals >= LIMIT / 2).any():
            raise ValueError("weights are at least 0, and one of them is more")
        return cls(table, np.broadcast_to(weighed, table.shape))

    @property
    def rows(self) -> int:
        """The number of choices to make."""
        return int(self.losses.shape[0])

    @property
    def count(self) -> int:
        """The number of candidates of each choice."""
        return int(self.losses.shape[1])

    def above_minimum(self) -> NDArray[np.int64]:
        """Return losses less the least loss of a weighted candidate in the row; 0 at weight 0."""
        present: Any = True if self.weights is None else self.weights > 0
        minimum = np.where(present, self.losses, LIMIT).min(axis=1, keepdims=True)
        return np.where(present, self.losses - minimum, 0)

    def row(self, index: int) -> tuple[list[int], list[int]]:
        """Return a row's losses above the least one, and its weights."""
        one = Candidates(
            self.losses[index : index + 1],
            None if self.weights is None else self.weights[index : index + 1],
        )
        weights = [1] * self.count if one.weights is None else one.weights[0].tolist()
        return one.above_minimum()[0].tolist(), weights

    def parts(self) -> Iterator[Candidates]:
        """Cut the choices into batches."""
        step = max(BATCH // self.count, 1)
        for start in range(0, self.rows, step):
            rows = slice(start, start + step)
            yield Candidates(
                self.losses[rows], None if self.weights is None else self.weights[rows]
            )


def check_selection(epsilon: Fraction, spread: int) -> None:
    """Raise TypeError for floats, ValueError unless ε and `spread` are positive."""
    if not isinstance(epsilon, Fraction) or type(spread) is not int:
        raise TypeError("a selection takes a fraction for ε and an integer spread")
    if epsilon <= 0 or spread < 1:
        raise ValueError("ε and spread are positive")


def _integers(values: Any) -> NDArray[np.int64]:
    """Return a table of int64; NaN must never become a number, nor True a 1."""
    table = np.asarray(values)
    if table.dtype.kind not in "iu" and table.size:
        raise TypeError("losses and weights are integers below 2^62")
    if table.size and (table.max() >= LIMIT or table.min() <= -LIMIT):
        raise ValueError("losses and weights are integers below 2^62")
    return np.atleast_2d(table.astype(np.int64, copy=False))
