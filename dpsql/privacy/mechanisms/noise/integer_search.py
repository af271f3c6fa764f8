"""Search for the least integer at which a condition holds that stays true from there on."""

from __future__ import annotations

from collections.abc import Callable


def first_true(holds: Callable[[int], bool], guess: int) -> int:
    """Return the least k >= 1 at which `holds`, a condition that stays true once it is.

    The search doubles its stride away from `guess`, so that a near guess takes a handful of calls.
    """
    known_true = max(guess, 1)
    stride = 1
    if holds(known_true):
        while known_true > stride and holds(known_true - stride):
            known_true -= stride
            stride *= 2
        known_false = max(known_true - stride, 0)
    else:
        known_false = known_true
        while not holds(known_true := known_false + stride):
            known_false = known_true
            stride *= 2
    while known_true - known_false > 1:
        middle = (known_true + known_false) // 2
        if holds(middle):
            known_true = middle
        else:
            known_false = middle
    return known_true
