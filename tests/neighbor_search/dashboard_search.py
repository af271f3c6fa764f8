"""What a dashboard tells apart: its own steps, run on two databases to one and the same end.

On the first database every noisy answer is made up; on the second they are played again. What each
mechanism was handed on either is thus known, and what it would take to tell the two apart by it:
all of that together has to be within what was charged. The tables that are made have to be the
same, since nothing but answers may decide them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any, cast

import numpy as np
import pyarrow as pa
from neighbor_search.mwem_search import Tape, Taped, charged, spent
from numpy.typing import NDArray
from privacy.seeded import SeededRandomness

from dpsql.audit.databases.database_batch import Groups
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.mechanisms.residual_gaussian import MarginalNoise, Residual, ResidualGaussian
from dpsql.release.add_noise import RawGroups
from dpsql.release.dashboard.dashboard_table import dashboard_table
from dpsql.session.compile.compiled_release import CompiledRelease


@dataclass(frozen=True)
class TapedResiduals:
    """The residuals of one statistic, all on one tape."""

    made: ResidualGaussian
    tape: Tape

    @property
    def shape(self) -> tuple[int, ...]:
        return self.made.shape

    @property
    def residuals(self) -> tuple[Residual, ...]:
        return self.made.residuals

    def noise(self, residual: Residual) -> Taped:
        return Taped(self.made.noise(residual), self.tape)

    def release(self, cells: NDArray[Any], randomness: Any) -> NDArray[np.float64]:
        return ResidualGaussian.release(cast("Any", self), cells, randomness)


@dataclass(frozen=True)
class TapedMarginals:
    """A dashboard's noise."""

    statistics: tuple[TapedResiduals, ...]


def told_apart(one: Groups, other: Groups, release: CompiledRelease) -> Iterator[str]:
    """Every way in which a dashboard shows more of two neighbours than it costs."""
    measured = release.step.measurement
    noise = measured.table_mechanism
    assert isinstance(noise, MarginalNoise)
    tape = Tape(Random(f"{one}{other}"))
    first = _table(one, release, noise, tape)
    again = tape.again()
    if not first.equals(_table(other, release, noise, again)):
        yield "statistic 0 of a dashboard that its answers don't decide"
    if len(tape.handed) != len(again.handed):
        yield "statistic 0 of a dashboard: other questions"
        return
    pairs = zip(tape.handed, again.handed, strict=True)
    of = sum((spent(a, b, Accounting.ZCDP) for a, b in pairs), Fraction(0))
    if of > charged(measured.loss):
        yield f"statistic 0 of a dashboard by {float(of)}, paid {float(charged(measured.loss))}"


def _table(groups: Groups, release: CompiledRelease, noise: MarginalNoise, tape: Tape) -> pa.Table:
    step, keys = release.step, list(groups)
    raw = {
        f"g{n}": pa.array([key[n] for key in keys], pa.int64())
        for n in range(len(step.query.domains))
    }
    for index in range(len(noise.statistics)):
        totals = [int(groups[key][index]) for key in keys]
        raw[f"s{index}"] = pa.array(totals, pa.int64())
    taped = cast(
        "Any", TapedMarginals(tuple(TapedResiduals(one, tape) for one in noise.statistics))
    )
    nothing = SeededRandomness("taped")
    return dashboard_table(RawGroups(pa.table(raw)), step.bounded, step.query, taped, nothing)
