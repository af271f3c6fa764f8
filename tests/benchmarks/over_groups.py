"""Errors of ways to keep a unit in too many groups to its limits, at the same loss.

`sample`: it counts in as many groups as it may, drawn at random. `largest`: in those where it has
most rows. `L1` and `L2`: in all, its rows in them scaled to the norm of as many full groups. An
error is the mean over groups of |answer - truth|, of what limits leave out and of noise, in percent
of the mean truth; noise's part is its law's own. Each way has its best limits of those listed,
or given ones. Seeds are fixed.

python -m benchmarks.over_groups FOLDER     FOLDER has TPC-H, of scale 0.1 (data.tpch.generate)
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

EPSILON, DELTA = 1.0, 1e-6
DRAWS = 3
GROUPS: Final = (1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 22, 26, 30, 40, 60, 80, 120, 200, 320, 500, 1000)
WAYS: Final = ("sample", "largest", "L1", "L2")
_ROOT: Final = math.sqrt(math.log(1 / DELTA) + EPSILON) - math.sqrt(math.log(1 / DELTA))
SIGMA: Final = 1 / (math.sqrt(2) * _ROOT)
"""The deviation of Gaussian noise for an L2 norm of 1, with ρ = _ROOT²: (1, 10^-6)-DP."""


class Limits(NamedTuple):
    """In how many groups a unit's rows count, and how many in each."""

    groups: int
    rows: int


@dataclass(frozen=True)
class Question:
    """A unit's rows and their sum in each group that it is in, sorted by unit; `bound` of a row."""

    name: str
    unit: Integers
    group: Integers
    rows: Floats
    total: Floats
    bound: float
    rows_per_group: tuple[int, ...]
    given: tuple[Limits, ...]
    random: np.random.Generator
    keys: list[Floats] = field(default_factory=list)
    places: dict[tuple[int, int], Integers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.keys.extend(self.random.random(self.unit.size) for _ in range(DRAWS))

    @property
    def starts(self) -> Integers:
        """Where each unit's groups begin."""
        return np.flatnonzero(np.r_[True, self.unit[1:] != self.unit[:-1]])

    def of_unit(self, values: Floats) -> Floats:
        """The sum of `values` over each unit, beside each of its groups."""
        starts = self.starts
        sizes = np.diff(np.r_[starts, self.unit.size])
        return np.repeat(np.add.reduceat(values, starts), sizes)

    def place(self, counted: Floats | None, limit: int, draw: int) -> Integers:
        """The place of each group among its unit's: by chance, or those with more rows first."""
        if (limit, draw) not in self.places:
            order = self.keys[draw] if counted is None else self.keys[draw] - counted
            starts, places = self.starts, np.empty(self.unit.size, dtype=np.int64)
            sizes = np.diff(np.r_[starts, self.unit.size])
            own = np.arange(self.unit.size) - np.repeat(starts, sizes)
            places[np.lexsort((order, self.unit))] = own
            self.places[limit, draw] = places
        return self.places[limit, draw]

    def weights(self, way: str, limits: Limits, draw: int) -> Floats:
        """How much of a unit's sum counts in each of its groups."""
        groups, most = limits
        in_group = np.minimum(1, most / self.rows)
        counted = self.rows * in_group
        match way:
            case "sample":
                return in_group * (self.place(None, 0, draw) < groups)
            case "largest":
                return in_group * (self.place(counted, most, draw) < groups)
            case "L1":
                return in_group * np.minimum(1, groups * most / self.of_unit(counted))
            case _:
                norm = np.sqrt(self.of_unit(counted**2))
                return in_group * np.minimum(1, math.sqrt(groups) * most / norm)

    def error(self, way: str, limits: Limits, *, gaussian: bool) -> tuple[float, float]:
        """The error, and the part of all sums that counts."""
        truth = np.bincount(self.group, self.total).astype(np.float64)
        norm = math.sqrt(limits.groups) * SIGMA if gaussian else limits.groups / EPSILON
        scale = norm * limits.rows * self.bound
        errors, kept = [], []
        for draw in range(DRAWS if way in ("sample", "largest") else 1):
            counted = np.bincount(self.group, self.total * self.weights(way, limits, draw))
            errors.append(expected_error(truth - counted, scale, gaussian=gaussian))
            kept.append(float(counted.sum() / truth.sum()))
        return float(np.mean(errors) / truth.mean()), float(np.mean(kept))


def expected_error(missing: Floats, scale: float, *, gaussian: bool) -> float:
    """The mean of E|missing + noise|."""
    off = np.abs(missing)
    if not gaussian:
        return float(np.mean(off + scale * np.exp(-off / scale)))
    inside = np.array([math.erf(x) for x in off / (scale * math.sqrt(2))])
    noise = scale * math.sqrt(2 / math.pi) * np.exp(-(off**2) / (2 * scale**2))
    return float(np.mean(noise + off * inside))


def of_tpch(folder: Path) -> Iterator[Question]:
    """Questions about orders and lines of customers."""
    orders, lines = (f"'{folder / name}.parquet'" for name in ("orders", "lineitem"))
    both = f"{orders} JOIN {lines} ON o_orderkey = l_orderkey"
    month = "(year(o_orderdate) - 1992) * 12 + month(o_orderdate)"
    revenue = "sum(l_extendedprice * (1 - l_discount))"
    clerk = "substr(o_clerk, 7)::INT"
    some = (Limits(3, 1), Limits(10, 1), Limits(15, 1))
    asked: list[tuple[str, str, str, str, float, tuple[int, ...], tuple[Limits, ...]]] = [
        ("orders by clerk", clerk, "count(*)", orders, 1, (1, 2), some),
        ("orders by month", month, "count(*)", orders, 1, (1, 2, 3), some),
        ("revenue by month", month, revenue, both, 1.05e5, (1, 3, 5, 7, 9), (Limits(10, 7),)),
        ("lines by part", "l_partkey", "count(*)", both, 1, (1,), (Limits(12, 1), Limits(30, 1))),
        ("lines by supplier", "l_suppkey", "count(*)", both, 1, (1, 2), (Limits(30, 1),)),
    ]
    with duckdb.connect() as connection:
        for name, group, total, tables, bound, rows_per_group, given in asked:
            found = connection.execute(
                f"SELECT o_custkey AS u, dense_rank() OVER (ORDER BY {group}) - 1 AS g,"
                f" count(*)::DOUBLE AS n, ({total})::DOUBLE AS s FROM {tables}"
                f" GROUP BY o_custkey, {group} ORDER BY u, g"
            ).fetchnumpy()
            unit, number, rows, sums = (np.asarray(found[c]) for c in ("u", "g", "n", "s"))
            random = np.random.default_rng(7)
            yield Question(
                name,
                unit,
                number.astype(np.int64),
                rows,
                sums,
                bound,
                rows_per_group,
                given,
                random,
            )


def of_zipf(exponent: float, units: int, groups: int = 1000) -> Question:
    """Units in numbers of groups by Zipf's law of `exponent`; groups are popular by that of 1.1."""
    random = np.random.default_rng(7)
    sizes = np.minimum(random.zipf(exponent, units), groups)
    popularity = -1.1 * np.log(np.arange(1, groups + 1))
    chosen: list[Integers] = []
    for start in range(0, units, 2000):
        some = sizes[start : start + 2000]
        order = np.argsort(-popularity - random.gumbel(size=(some.size, groups)), axis=1)
        chosen += [row[:size] for row, size in zip(order, some, strict=True)]
    ones = np.ones(int(sizes.sum()))
    name = f"Zipf {exponent:g}, {units:,} units"
    given = (Limits(3, 1), Limits(10, 1), Limits(100, 1))
    unit = np.repeat(np.arange(units), sizes)
    return Question(name, unit, np.concatenate(chosen), ones, ones, 1, (1,), given, random)


def table(questions: Iterable[Question], say: Callable[[str], None]) -> None:
    """A row for each question, noise and limits: the error and what is kept, by each way."""
    say("| question | noise | limits | " + " | ".join(WAYS) + " |")
    say("| --- | --- | --- |" + " ---: |" * len(WAYS))
    for asked in questions:
        for gaussian in (False, True):
            noise = "Gaussian" if gaussian else "Laplace"
            best = []
            # An L2 norm bounds no L1 norm, by which Laplace noise is measured.
            ways = WAYS if gaussian else WAYS[:-1]
            for way in ways:
                errors = (
                    asked.error(way, Limits(*limits), gaussian=gaussian)[0]
                    for limits in product(GROUPS, asked.rows_per_group)
                )
                best.append(f"{100 * min(errors):.2f} %")
            best += [""] * (len(WAYS) - len(ways))
            say(f"| {asked.name} | {noise} | best | {' | '.join(best)} |")
            for limits in asked.given:
                shown = (asked.error(way, limits, gaussian=gaussian) for way in ways)
                texts = [f"{100 * error:.1f} % ({100 * kept:.0f} %)" for error, kept in shown]
                texts += [""] * (len(WAYS) - len(ways))
                told = f"{limits.groups} × {limits.rows}"
                say(f"| {asked.name} | {noise} | {told} | {' | '.join(texts)} |")


def main() -> None:
    """Print the table."""
    questions = [*of_tpch(Path(sys.argv[1])), of_zipf(1.5, 30_000), of_zipf(2, 30_000)]
    table(questions, lambda line: print(line, flush=True))  # noqa: T201 - the measurement


if __name__ == "__main__":
    main()
