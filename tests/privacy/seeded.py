"""Sources of randomness for tests: one from a seed, one that says what it is told."""

from __future__ import annotations

import builtins
import hashlib
from fractions import Fraction


class SeededRandomness:
    """The bytes of SHAKE-256 over a seed and a counter: the same in every run."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._calls = 0

    def bytes(self, count: int) -> builtins.bytes:
        self._calls += 1
        return hashlib.shake_256(f"{self._seed}/{self._calls}".encode()).digest(count)


class ReplayedRandomness:
    """These bytes, in this order, then the bits 0101… for ever."""

    def __init__(self, script: builtins.bytes) -> None:
        self._script = script
        self.read = 0

    def bytes(self, count: int) -> builtins.bytes:
        said = self._script[self.read : self.read + count]
        self.read += count
        return said + b"\x55" * (count - len(said))


def replayed(uniform: int, bits: int) -> Fraction:
    """The uniform number that a replayed script of so many bits amounts to: 0.0101… is ⅓."""
    return (uniform + Fraction(1, 3)) / (1 << bits)


def uniform_script(uniform: int, bits: int) -> builtins.bytes:
    """The bytes from which one draw reads the uniform number uniform/2^bits; bits is 32, 64, 128…

    It reads 16 bits, then 16 more, then in doubling steps from 32 on.
    """
    prefix = uniform >> (bits - 32)
    script = (prefix >> 16).to_bytes(2, "little") + (prefix & 0xFFFF).to_bytes(2, "little")
    read = 32
    while read < bits:
        step = uniform >> (bits - 2 * read) & (1 << read) - 1
        script += step.to_bytes(read // 8, "big")
        read *= 2
    return script
