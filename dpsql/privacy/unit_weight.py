"""What a unit weighs where keys are chosen: more in each of its groups, the fewer they are.

A unit in d of at most g groups weighs about √(g / d) in each, so that the squares of its weights in
all of them add up to no more than g, as if it were in g groups and counted once in each (Gopi et
al. 2020, "Differentially Private Set Union"). Weights are integers of `RESOLUTION` parts, rounded
down, for ranges of d: a comparison of integers finds a unit's, and no root is rounded in it.
"""

from __future__ import annotations

from math import isqrt
from typing import Final

RESOLUTION: Final = 1024
"""What a unit weighs that is in as many groups as it may be."""


def unit_weights(groups: int) -> tuple[tuple[int, int], ...]:
    """Pairs (d, w): a unit in d groups or fewer, and in more than the pair before has, weighs w.

    d·w² <= groups·RESOLUTION² for each pair. The last d is `groups`. From one pair to the next d is
    more by 1, or by a thirty-second part. Raises ValueError unless `groups` is at least 1.
    """
    if groups < 1:
        raise ValueError("a unit is in one group at least")
    pairs: list[tuple[int, int]] = []
    number = 0
    while number < groups:
        number = min(groups, number + max(1, number // 32))
        pairs.append((number, isqrt(groups * RESOLUTION**2 // number)))
    return tuple(pairs)
