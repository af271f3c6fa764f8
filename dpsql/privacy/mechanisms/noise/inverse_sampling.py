"""Outcomes of a discrete distribution from the bits of a uniform number, certified.

Outcome i is the cell [c(i-1), c(i)) of the unit interval that a uniform real U falls into. U is
read lazily: a prefix of b bits, the integer u, says that U lies in [u, u + 1]/2^b. Mostly a short
prefix lies wholly in one cell and decides; if not, more bits of the same U are read. So every
outcome has exactly the length of its cell as its probability, however coarse the tables are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.randomness import (
    Randomness,
    doubled,
    few_words,
    lengthened,
    words,
)

UNDECIDED = -1
"""Of 16-bit prefixes, the outcome of those that more than one outcome begins with."""

_FEW = 2**10
"""Fewer draws are looked up among the cut points: a table of all prefixes takes longer."""


class Inversion:
    """A distribution that is given by its cut points, ready for vectorised draws.

    `cut_points(bits)` lists, in order, integers C(i) with |C(i) - 2^bits·c(i)| <= 1; the last one
    is 2^bits and stands for all cut points from there on, which are within 2^-bits of 1.
    """

    # C - 1 <= 2^bits·c <= C + 1 gives, for U in [u, u + 1]/2^bits:
    #     C < u       the outcome's cell starts at or after c   (2^bits·c <= C + 1 <= u <= 2^bits·U)
    #     C > u + 1   U lies before c                           (2^bits·U <= u + 1 <= C - 1)
    # and between the two nothing is certain. So if i is the number of C < u, the outcome is i when
    # C(i) > u + 1, and undecided otherwise. C(i) exists, since u never passes the last C = 2^bits,
    # and the last C decides nothing about the outcomes it stands for: then u + 1 = 2^bits at most.

    def __init__(self, cut_points: Callable[[int], Sequence[int] | NDArray[np.int64]]) -> None:
        self._cut_points = cut_points
        self._cuts = np.array(cut_points(32), dtype=np.int64)
        self._starts = self._cuts >> 16
        self._ends = (self._cuts - 1).clip(0) >> 16

    @property
    def size(self) -> int:
        """The number of outcomes in the table; the later ones come up once in 2^31 draws."""
        return self._cuts.size - 1

    def sample(self, count: int, randomness: Randomness) -> NDArray[np.int64]:
        """Return `count` independent outcomes."""
        short = words(randomness, count, 16)
        outcomes = self._of_16_bits(short) if count < _FEW else self._guide.take(short)
        return self._decided(outcomes.astype(np.int64, copy=False), short, randomness)

    def sample_few(self, count: int, randomness: Randomness) -> Sequence[int]:
        """Return what `sample` does of the same bits, number by number.

        Each call of NumPy takes as long as to look up ten of them, and longer where an engine has
        had the processor's cache.
        """
        starts, ends = self._lists
        short = few_words(randomness, count, 16)
        outcomes = []
        for prefix in short:
            lowest = bisect_left(starts, prefix)
            is_decided = lowest == bisect_right(ends, prefix)
            outcomes.append(lowest if is_decided else UNDECIDED)
        if UNDECIDED not in outcomes:
            return outcomes
        undecided = np.array(outcomes, dtype=np.int64), np.array(short, dtype=np.uint16)
        decided: list[int] = self._decided(*undecided, randomness).tolist()
        return decided

    def _decided(
        self, outcomes: NDArray[np.int64], short: NDArray[np.uint16], randomness: Randomness
    ) -> NDArray[np.int64]:
        """Return `outcomes` of the 16-bit prefixes `short`, those that are undecided decided."""
        undecided = (outcomes < 0).nonzero()[0]
        if undecided.size:
            outcomes[undecided] = self._decide(
                lengthened(short.take(undecided), randomness), randomness
            )
        return outcomes

    @cached_property
    def _lists(self) -> tuple[list[int], list[int]]:
        """What `_of_16_bits` looks prefixes up in, as Python's integers."""
        return self._starts.tolist(), self._ends.tolist()

    @cached_property
    def _guide(self) -> NDArray[np.int16]:
        """The outcomes of all 16-bit prefixes, as `_of_16_bits` has them."""
        # Outcome i, of i C >> 16 below g and i (C - 1) >> 16 at most g, is that of the prefixes g
        # from its begin, after C(i - 1) >> 16, to below its end, (C(i) - 1) >> 16. Between an end
        # and the next begin none is decided; and an outcome whose end isn't after its begin has
        # none, since that end is at most the next begin.
        begins = np.concatenate(([0], self._starts[:-1] + 1))
        turns = np.column_stack((begins, np.maximum(begins, self._ends))).ravel()
        outcomes = np.full((begins.size, 2), UNDECIDED, dtype=np.int16)
        outcomes[:, 0] = np.arange(begins.size)
        return outcomes.ravel().repeat(np.diff(turns.clip(max=2**16), append=2**16))

    def _of_16_bits(self, prefixes: NDArray[np.integer]) -> NDArray[np.int64]:
        """The outcome of each prefix that decides it alone; UNDECIDED for the others."""
        # A 16-bit prefix g begins the 32-bit prefixes u from g·2^16 to (g + 1)·2^16 - 1. Their
        # outcomes are at least the number of C < g·2^16, that is, of C with C >> 16 below g. They
        # are all that, and decided, unless more C are at most (g + 1)·2^16, that is, unless more
        # have (C - 1) >> 16 at most g.
        lowest = self._starts.searchsorted(prefixes)
        highest = self._ends.searchsorted(prefixes, side="right")
        return np.where(lowest == highest, lowest, UNDECIDED)

    def _decide(self, prefixes: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        outcomes = self._cuts.searchsorted(prefixes).astype(np.int64, copy=False)
        for index in (self._cuts.take(outcomes) - prefixes <= 1).nonzero()[0]:
            outcomes[index] = self._decide_exactly(int(prefixes[index]), randomness)
        return outcomes

    def _decide_exactly(self, prefix: int, randomness: Randomness) -> int:
        """Read more bits until the outcome is certain; each further bit halves the doubt."""
        bits = 32
        while True:
            prefix = doubled(prefix, bits, randomness)
            bits *= 2
            cuts = self._cut_points(bits)
            outcome = bisect_left(cuts, prefix)
            if cuts[outcome] > prefix + 1:
                return outcome
