"""What an alert tells apart: by how much what it compares is short, on two databases.

Nothing may move further than was derived, in either direction or in both together, and what is
named may tell no more than was charged, as the proof of the mechanism has it for any moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from privacy.seeded import SeededRandomness

from dpsql.audit.databases.database_batch import Groups
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold
from dpsql.privacy.mechanisms.selection.exponential import amount_of_range
from dpsql.privacy.mechanisms.selection.threshold_stream import ThresholdStream
from dpsql.release.add_noise import RawGroups
from dpsql.release.alert import alert_table, named_conditions
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


def told_apart_over_time(
    versions: Sequence[tuple[Groups, Groups]], release: CompiledRelease
) -> Iterator[str]:
    """Every way in which checks of many versions of the data show more than an alert costs.

    In each version the unit's rows are others, or none, and so are those of all others. For any
    answers of all checks, the same of both databases, the shares of the number and of each check
    that names a condition are added up, as the proof has it for the moves of all versions together.
    """
    stream = release.step.measurement.table_mechanism
    assert isinstance(stream, ThresholdStream)
    above, alert = stream.mechanism, named_conditions(release.step.bounded)
    assert alert is not None
    moved = [(_short(a, release) - _short(b, release)).tolist() for a, b in versions]
    every = [0, *(move for check in moved for move in check)]
    up, down = max(every), -min(every)
    if max(up, down) > above.moves.reach or up + down > above.moves.span:
        yield f"statistic 0 of all checks by -{down} to {up}, derived {above.moves}"

    def spent(raised: int, direction: int) -> Fraction:
        """What the worst answers cost where the number is `raised` to cover what isn't named."""
        named = (max(raised - direction * move for move in check) for check in moved)
        most = sorted(named, reverse=True)[: alert.firings]
        cost: Fraction = above.threshold_rate * raised + above.query_rate * sum(most)
        return cost

    loss, ways = release.step.measurement.loss, (spent(up, 1), spent(down, -1))
    is_pure = loss.accounting in (Accounting.PURE, Accounting.APPROX)
    total = max(ways) if is_pure else amount_of_range(ways[0] + ways[1], loss.accounting)
    if total > loss.amount:
        yield f"statistic 0 of all checks by {float(total)}, paid {float(loss.amount)}"


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
