"""Uniform positions inside a cell of 2^bits integers, in machine words as far as possible."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.randomness import Randomness, few_words, words

Integers = NDArray[Any]
"""An array of int64 or, for Python integers, of object."""

FEW = 12
"""So few integers are computed one by one: after an engine's run a call of NumPy takes as long."""

HIGH_BITS = 50
"""The highest bits of a position, which are drawn as one int64."""


class LowBits(Struct, frozen=True):
    """Positions inside cells: each is `high`, of `high_bits` bits, followed by the bits of `lows`.

    `low_bits` says how many bits each of `lows` has, 64 at most.
    """

    high: NDArray[np.int64]
    high_bits: int
    lows: tuple[NDArray[np.uint64], ...]
    low_bits: tuple[int, ...]

    @classmethod
    def sample(cls, bits: int, count: int, randomness: Randomness) -> LowBits:
        """Return `count` uniform positions of `bits` bits."""
        high_bits = min(bits, HIGH_BITS)
        full, rest = divmod(bits - high_bits, 64)
        low_bits = (rest,) * (rest > 0) + (64,) * full
        return cls(
            high=_uniform(high_bits, count, randomness).astype(np.int64),
            high_bits=high_bits,
            lows=tuple(_uniform(low, count, randomness).astype(np.uint64) for low in low_bits),
            low_bits=low_bits,
        )

    def take(self, indices: NDArray[np.int64]) -> LowBits:
        """Return the positions at these indices."""
        lows = tuple(low.take(indices) for low in self.lows)
        return LowBits(self.high.take(indices), self.high_bits, lows, self.low_bits)

    def full(self, index: int) -> int:
        """Return the position at `index` with all its bits."""
        position = int(self.high[index])
        for low, bits in zip(self.lows, self.low_bits, strict=True):
            position = position << bits | int(low[index])
        return position

    def attach(self, outcomes: NDArray[np.int64]) -> Integers:
        """Return x = cell·2^bits + position at outcome 2·cell, -1 - x at outcome 2·cell + 1."""
        # -1 - x is x with every bit turned, so each word can be turned by itself.
        minus = -(outcomes & 1)
        if not outcomes.size or outcomes.max() < 2 ** (63 - self.high_bits):
            joined = (outcomes >> 1 << self.high_bits | self.high) ^ minus
            if not self.lows:
                return joined
            values = joined.tolist()
        else:
            cells, signs = (outcomes >> 1).tolist(), minus.tolist()
            values = [
                (cell << self.high_bits | position) ^ sign
                for cell, position, sign in zip(cells, self.high.tolist(), signs, strict=True)
            ]
        for low, bits in zip(self.lows, self.low_bits, strict=True):
            turned = low ^ minus.astype(np.uint64) >> np.uint64(64 - bits)
            values = [
                value << bits | word for value, word in zip(values, turned.tolist(), strict=True)
            ]
        exact = np.empty(outcomes.size, dtype=object)
        exact[:] = values
        return exact


def few_positions(bits: int, count: int, randomness: Randomness) -> list[int]:
    """Return the `high` of `LowBits.sample` of the same bits, where it is all of a position."""
    if bits > HIGH_BITS:
        raise ValueError("such positions have more than one word")
    width = _width(bits)
    return [word >> width - bits for word in few_words(randomness, count, width)]


def _width(bits: int) -> int:
    return 16 if bits <= 16 else 32 if bits <= 32 else 64


def _uniform(bits: int, count: int, randomness: Randomness) -> NDArray[Any]:
    """Return `count` uniform integers of `bits` bits, 64 at most."""
    width = _width(bits)
    source = words(randomness, count, width)
    uniform: NDArray[Any] = source >> source.dtype.type(width - bits)
    return uniform
