"""Limits of grouped questions: in how many groups a unit counts, and how much in each.

Both cut something off, and both multiply the noise: neither can be chosen without the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final, assert_never

import numpy as np
from msgspec import Struct

from dpsql.privacy.ladder.cap_choice import (
    ChosenCap,
    biases_of,
    bounded_total,
    candidates,
    chosen_cap,
    hindsight_ratio,
    noise_means,
)
from dpsql.privacy.ladder.excess_draws import ExcessDraws, excess_draws
from dpsql.privacy.ladder.group_loss import fullness, lost_by_drawing, lost_by_scaling
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.ladder.lattice import Floats
from dpsql.privacy.over_groups import OverGroups

_EVERY: Final = 5
"""Choices are made by every fifth draw: there are as many pairs of limits as rungs squared."""


_GAIN: Final = 0.9
"""Units are scaled where errors are so many times those of drawing, or fewer: it takes longer."""


class Measured(Struct, frozen=True):
    """A statistic of each group: what each unit has in it, and the noise of limits.

    `pairs` is the ladder of what each (unit, group) pair has, rows or the magnitude of a sum;
    `share` the part of all pairs that a group has, from `lowest_share` on if that isn't known;
    `noise_of` the mean absolute noise of a group's statistic at a limit of groups and a cap, and
    `scaled_noise_of` that where units are scaled, if it is another. No cap is above `highest`.
    """

    pairs: Ladder
    share: Fraction
    noise_of: Callable[[int, Fraction], float]
    highest: Fraction | None
    scaled_noise_of: Callable[[int, Fraction], float] | None = None
    lowest_share: Fraction | None = None

    def draws(self) -> ExcessDraws:
        """Draws of what the pairs of a group have beyond each rung."""
        return excess_draws(self.pairs, self.share, lowest_share=self.lowest_share)


class Ways(Struct, frozen=True):
    """What may become of units in too many groups; scaled ones have a norm of this `order`."""

    allowed: tuple[OverGroups, ...] = (OverGroups.SAMPLE,)
    order: int = 2


SAMPLED: Final = Ways()


class ChosenLimits(Struct, frozen=True):
    """How many groups a unit counts in, the part of all pairs that this leaves out, and the caps.

    There is a cap for each statistic; its bias has what is left out, too. `gain` is the part of
    the error of drawing that scaling saves, 0 where units are drawn.
    """

    groups: int
    lost: float
    caps: tuple[ChosenCap, ...]
    over_groups: OverGroups = OverGroups.SAMPLE
    gain: float = 0.0


class _Choice(Struct, frozen=True, eq=False):
    """Of each way and limit of groups: its error, in times that of the best, and its best cap."""

    times: Floats
    caps: tuple[tuple[ChosenCap, ...], ...]
    lost: tuple[Floats, ...]


def best_limits(
    groups: Ladder, measured: Sequence[Measured], highest_groups: int | None, ways: Ways = SAMPLED
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
    choices = [_choose(each, groups, limits, highest, ways) for each in measured]
    times = np.sum([choice.times for choice in choices], axis=0)
    ratios = times.min(axis=1)
    # Drawing is allowed first, and left where scaling is so much better.
    way = len(ratios) - 1 if ratios[-1] <= _GAIN * ratios[0] else 0
    best = int(times[way].argmin())
    caps = tuple(choice.caps[way][best] for choice in choices)
    lost = float(np.mean([choice.lost[way][best] for choice in choices]))
    gain = float(1 - ratios[way] / ratios[0])
    return ChosenLimits(limits[best], lost, caps, ways.allowed[way], gain)


def lost_pairs(
    groups: Ladder,
    measured: Measured,
    limits: Sequence[int],
    caps: Sequence[Fraction],
    way: OverGroups,
    order: int,
    highest: Fraction | None = None,
) -> Floats:
    """Return the part of all pairs that limits leave out, at each cap: (draws, limits, caps or 1).

    Drawn ones are the same at all caps.
    """
    draws = excess_draws(groups, Fraction(1))
    match way:
        case OverGroups.SAMPLE:
            return lost_by_drawing(draws, limits, highest)[:, :, None]
        case OverGroups.SCALE:
            full = fullness(measured.draws(), caps, order)
            filled = np.outer(np.array(limits, dtype=np.float64), full)
            return lost_by_scaling(draws, filled, order, highest)
        case missing:
            assert_never(missing)


def _choose(
    measured: Measured, groups: Ladder, limits: list[int], highest: Fraction | None, ways: Ways
) -> _Choice:
    """The best cap at each limit of groups, in each way."""
    caps = candidates(measured.pairs, measured.highest)
    draws = measured.draws()
    total = bounded_total(draws, measured.highest)
    capped = total[:, None] - biases_of(draws, caps, measured.highest)
    biases, noises, losses = [], [], []
    for way in ways.allowed:
        lost = lost_pairs(groups, measured, limits, caps, way, ways.order, highest)
        # (draws, limits, caps): what the caps leave of what the limits leave.
        biases.append(np.maximum(total[:, None, None] - (1 - lost) * capped[:, None, :], 0.0))
        noise_of = measured.noise_of
        if way is OverGroups.SCALE and measured.scaled_noise_of is not None:
            noise_of = measured.scaled_noise_of
        noises.append(noise_means([noise_of(limit, cap) for limit in limits for cap in caps]))
        losses.append(lost)
    some = [
        each[::_EVERY].reshape(-1, noise.size) for each, noise in zip(biases, noises, strict=True)
    ]
    times = hindsight_ratio(np.concatenate(some, axis=1), np.concatenate(noises))
    times = times.reshape(len(ways.allowed), len(limits), len(caps))
    chosen = times.argmin(axis=2)
    best = tuple(
        tuple(
            chosen_cap(
                caps[cap],
                biases[way][:, limit, cap],
                float(noises[way].reshape(len(limits), -1)[limit, cap]),
                total,
            )
            for limit, cap in enumerate(chosen[way].tolist())
        )
        for way in range(len(ways.allowed))
    )
    means = tuple(
        np.array([lost[:, n, min(cap, lost.shape[2] - 1)].mean() for n, cap in enumerate(row)])
        for lost, row in zip(losses, chosen.tolist(), strict=True)
    )
    return _Choice(times.min(axis=2), best, means)
