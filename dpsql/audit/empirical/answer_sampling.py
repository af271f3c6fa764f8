"""Many answers of one release, drawn by the release code itself with its own noise.

The engine computes the exact integers of a synthetic database once. From these the release's own
mechanisms draw thousands of answers at once, from the operating system's random bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.audit.databases.database_batch import NO_TABLES, DatabaseBatch, Released
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.add_noise import NoisyGroups, RawGroups, add_noise, choose_cells, rows_in_cells
from dpsql.release.columns.arrow import canonical
from dpsql.release.job import Step
from dpsql.release.joint_noise import noisy_integers
from dpsql.structs import replace

Group = tuple[object, ...]

_SALT = "1"
_WIDE = 2**62
_NEXT_TO_NOTHING = DiscreteLaplace(Fraction(1, 1000))
"""Noise that is 0 but for a probability of e^-1000: synthetic rows are no secret."""


class AnswerSampler(Struct, frozen=True):
    """The exact groups and cells of a release in one database, from which answers are drawn."""

    step: Step
    raw: RawGroups

    @classmethod
    def of(
        cls, step: Step, worlds: DatabaseBatch, world: int, released: Released = NO_TABLES
    ) -> AnswerSampler:
        """Run the engine's part once; the salt is fixed, since bounds hold for each salt."""
        query = step.query
        worlds.create_views(query, {name: released[name] for name in step.reads})
        worlds.load(world)

        def result(sql: str, *, salted: bool) -> pa.Table:
            return worlds.connection.sql(sql, params=[_SALT] if salted else None).to_arrow_table()

        totals = pa.table({})
        if step.bounded.contributions.statistics:
            totals = result(query.sql, salted=query.salted)
        cells = tuple(result(h.sql, salted=h.salted) for h in query.histograms)
        return cls(step, RawGroups(totals, cells))

    def totals(self) -> dict[Group, tuple[int, ...]]:
        """The integers before noise, by key."""
        measurement = self.step.measurement
        exact = replace(
            measurement,
            mechanisms=(_NEXT_TO_NOTHING,) * len(measurement.mechanisms),
            threshold=None if measurement.threshold is None else 1,
        )
        step = self.step
        return _by_key(add_noise(self.raw, step.bounded, step.query, exact, SystemRandomness()))


class Answers(Struct, frozen=True):
    """Many answers at once, over the keys that either of two databases has.

    `integers` are (answers, keys) for each statistic, `choices` the same for each chosen cell;
    where `shown` is false, a key is missing or stays below its threshold.
    """

    integers: tuple[Integers, ...]
    choices: tuple[Integers, ...]
    shown: NDArray[np.bool_]


def sample_answers(sampler: AnswerSampler, keys: Sequence[Group], count: int) -> Answers:
    """Draw `count` independent answers by the release's own mechanisms, in one go."""
    step, randomness, totals = sampler.step, SystemRandomness(), sampler.totals()
    measurement, terms = step.measurement, step.bounded.contributions
    own = [key for key in keys if key in totals]
    indices = np.array([index for index, key in enumerate(keys) if key in totals], dtype=np.int64)
    columns: list[Integers] = []
    for index in range(len(measurement.mechanisms)):
        values = [totals[key][index] for key in own]
        narrow = all(abs(value) < _WIDE for value in values)
        columns.append(np.tile(np.array(values, dtype=np.int64 if narrow else object), count))
    integers = [
        _spread(noisy, count, indices, len(keys))
        for noisy in noisy_integers(measurement.mechanisms, columns, randomness)
    ]
    shown = np.zeros((count, len(keys)), dtype=np.bool_)
    shown[:, indices] = True
    selection = step.bounded.partition_count_index
    if selection is not None and measurement.threshold is not None:
        shown &= (integers[selection] >= measurement.threshold).astype(np.bool_)
    choices: list[Integers] = []
    for chosen, table, chooser in zip(
        terms.cell_choices, sampler.raw.histograms, measurement.choosers, strict=True
    ):
        rows = rows_in_cells(table, step.bounded, step.query)
        cells = [tuple(map(canonical, key)) for key in own] * count
        picked = choose_cells(rows, cells, chosen, chooser, randomness)
        choices += [_spread(column, count, indices, len(keys)) for column in picked]
    return Answers(tuple(integers), tuple(choices), shown)


def _spread(values: Integers, count: int, indices: NDArray[np.int64], keys: int) -> Integers:
    """`values` of the keys at `indices`, (count * indices), as (count, keys) with 0 elsewhere."""
    spread = np.zeros((count, keys), dtype=values.dtype)
    spread[:, indices] = values.reshape(count, indices.size)
    return spread


def _by_key(groups: NoisyGroups) -> dict[Group, tuple[int, ...]]:
    """The integers of each group."""
    keys = zip(*(key.to_pylist() for key in groups.keys), strict=True)
    group_keys = list(keys) if groups.keys else [()] * groups.count
    return dict(zip(group_keys, (integers for integers, _ in groups.rows()), strict=True))
