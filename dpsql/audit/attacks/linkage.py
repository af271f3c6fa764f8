"""Linkage of a public register with data that have no names.

A register of voters has names, days of birth, ZIP codes and sexes. Two hospitals give away their
patients without names. Who is in the register and in both has a row of each hospital that can be
found by these three (Sweeney 1997 found that of the governor of Massachusetts, William Weld).

That each hospital makes its table k-anonymous doesn't help: a person's class in either has some k
diagnoses, and the person's own is in both (Ganta, Kasiviswanathan & Smith 2008). That rows can't be
told apart says nothing about two tables, where losses of differential privacy add up.
"""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from random import Random
from typing import Final

import pyarrow as pa
from msgspec import Struct

from dpsql.audit.attacks.k_anonymity import Attributes, k_anonymous
from dpsql.audit.attacks.outcome import Outcome
from dpsql.audit.attacks.targets import DELTA, Dataset, Target, targets

K: Final = 5
"""In how many rows a person hides in the tables that are k-anonymous."""

_REGISTERED, _PATIENTS = 200, 60
_DAYS, _ZIP_CODES, _DIAGNOSES = 60 * 365, 12, 200
_FIRST_DAY: Final = date(1940, 1, 1)

_SCHEMA = """
dataset: hospitals
source: attacked.duckdb
ledger: ledger.db
units: {{person: {{table: persons, key: person}}}}
tables:
  persons: {{unit: person, key: person, columns: {{person: {{type: bigint}}}}}}
  stays:
    unit: {{column: person, references: persons.person}}
    limits: {{rows: 2}}
    columns:
      person: {{type: bigint}}
      trial: {{type: bigint, bounds: [0, {trials}]}}
      hospital: {{type: bigint, bounds: [0, 1]}}
      born: {{type: date}}
      zip: {{type: bigint, bounds: [0, {zips}]}}
      sex: {{type: bigint, bounds: [0, 1]}}
      diagnosis: {{type: bigint, bounds: [0, {diagnoses}]}}
budget: {{epsilon: 64, delta: 0.001, accounting: approx}}
per_query: {{epsilon: 1, max_epsilon: 64, delta: {delta}}}
"""


class LinkageOutcome(Outcome, frozen=True):
    """An outcome, with how often the attack was right about tables that are k-anonymous."""

    k_anonymous: int


class _Trial(Struct, frozen=True):
    """Two hospitals' rows, a diagnosis, and whether the victim, who is in both, has it."""

    victim: Attributes
    diagnosis: int
    truth: bool
    hospitals: tuple[list[tuple[int, Attributes, int]], ...]


def link(epsilon: Fraction, trials: int, random: Random) -> LinkageOutcome:
    """Guess in each trial whether a person in the register has a diagnosis, at a loss of ε."""
    drawn = [_trial(random) for _ in range(trials)]
    with targets(_dataset(drawn)) as pair:
        plain, private = (
            sum(
                _has_diagnosis(target, number, trial, epsilon) == trial.truth
                for number, trial in enumerate(drawn)
            )
            for target in pair
        )
    intersected = sum(_is_in_both_classes(trial) == trial.truth for trial in drawn)
    about = "a diagnosis, of a person in a public register and in two hospitals"
    return LinkageOutcome("linkage", about, trials, plain, private, epsilon, intersected)


def _trial(random: Random) -> _Trial:
    """A register; patients of two hospitals that are drawn from it, all with other diagnoses."""
    register: list[Attributes] = [
        (random.randrange(_DAYS), random.randrange(_ZIP_CODES), random.randrange(2))
        for _ in range(_REGISTERED)
    ]
    diagnosis, truth = random.randrange(_DIAGNOSES), random.random() < 0.5
    # Nobody looks for one who shares birth, ZIP code and sex with another by chance.
    victim = next(n for n, known in enumerate(register) if register.count(known) == 1)
    own = diagnosis if truth else (diagnosis + random.randrange(1, _DIAGNOSES)) % _DIAGNOSES
    others = [n for n in range(_REGISTERED) if n != victim]
    hospitals = tuple(
        [
            (victim, register[victim], own),
            *(
                (n, register[n], random.randrange(_DIAGNOSES))
                for n in random.sample(others, _PATIENTS - 1)
            ),
        ]
        for _ in range(2)
    )
    return _Trial(register[victim], diagnosis, truth, hospitals)


def _dataset(trials: list[_Trial]) -> Dataset:
    rows = [
        (number * _REGISTERED + person, number, hospital, _born(known), *known[1:], diagnosis)
        for number, trial in enumerate(trials)
        for hospital, patients in enumerate(trial.hospitals)
        for person, known, diagnosis in patients
    ]
    names = ("person", "trial", "hospital", "born", "zip", "sex", "diagnosis")
    stays = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    persons = pa.table({"person": stays["person"].unique()})
    text = _SCHEMA.format(
        trials=len(trials), zips=_ZIP_CODES, diagnoses=_DIAGNOSES, delta=float(DELTA)
    )
    return Dataset({"persons": persons, "stays": stays}, text)


def _has_diagnosis(target: Target, number: int, trial: _Trial, epsilon: Fraction) -> bool:
    """Counts the rows that have the register's data of the victim, and the diagnosis."""
    _, zip_code, sex = trial.victim
    ((count,),) = target.ask(
        f"SELECT count(*) FROM stays WHERE trial = {number} AND born = DATE '{_born(trial.victim)}'"
        f" AND zip = {zip_code} AND sex = {sex} AND diagnosis = {trial.diagnosis}",
        epsilon,
    )
    assert isinstance(count, int)
    return count > 1


def _is_in_both_classes(trial: _Trial) -> bool:
    """Whether the victim's class in each hospital's k-anonymous table has the diagnosis."""
    tables = (
        k_anonymous([(known, diagnosis) for _, known, diagnosis in patients], K)
        for patients in trial.hospitals
    )
    return all(
        any(one.may_have(trial.victim) and trial.diagnosis in one.values for one in classes)
        for classes in tables
    )


def _born(person: Attributes) -> date:
    return _FIRST_DAY + timedelta(days=person[0])
