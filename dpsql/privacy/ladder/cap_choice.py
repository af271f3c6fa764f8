"""The cap of each unit's contribution at which a noisy sum has the least expected error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsql.privacy.ladder.excess_draws import ExcessDraws, excess_draws
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.ladder.lattice import Floats


@dataclass(frozen=True, slots=True)
class Excess:
    """What units are expected to contribute beyond a cap, with the ends of its 90 % interval.

    `total` is what they contribute in all, and `units` how many they are, both as expected.
    """

    expected: float
    low: float
    high: float
    total: float
    units: float


@dataclass(frozen=True, slots=True)
class ChosenCap:
    """A cap, what it is expected to cut off, with the ends of a 90 % interval, and its noise.

    `bias` is the expected Σ (value - cap)+ of the units asked about: what the answer lacks. `noise`
    is the mean absolute noise at this cap, `total` the sum that is expected without a cap.
    """

    cap: Fraction
    bias: float
    low: float
    high: float
    noise: float
    total: float


def excess(ladder: Ladder, cap: Fraction, share: Fraction = Fraction(1)) -> Excess:
    """Return what a part of all units, of this share, contributes beyond `cap`."""
    draws = excess_draws(ladder, share)
    beyond = draws.at(float(cap))
    low, high = interval(beyond)
    total = float(draws.total.mean())
    return Excess(float(beyond.mean()), low, high, total, draws.units)


def best_cap(
    ladder: Ladder,
    share: Fraction,
    noise_of_cap: Callable[[Fraction], float],
    highest: Fraction | None,
    *,
    own: Ladder | None = None,
) -> ChosenCap:
    """Return the cap whose sum over a part of all units is expected to be nearest to the best one's.

    `noise_of_cap` is the mean absolute noise of the sum at a cap: the scale of Laplace noise,
    √(2/π) of a normal deviation. No cap is above `highest`, the declared bound; values beyond that
    don't count as cut off. `own` is the part's own ladder, on the same rungs, where there is one.
    Raises ValueError unless `highest` is above 0, and for other rungs.
    """
    caps = candidates(ladder, highest)
    draws = excess_draws(ladder, share, own)
    noise = np.array([noise_of_cap(cap) for cap in caps])
    biases = biases_of(draws, caps, highest)
    chosen = int(times_hindsight(biases, noise).argmin())
    bias = biases[:, chosen]
    low, high = interval(bias)
    total = float(draws.total.mean())
    return ChosenCap(caps[chosen], float(bias.mean()), low, high, float(noise[chosen]), total)


def candidates(ladder: Ladder, highest: Fraction | None) -> list[Fraction]:
    """Return the rungs that a cap may be, and `highest` if that is lower than the last."""
    if highest is None:
        return list(ladder.rungs[1:])
    if highest <= 0:
        raise ValueError("a cap is above 0")
    below = [rung for rung in ladder.rungs[1:] if rung < highest]
    return [*below, highest]


def biases_of(draws: ExcessDraws, caps: list[Fraction], highest: Fraction | None) -> Floats:
    """Return draws of what each cap cuts off of values up to `highest`: (DRAWS, caps)."""
    found = np.zeros((draws.beyond.shape[0], len(caps)))
    known = min(len(caps), draws.caps.size - 1)
    found[:, :known] = draws.beyond[:, 1 : known + 1]
    if highest is not None:
        found[:, -1] = draws.at(float(highest))
        found = np.maximum(found - found[:, -1:], 0.0)
    return found


def times_hindsight(biases: Floats, noise: Floats) -> Floats:
    """Return, for each column, how many times the best column's error its own is expected to be.

    The best is that of each draw, of which the mean is taken. With Laplace noise of scale b the
    mean of |noise - bias| is bias + b·e^(-bias/b). The mean error itself wouldn't do: where draws
    are orders of magnitude apart, as those of heavy tails, it is the largest one's alone.
    """
    errors = biases + noise * np.exp(-biases / noise)
    return np.asarray((errors / errors.min(axis=1, keepdims=True)).mean(axis=0))


def interval(draws: Floats) -> tuple[float, float]:
    """Return what 1 and 99 % of the draws are below: the model's misfit takes the rest of 90."""
    low, high = np.quantile(draws, (0.01, 0.99))
    return float(low), float(high)
