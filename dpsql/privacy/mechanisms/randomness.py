"""Uniform random bits, from which all noise is made."""

from __future__ import annotations

import builtins
import os
import struct
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Randomness(Protocol):
    """A source of independent uniform bits."""

    def bytes(self, count: int) -> builtins.bytes:
        """Return `count` fresh uniform bytes."""


class SystemRandomness:
    """The operating system's generator, read anew each time: nothing to seed, store or fork."""

    def bytes(self, count: int) -> builtins.bytes:
        """Return `count` fresh uniform bytes."""
        return os.urandom(count)


_LETTERS = {16: "H", 32: "I", 64: "Q"}
_TYPES = {width: np.dtype(f"<u{width // 8}") for width in (16, 32, 64)}


def words(randomness: Randomness, count: int, width: int) -> NDArray[Any]:
    """Return `count` uniform unsigned integers of `width` bits (16, 32 or 64)."""
    # `count` makes a source that returns too few bytes an error instead of a shorter vector.
    return np.frombuffer(randomness.bytes(count * width // 8), dtype=_TYPES[width], count=count)


def few_words(randomness: Randomness, count: int, width: int) -> tuple[int, ...]:
    """Return the same integers as `words`, as Python's: of few, that takes a part of the time."""
    # Here, too, a source that returns too few bytes is an error.
    return struct.unpack(f"<{count}{_LETTERS[width]}", randomness.bytes(count * width // 8))


def lengthened(prefixes: NDArray[np.uint16], randomness: Randomness) -> NDArray[np.int64]:
    """Return the first 32 bits of uniforms whose first 16 bits are `prefixes`."""
    longer: NDArray[np.int64] = prefixes.astype(np.int64)
    longer <<= 16
    longer |= words(randomness, prefixes.size, 16)
    return longer


def doubled(prefix: int, bits: int, randomness: Randomness) -> int:
    """Return the first 2·`bits` bits of the uniform whose first `bits` bits are `prefix`."""
    return (prefix << bits) | int.from_bytes(randomness.bytes(bits // 8), "big")
