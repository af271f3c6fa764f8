"""From a loss to the mechanisms of a synopsis, by public facts alone."""

from __future__ import annotations

import math
from typing import assert_never

from dpsql.analysis.stability import limited_stability
from dpsql.analysis.unit_contribution import partial_bound
from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    LimitGroups,
    OneRowPerUnit,
    integer_parts,
)
from dpsql.plan.bounded_release.estimator import Estimator, LinearEstimator
from dpsql.plan.bounded_release.statistic import (
    CappedSum,
    NonNullCount,
    RowCount,
    Statistic,
    Sum,
)
from dpsql.plan.expression_text import describe_number
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.allocation.mwem_calibration import (
    HistogramSensitivity,
    MwemParameters,
    mwem_calibration,
)
from dpsql.release.calibration import Measurement
from dpsql.release.synopsis.cell_partition import count_partitions
from dpsql.release.synopsis.factored.margin_choice import candidate_margins, check_domains
from dpsql.schema.sql_type import Date, Decimal, Double, Integer, Timestamp

MAX_LISTED_CELLS = 100_000
"""The largest number of cells that are listed: each round looks at all of them.

A synopsis of more cells is factored: it keeps margins of them. Stored answers are read by this, so
that it stays.
"""

_PARTS_PER_KEY, _MAX_PARTS, _LAPLACE_PARTS = 16, 96, 8
"""Into how many parts the rounds' loss is cut where nobody says.

What k parts measure has a variance that falls with k where noise is Gaussian: to begin with small
parts costs little, and what they show is measured again by larger ones. Of Laplace noise it falls
with k², so that the first small ones would be wasted.
"""

_MAX_SUMMED = 500_000_000
"""Cells that all rounds sum for their choices, at most, where nobody says how many there are."""

_ORDERED = (Integer, Decimal, Double, Date, Timestamp)
"""Types of keys whose neighbouring values are taken to be alike."""


def calibrate_synopsis(
    bounded: BoundedRelease, steps: int, query_loss: PrivacyLoss, parts: int | None
) -> Measurement:
    """The mechanisms of a synopsis over the cells of `bounded`, within `query_loss`.

    The loss of each statistic's rounds is cut into so many `parts`, or as many as its noise is best
    cut into: there are no more rounds than these. `steps` units are removed or added from one
    neighbour to the other. The rows of each are in at most so many groups, at most so many in each
    and in all, in either database. Raises Refused for keys without a domain and for what is no
    count or sum, of a factored synopsis for sums, TooComplex for more cells than even that may
    have.
    """
    if bounded.partition_count_index is not None or not bounded.contributions.keys:
        raise Refused(
            "the keys of a synopsis are listed, and one of these has no domain",
            hint="declare its values or bounds, or group it by CASE, date_trunc or extract",
            note="synopsis",
        )
    if is_factored(bounded):
        _check_factored(bounded)
    statistics = bounded.contributions.statistics
    if not any(statistic.is_row_count for statistic in statistics):
        raise Refused("a synopsis counts rows that nobody knows the number of", note="synopsis")
    if not all(_is_linear(output.estimator) for output in bounded.outputs):
        raise _other_values()
    if integer_parts(bounded.limited) != 1:
        raise ArithmeticError("a synopsis is of whole rows")
    moves = [_moves(bounded, statistic, steps) for statistic in statistics]
    rows = row_index(bounded)
    others = [move for index, move in enumerate(moves) if index != rows]
    parameters, loss = mwem_calibration(
        [moves[rows], *others],
        _gaussian_parts(bounded) if parts is None else parts,
        query_loss,
        _LAPLACE_PARTS if parts is None else None,
    )
    noise = tuple(one.noise(1, 1) for one in in_statistics_order(bounded, parameters))
    return Measurement(noise, None, loss, table_mechanism=parameters)


def is_factored(bounded: BoundedRelease) -> bool:
    """Whether a synopsis over the cells of `bounded` has too many of them to list."""
    domains = bounded.contributions.domains
    return math.prod(len(domain.cells) for domain in domains) > MAX_LISTED_CELLS


def _gaussian_parts(bounded: BoundedRelease) -> int:
    """Into how many parts the loss of rounds of Gaussian noise is cut, where nobody says.

    For each key so many as AIM has rounds, where no key has an order. Rounds that choose among
    blocks come near in fewer, and so do those of a factored synopsis. Of large grids they are
    fewer, since each round sums all cells for each candidate.
    """
    if is_factored(bounded):
        return _PARTS_PER_KEY
    shape = tuple(len(domain.cells) for domain in bounded.contributions.domains)
    unordered = unordered_axes(bounded)
    keys = len(shape) if len(unordered) == len(shape) else 1
    in_time = _MAX_SUMMED // (math.prod(shape) * max(1, count_partitions(shape, unordered)))
    return min(_PARTS_PER_KEY * keys, _MAX_PARTS, max(in_time, _LAPLACE_PARTS))


def row_index(bounded: BoundedRelease) -> int:
    """The index of the count of rows among the statistics of a synopsis."""
    statistics = bounded.contributions.statistics
    return next(n for n, statistic in enumerate(statistics) if statistic.is_row_count)


def unordered_axes(bounded: BoundedRelease) -> frozenset[int]:
    """The axes of a synopsis whose cells have no order: of names, of flags, of several keys."""
    terms = bounded.contributions
    kinds = [[terms.keys[key].column.type for key in domain.keys] for domain in terms.domains]
    return frozenset(
        axis
        for axis, types in enumerate(kinds)
        if len(types) > 1 or not isinstance(types[0], _ORDERED)
    )


def in_statistics_order(
    bounded: BoundedRelease, parameters: MwemParameters
) -> tuple[MwemParameters, ...]:
    """The mechanisms of each statistic's histogram, as `bounded` has the statistics."""
    sums, rows = parameters.sums, row_index(bounded)
    return (*sums[:rows], parameters, *sums[rows:])


def synopsis_notes(bounded: BoundedRelease, measurement: Measurement) -> tuple[str, ...]:
    """The lines of EXPLAIN about the rounds."""
    parameters = measurement.table_mechanism
    assert isinstance(parameters, MwemParameters)
    change = parameters.sensitivity.l1
    of_sums: tuple[str, ...] = ()
    if parameters.sums:
        statistics = zip(
            in_statistics_order(bounded, parameters), bounded.contributions.statistics, strict=True
        )
        moves = ", ".join(
            describe_number(of.sensitivity.l1 * statistic.step)
            for of, statistic in statistics
            if not statistic.is_row_count
        )
        of_sums = (
            f"and the other statistics, as they are listed, by {moves}",
            f"each of them has 1/{len(parameters.sums) + 1} of the loss, and rounds of its own",
        )
    return (
        f"a unit moves the histogram by {change} rows at most, in all its cells together",
        *of_sums,
        f"the number of rows is measured with {parameters.total.name} noise",
        f"{parameters.parts} rounds at most, each of a choice and a measurement of what it chose",
        "one that finds no more than noise is followed by one of less noise, at more of the loss",
        *_choices(bounded),
    )


def _check_factored(bounded: BoundedRelease) -> None:
    """Refuse what no factored synopsis is of."""
    terms = bounded.contributions
    check_domains([domain.cells for domain in terms.domains], len(terms.keys) + 1)
    if len(terms.statistics) != 1 or not all(_is_count(o.estimator) for o in bounded.outputs):
        cells = math.prod(len(domain.cells) for domain in terms.domains)
        raise Refused(
            f"the keys have {cells:,} combinations, and sums are kept of {MAX_LISTED_CELLS:,} at"
            " most",
            hint="leave the sums out, or make a synopsis of them by fewer or coarser keys",
            note="synopsis",
        )


def _choices(bounded: BoundedRelease) -> tuple[str, ...]:
    """What rounds choose among."""
    shape = tuple(len(domain.cells) for domain in bounded.contributions.domains)
    cells = math.prod(shape)
    if not is_factored(bounded):
        among = count_partitions(shape, unordered_axes(bounded))
        return (f"among {among} partitions of {cells:,} cells",)
    return (
        f"among {len(candidate_margins(shape))} margins of up to 3 keys, of {cells:,} cells",
        "which are too many to list: margins are kept, and read by the keys that a statement names",
    )


def _moves(bounded: BoundedRelease, statistic: Statistic, steps: int) -> HistogramSensitivity:
    """How far neighbours move the histogram of `statistic`.

    A unit adds at most `partial_bound` to a cell, and to all cells together what all of its rows
    add: of either sign, so that two units move a cell of both by both.
    """
    match statistic.term:
        case RowCount() | NonNullCount() | Sum() | CappedSum():
            bound = partial_bound(statistic, bounded.limited)
        case _:
            raise _other_values()
    changed = limited_stability(bounded.limited, steps)
    units, in_all = changed.units, _rows_in_all(bounded)
    return HistogramSensitivity(
        changed.groups_per_unit,
        units * bound,
        None if in_all is None else units * in_all * statistic.magnitude,
    )


def _rows_in_all(bounded: BoundedRelease) -> int | None:
    """How many rows of a unit count in all cells together; None if no limit says."""
    match bounded.limited:
        case LimitGroups(rows=rows):
            return rows
        case OneRowPerUnit():
            return 1
        case missing:
            assert_never(missing)


def _is_linear(estimator: Estimator) -> bool:
    """It is a sum of statistics of its own cell, and nothing else."""
    match estimator:
        case LinearEstimator(minimum=None, row_variance=None, cross_group=None):
            return True
        case _:
            return False


def _is_count(estimator: Estimator) -> bool:
    """It is the only statistic, as it is."""
    match estimator:
        case LinearEstimator(constant=0, summands=((0, factor),), step=step):
            return factor * step == 1
        case _:
            return False


def _other_values() -> Refused:
    return Refused(
        "a synopsis counts and sums rows, and one of these is something else",
        hint="write sum(x) or count(x): a mean is sum(x) / count(x) of what it keeps",
        note="synopsis",
    )
