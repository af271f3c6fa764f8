"""What is claimed of a release's integers: what each sums, and how much of it units can change."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import assert_never

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.predicate_narrowing import Known
from dpsql.analysis.public_row_count import public_row_count
from dpsql.analysis.score_sensitivity import score_range
from dpsql.analysis.unit_contribution import partial_interval, rows_per_group
from dpsql.plan.aggregate import OutputKind
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, integer_parts
from dpsql.plan.bounded_release.cell_selection import (
    CellChoice,
    CountedCells,
    EquidistantCells,
    FrequentCell,
    ListedCells,
    Mode,
    QuantileRanks,
    ThresholdCells,
    ThresholdScores,
    TopCells,
)
from dpsql.plan.bounded_release.estimator import (
    DividedSum,
    Estimator,
    LinearEstimator,
    Variance,
)
from dpsql.plan.bounded_release.statistic import (
    BoundedMean,
    CappedSum,
    Discretized,
    DistinctSum,
    DistinctValues,
    NonNullCount,
    PairwiseDeviations,
    Product,
    RowCount,
    Square,
    Statistic,
    Sum,
    UnitCount,
    UnitsOverLimit,
)
from dpsql.plan.bounded_release.unit_weight import UnitWeight
from dpsql.plan.expression import Expression
from dpsql.plan.expression_text import describe, describe_number
from dpsql.plan.operator import Plan, Project, Scan
from dpsql.plan.traversal import columns, operators
from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.domain import Domain
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.explain.report import ColumnChange, SensitivityLine


def format_statistic(statistic: Statistic) -> str:
    """What is summed."""
    match statistic.term:
        case RowCount():
            text = "rows"
        case NonNullCount(argument=argument):
            text = f"rows with {describe(argument)}"
        case UnitCount():
            text = "units"
        case UnitWeight(groups=groups):
            text = f"units' weights, √({groups}/n) of one in n groups"
        case UnitsOverLimit():
            text = "units with too many rows"
        case DistinctValues(argument=argument):
            text = f"distinct {describe(argument)}"
        case DistinctSum(value=value):
            text = f"sum of distinct {_shifted(value)}"
        case Sum(value=value):
            text = _shifted(value)
        case CappedSum(value=value, cap=cap):
            text = f"{_shifted(value)}, {describe_number(cap * value.worth)} of a unit at most"
        case Square(value=value):
            largest = describe_number(value.radius**2 * statistic.step)
            text = f"square of ({_shifted(value)}) less {largest}"
        case PairwiseDeviations(value=value):
            text = f"squared differences of {describe(value.argument)} in all pairs of rows"
        case BoundedMean(value=value, rows=rows):
            text = f"mean of {_shifted(value)} in all rows, {rows} at least"
        case Product(left=left, right=right):
            text = f"({_shifted(left)}) * ({_shifted(right)})"
        case missing:
            assert_never(missing)
    return text if statistic.filter is None else f"{text} where {describe(statistic.filter)}"


def format_joint(release: CompiledRelease) -> list[str]:
    """Which statistics can't all be extreme at once, and what they may be together."""
    changes, statistics = release.sensitivity, release.step.bounded.contributions.statistics
    lines: list[str] = []
    for norm, bound in (("L2", changes.l2), ("L1", changes.l1)):
        for block in bound.statistic_groups:
            if len(block.corners) > 1:
                numbers = ", ".join(str(p + 1) for p in block.indices)
                steps = [statistics[p].step for p in block.indices]
                corners = " or ".join(
                    f"({', '.join(describe_number(c * s) for c, s in zip(k, steps, strict=True))})"
                    for k in block.corners
                )
                lines.append(f"statistics {numbers} are together, in {norm} norms, {corners}")
    return lines


def _shifted(value: Discretized) -> str:
    if value.scaled is not None:
        others = ", ".join(c.name for c in value.scaled.ball.columns if c != value.scaled.column)
        return f"{value.scaled.column.name}, scaled down together with {others}"
    if value.factored is not None:
        return f"{describe(value.factored.argument)}, capped by {describe(value.factored.key)}"
    shift = f" less {describe_number(value.center * value.step)}" if value.center else ""
    return f"{describe(value.argument)}{shift}"


def sensitivities(
    release: CompiledRelease, distance: NeighborDistance
) -> Iterator[SensitivityLine]:
    """The change of each statistic in a group, with its origin; then what they are together."""
    bounded = release.step.bounded
    for statistic, largest in zip(
        bounded.contributions.statistics, release.sensitivity.per_group, strict=True
    ):
        worth = describe_number(largest * statistic.step)
        derived = _derived(statistic, bounded, distance)
        claim = f"{format_statistic(statistic)}: {worth}{derived}"
        origins: list[str] = []
        if isinstance(statistic.term, Sum | CappedSum):
            value = statistic.term.value
            summed = value.argument if value.factored is None else value.factored.argument
            origins = _origins(summed, bounded.contributions.source)
        yield SensitivityLine(claim, tuple(origins))
    yield from map(SensitivityLine, format_joint(release))
    yield from map(SensitivityLine, format_norms(release))
    yield from map(SensitivityLine, format_all_rows(release))
    yield from (
        SensitivityLine(format_cell_choice(choice, bounded))
        for choice in bounded.contributions.cell_choices
    )


def format_all_rows(release: CompiledRelease) -> list[str]:
    """What of the columns' values neighbours change, where the number of rows is public."""
    bounded = release.step.bounded
    rows = None if bounded.contributions.keys else public_row_count(bounded.contributions.source)
    if rows is None:
        return []
    return [
        f"{column.column} changes by {column.change:.6g}, of {rows} rows, a public number"
        for column in column_changes(release)
        if column.change is not None
    ]


def column_changes(release: CompiledRelease) -> tuple[ColumnChange, ...]:
    """How far each column's value moves that is linear in what is summed."""
    changes = release.sensitivity
    return tuple(
        ColumnChange(
            output.column.name, _change(output.estimator, changes.per_group, changes.groups)
        )
        for output in release.step.bounded.outputs
        if output.output_kind is OutputKind.VALUE
    )


def _change(formula: Estimator, per_group: tuple[int, ...], groups: int) -> float | None:
    match formula:
        case DividedSum():
            return _change(formula.farthest, per_group, groups)
        case LinearEstimator(summands=terms, step=step, cross_group=others):
            change = sum(abs(factor) * per_group[index] for index, factor in terms)
            if others is not None:
                # One unit's rows are in so many of the other groups, and change each by so much.
                max_groups = min(groups, others.groups)
                change += max_groups * sum(
                    abs(f) * per_group[index] for index, f in others.summands
                )
            return float(step * change)
        case Variance(index=index, scale=worth) if not formula.is_root:
            return float(worth * per_group[index])
        case _:
            return None


def format_norms(release: CompiledRelease) -> list[str]:
    """What a unit changes in all groups together that is replaced, or scaled to a norm; else []."""
    changes, lines = release.sensitivity, list[str]()
    terms = release.step.bounded.contributions
    is_scaled = integer_parts(release.step.bounded.limited) > 1
    if not changes.is_replacement and not is_scaled and not terms.weighs_units:
        return []  # in each of its groups it may change as much as in one
    for index, statistic in enumerate(terms.statistics):
        one, square = (
            norm.total(lambda p, c, own=index, e=e: Fraction(c**e * (p == own)))  # type: ignore[misc]
            for norm, e in ((changes.l1, 1), (changes.l2, 2))
        )
        step = float(statistic.step)
        lines.append(
            f"statistic {index + 1} changes in all groups together by L1 {float(one) * step:.6g},"
            f" L2 {math.sqrt(square) * step:.6g}"
        )
    return lines


def format_cell_choice(selection: CellChoice, bounded: BoundedRelease) -> str:
    """Which cells are chosen by how many of a unit's rows."""
    match selection.cells:
        case EquidistantCells(value=value, width=width):
            text = f"{describe(value.argument)} in steps of {describe_number(width * value.step)}"
        case ListedCells(argument=argument):
            text = describe(argument)
        case ThresholdCells(argument=argument, comparison=comparison):
            text = f"{describe(argument)} {comparison.value} threshold"
        case missing:
            assert_never(missing)
    where = "" if selection.filter is None else f" where {describe(selection.filter)}"
    rows = rows_per_group(bounded.limited)
    match selection.target:
        case QuantileRanks() | Mode():
            moved = ""
        case FrequentCell(rows=rows_per_cell) | TopCells(rows=rows_per_cell):
            each = f"{rows_per_cell} of a unit in each"
            return f"rows in {selection.cells.count} cells of {text}{where}: {each}"
        case CountedCells(rows=rows_per_cell, count=count):
            counts = "its count" if count == 1 else "their counts"
            each = f"{rows_per_cell} of a unit in each, {count} shown with {counts}"
            return f"rows in {selection.cells.count} cells of {text}{where}: {each}"
        case ThresholdScores(weights=weights, step=step) as scores:
            spread = describe_number(score_range(scores, selection.cells.count) * step)
            moved = f", each moving two of {len(weights)} scores apart by {spread} at most"
        case other:
            assert_never(other)
    return f"rows in {selection.cells.count} cells of {text}{where}{moved}: {rows} of a unit"


def _derived(statistic: Statistic, bounded: BoundedRelease, distance: NeighborDistance) -> str:
    units = "" if distance.steps == 1 else f"{distance.units} "
    if distance.is_replacement:
        low, high = partial_interval(statistic, bounded.limited)
        ends = (describe_number(end * statistic.step) for end in (low, high))
        one = "unit is another, its sum" if distance.units == 1 else "units are others, each sum"
        return f" where {units}{one} in [{', '.join(ends)}]"
    if isinstance(statistic.term, UnitWeight):
        return " of a unit" if distance.units == 1 else f" of {distance.units} units"
    if isinstance(statistic.term, UnitCount | UnitsOverLimit):
        return " = 1 unit" if distance.units == 1 else f" = {distance.units} units"
    if statistic.is_over_distinct_values:
        return " values of a unit" if distance.units == 1 else f" values of {distance.units} units"
    rows = rows_per_group(bounded.limited)
    low_end, high_end = (describe_number(b * statistic.step) for b in statistic.interval)
    of_units = f"{distance.units} units of " if distance.units > 1 else ""
    if isinstance(statistic.term, CappedSum):
        units = "a unit" if distance.units == 1 else f"{distance.units} units"
        if statistic.term.value.factored is not None:
            return f" of {units}"  # rows are multiplied
        return f" of {units}, of rows in [{low_end}, {high_end}]"
    return f" = {of_units}{rows} row{'s' if rows > 1 else ''}, each in [{low_end}, {high_end}]"


def _origins(argument: Expression, source: Plan) -> list[str]:
    """The bounds of the columns that an argument's bounds follow from, and who set them."""
    domains, declared = column_domains(source), _declared(source)
    lines: list[str] = []
    for column in sorted(columns(argument), key=lambda c: c.id):
        domain = domains.get(column.id, Domain())
        before, origin = declared.get(column.id, (None, "as computed"))
        if before is not None and domain.as_not_null() != before.as_not_null():
            origin = "narrowed by the query"
        if domain.values is not None:
            lines.append(f"{column.name} is one of {len(domain.values)} values, {origin}")
        elif domain.bounds is not None and domain.bounds.ends is not None:
            low, high = map(describe_number, domain.bounds.ends)
            lines.append(f"{column.name} in [{low}, {high}], {origin}")
    return lines


def _declared(source: Plan) -> dict[Known, tuple[Domain, str]]:
    """What the schema, or public rows, say of columns of all tables and views below `source`."""
    domains: dict[Known, tuple[Domain, str]] = {}
    schema = "declared in the schema"
    for part in operators(source):
        if isinstance(part, Scan):
            read = dict(part.known)
            for column, known in column_domains(part).items():
                domains[column] = known, "as its public rows are" if column in read else schema
        elif isinstance(part, Project):
            for output in part.outputs:
                if output.declared is not None:
                    domains[output.column.id] = output.declared, schema
    return domains
