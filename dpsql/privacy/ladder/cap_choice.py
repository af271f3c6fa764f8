"""The cap of each unit's contribution at which a noisy sum has the least expected error."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from msgspec import Struct

from dpsql.privacy.ladder.excess_draws import ExcessDraws, excess_draws
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.ladder.lattice import Floats


class Excess(Struct, frozen=True):
    """What units are expected to contribute beyond a cap, with the ends of its 90 % interval.

    `total` is what they contribute in all, and `units` how many they are, both as expected.
    """

    expected: float
    low: float
    high: float
    total: float
    units: float


class ChosenCap(Struct, frozen=True):
    """A cap, what it is expected to cut off, with the ends of a 90 % interval, and its noise.

    `bias` is the expected Σ (value - cap)+ of the units asked about: what the answer lacks. `noise`
    is the mean absolute noise at this cap, `total` the sum that is expected without one.
    """

    cap: Fraction
    bias: float
    low: float
    high: float
    noise: float
    total: float

    @property
    def error(self) -> float:
        """About how far an answer is off: the mean of Laplace noise about the bias."""
        return (
            self.bias + self.noise * math.exp(-self.bias / self.noise) if self.noise else self.bias
        )


def excess(
    ladder: Ladder,
    cap: Fraction,
    share: Fraction = Fraction(1),
    *,
    own: Ladder | None = None,
) -> Excess:
    """Return what a part of all units, of this share, contributes beyond `cap`.

    `own` is the part's own ladder, on the same rungs, where there is one.
    """
    draws = excess_draws(ladder, share, own)
    beyond = draws.at(float(cap))
    low, high = interval(beyond)
    return Excess(float(beyond.mean()), low, high, float(draws.total.mean()), draws.units)


def best_cap(
    ladder: Ladder,
    share: Fraction,
    noise_of_cap: Callable[[Fraction], float],
    highest: Fraction | None,
    *,
    own: Ladder | None = None,
) -> ChosenCap:
    """Return the cap whose sum over a part of all units is expected to be nearest.

    `noise_of_cap` is the mean absolute noise of the sum at a cap: the scale of Laplace noise,
    √(2/π) of a normal deviation. No cap is above `highest`, the declared bound; values beyond that
    don't count as cut off. `own` is the part's own ladder, on the same rungs, where there is one.
    Raises ValueError unless `highest` and the noise are above 0, and for other rungs.
    """
    caps = candidates(ladder, highest)
    draws = excess_draws(ladder, share, own)
    noise = noise_means([noise_of_cap(cap) for cap in caps])
    biases = biases_of(draws, caps, highest)
    best = int(hindsight_ratio(biases, noise).argmin())
    return chosen_cap(
        caps[best], biases[:, best], float(noise[best]), bounded_total(draws, highest)
    )


def candidates(ladder: Ladder, highest: Fraction | None) -> list[Fraction]:
    """Return the rungs that a cap may be, up to `highest`, which is one, too.

    Raises ValueError unless that is above 0.
    """
    if highest is None:
        return list(ladder.rungs[1:])
    if highest <= 0:
        raise ValueError("a cap is above 0")
    return [*(rung for rung in ladder.rungs[1:] if rung < highest), highest]


def noise_means(noise: list[float]) -> Floats:
    """Return the noise of each cap. Raises ValueError unless all of it is above 0, and finite."""
    means = np.array(noise, dtype=np.float64)
    if not (np.isfinite(means).all() and (means > 0).all()):
        raise ValueError("noise has a finite mean above 0")
    return means


def bounded_total(draws: ExcessDraws, highest: Fraction | None) -> Floats:
    """Return draws of the sum of values up to `highest`."""
    return draws.total if highest is None else draws.total - draws.at(float(highest))


def biases_of(draws: ExcessDraws, caps: list[Fraction], highest: Fraction | None) -> Floats:
    """Return draws of what each cap cuts off of values up to `highest`: (DRAWS, caps)."""
    biases = np.zeros((draws.beyond.shape[0], len(caps)))
    known = min(len(caps), draws.caps.size - 1)
    biases[:, :known] = draws.beyond[:, 1 : known + 1]
    if highest is None:
        return biases
    above = draws.at(float(highest))[:, None]
    biases[:, -1:] = above
    return np.maximum(biases - above, 0.0)


def hindsight_ratio(biases: Floats, noise: Floats) -> Floats:
    """Return, for each column, how many times the best column's error its own is expected to be.

    The best is that of each draw, of which the mean is taken; at least a quarter of most draws'
    best, for that of a part without units is next to nothing. With Laplace noise of scale b the
    mean of |noise - bias| is bias + b·e^(-bias/b). The mean error itself wouldn't do: where draws
    are orders of magnitude apart, as those of heavy tails, it is the largest one's alone.
    """
    errors = biases + noise * np.exp(-biases / noise)
    best = errors.min(axis=1)
    best = np.maximum(best, np.median(best) / 4)
    return np.asarray((errors / best[:, None]).mean(axis=0))


def chosen_cap(cap: Fraction, bias: Floats, noise: float, total: Floats) -> ChosenCap:
    """Return what is told of a cap, by draws of its bias and of the sum without one."""
    low, high = interval(bias)
    return ChosenCap(cap, float(bias.mean()), low, high, noise, float(total.mean()))


def interval(draws: Floats) -> tuple[float, float]:
    """Return what 1 and 99 % of the draws are below: the model's misfit takes the rest of 90."""
    low, high = np.quantile(draws, (0.01, 0.99))
    return float(low), float(high)
