"""Known attacks, as analysts would run them, against plain DuckDB and against dpsql.

Each attack has to tell two equally likely worlds apart, in many trials: a secret that is true or
false, a person who is there or isn't.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

from msgspec import Struct

from dpsql.audit.attacks.linkage import LinkageOutcome, link
from dpsql.audit.attacks.outcome import Outcome
from dpsql.audit.attacks.reconstruction import Reconstruction, reconstruct
from dpsql.audit.attacks.targets import Person, Target, cohort, dataset, targets
from dpsql.errors import BadParameter

_PEOPLE = 40
_REPEATS = 20


class AttackReport(Struct, frozen=True):
    """The outcomes of all attacks, and reconstructions with increasing numbers of queries."""

    epsilon: Fraction
    outcomes: tuple[Outcome, ...]
    linkage: LinkageOutcome
    reconstructions: tuple[Reconstruction, ...]


def attack(
    epsilon: Fraction, *, trials: int = 100, people: int = 64, seed: int = 1
) -> AttackReport:
    """Run every attack; the queries of each cost `epsilon` in total in one trial.

    `people` are those of the reconstruction. Raises BadParameter if a number is out of range.
    """
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
    with targets(dataset(crowd)) as pair:
        counts = [people // 4, people, 4 * people]
        rebuilt = [reconstruct(crowd, pair, epsilon, count, random) for count in counts]
    linked = link(epsilon, trials, random)
    return AttackReport(epsilon, tuple(outcomes), linked, tuple(rebuilt))


Guess = Callable[[Target, int, int, Fraction], bool]
"""Guesses a trial's truth from answers of a target: of (target, trial, victim, total epsilon)."""

Worlds = Callable[[list[Person], bool], list[Person]]
"""The victim's rows in the world where the truth to guess is true, or where it is false."""


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
    with targets(dataset(people)) as pair:
        right = [
            sum(
                guess(target, trial, victim, epsilon) == truth
                for trial, (truth, victim) in enumerate(zip(truths, victims, strict=True))
            )
            for target in pair
        ]
    return Outcome(name, description, trials, right[0], right[1], epsilon)


def _secret(victim: list[Person], truth: bool) -> list[Person]:  # noqa: FBT001 - what is guessed
    (person,) = victim
    return [(person[0], person[1], truth, person[3])]


def _membership_secret(victim: list[Person], truth: bool) -> list[Person]:  # noqa: FBT001 - the same
    return victim if truth else []


def _in_a_town(victim: list[Person], truth: bool) -> list[Person]:  # noqa: FBT001 - the same
    (person,) = victim
    return [(person[0], person[1], person[2], f"alone {person[0]}")] if truth else []


def _number(rows: Sequence[tuple[object, ...]]) -> float:
    ((value,),) = rows
    assert isinstance(value, int | float)
    return float(value)


def _differencing(target: Target, trial: int, victim: int, epsilon: Fraction) -> bool:
    """Subtracts the count of all others from the count with the victim."""
    counted = f"SELECT count(*) FROM people WHERE trial = {trial} AND secret"
    others = f"{counted} AND id <> {victim}"
    return (
        _number(target.ask(counted, epsilon / 2)) - _number(target.ask(others, epsilon / 2)) > 0.5
    )


def _averaging(target: Target, trial: int, victim: int, epsilon: Fraction) -> bool:
    """Averages one count, which is asked again and again in other words."""
    conditions = [f"trial = {trial}", f"id = {victim}", "secret"]
    words = ["SELECT count(*) FROM people WHERE", "select COUNT(*) AS n from people where"]
    counts = [
        # The whole budget for each: a stored answer costs nothing more.
        _number(target.ask(f"{words[n % 2]}{' ' * n} {' AND '.join(conditions)}", epsilon))
        for n in range(1, _REPEATS + 1)
    ]
    return sum(counts) / len(counts) > 0.5


def _membership(target: Target, trial: int, victim: int, epsilon: Fraction) -> bool:
    """Counts the victim alone."""
    sql = f"SELECT count(*) FROM people WHERE trial = {trial} AND id = {victim}"
    return _number(target.ask(sql, epsilon)) > 0.5


def _presence(target: Target, trial: int, victim: int, epsilon: Fraction) -> bool:
    """Looks for a group that only the victim would be in."""
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
