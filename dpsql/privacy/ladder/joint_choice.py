"""Limits of grouped questions: in how many groups a unit counts, and how much in each.

Both cut something off, and both multiply the noise: neither can be chosen without the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from dpsql.privacy.ladder.cap_choice import (
    ChosenCap,
    biases_of,
    bounded_total,
    candidates,
    chosen_cap,
    hindsight_ratio,
    noise_means,
)
from dpsql.privacy.ladder.excess_draws import excess_draws
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.ladder.lattice import Floats

_EVERY: Final = 5
"""Choices are made by every fifth draw: there are as many pairs of limits as rungs squared."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A statistic of each group: what each unit has in it, and the noise of limits.

    `pairs` is the ladder of what each (unit, group) pair has, rows or the magnitude of a sum;
    `share` the part of all pairs that a group has; `noise_of` the mean absolute noise of a group's
    statistic at a limit of groups and a cap. No cap is above `highest`.
    """

    pairs: Ladder
    share: Fraction
    noise_of: Callable[[int, Fraction], float]
    highest: Fraction | None


@dataclass(frozen=True, slots=True)
class ChosenLimits:
    """How many groups a unit counts in, the part of all pairs that this leaves out, and the caps.

    There is a cap for each statistic; its bias has what is left out, too.
    """

    groups: int
    lost: float
    caps: tuple[ChosenCap, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """The error at each limit of groups, in times that of the best limits, and the best caps."""

    times: Floats
    caps: tuple[ChosenCap, ...]


def best_limits(
    groups: Ladder, measured: Sequence[Measured], highest_groups: int | None
) -> ChosenLimits:
    """Return the limits at which the statistics of a group are expected to be nearest.

    `groups` is the ladder of the number of groups that each unit is in. No limit of groups is
    above `highest_groups`. Pairs are taken for alike whether their unit is in few groups or many:
    if a limit of groups leaves out the part a of all pairs, and a cap the part b of what they have,
    1 - (1 - a)·(1 - b) is lost. Raises ValueError unless something is measured and `highest_groups`
    is at least 1.
    """
    if not measured:
        raise ValueError("limits are chosen for something that is measured")
    highest = None if highest_groups is None else Fraction(highest_groups)
    limits = [int(limit) for limit in candidates(groups, highest) if limit >= 1]
    draws = excess_draws(groups, Fraction(1))
    beyond = np.stack([draws.at(float(limit)) for limit in limits], axis=1)
    pairs = bounded_total(draws, highest)[:, None]
    left_out = np.maximum(beyond - (draws.total[:, None] - pairs), 0.0)
    lost = np.minimum(left_out / np.maximum(pairs, 1e-300), 1.0)
    choices = [_choose(each, limits, lost) for each in measured]
    best = int(np.sum([choice.times for choice in choices], axis=0).argmin())
    caps = tuple(choice.caps[best] for choice in choices)
    return ChosenLimits(limits[best], float(lost[:, best].mean()), caps)


def _choose(measured: Measured, limits: list[int], lost: Floats) -> _Choice:
    """The best cap at each limit of groups."""
    caps = candidates(measured.pairs, measured.highest)
    draws = excess_draws(measured.pairs, measured.share)
    total = bounded_total(draws, measured.highest)
    # (draws, limits, caps): what the caps leave of what the limits leave.
    capped = total[:, None] - biases_of(draws, caps, measured.highest)
    remainder = (1 - lost)[:, :, None] * capped[:, None, :]
    biases = np.maximum(total[:, None, None] - remainder, 0.0)
    noise = noise_means([measured.noise_of(limit, cap) for limit in limits for cap in caps])
    some = biases[::_EVERY].reshape(-1, noise.size)
    times = hindsight_ratio(some, noise).reshape(len(limits), len(caps))
    noise = noise.reshape(times.shape)
    at_limits = [
        chosen_cap(caps[cap], biases[:, limit, cap], float(noise[limit, cap]), total)
        for limit, cap in enumerate(times.argmin(axis=1).tolist())
    ]
    return _Choice(times.min(axis=1), tuple(at_limits))
