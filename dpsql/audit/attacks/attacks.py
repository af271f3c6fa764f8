"""Known attacks, as analysts would run them, against plain DuckDB and against dpsql.

Each tells two equally likely worlds apart, over and over: a secret that is true or false, a person
who is there or isn't. Whoever guesses gets half of them right, and (ε, δ)-differential privacy
lets nobody get more than (e^ε + δ)/(1 + e^ε) right on average, whatever is asked (Kairouz, Oh &
Viswanath 2015), where ε is the total of all that an attack asks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from dpsql.audit.attacks.reconstruction import Reconstruction, reconstruct
from dpsql.audit.attacks.targets import DELTA, Person, Target, cohort, targets
from dpsql.errors import BadParameter

_PEOPLE = 40
_REPEATS = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """How often an attack was right, and the most it may be, on average, at `epsilon` in total."""

    name: str
    description: str
    trials: int
    plain: int
    private: int
    epsilon: Fraction

    @property
    def max_right(self) -> float:
        """The largest success rate that the loss allows."""
        return max_right(self.epsilon)

    @property
    def slack(self) -> float:
        """Four standard errors of the success rate: chance passes them once in 30,000 times."""
        return 4 * math.sqrt(self.max_right * (1 - self.max_right) / self.trials)

    @property
    def is_broken(self) -> bool:
        """Whether dpsql gave away more than the loss allows."""
        return self.private / self.trials > self.max_right + self.slack


@dataclass(frozen=True, slots=True)
class AttackReport:
    """All attacks, and reconstructions with ever more queries."""

    epsilon: Fraction
    outcomes: tuple[Outcome, ...]
    reconstructions: tuple[Reconstruction, ...]


def max_right(epsilon: Fraction) -> float:
    """The largest part of fair guesses that may be right after a loss of ε and δ."""
    odds = math.exp(float(epsilon))
    return (odds + float(DELTA)) / (1 + odds)


def attack(
    epsilon: Fraction, *, trials: int = 100, people: int = 64, seed: int = 1
) -> AttackReport:
    """Run every attack; each spends `epsilon` in all on whatever it asks in one trial."""
    if not 0 < epsilon <= 10 or trials < 1 or not 8 <= people <= 200:
        raise BadParameter(
            "that is no attack", hint="ask for 0 < epsilon <= 10, trials, and 8 to 200 people"
        )
    random = Random(seed)
    outcomes = [
        _run(name, about, worlds, guess, epsilon, trials, random)
        for name, about, worlds, guess in _ATTACKS
    ]
    crowd = cohort(0, people, random)
    with targets(crowd) as found:
        counts = [people // 4, people, 4 * people]
        rebuilt = [reconstruct(crowd, found, epsilon, count, random) for count in counts]
    return AttackReport(epsilon, tuple(outcomes), tuple(rebuilt))


Guess = Callable[[Target, int, int, Fraction], bool]
"""Asks `target` about a victim of a trial, at a loss of so much in all."""

Worlds = Callable[[list[Person], bool], list[Person]]
"""A trial's people in the world where what is guessed holds, or doesn't."""


def _run(
    name: str,
    description: str,
    worlds: Worlds,
    guess: Guess,
    epsilon: Fraction,
    trials: int,
    random: Random,
) -> Outcome:
    truths = [random.random() < 0.5 for _ in range(trials)]
    victims = [random.randrange(_PEOPLE) for _ in range(trials)]
    people: list[Person] = []
    for trial, (truth, victim) in enumerate(zip(truths, victims, strict=True)):
        rows = cohort(trial, _PEOPLE, random)
        rows = [*rows[:victim], *worlds(rows[victim : victim + 1], truth), *rows[victim + 1 :]]
        people += rows
    with targets(people) as found:
        right = [
            sum(
                guess(target, trial, victim, epsilon) == truth
                for trial, (truth, victim) in enumerate(zip(truths, victims, strict=True))
            )
            for target in found
        ]
    return Outcome(name, description, trials, right[0], right[1], epsilon)


def _secret(victim: list[Person], truth: bool) -> list[Person]:  # noqa: FBT001 - what is guessed
    (found,) = victim
    return [(found[0], found[1], truth, found[3])]


def _membership_secret(victim: list[Person], truth: bool) -> list[Person]:  # noqa: FBT001 - the same
    return victim if truth else []


def _in_a_town(victim: list[Person], truth: bool) -> list[Person]:  # noqa: FBT001 - the same
    (found,) = victim
    return [(found[0], found[1], found[2], f"alone {found[0]}")] if truth else []


def _number(rows: Sequence[tuple[object, ...]]) -> float:
    ((value,),) = rows
    assert isinstance(value, int | float)
    return float(value)


def _differencing(target: Target, trial: int, victim: int, epsilon: Fraction) -> bool:
    """A count with the victim less the count of all others."""
    counted = f"SELECT count(*) FROM people WHERE trial = {trial} AND secret"
    others = f"{counted} AND id <> {victim}"
    return (
        _number(target.ask(counted, epsilon / 2)) - _number(target.ask(others, epsilon / 2)) > 0.5
    )


def _averaging(target: Target, trial: int, victim: int, epsilon: Fraction) -> bool:
    """The mean of one count, asked again and again in other words."""
    asked = [f"trial = {trial}", f"id = {victim}", "secret"]
    words = ["SELECT count(*) FROM people WHERE", "select COUNT(*) AS n from people where"]
    found = [
        # The whole budget for each: a stored answer costs nothing more.
        _number(target.ask(f"{words[n % 2]}{' ' * n} {' AND '.join(asked)}", epsilon))
        for n in range(1, _REPEATS + 1)
    ]
    return sum(found) / len(found) > 0.5


def _membership(target: Target, trial: int, victim: int, epsilon: Fraction) -> bool:
    """A count of the victim alone."""
    sql = f"SELECT count(*) FROM people WHERE trial = {trial} AND id = {victim}"
    return _number(target.ask(sql, epsilon)) > 0.5


def _presence(target: Target, trial: int, victim: int, epsilon: Fraction) -> bool:
    """Whether a group appears that only the victim would be in."""
    del victim
    sql = f"SELECT town, count(*) FROM people WHERE trial = {trial} GROUP BY town"
    return any(str(town).startswith("alone") for town, _ in target.ask(sql, epsilon))


_ATTACKS: tuple[tuple[str, str, Worlds, Guess], ...] = (
    ("differencing", "a secret, from two counts that differ by one person", _secret, _differencing),
    ("averaging", f"a secret, from one count asked {_REPEATS} times", _secret, _averaging),
    (
        "membership",
        "whether a person is in the data, by a count of nobody else",
        _membership_secret,
        _membership,
    ),
    ("group presence", "whether a person is there, by a town of their own", _in_a_town, _presence),
)
