"""Caps of each group by its key: of few units noise is much, and a lower cap leaves less of it.

403 of 100,413 firms are in one state, 8,000 in another: a cap that is best for the first cuts off
much of the second, and noise for the second's cap is most of what the first has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from msgspec import Struct

from dpsql.bounding.options import KeyCaps, SumCap
from dpsql.plan.aggregate import AggregateFunction
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.estimator import DividedSum
from dpsql.plan.expression_text import describe
from dpsql.plan.operator import Release
from dpsql.privacy.ladder.cap_choice import ChosenCap, best_cap
from dpsql.privacy.ladder.expected_bias import ExpectedBias, KeyBiases
from dpsql.privacy.ladder.ladder import Ladder
from dpsql.session.ladders.release_ladders import KeyShares


class KeyCapChoice(Struct, frozen=True):
    """The caps of each key, and what each is expected to leave out of its group's sum."""

    caps: KeyCaps
    biases: KeyBiases

    def note(self, name: str, ladders: str) -> str:
        """What is told of all groups together."""
        expected = sum(bias.expected for _, bias in self.biases)
        total = sum(bias.total for _, bias in self.biases)
        return (
            f"{name}: limits by {describe(self.caps.key)} leave out about {expected:,.3g} of"
            f" {total:,.6g} in all groups, as expected by {ladders}"
        )


def key_cap_choice(
    ladder: Ladder, known: KeyShares, noise_of_cap: Callable[[Fraction], float]
) -> KeyCapChoice | None:
    """The cap of each value of a key with the least expected error; None where all are the same.

    A value that isn't known has the lowest of them.
    """
    best: dict[Fraction, ChosenCap] = {
        share: best_cap(ladder, share, noise_of_cap, None) for share in set(known.shares)
    }
    if len({one.cap for one in best.values()}) < 2:
        return None
    chosen = [(value, best[s]) for value, s in zip(known.values, known.shares, strict=True)]
    lowest = min(one.cap for _, one in chosen)
    caps = KeyCaps(known.key, tuple((value, one.cap) for value, one in chosen), lowest)
    return KeyCapChoice(caps, tuple((value, _bias(one)) for value, one in chosen))


def has_one_cap(release: Release, bounded: BoundedRelease, sums: Sequence[SumCap]) -> bool:
    """Whether any of `sums` for which caps by key were chosen has one cap for all groups."""
    by_key = {each.argument for each in sums if each.by_key is not None}
    summed = {
        each.column
        for each in release.aggregates
        if each.call.function is AggregateFunction.SUM
        and not each.call.distinct
        and each.call.arguments[0] in by_key
    }
    others = (o for o in bounded.outputs if not isinstance(o.estimator, DividedSum))
    return any(output.column in summed for output in others)


def _bias(one: ChosenCap) -> ExpectedBias:
    return ExpectedBias(one.bias, one.low, one.high, one.total)
