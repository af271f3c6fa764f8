"""What a synopsis tells apart: its own steps, run on two databases to one and the same end.

On the first database every noisy answer is made up, and every choice; on the second they are played
again. What each mechanism was handed on either is thus known, and what it would take to tell the
two apart by it: all of that together has to be within what was charged. The tables that are made
have to be the same, since nothing but answers may decide them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any, cast
from unittest import mock

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from privacy.seeded import SeededRandomness

from dpsql.audit.databases.database_batch import Groups
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.allocation.mwem_calibration import (
    CHOICE_SHARE,
    MwemParameters,
    mwem_calibration,
)
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.selection.exponential import Exponential, amount_of_range
from dpsql.release.add_noise import RawGroups
from dpsql.release.synopsis import mwem
from dpsql.release.synopsis.synopsis_table import synopsis_table
from dpsql.release.synopsis.weight_fit import Estimates
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.structs import replace

Integers = NDArray[np.int64]
Handed = tuple[IndependentNoise | Exponential, Integers]


class OtherQuestionError(Exception):
    """A mechanism is handed another number of integers than on the first database."""


@dataclass
class Tape:
    """What mechanisms were handed, in order, and what they answered the first time."""

    chance: Random
    answers: list[Integers] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    handed: list[Handed] = field(default_factory=list)
    paid: list[Fraction] = field(default_factory=list)

    def answer(
        self, of: IndependentNoise | Exponential, handed: Integers, paid: Fraction = Fraction(0)
    ) -> Integers:
        place = len(self.handed)
        self.handed.append((of, handed))
        self.paid.append(paid)
        if place == len(self.answers):
            made = (
                np.array([self.chance.randrange(handed.size)])
                if isinstance(of, Exponential)
                else handed + self.chance.choice([-9, 0, 9, 99])
            )
            self.answers.append(made)
            self.sizes.append(handed.size)
        if self.sizes[place] != handed.size:
            raise OtherQuestionError
        return self.answers[place]

    def again(self) -> Tape:
        """For another database."""
        return Tape(self.chance, self.answers, self.sizes)


@dataclass(frozen=True)
class Taped:
    """A mechanism whose answers are on tape; its noise is as it would be.

    `paid` is the share of a round's loss that it has.
    """

    own: IndependentNoise | Exponential
    tape: Tape
    paid: Fraction = Fraction(0)

    @property
    def variance(self) -> object:
        return cast("IndependentNoise", self.own).variance

    @property
    def rate(self) -> Fraction:
        return cast("Exponential", self.own).rate

    def release(self, values: Sequence[int], randomness: Randomness) -> list[int]:
        del randomness
        handed = np.array(values, dtype=np.int64)
        return [int(x) for x in self.tape.answer(self.own, handed, self.paid)]

    def release_vector(self, values: Integers, randomness: Randomness) -> Integers:
        del randomness
        return self.tape.answer(self.own, values.copy(), self.paid)

    choose = release


@dataclass(frozen=True)
class TapedWeighing:
    """A synopsis' mechanisms, all on one tape."""

    made: MwemParameters
    tape: Tape

    @property
    def parts(self) -> int:
        return self.made.parts

    @property
    def total(self) -> Taped:
        return Taped(self.made.total, self.tape, _of_total(self.made))

    @property
    def sums(self) -> tuple[TapedWeighing, ...]:
        return tuple(TapedWeighing(one, self.tape) for one in self.made.sums)

    def choice(self, taken: int) -> Taped:
        paid = self.made.part * taken * CHOICE_SHARE
        return Taped(self.made.choice(taken), self.tape, paid)

    def noise(self, taken: int, merged: int) -> Taped:
        paid = self.made.part * taken * (1 - CHOICE_SHARE)
        return Taped(self.made.noise(taken, merged), self.tape, paid)


def told_apart(one: Groups, other: Groups, release: CompiledRelease) -> Iterator[str]:
    """Every way in which a synopsis shows more of two neighbours than it costs.

    As it was calibrated, and as it would be under pure.
    """
    measured = release.step.measurement
    made = measured.table_mechanism
    assert isinstance(made, MwemParameters)
    moves = [each.sensitivity for each in (made, *made.sums)]
    pure = mwem_calibration(moves, made.parts, PrivacyLoss(Accounting.PURE, Fraction(1)))
    for found, loss in ((made, measured.loss), pure):
        tape = Tape(Random(f"{one}{other}"))
        again = tape.again()
        with _fitted_once():
            first = _table(one, release, found, tape)
            try:
                second = _table(other, release, found, again)
            except OtherQuestionError:
                yield "statistic 0 of a synopsis: other questions"
                continue
        if not first.equals(second):
            yield "statistic 0 of a synopsis that its answers don't decide"
        if len(tape.handed) != len(again.handed):
            yield "statistic 0 of a synopsis: other questions"
            continue
        pairs = zip(tape.handed, again.handed, strict=True)
        accounting = _counted_in(found)
        steps_spent = [spent(a, b, accounting) for a, b in pairs]
        # Another statement's rounds may take each of theirs in full, where these happen not to.
        steps = [*zip(steps_spent, tape.paid, strict=True), (sum(tape.paid), charged(loss))]
        for of, most in steps:
            if of > most:
                yield f"statistic 0 of a synopsis by {float(of)}, paid {float(most)}"


@contextmanager
def _fitted_once() -> Iterator[None]:
    """Estimates that were fitted to the first database's answers are those of the second, too."""
    with ExitStack() as patches:
        for fit in ("fitted", "spread_sums"):
            once = computed_once(getattr(mwem, fit))
            patches.enter_context(mock.patch.object(mwem, fit, once))
        yield


def computed_once(compute: Callable[..., Estimates]) -> Callable[..., Estimates]:
    """`compute`, which returns what it did before where all that it is given is the same.

    It reads nothing else, and nobody may change what it returned.
    """
    results: dict[bytes, Estimates] = {}

    def once(*given: object) -> Estimates:
        key = pickle.dumps(given)
        if key not in results:
            results[key] = compute(*given)
            results[key].flags.writeable = False
        return results[key]

    return once


def _table(groups: Groups, release: CompiledRelease, found: MwemParameters, tape: Tape) -> pa.Table:
    step, keys = release.step, list(groups)
    raw = {
        f"g{n}": pa.array([key[n] for key in keys], pa.int64())
        for n in range(len(step.query.domains))
    }
    for index in range(1 + len(found.sums)):
        raw[f"s{index}"] = pa.array([int(groups[key][index]) for key in keys], pa.int64())
    taped = cast("Any", TapedWeighing(found, tape))
    nothing = SeededRandomness("taped")
    return synopsis_table(RawGroups(pa.table(raw)), step.bounded, step.query, taped, nothing)


@cache
def _of_total(made: MwemParameters) -> Fraction:
    """What the sum of all cells loses: all that is charged beside the rounds."""
    whole = replace(made, sums=()).loss(_counted_in(made)).amount
    return whole - made.parts * made.part


def _counted_in(found: MwemParameters) -> Accounting:
    """In what losses of its mechanisms are counted: ε, ρ or μ²."""
    match found.total:
        case DiscreteLaplace():
            return Accounting.PURE
        case DiscreteGaussian():
            return Accounting.ZCDP
        case RoundedGaussian():
            return Accounting.GDP


def spent(one: Handed, other: Handed, accounting: Accounting) -> Fraction:
    """What the answer of one mechanism tells of which database it was handed: ε, ρ or μ²."""
    (mechanism, before), (same, after) = one, other
    assert mechanism == same
    moved = [int(b) - int(a) for a, b in zip(before, after, strict=True)]
    match mechanism:
        case DiscreteLaplace():
            return mechanism.epsilon(sum(map(abs, moved)))
        case DiscreteGaussian():
            return mechanism.rho(sum(x * x for x in moved))
        case RoundedGaussian():
            return mechanism.mu_squared(sum(x * x for x in moved))
        case Exponential():
            # Two candidates' log-probabilities come apart by as much.
            apart = mechanism.rate * (max(moved) - min(moved))
            return amount_of_range(apart, accounting)


def charged(loss: PrivacyLoss) -> Fraction:
    """In the mechanisms' own terms: (ε, δ) was converted from ρ."""
    if loss.accounting is Accounting.APPROX and loss.delta:
        return rho_of_epsilon(loss.amount, loss.delta)
    return loss.amount
