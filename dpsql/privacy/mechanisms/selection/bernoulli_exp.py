"""Bernoulli draws that are yes with probability e^-g, vectorised and exact.

A uniform real U is compared with e^-g. Its bits are read lazily, and e^-g is bounded with ever more
effort: by the caller's lower bound, by a few terms of its series, by decimal arithmetic to as many
digits as it takes. Of IEEE 754 doubles only +, - and · are used, which round correctly; no
library's exp is.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.directed_rounding import scaled_exp
from dpsql.privacy.mechanisms.randomness import Randomness, doubled, lengthened, words

SLACK = 2.0**-44
"""More than all rounding errors of the series and the exponents together."""


def bernoulli_exp(
    certain: NDArray[np.uint16],
    exponents: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    exact: Callable[[int], Fraction],
    randomness: Randomness,
) -> NDArray[np.bool_]:
    """Say yes at index i with probability exactly e^-exact(i), independently; exact(i) >= 0.

    e^-exact(i) is at least certain[i]/2^16. exponents(indices) is within 2^-46 of exact at each of
    the indices, and at most 1 + 2^-46; where that can't be promised it is NaN.
    """
    return compare_lazily(
        certain,
        exponents,
        lambda index, prefix: bernoulli_exp_exact(prefix, 32, exact(index), randomness),
        randomness,
    )


def compare_lazily(
    certain: NDArray[np.uint16],
    exponents: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    decide: Callable[[int, int], bool],
    randomness: Randomness,
) -> NDArray[np.bool_]:
    """Say at each index whether a uniform U is below e^-g, where g is the exponent at the index.

    `certain` and `exponents` are those of `bernoulli_exp`; decide(index, prefix) says it where they
    don't, by as many more bits as it takes of the U that begins with the 32 bits of `prefix`.
    """
    short = words(randomness, certain.size, 16)
    accepted: NDArray[np.bool_] = short < certain  # U < (short + 1)/2^16 <= sure/2^16
    return settle_unsure(accepted, short, exponents, decide, randomness)


def settle_unsure(
    accepted: NDArray[np.bool_],
    short: NDArray[np.uint16],
    exponents: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    decide: Callable[[int, int], bool],
    randomness: Randomness,
) -> NDArray[np.bool_]:
    """Say the same where it isn't `accepted` for sure, by what U has behind the bits of `short`."""
    unsure = (~accepted).nonzero()[0]
    if unsure.size:
        prefixes = lengthened(short.take(unsure), randomness)
        yes, no = _compare(prefixes, exponents(unsure))
        accepted[unsure] = yes
        for position in (~(yes | no)).nonzero()[0]:
            index = int(unsure[position])
            accepted[index] = decide(index, int(prefixes[position]))
    return accepted


def certain_thresholds(exponents: NDArray[np.float64]) -> NDArray[np.uint16]:
    """The number of 2^16ths that e^-exponent surely reaches, for each exponent; 0 if unknown.

    Exponents are within 2^-46 of the exact ones. Those above 1 count as unknown, as NaN does.
    """
    below, _ = _series(exponents)
    known = exponents <= 1.0
    return np.floor(np.where(known, (below - SLACK) * 2.0**16, 0.0)).clip(0).astype(np.uint16)


def _compare(
    prefixes: NDArray[np.int64], exponents: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell where U < e^-g is certain and where U > e^-g is, for U in [prefix, prefix + 1]/2^32."""
    below, excess = _series(exponents)
    distance = below - prefixes * 2.0**-32
    # Comparisons with NaN are false: never decided here.
    return distance > 2.0**-32 + SLACK, distance < -SLACK - excess


def _series(exponents: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two numbers; e^-g is above the first less SLACK, and below their sum plus SLACK."""
    # Taylor with Lagrange's remainder: 1 - g + g²/2 - g³/6 <= e^-g <= that + g⁴/24 for g >= 0.
    # For g <= 1 all terms and partial sums are at most 1, so the dozen roundings here and in
    # _compare come to less than 2^-49, and the bounds move by at most 2^-46 with the exponent's
    # own error: together below 2^-45 < SLACK.
    squares = exponents * exponents
    below = 1.0 - exponents + squares * (0.5 - exponents * (1.0 / 6.0))
    return below, squares * squares * (1.0 / 24.0)


def bernoulli_exp_exact(prefix: int, bits: int, exponent: Fraction, randomness: Randomness) -> bool:
    """Say yes with probability e^-exponent; the first `bits` bits of U are those of `prefix`.

    Bits are read until U is certainly on one side of e^-exponent; each further bit halves the
    doubt.
    """
    if exponent == 0:
        return True
    while True:
        prefix = doubled(prefix, bits, randomness)
        bits *= 2
        bound = scaled_exp(exponent, bits)  # at most 1 away from 2^bits·e^-exponent
        if prefix + 2 <= bound:
            return True
        if prefix >= bound + 1:
            return False
