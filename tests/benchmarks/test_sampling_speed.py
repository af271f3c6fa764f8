"""Draws per second, printed; only a ratio to numpy's unsafe sampler in the same run is asserted."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dpsql.privacy.mechanisms.noise.sampler import discrete_gaussian, discrete_laplace
from dpsql.privacy.mechanisms.randomness import SystemRandomness

SCALES = [Fraction(1, 3), Fraction(10), Fraction(1000), Fraction(10**6), Fraction(2**60)]


def seconds_per_draw(draw: Callable[[], object], size: int) -> float:
    """The best of several runs: what else the machine does only ever adds."""
    draw()
    calls = max(50_000 // size, 1) if size > 1 else 500
    best = float("inf")
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(calls):
            draw()
        best = min(best, (time.perf_counter() - start) / calls / size)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 1000, 100_000])
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_exact_draws_are_at_most_so_much_slower_than_unsafe_ones(
    scale: Fraction, size: int
) -> None:
    unsafe = np.random.default_rng()  # the yardstick, not noise
    yardstick = seconds_per_draw(lambda: unsafe.laplace(scale=float(scale), size=size), size)
    source = SystemRandomness()
    for name, draw in (
        ("laplace", lambda: discrete_laplace(scale, size, source)),
        ("gaussian", lambda: discrete_gaussian(scale**2, size, source)),
    ):
        seconds = seconds_per_draw(draw, size)
        print(  # noqa: T201 - the measurement
            f"\n{name} {float(scale):.3g} x {size}: {1 / seconds / 1e6:.2f} M/s,"
            f" {seconds / yardstick:.1f} times numpy's unsafe laplace"
        )
        assert seconds < 60 * yardstick
