"""What an alert tells apart: by how much what it compares is short, on two databases.

Nothing may move further than was derived, in either direction or in both together, and what is
named may tell no more than was charged, as the proof of the mechanism has it for any moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from privacy.seeded import SeededRandomness

from dpsql.audit.databases.database_batch import Groups
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold
from dpsql.privacy.mechanisms.selection.threshold_stream import ThresholdStream
from dpsql.release.add_noise import RawGroups
from dpsql.release.alert import alert_table
from dpsql.session.compile.compiled_release import CompiledRelease


class _Recorder:
    """In a mechanism's place: keeps what it is handed."""

    def __init__(self) -> None:
        self.short = np.zeros(0, dtype=object)

    def named(self, short: NDArray[np.object_], randomness: object) -> NDArray[np.int64]:
        del randomness
        self.short = short
        return np.zeros(0, dtype=np.int64)


def told_apart(one: Groups, other: Groups, release: CompiledRelease) -> Iterator[str]:
    """Every way in which an alert shows more of two neighbours than it costs."""
    mechanism = release.step.measurement.table_mechanism
    if isinstance(mechanism, ThresholdStream):
        # All checks together tell no more than one, whatever each is of: all are one stream.
        mechanism = mechanism.mechanism
    assert isinstance(mechanism, AboveThreshold)
    moved = (_short(one, release) - _short(other, release)).tolist()
    up, down = max(0, *moved, 0), max(0, *(-move for move in moved), 0)
    if max(up, down) > mechanism.moves.reach or up + down > mechanism.moves.span:
        yield f"statistic 0 of an alert by -{down} to {up}, derived {mechanism.moves}"
    loss = release.step.measurement.loss
    named = mechanism.firings * mechanism.query_rate * (up + down)
    if loss.accounting is Accounting.ZCDP:
        spent: Fraction = (mechanism.threshold_rate * (up + down) + 2 * named) ** 2 / 8
    else:
        spent = mechanism.threshold_rate * max(up, down) + named
    if spent > loss.amount:
        yield f"statistic 0 of an alert by {float(spent)}, paid {float(loss.amount)}"


def _short(groups: Groups, release: CompiledRelease) -> NDArray[np.object_]:
    """By how much each comparison is short, as the mechanism is handed it."""
    step, keys = release.step, list(groups)
    columns = {
        f"g{n}": pa.array([key[n] for key in keys], pa.int64())
        for n in range(len(step.query.domains))
    }
    for index in range(len(step.bounded.contributions.statistics)):
        columns[f"s{index}"] = pa.array([groups[key][index] for key in keys], pa.int64())
    raw, recorder = RawGroups(pa.table(columns)), _Recorder()
    nothing = SeededRandomness("recorded")
    alert_table(raw, step.bounded, step.query, cast("Any", recorder), nothing)
    return recorder.short
