"""From a loss to the noise of all charts of a dashboard, by public facts alone."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import assert_never

from dpsql.analysis.sensitivity import groups_at_row_limit
from dpsql.analysis.stability import limited_stability
from dpsql.analysis.unit_contribution import partial_bound, partial_interval
from dpsql.errors import Refused, TooComplex
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, integer_parts
from dpsql.plan.bounded_release.statistic import CappedSum, NonNullCount, RowCount, Sum
from dpsql.plan.chart import Chart
from dpsql.plan.expression_text import describe_number
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.allocation.marginal_allocation import (
    MAX_RESIDUALS,
    MarginalWorkload,
    WeightedMarginal,
    split_residuals,
)
from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.mechanisms.residual_gaussian import Axes, MarginalNoise, UnitMoves
from dpsql.release.calibration import Measurement
from dpsql.release.dashboard.chart_error import axes_of, chart_variances, half_width, linear
from dpsql.structs import replace

MAX_CELLS = 100_000
"""The largest number of cells of a dashboard: each of them has a row in its table."""


def calibrate_dashboard(
    bounded: BoundedRelease,
    distance: NeighborDistance,
    query_loss: PrivacyLoss,
    charts: Sequence[Chart],
    *,
    are_queries: bool = False,
) -> Measurement:
    """The noise of the residuals of all `charts` of `bounded`, within `query_loss`.

    `are_queries`: each chart is to be less noisy than if it was asked alone, at an equal share.
    Raises Refused for keys without a domain, for values that are no counts or sums, and where
    nothing may be Gaussian; TooComplex for too many cells or residuals.
    """
    shape = _shape(bounded)
    rho = _rho(query_loss)
    moves = unit_moves(bounded, distance)
    weights = _weights(bounded, charts, moves, are_queries=are_queries)
    if sum(2 ** len(axes) for each in weights for axes in each) > MAX_RESIDUALS:
        raise TooComplex(
            "these charts group by too many keys at once",
            hint="make charts of fewer keys each",
            note="dashboard",
        )
    # What nothing shows is measured as a total, as little as can be.
    workloads = [
        MarginalWorkload(
            tuple(WeightedMarginal(axes, weight) for axes, weight in each.items()), move
        )
        for each, move in zip(weights, moves, strict=True)
    ]
    relation = NeighborDistance(_units(bounded, distance), distance.is_replacement)
    noise = MarginalNoise(split_residuals(shape, workloads, relation, rho))
    if query_loss.accounting is Accounting.GDP:
        noise = MarginalNoise(tuple(replace(one, is_rounded=True) for one in noise.statistics))
    losses = (one.rho(move, relation) for one, move in zip(noise.statistics, moves, strict=True))
    spent = sum(losses, Fraction(0))
    if spent > rho:
        raise ArithmeticError("a dashboard passed its grant")
    finest = tuple(one.noise(one.residuals[-1]) for one in noise.statistics)
    return Measurement(finest, None, _loss(spent, query_loss), table_mechanism=noise)


def unit_moves(bounded: BoundedRelease, distance: NeighborDistance) -> list[UnitMoves]:
    """How one unit moves the cells of each statistic.

    Its rows are in at most so many cells, and fill no more than its rows in all do: of what is
    convex in the rows in each cell, and 0 at 0, that is the most (`groups_at_row_limit`), and
    Σ|u| and Σu² are.
    """
    if integer_parts(bounded.limited) != 1:
        raise ArithmeticError("a dashboard is of whole rows")
    changed = limited_stability(bounded.limited, distance.steps)
    cells = groups_at_row_limit(bounded.limited, changed.groups_per_unit)
    moves = []
    for statistic in bounded.contributions.statistics:
        match statistic.term:
            case RowCount() | NonNullCount() | Sum():
                low, high = partial_interval(statistic, bounded.limited)
                bound = partial_bound(statistic, bounded.limited)
                moves.append(UnitMoves(cells, bound, is_signed=low < 0 < high))
            case CappedSum():
                # One row may reach a cap: in more cells than rows in all fill.
                raise Refused(
                    "a dashboard's sums have no cap on what a unit's values sum to",
                    hint="SET dpsql.unit_sum = DEFAULT",
                    note="dashboard",
                )
            case _:
                raise Refused(
                    "a dashboard counts and sums rows, not units or distinct values",
                    hint="write count(*), count(x) or sum(x)",
                    note="dashboard",
                )
    return moves


def dashboard_notes(
    bounded: BoundedRelease, measurement: Measurement, charts: Sequence[Chart]
) -> tuple[str, ...]:
    """The lines of EXPLAIN about each chart's error, and about what a unit moves."""
    noise = measurement.table_mechanism
    assert isinstance(noise, MarginalNoise)
    names = {key.column: key.column.name for key in bounded.contributions.keys}
    measured = sum(len(one.residuals) for one in noise.statistics)
    lines = [
        f"{len(charts)} charts are planned as one, by {measured} residuals of their marginals",
        "they add up: what one chart shows is the sum of what another has of it",
    ]
    for chart in charts:
        by = f"by {', '.join(names[key] for key in chart.keys)}" if chart.keys else "in all"
        for value in chart.values:
            variances = chart_variances(bounded, noise, chart, value)
            assert variances is not None
            low, high = (describe_number(Fraction(f"{half_width(v):.4g}")) for v in variances)
            width = f"± {high}" if low == high else f"± {low} to ± {high}"
            lines.append(f"{by}: {value.name} within {width} in each cell (95 %)")
    return tuple(lines)


def _shape(bounded: BoundedRelease) -> tuple[int, ...]:
    """How many cells each domain has; Refused unless all keys have one, and values are sums."""
    if bounded.partition_count_index is not None:
        raise Refused(
            "the keys of a dashboard are listed, and one of these has no domain",
            hint="declare its values or bounds, or group it by CASE, date_trunc or extract",
            note="dashboard",
        )
    for output in bounded.outputs:
        linear(output.estimator)
    shape = tuple(len(domain.cells) for domain in bounded.contributions.domains)
    if not math.prod(shape) or not bounded.contributions.statistics:
        raise Refused(
            "nothing that these charts show is private",
            hint="ask for it in a query, for nothing",
            note="dashboard",
        )
    if math.prod(shape) > MAX_CELLS:
        raise TooComplex(
            f"the keys have {math.prod(shape):,} combinations, and a dashboard has at most"
            f" {MAX_CELLS:,}",
            hint="use fewer or coarser keys, or several dashboards",
            note="dashboard",
        )
    return shape


def _units(bounded: BoundedRelease, distance: NeighborDistance) -> int:
    """How many units are added or removed; or, where they are replaced, how many are."""
    changed = limited_stability(bounded.limited, distance.steps)
    return changed.units // 2 if distance.is_replacement else changed.units


def _rho(query_loss: PrivacyLoss) -> Fraction:
    match query_loss.accounting:
        case Accounting.ZCDP:
            return query_loss.amount
        case Accounting.GDP:
            return query_loss.amount / 2
        case Accounting.APPROX if query_loss.delta:
            return rho_of_epsilon(query_loss.amount, query_loss.delta)
        case Accounting.APPROX | Accounting.PURE:
            raise Refused(
                "a dashboard's noise is Gaussian, which this budget has no delta for",
                hint="write CREATE SYNOPSIS, or declare a budget with accounting: zcdp or gdp",
                note="dashboard",
            )
        case missing:
            assert_never(missing)


def _loss(rho: Fraction, query_loss: PrivacyLoss) -> PrivacyLoss:
    match query_loss.accounting:
        case Accounting.ZCDP:
            return PrivacyLoss(Accounting.ZCDP, rho)
        case Accounting.GDP:
            return PrivacyLoss(Accounting.GDP, 2 * rho)
        case Accounting.APPROX | Accounting.PURE:
            return query_loss  # (ε, δ) as converted from ρ
        case missing:
            assert_never(missing)


def _weights(
    bounded: BoundedRelease,
    charts: Sequence[Chart],
    moves: Sequence[UnitMoves],
    *,
    are_queries: bool,
) -> list[dict[Axes, float]]:
    """Of each statistic, the weights of the variances of the marginals that charts show of it.

    Values weigh by what a unit changes in them, so that columns count alike. A cell of a chart of c
    cells weighs 1/√c: were all cells alike, a total would be far noisier than if asked alone. Of
    queries with v values it weighs 1/(c·v), so that each variance counts by its share of what it
    would be alone, which is v times as large as that of one value: hardly any is above that then.
    """
    weights: list[dict[Axes, float]] = [defaultdict(float) for _ in moves]
    for chart in charts:
        axes = axes_of(bounded, chart)
        cells = math.prod(len(bounded.contributions.domains[axis].cells) for axis in axes)
        share = cells * len(chart.values) if are_queries else math.sqrt(cells)
        for index, weight in _summands(bounded, chart, moves):
            weights[index][axes] += weight / share
    for each, move in zip(weights, moves, strict=True):
        if not each:
            each[()] = 1e-9 / move.per_cell**2
    return [dict(each) for each in weights]


def _summands(
    bounded: BoundedRelease, chart: Chart, moves: Sequence[UnitMoves]
) -> Iterator[tuple[int, float]]:
    """The statistics that a chart's values are sums of, and what each one's variance weighs."""
    for output in bounded.outputs:
        formula = linear(output.estimator)
        if output.column not in chart.values:
            continue
        scale = sum(abs(f) * moves[index].per_cell for index, f in formula.summands) or 1
        for index, f in formula.summands:
            yield index, float(Fraction(f, scale) ** 2)
