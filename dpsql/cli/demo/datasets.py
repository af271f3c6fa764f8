"""Datasets that courses on differential privacy use, drawn by their laws: nobody in them exists.

Each value is a function of one uniform number of a seeded generator, so that a seed gives the same
rows everywhere.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from enum import Enum
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from dpsql.errors import BadParameter


class Dataset(Enum):
    """A dataset of one table, which has its name."""

    BUSINESSES = "businesses"
    DIAMONDS = "diamonds"


STATES: Final = {"Texas": 100_010, "Vermont": 403}
"""The businesses of each state."""

MEAN_EMPLOYEES, MAX_EMPLOYEES = 10.0, 20
_INCOME: Final = NormalDist(10, 2)
"""The law of an income's logarithm."""

CARATS: Final = (36_438, 15_613, 1_857, 27, 4, 1)
"""The diamonds above n carats and up to n + 1, for n of 0 to 5, as the known table has them."""

_LIGHTEST, _HEAVIEST = 20, 501
"""Hundredths of a carat."""


def write(dataset: Dataset, folder: Path, seed: int) -> None:
    """Make `folder`, with schema.yaml and data/TABLE.parquet.

    Raises BadParameter if it is there already.
    """
    if folder.exists():
        raise BadParameter(f"{folder} is there already", hint="name a folder that isn't")
    (folder / "data").mkdir(parents=True)
    pq.write_table(draw(dataset, seed), folder / "data" / f"{dataset.value}.parquet")
    schema = files("dpsql.cli.demo").joinpath(f"{dataset.value}.yaml")
    (folder / "schema.yaml").write_text(schema.read_text(encoding="utf-8"), encoding="utf-8")


def draw(dataset: Dataset, seed: int) -> pa.Table:
    """The table of `dataset`, whose rows depend on `seed` alone."""
    return _TABLES[dataset](Random(seed))


def _businesses(random: Random) -> pa.Table:
    employees = list(accumulate(_poisson(MEAN_EMPLOYEES, k) for k in range(MAX_EMPLOYEES)))
    states = [state for state, count in STATES.items() for _ in range(count)]
    columns: dict[str, object] = {
        "state": states,
        "employees": pa.array(
            # Whatever is above the last sum is cut to the most that there are.
            [bisect_left(employees, random.random()) for _ in states],
            pa.int32(),
        ),
        "income": pa.array([_income(random) for _ in states], pa.decimal128(14, 2)),
    }
    return pa.table(columns)


def _poisson(mean: float, k: int) -> float:
    return math.exp(-mean) * math.pow(mean, k) / math.factorial(k)


def _income(random: Random) -> Decimal:
    """A log-normal number, in cents."""
    uniform = 0.0
    while not uniform:
        uniform = random.random()
    return Decimal(round(100 * math.exp(_INCOME.inv_cdf(uniform)))) / 100


def _diamonds(random: Random) -> pa.Table:
    carats = [Decimal(hundredths) / 100 for hundredths in _hundredths(random)]
    random.shuffle(carats)
    return pa.table({"carat": pa.array(carats, pa.decimal128(4, 2))})


def _hundredths(random: Random) -> Iterator[int]:
    """The weight of each diamond, evenly spread over its whole carat."""
    for carat, count in enumerate(CARATS):
        lightest, heaviest = max(100 * carat + 1, _LIGHTEST), min(100 * carat + 100, _HEAVIEST)
        for _ in range(count):
            yield random.randint(lightest, heaviest)


_TABLES: Final[Mapping[Dataset, Callable[[Random], pa.Table]]] = {
    Dataset.BUSINESSES: _businesses,
    Dataset.DIAMONDS: _diamonds,
}
