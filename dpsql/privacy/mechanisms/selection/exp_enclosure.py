"""e^-g for many g at once, in doubles, with a proven relative error.

Of IEEE 754 doubles only +, - and · are used, which round correctly, and scaling by powers of two,
which is exact here; no library's exp is.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

# Beyond this exponent weights count as 0: they are below e^-127 < 2^-183.
MAX_EXPONENT = 128.0
RELATIVE_ERROR = 2.0**-43

# ln 2 in two parts. The first has 33 bits, so its products with k <= 185 are exact.
_LN2_HIGH = float.fromhex("0x1.62e42feep-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_PER_LN2 = float.fromhex("0x1.71547652b82fep0")
_COEFFICIENTS = tuple(
    (-1.0) ** n / float(np.prod(np.arange(1.0, n + 1))) for n in range(13, -1, -1)
)

_HALVED = np.array([2.0**-k for k in range(186)])


def decays(losses: NDArray[np.int64], rate: Fraction) -> NDArray[np.float64]:
    """Return e^-(rate·loss), within RELATIVE_ERROR of it; losses >= 0 below 2^63, any shape.

    Where rate·loss is above MAX_EXPONENT, 0 is returned, and the exact value is below 2^-183.
    """
    # The rounded rate, the rounded loss and their product make a relative error of 3·2^-53 in the
    # exponent, which is at most 128: 2^-44.4 in e^-g. (A rate below 2^-1022 loses digits, and then
    # the exponent is below 2^-958. One above 2^64 is as good as 2^64: all but loss 0 is beyond.)
    # With k next to g/ln 2, the rest r is at most 0.36 in absolute value and rounded three times
    # (2^-53); the first omitted term of the series is below 2^-56; Horner's 26 roundings come to
    # less than 2^-48. Together below 2^-44.
    exponents = losses.astype(np.float64)
    exponents *= float(min(rate, Fraction(2**64)))
    far = exponents > MAX_EXPONENT
    np.minimum(exponents, MAX_EXPONENT, out=exponents)
    halvings = np.rint(exponents * _PER_LN2)
    rest = exponents - halvings * _LN2_HIGH
    rest -= halvings * _LN2_LOW
    sums = np.full_like(rest, _COEFFICIENTS[0])
    for coefficient in _COEFFICIENTS[1:]:
        sums *= rest
        sums += coefficient
    sums *= _HALVED.take(halvings.astype(np.int64))
    sums *= ~far
    return sums
