"""The √2 ladder of a grid: 0, 1, 2, 3, 4, 6, 8, 11, 16 … times its step."""

from __future__ import annotations

import math
from fractions import Fraction


def half_octaves(step: Fraction, count: int) -> tuple[Fraction, ...]:
    """Return 0 and the first multiples of `step` that are nearest to step·2^(k/2), each once.

    They are `count`, strictly increasing, and exact. Raises ValueError for fewer than two rungs and
    for a step that isn't positive.
    """
    if count < 2 or step <= 0:
        raise ValueError("a ladder has two rungs at least, and its step is above 0")
    multiples = [0]
    power = 0
    while len(multiples) < count:
        # The nearest integer to √n is (isqrt(4n) + 1) // 2: √n is never halfway.
        nearest = (math.isqrt(4 * 2**power) + 1) // 2
        if nearest > multiples[-1]:
            multiples.append(nearest)
        power += 1
    return tuple(step * multiple for multiple in multiples)
