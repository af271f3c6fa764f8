"""The mechanism that adds nothing to anything: it lives in the tests, the package has no such mode.

What `release.exact_answers` shows as it is was randomised before it came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from privacy.seeded import SeededRandomness

from dpsql.plan.bounded_release.bounded_release import integer_parts
from dpsql.plan.bounded_release.cell_selection import (
    CountedCells,
    FrequentCell,
    Mode,
    QuantileRanks,
    ThresholdScores,
    TopCells,
)
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold, Shortfalls
from dpsql.privacy.mechanisms.selection.threshold_stream import ThresholdStream
from dpsql.privacy.mechanisms.selection.weighted_majority import (
    Losses,
    WeightedMajority,
    sums_before,
)
from dpsql.release.add_noise import RawGroups, add_noise
from dpsql.release.alert import alert_table
from dpsql.release.calibration import Measurement
from dpsql.release.columns.group_keys import domain_table
from dpsql.release.columns.released_table import columns
from dpsql.release.decision import decision_table
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.structs import replace


@dataclass(frozen=True)
class Exact:
    """Answers what is, as the nearest integer where values are numbers of `parts` of one."""

    parts: int = 1
    name: str = "exact"
    variance: float = 0.0

    def half_width(self, confidence: Fraction) -> int:
        del confidence
        return 0

    def release(self, values: Sequence[int], randomness: Randomness) -> list[int]:
        del randomness
        return [(2 * value + self.parts) // (2 * self.parts) for value in values]

    def release_vector(self, values: Integers, randomness: Randomness) -> Integers:
        return np.array(self.release(values.tolist(), randomness), dtype=values.dtype)


@dataclass(frozen=True)
class ExactChoice:
    """Chooses the cells where the quantiles are, or the candidate of the greatest score.

    In an empty group, and of modes and equal scores, it chooses the first.
    """

    target: QuantileRanks | Mode | FrequentCell | TopCells | CountedCells | ThresholdScores

    def release(self, counts: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        del randomness
        match self.target:
            case Mode() | FrequentCell():
                first: NDArray[np.int64] = counts.argmax(axis=1).reshape(-1, 1)
                return first
            case TopCells(count=count):
                top: NDArray[np.int64] = (-counts).argsort(axis=1, kind="stable")[:, :count]
                return top
            case CountedCells(count=count):
                most: NDArray[np.int64] = (-counts).argsort(axis=1, kind="stable")[:, :count]
                return np.hstack([most, np.take_along_axis(counts, most, axis=1)])
            case ThresholdScores(first_cells=cells, weights=weights):
                scores = [
                    [w * sum(row[c:]) for c, w in zip(cells, weights, strict=True)]
                    for row in counts.tolist()
                ]
                return np.array([[row.index(max(row))] for row in scores]).reshape(-1, 1)
            case QuantileRanks(quantiles=quantiles):
                pass
            case missing:
                assert_never(missing)
        below = counts.cumsum(axis=1)
        ranks = [np.ceil(below[:, -1:] * float(q)).clip(1) for q in quantiles]
        return np.hstack([(below < rank).sum(axis=1, keepdims=True) for rank in ranks]).clip(
            0, counts.shape[1] - 1
        )


class LeaderChoice:
    """Chooses the expert who lost least so far, the first of several."""

    def choose(self, losses: Losses, randomness: Randomness) -> NDArray[np.int64]:
        del randomness
        leaders: NDArray[np.int64] = sums_before(losses).argmin(axis=1)
        return leaders


@dataclass(frozen=True)
class HoldingConditions:
    """Names the first conditions that hold."""

    firings: int

    def named(self, short: Shortfalls, randomness: Randomness) -> NDArray[np.int64]:
        del randomness
        holding: NDArray[np.int64] = (short <= 0).nonzero()[0]
        return holding[: self.firings]


def exact_mechanisms(count: int, parts: int = 1) -> tuple[Noise, ...]:
    """As many that add nothing: to the package they are noise, of which it knows no such kind."""
    return (Exact(parts),) * count  # type: ignore[return-value]


def exact_measurement(release: CompiledRelease, threshold: int | None) -> Measurement:
    """Mechanisms that add nothing and choose what is."""
    terms = release.step.bounded.contributions
    choosers = [ExactChoice(choice.target) for choice in terms.cell_choices]
    return replace(
        release.step.measurement,
        mechanisms=exact_mechanisms(
            len(terms.statistics), integer_parts(release.step.bounded.limited)
        ),
        threshold=threshold,
        choosers=tuple(choosers),  # type: ignore[arg-type]  # as above
    )


def raw_groups(
    connection: duckdb.DuckDBPyConnection, release: CompiledRelease, salt: str
) -> RawGroups:
    """What the engine finds, with the tables that it reads registered."""
    query, raw = release.step.query, pa.table({})
    if release.step.bounded.contributions.statistics:
        salts = [salt] if query.salted else None
        raw = connection.sql(query.sql, params=salts).to_arrow_table()
    return RawGroups(
        raw,
        tuple(
            connection.sql(h.sql, params=[salt] if h.salted else None).to_arrow_table()
            for h in query.histograms
        ),
    )


def exact_table(
    connection: duckdb.DuckDBPyConnection,
    release: CompiledRelease,
    released: Mapping[str, pa.Table],
    *,
    salt: str = "1",
) -> pa.Table:
    """What `release` would answer without noise and without a threshold."""
    step = release.step
    measurement = exact_measurement(release, threshold=1)
    tables = {domain.name: domain_table(domain) for domain in step.query.domains}
    tables |= {name: released[name] for name in step.reads}
    for name, table in tables.items():
        connection.register(name, table)
    raw = raw_groups(connection, release, salt)
    made = step.measurement.table_mechanism
    if isinstance(made, WeightedMajority):
        nothing = SeededRandomness("exact")
        return decision_table(raw, step.bounded, step.query, LeaderChoice(), nothing)  # type: ignore[arg-type]  # as above
    if isinstance(made, AboveThreshold | ThresholdStream):
        nothing = SeededRandomness("exact")
        names = made.firings if isinstance(made, AboveThreshold) else 1
        return alert_table(raw, step.bounded, step.query, HoldingConditions(names), nothing)  # type: ignore[arg-type]  # as above
    groups = add_noise(raw, step.bounded, step.query, measurement, SeededRandomness("exact"))
    return columns(step.bounded, groups, step.measurement)
