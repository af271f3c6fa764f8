"""Laws of several integers by levels: of each a power of e^(-ε/q), times its volume.

A level is drawn by the probabilities that are listed here, and then one of what it stands for, each
alike: what noise that several integers draw together has in common (`noise.k_norm`,
`one_direction`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, repeat
from operator import mul
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.directed_rounding import scaled_exp
from dpsql.privacy.mechanisms.noise.inverse_sampling import Inversion
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness, words

MAX_LEVELS = 2**14
"""The most levels that are listed: more take long, at a loss that is small for many integers."""

MAX_INTEGERS = 256
"""The most integers of one draw: of more, Gaussian noise is less, or their table too long."""

BITS = 64
"""Of probabilities, unless they are those of a thin tail."""

_LARGEST = 2**60


class LevelLaw(Protocol):
    """A law by levels: of each, e^(-ε/q) to its power, times its volume."""

    def __hash__(self) -> int:
        """Equal laws have one hash: their levels are listed once."""

    @property
    def epsilon(self) -> Fraction:
        """What a move of the largest size loses."""

    @property
    def moves(self) -> tuple[int, ...]:
        """The largest move of each column."""

    @property
    def levels(self) -> int:
        """How many levels such a move is."""

    @property
    def cells(self) -> int:
        """How many integers of each column are drawn together."""

    @property
    def degree(self) -> int:
        """The power of a level that its volume grows by."""

    def volumes(self, levels: NDArray[np.int64]) -> list[int]:
        """How many outcomes each of `levels` stands for, each alike."""

    def log_volumes(self, levels: NDArray[np.int64]) -> NDArray[np.float64]:
        """The binary logarithms of the volumes of `levels`."""

    def log_bound(self, level: int) -> float:
        """The same of one level, of what grows by no more than the degree's power from there on."""


def can_be_listed(law: LevelLaw) -> bool:
    """Whether the levels of a law are few, and its moves fit 64 bits."""
    # Draws are of k·q/ε levels, more or less, and 2·k·q/ε are listed at least (level_cuts).
    few = (2 * law.degree + 60) * law.levels / law.epsilon <= MAX_LEVELS
    return few and max(law.moves) * MAX_LEVELS < _LARGEST * law.levels


def drawn_levels(
    law: LevelLaw, columns: Sequence[Integers], randomness: Randomness
) -> NDArray[np.int64]:
    """A level for each answer of `columns`: of each column `law.cells` integers have one together.

    Raises ValueError unless there are as many columns as moves, all as long, of whole groups of
    `cells`.
    """
    if len(columns) != len(law.moves) or len({column.size for column in columns}) != 1:
        raise ValueError("there is a column for each move")
    answers, rest = divmod(columns[0].size, law.cells)
    if rest:
        raise ValueError("the integers of all groups are drawn together")
    return _inversion(law).sample(answers, randomness)


@lru_cache(maxsize=128)
def _inversion(law: LevelLaw) -> Inversion:
    return Inversion(partial(level_cuts, law))


def level_probabilities(law: LevelLaw, bits: int) -> list[int]:
    """The probabilities of the levels in 2^-bits, each at most 2 away."""
    cuts = level_cuts(law, bits)
    return [end - start for start, end in zip((0, *cuts), cuts, strict=False)]


def bits_of_tail(probability: Fraction) -> int:
    """In how many bits levels' probabilities tell a tail of `probability` to a thousandth."""
    bits = BITS
    while probability * (1 << bits) < MAX_LEVELS << 12:
        bits *= 2
    return bits


def evenly_up_to(largest: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
    """Return for each n of `largest`, from 0 to below 2^62, an integer from 0 to n, each alike."""
    drawn = np.empty(largest.size, dtype=np.int64)
    distinct, which = np.unique(largest, return_inverse=True)
    shifts = np.array([64 - (n + 1).bit_length() for n in distinct.tolist()], dtype=np.uint64)
    waiting = np.arange(largest.size)
    while waiting.size:
        own = largest[waiting]
        some = (words(randomness, waiting.size, 64) >> shifts[which[waiting]]).astype(np.int64)
        fits = some <= own
        drawn[waiting[fits]] = some[fits]
        waiting = waiting[~fits]
    return drawn


@lru_cache(maxsize=64)
def level_cuts(law: LevelLaw, bits: int) -> tuple[int, ...]:
    """Return where the levels 0, 1, 2, … end on the unit interval.

    Entry i is at most 1 away from 2^bits times the probability of levels 0 … i. The last entry is
    2^bits and stands for all levels from there on: their ends are all within 1 of it.
    """
    # Let w(T) = e^-λT·V(T), λ = ε/q, be the weights, V(T) the volume up to T, of degree k; and Z
    # their sum, at least the largest of them. From V(T) <= U(T), the product of k factors such as
    # 2T·D_j/q + 1, of which U(T + 1)/U(T) <= (1 + 1/T)^k <= e^(k/T), the weights after T >= 2k/λ
    # are together below U(T)·e^-λT·Σ e^(-λi/2), hence below U(T)·e^-λT·2/λ. Levels are listed up to
    # one at which that is below 2^-(bits + 4)·Z.
    # In units of 2^-size, e^-λT by T products, each of a factor that is off by 1 (scaled_exp) and
    # rounded down, is off by 2T at most. With size such that Σ (2T + 2)·V(T) is below
    # 2^(size - bits - 4)·Z, the sums and their total are off by less than 2^-(bits + 2)·Z together,
    # and the quotient, rounded to ½, by less than 1. Logarithms are in doubles: of numbers below
    # 2^(2^17), they are off by far less than the bit that is added for it.
    rate = law.epsilon / law.levels
    last, largest = listed(law, bits)
    volumes = law.volumes(np.arange(last + 1))
    errors = sum(map(mul, volumes, range(2, 2 * last + 3, 2)))
    size = max(bits + 6 + math.ceil(errors.bit_length() - largest), 1)
    factor = scaled_exp(rate, size)
    heights = accumulate(repeat(factor, last), lambda h, f: h * f >> size, initial=1 << size)
    sums = [*accumulate(map(mul, volumes, heights))]
    total = sums[-1]
    half = total >> 1
    return tuple([((end << bits) + half) // total for end in sums])


def listed(law: LevelLaw, bits: int) -> tuple[int, float]:
    """The last level that is listed for `bits`, and a bound below the largest weight's logarithm.

    The weights after that level are too small to tell (level_cuts). Logarithms are binary.
    """
    rate = _log_rate(law)
    last = math.ceil(2 * law.degree * law.levels / law.epsilon) + 1
    # Weights are largest near k/λ, long before.
    largest = float(np.max(log_weights(law, np.arange(last + 1))))
    room = largest - bits - 5 - math.log2(2 * law.levels / law.epsilon)
    while law.log_bound(last) - last * rate >= room:
        last += max(1, last // 8)
    return last, largest


def log_weights(law: LevelLaw, levels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The binary logarithms of the weights of `levels`."""
    return law.log_volumes(levels) - _log_rate(law) * levels


def _log_rate(law: LevelLaw) -> float:
    return float(law.epsilon / law.levels) / math.log(2)


def products(columns: Sequence[Integers]) -> list[int]:
    """Return the product of each row of `columns`, of integers from 1 on.

    Those of few bits are multiplied in 64: where the largest of all rows are, so is each.
    """
    multiplied: list[Integers] = []
    for column in columns:
        if multiplied and int(multiplied[-1].max()) * int(column.max()) < _LARGEST:
            multiplied[-1] = multiplied[-1] * column
        else:
            multiplied.append(column)
    rows: list[int] = multiplied[0].tolist()
    for column in multiplied[1:]:
        rows = [*map(mul, rows, column.tolist())]
    return rows


def scaled_levels(levels: NDArray[np.int64], move: int, per_move: int) -> Integers:
    """Return ⌊T·move/per_move⌋ of each T of `levels`: int64, or object where that is short."""
    # T·(a·q + b)/q = T·a + T·b/q: the product with the whole move may pass 64 bits where that
    # doesn't.
    whole, rest = divmod(move, per_move)
    if int(levels.max(initial=0)) * max(whole + 1, per_move) >= _LARGEST:
        return np.asarray(levels.astype(object) * move // per_move)
    return np.asarray(levels * whole + levels * rest // per_move)
