"""What other groups add to a column becomes statistics of each group, with noise of its own.

tea 50, coffee 30, none 20   →   tea (50, others 50), coffee (30, others 70), none (20, others 80)

Of the groups that differ in one key alone each adds a draw that no other group's own value has, so
that a value's own noise and that of the others are independent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpsql.plan.bounded_release.estimator import Formula, FormulaOutput, Linear, Others, Said
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.add_noise import NoisyGroups
from dpsql.release.columns.confidence_interval import Combined, Spread, half_width
from dpsql.release.columns.integer_arrays import of_list

Place = tuple[int, int]
"""A key and a statistic: its sum over the groups that differ in this key alone."""


@dataclass(frozen=True, slots=True)
class Apart:
    """`outputs` that read one group alone, which has `added` statistics behind its own."""

    outputs: tuple[FormulaOutput, ...]
    spreads: tuple[Spread, ...]
    added: tuple[Place, ...]

    def of_groups(self, groups: NoisyGroups) -> NoisyGroups:
        """`groups` with what was added; all cells of their keys are there."""
        if not self.added:
            return groups
        sums = tuple(_elsewhere(groups, key, place) for key, place in self.added)
        return replace(groups, statistics=(*groups.statistics, *sums))


def apart(outputs: tuple[FormulaOutput, ...], spreads: Sequence[Spread]) -> Apart:
    """`outputs` over statistics with noise of these `spreads`, without a look at other groups."""
    read = {
        (others.key, place): others.groups
        for output in outputs
        for others in _read(output.formula)
        for place, _ in others.terms
    }
    places = {each: len(spreads) + number for number, each in enumerate(read)}
    return Apart(
        tuple(replace(output, formula=_told(output.formula, places)) for output in outputs),
        (*spreads, *(_summed(spreads[place], groups) for (_, place), groups in read.items())),
        tuple(read),
    )


def _read(formula: Formula) -> list[Others]:
    """What it reads of other groups, and the number of rows by which its variance goes."""
    if not isinstance(formula, Linear):
        return []
    own = [] if formula.others is None else [formula.others]
    return own if formula.said is None else own + _read(formula.said.rows)


def _told(formula: Formula, places: dict[Place, int]) -> Formula:
    return _of_one_group(formula, places) if isinstance(formula, Linear) else formula


def _of_one_group(formula: Linear, places: dict[Place, int]) -> Linear:
    said, others = formula.said, formula.others
    if said is not None:
        said = Said(said.inside, said.outside, _of_one_group(said.rows, places))
    if others is None:
        return replace(formula, said=said)
    added = tuple((places[others.key, place], factor) for place, factor in others.terms)
    return replace(formula, terms=(*formula.terms, *added), said=said, others=None)


def _summed(noise: Spread, groups: int) -> Combined:
    """A sum of draws has no more standard deviations in its half-width than one of them has."""
    width = math.ceil(half_width(noise) * math.sqrt(groups))
    return Combined(groups * float(noise.variance), width)


def _elsewhere(groups: NoisyGroups, key: int, place: int) -> Integers:
    """A statistic's sum over the groups that differ in this key alone, for each group."""
    rest = [column.to_pylist() for number, column in enumerate(groups.keys) if number != key]
    cells = list(zip(*rest, strict=True)) if rest else [()] * groups.count
    values: list[int] = groups.statistics[place].tolist()
    sums: defaultdict[tuple[object, ...], int] = defaultdict(int)
    for cell, value in zip(cells, values, strict=True):
        sums[cell] += value
    return of_list([sums[cell] - value for cell, value in zip(cells, values, strict=True)])
