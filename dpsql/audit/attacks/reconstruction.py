"""Reconstruction of everybody's secret from counts over random subsets.

(Dinur & Nissim 2003, "Revealing information while preserving privacy".) The secrets are taken to be
numbers from 0 to 1; a linear programme finds those whose counts are closest to the answers, summed
over all of them, and they are rounded.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.audit.attacks.targets import Person, Target
from dpsql.errors import InterfaceError
from dpsql.installed_extra import install_extra


class Reconstruction(Struct, frozen=True):
    """How many of `people` secrets were right from `queries` counts of either target."""

    people: int
    queries: int
    plain: int
    private: int


def reconstruct(
    crowd: list[Person],
    database: tuple[Target, Target],
    epsilon: Fraction,
    queries: int,
    random: Random,
) -> Reconstruction:
    """Attack both targets with the same subsets; all counts together cost `epsilon`."""
    people = len(crowd)
    subsets = [[n for n in range(people) if random.random() < 0.5] for _ in range(queries)]
    held = np.zeros((queries, people))
    for row, subset in enumerate(subsets):
        held[row, subset] = 1.0
    truth = np.array([secret for _, _, secret, _ in crowd])
    right = []
    for target in database:
        answers = np.array([_count(target, subset, epsilon / queries) for subset in subsets])
        right.append(int((_closest(held, answers) == truth).sum()))
    return Reconstruction(people, queries, right[0], right[1])


def check_solver() -> None:
    """Raise InterfaceError without scipy, before anything is attacked."""
    _solver()


def _solver() -> Any:
    try:
        from scipy.optimize import linprog  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise InterfaceError(
            "reconstruction solves a linear programme with scipy",
            hint=install_extra("audit"),
        ) from None
    return linprog


def _count(target: Target, subset: list[int], epsilon: Fraction) -> float:
    listed = ", ".join(map(str, subset)) or "-1"
    ((count,),) = target.ask(
        f"SELECT count(*) FROM people WHERE secret AND id IN ({listed})", epsilon
    )
    assert isinstance(count, int)
    return float(count)


def _closest(known: NDArray[np.float64], answers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The secrets x in [0, 1] with the smallest Σ|known·x - answers|, rounded."""
    linprog = _solver()
    queries, people = known.shape
    one = np.eye(queries)
    cost = np.concatenate([np.zeros(people), np.ones(queries)])
    above = np.vstack([np.hstack([known, -one]), np.hstack([-known, -one])])
    limits = np.concatenate([answers, -answers])
    bounds = [(0, 1)] * people + [(0, None)] * queries
    solved = linprog(cost, A_ub=above, b_ub=limits, bounds=bounds, method="highs")
    return np.asarray(solved.x[:people] > 0.5)
