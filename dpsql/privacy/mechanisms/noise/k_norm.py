"""Noise of several integers together, where a unit may move all of them, each by its most.

(Hardt & Talwar 2010, "On the Geometry of Differential Privacy"; Steinke & Ullman 2017, "Between
Pure and Approximate Differential Privacy", for moves in a box.) Let integer j move by D_j at most,
and let the level of a vector z be the least T with |z_j| <= ⌊T·D_j/q⌋ for all j: q levels are one
move. Then
    P(z) ∝ e^(-ε·level(z)/q).
A vector moved by v, |v_j| <= D_j, has a level at most q higher: from |z_j| <= ⌊T·D_j/q⌋ follows
|z_j + v_j| <= ⌊T·D_j/q⌋ + D_j = ⌊(T + q)·D_j/q⌋, as D_j is an integer. So the ratio of any two
probabilities of neighbours is e^ε at most: pure ε-DP, however many integers there are. If each of u
units moves integer j by D_j/u at most, and u divides q, each moves the level by q/u at most.

Independent noise of k integers shares ε, and has k²·2(D/ε)² as the variance of each; this has about
(k + 1)(k + 2)/3·(D/ε)²: half of that for two, a third for four, and never below a sixth. Of one it
is discrete Laplace noise. No two of its integers are correlated, but all are far off together.

P(z) is Σ e^(-ε·T/q)·(1 - e^(-ε/q)) over all levels T from level(z) on. So a draw takes a level T by
the weight e^(-ε·T/q)·∏(2·⌊T·D_j/q⌋ + 1), the number of vectors up to it, and then one of these,
each alike: every integer by itself, evenly from -⌊T·D_j/q⌋ to ⌊T·D_j/q⌋.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.level_law import (
    BITS,
    MAX_INTEGERS,
    bits_of_tail,
    can_be_listed,
    drawn_levels,
    evenly_up_to,
    level_probabilities,
    products,
    scaled_levels,
)
from dpsql.privacy.mechanisms.level_tail import (
    Doubles,
    Tail,
    bits_of_confidence,
    probabilities,
    sums_from,
)
from dpsql.privacy.mechanisms.mechanism import add_noise_vector, check_tail
from dpsql.privacy.mechanisms.noise.integer_search import first_true
from dpsql.privacy.mechanisms.noise.sampler import check_parameter
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness

_LEVELS_PER_LOSS = 4
_MAX_REMEMBERED = 256

Edges = tuple[tuple[int, int], ...]


class KNorm(Struct, frozen=True):
    """Noise of this ε for columns of integers that neighbours move by `moves` at most, all at once.

    Of each column `cells` integers, one for each of so many groups, are drawn together: with 1 each
    group is drawn for itself. `levels` is q.
    """

    epsilon: Fraction
    moves: tuple[int, ...]
    cells: int = 1
    levels: int = 1

    def __post_init__(self) -> None:
        check_parameter(self.epsilon)
        if not self.moves or min(*self.moves, self.cells, self.levels) < 1:
            raise ValueError("moves, cells and levels are at least 1")

    @classmethod
    def calibrated(
        cls, epsilon: Fraction, moves: tuple[int, ...], *, cells: int, units: int
    ) -> KNorm | None:
        """Return the noise of this ε, with levels that `units` divide; None if those are many."""
        if len(moves) * cells > MAX_INTEGERS:
            return None
        levels = units
        while epsilon > Fraction(levels, _LEVELS_PER_LOSS) and levels < units * max(moves):
            levels *= 2
        law = cls(epsilon, moves, cells, levels)
        return law if can_be_listed(law) else None

    @property
    def degree(self) -> int:
        """The power of a level that its volume grows by: the number of integers of a draw."""
        return len(self.moves) * self.cells

    def half_edges(self, levels: NDArray[np.int64]) -> list[Integers]:
        """The largest absolute values of each column's integers up to each of `levels`."""
        return [scaled_levels(levels, move, self.levels) for move in self.moves]

    def volumes(self, levels: NDArray[np.int64]) -> list[int]:
        """The number of vectors up to each of `levels`."""
        groups = products([2 * edges + 1 for edges in self.half_edges(levels)])
        return groups if self.cells == 1 else [group**self.cells for group in groups]

    def log_volumes(self, levels: NDArray[np.int64]) -> NDArray[np.float64]:
        """The binary logarithms of the volumes of `levels`."""
        edges = (edges.astype(np.float64) for edges in self.half_edges(levels))
        return np.asarray(self.cells * sum(np.log2(2 * edge + 1) for edge in edges))

    def log_bound(self, level: int) -> float:
        """The same of one level, of what grows by no more than the degree's power from there on."""
        return self.cells * sum(
            math.log2(2 * level * move / self.levels + 1) for move in self.moves
        )

    def parts(self) -> list[KNormNoise]:
        """The noise of each column."""
        return [KNormNoise(self, index) for index in range(len(self.moves))]

    def release(self, columns: Sequence[Integers], randomness: Randomness) -> list[Integers]:
        """Return the columns with fresh noise; of each `cells` integers that follow each other.

        Raises ValueError unless there are as many columns as moves, all as long, of whole groups of
        `cells`.
        """
        distinct, which = np.unique(drawn_levels(self, columns, randomness), return_inverse=True)
        drawn = [
            np.repeat(edges.astype(np.int64)[which], self.cells)  # they are below 2^61
            for edges in self.half_edges(distinct)
        ]
        return [
            add_noise_vector(column, evenly(own, randomness))
            for column, own in zip(columns, drawn, strict=True)
        ]


class KNormNoise(Struct, frozen=True):
    """The noise of the integers of one column, at `index`: a part of `law`, not drawn by itself."""

    law: KNorm
    index: int

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return "k-norm"

    @property
    def variance(self) -> float:
        """The noise's variance, the mean of h(h + 1)/3 over levels of half-edge h."""
        return _variance(self.law, self.index)

    def tail(self, at_least: int) -> Fraction:
        """Return P(noise >= at_least), rounded up by less than 2^-40; for at_least >= 1."""
        if at_least < 1:
            raise ValueError("the tail begins at 1")
        return _tail(_level_edges(self.law, self.index, BITS), at_least, BITS)

    def tail_point(self, probability: Fraction) -> int:
        """Return the least k >= 1 with tail(k) <= probability, both rounded up by a thousandth."""
        check_tail(probability)
        bits = bits_of_tail(probability)
        edges = _level_edges(self.law, self.index, bits)
        guess = self.half_width(max(1 - 2 * probability, Fraction(0))) + 1
        return first_true(lambda k: _tail(edges, k, bits) <= probability, guess)

    def half_width(self, confidence: Fraction) -> int:
        """Return the least h with P(|noise| <= h) >= confidence; of a large one to a billionth.

        Raises ValueError unless 0 <= confidence < 1.
        """
        return _half_width(self, confidence)


# A statement asks for the same numbers again and again, to choose its noise and to tell its errors.
@lru_cache(maxsize=_MAX_REMEMBERED)
def _variance(law: KNorm, index: int) -> float:
    listed = probabilities(law)
    halves = _halves(law, index, listed.size)
    return float(np.sum(listed * halves * (halves + 1))) / 3


@lru_cache(maxsize=_MAX_REMEMBERED)
def _half_width(noise: KNormNoise, confidence: Fraction) -> int:
    listed = probabilities(noise.law, bits_of_confidence(confidence))
    halves = _halves(noise.law, noise.index, listed.size)
    # Up to the half-edge of level i the tail at k is, over half-edges h and probabilities p from i
    # on, Σ p·(h + 1 - k)/(2h + 1).
    shares = listed / (2 * halves + 1)
    tail = Tail(halves, sums_from(shares * (halves + 1)), sums_from(shares))
    return tail.half_width(confidence)


def _halves(law: KNorm, index: int, levels: int) -> Doubles:
    """The half-edges of so many levels in one column."""
    return scaled_levels(np.arange(levels), law.moves[index], law.levels).astype(np.float64)


def _tail(edges: Edges, point: int, bits: int) -> Fraction:
    """P(noise >= point), rounded up by as many 2^-bits as twice the levels; for a point >= 1."""
    beyond = sum(-(-p * (h - point + 1) // (2 * h + 1)) for p, h in edges if h >= point)
    return Fraction(beyond + 2 * len(edges) + 2, 1 << bits)


@lru_cache(maxsize=8)
def _level_edges(law: KNorm, index: int, bits: int) -> Edges:
    """Levels' probabilities in 2^-bits, each at most 2 away, and their half-edges in one column."""
    move, levels = law.moves[index], law.levels
    probabilities = enumerate(level_probabilities(law, bits))
    return tuple((probability, level * move // levels) for level, probability in probabilities)


def evenly(edges: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
    """Return for each h of `edges`, from 0 to below 2^61, an integer from -h to h, each alike."""
    return evenly_up_to(2 * edges, randomness) - edges
