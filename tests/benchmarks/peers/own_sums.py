"""dpsql's sums with caps from a ladder that is paid for out of the same ε.

A tenth of all that is spent is the ladder's. Of one question alone the rest is its own, of ten each
has a tenth of the rest. A question about a part reads how large the part is from the ladder's
shares, as `CALIBRATE … BY` draws them. Caps are chosen by the functions that choose them for
queries, and the noise is Laplace's, as that of sums at a pure ε.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Final

import numpy as np
from benchmarks.peers.sum_questions import ANSWERS
from privacy.ladder_data import CAPS, RUNGS, Floats, excesses, laplace, rung_counts

from dpsql.privacy.ladder.cap_choice import best_cap
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace

OF_LADDER: Final = Fraction(1, 10)
OF_SHARES: Final = Fraction(1, 10)
"""Of a ladder by groups, the part of its loss that counts the units in each."""

QUESTIONS: Final = {"alone": 1, "of ten": 10}

Asked = tuple[int | None, float]
"""The units that a question is about, None for all, and its ε."""


def own_errors(
    held: Floats, asked: Sequence[Asked], random: np.random.Generator, *, step: int
) -> Mapping[Asked, Mapping[str, list[float]]]:
    """How far answers are off, relative to the true sum: by one ladder, and in hindsight.

    Units are in a random order, so that the first ones are a part at random. One ladder of each ε
    serves all questions. In hindsight: at the cap with the least expected error, which nobody
    knows, with all of ε for the noise.
    """

    @cache
    def ladder(epsilon: Fraction) -> Ladder:
        return drawn_ladder(held, epsilon * (1 - OF_SHARES), random, step)

    found = {}
    for part, epsilon in asked:
        units = held[:part]
        sums = Sums(float(units.sum()), excesses(units))
        by_name = {}
        for name, number in QUESTIONS.items():
            of_ladder = number * Fraction(str(epsilon)) * OF_LADDER
            own = Fraction(str(epsilon)) * (1 - OF_LADDER)
            share = noisy_share(units.size, held.size, of_ladder * OF_SHARES, random)
            if part is None:
                share = Fraction(1)
            chosen = best_cap(ladder(of_ladder), share, partial(noise, own), None)
            by_name[name] = sums.errors(RUNGS.index(chosen.cap) - 1, float(own), random)
        by_name["hindsight"] = sums.errors(sums.best(epsilon), epsilon, random)
        found[part, epsilon] = by_name
    return found


@dataclass(frozen=True, eq=False)
class Sums:
    """The sum of a part, and what it has beyond each of `CAPS`."""

    total: float
    beyond: Floats

    def best(self, epsilon: float) -> int:
        """The cap with the least expected error."""
        scale = CAPS / epsilon
        return int((self.beyond + scale * np.exp(-self.beyond / scale)).argmin())

    def errors(self, cap: int, epsilon: float, random: np.random.Generator) -> list[float]:
        """How far answers at this cap are off, relative to the sum."""
        drawn = random.laplace(0, CAPS[cap] / epsilon, ANSWERS)
        return [float(off) for off in np.abs(drawn - self.beyond[cap]) / self.total]


def noise(epsilon: Fraction, cap: Fraction) -> float:
    """The mean absolute noise at a cap."""
    return float(cap / epsilon)


def drawn_ladder(held: Floats, epsilon: Fraction, random: np.random.Generator, step: int) -> Ladder:
    """The ladder of what is held, of counts at ε."""
    scale = 1 / epsilon
    counts = rung_counts(held) + laplace(random, float(scale), len(RUNGS))
    return Ladder(tuple(counts.tolist()), RUNGS, DiscreteLaplace(scale), Fraction(step))


def noisy_share(part: int, whole: int, epsilon: Fraction, random: np.random.Generator) -> Fraction:
    """The part's share of all units, by noisy numbers of those in it and of the others."""
    off = laplace(random, float(1 / epsilon), 2)
    fewest = 1 + int(math.sqrt(2) / epsilon)  # a deviation of the noise
    counted, others = max(fewest, part + int(off[0])), max(fewest, whole - part + int(off[1]))
    return Fraction(counted, counted + others)
