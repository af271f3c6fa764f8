"""EXPLAIN PRIVACY: the proof and the price of a statement, without private data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import starmap
from types import MappingProxyType
from typing import assert_never

from dpsql.plan.bounded import BoundedRelease
from dpsql.plan.describe import describe, describe_number
from dpsql.plan.expression import Expression
from dpsql.plan.formula import Linear, Mean, Moments, Named, Position
from dpsql.plan.operator import Plan, Project, Scan
from dpsql.plan.selection import Listed, Selection, Spaced
from dpsql.plan.statistic import (
    Amount,
    Distinct,
    Measured,
    Ones,
    Over,
    Presence,
    Present,
    Product,
    Square,
    Statistic,
)
from dpsql.plan.tree import columns, operators
from dpsql.privacy.domain import Domain
from dpsql.privacy.loss import Accounting
from dpsql.release.choice import Chooser
from dpsql.release.interval import CONFIDENCE, linear_error
from dpsql.schema.model import EntityUnit, Schema
from dpsql.session.advice import advice
from dpsql.session.answer import ColumnPrivacy
from dpsql.session.copied import copied_scans
from dpsql.session.grant import conversion_delta, epsilon_of
from dpsql.session.prepared import Prepared, PreparedRelease
from dpsql.session.proof import OperatorLine, Price, Proof, ReleaseProof, SensitivityLine
from dpsql.session.provenance import released_column
from dpsql.session.rollup import RollUp
from dpsql.stability.chain import chain_lines, tree_lines
from dpsql.stability.environment import environment
from dpsql.stability.narrowing import Known
from dpsql.stability.sensitivity import rows_per_group

Rolled = Mapping[str, RollUp]
NOTHING: Rolled = MappingProxyType({})


def explain(prepared: Prepared, schema: Schema) -> Proof:
    """The operators with their distances, sensitivities with their origin, noise and price."""
    units = schema.neighbors.units_apart
    found = [hint for release in prepared.releases for hint in advice(release, schema)]
    return Proof(
        tuple(starmap(OperatorLine, tree_lines(prepared.plan, units))),
        tuple(_release(release, units) for release in prepared.releases),
        _told(prepared.finish, *copied_scans(prepared.plan).values()),
        _price(prepared, schema),
        tuple(dict.fromkeys(found)),
    )


def column_privacy(prepared: Prepared, rolled: Rolled = NOTHING) -> tuple[ColumnPrivacy, ...]:
    """How each released column was made; `rolled` are the releases that others are summed to."""
    return tuple(
        _made(release, place, rolled)
        for release in prepared.releases
        for place in range(len(release.step.bounded.outputs))
    )


def answer_columns(
    prepared: Prepared, rolled: Rolled = NOTHING
) -> tuple[ColumnPrivacy | None, ...]:
    """For each column of the answer how it was made, None if it isn't a released value."""
    places = {
        (release.release, output.column.id): (release, place)
        for release in prepared.releases
        for place, output in enumerate(release.step.bounded.outputs)
    }
    found = (released_column(prepared.plan, c.id) for c in prepared.statement.columns)
    known = (None if each is None else places.get(each) for each in found)
    return tuple(None if each is None else _made(*each, rolled) for each in known)


def describe_statistic(statistic: Statistic) -> str:
    """What is summed."""
    match statistic.term:
        case Ones():
            text = "rows"
        case Present(argument=argument):
            text = f"rows with {describe(argument)}"
        case Presence():
            text = "units"
        case Over():
            text = "units with too many rows"
        case Distinct(argument=argument):
            text = f"distinct {describe(argument)}"
        case Amount(value=value):
            text = _shifted(value)
        case Square(value=value):
            most = describe_number(value.radius**2 * statistic.step)
            text = f"square of ({_shifted(value)}) less {most}"
        case Product(left=left, right=right):
            text = f"({_shifted(left)}) * ({_shifted(right)})"
        case missing:
            assert_never(missing)
    return text if statistic.filter is None else f"{text} where {describe(statistic.filter)}"


def describe_joint(release: PreparedRelease) -> list[str]:
    """Which statistics can't all be extreme at once, and what they may be together."""
    found, statistics = release.sensitivity, release.step.bounded.terms.statistics
    lines: list[str] = []
    for norm, blocks in (("L2", found.l2), ("L1", found.l1)):
        for block in blocks:
            if len(block.corners) > 1:
                numbers = ", ".join(str(p + 1) for p in block.places)
                steps = [statistics[p].step for p in block.places]
                corners = " or ".join(
                    f"({', '.join(describe_number(c * s) for c, s in zip(k, steps, strict=True))})"
                    for k in block.corners
                )
                lines.append(f"statistics {numbers} are together, in {norm} norms, {corners}")
    return lines


def _shifted(value: Measured) -> str:
    shift = f" less {describe_number(value.centre * value.step)}" if value.centre else ""
    return f"{describe(value.argument)}{shift}"


def _release(release: PreparedRelease, units: int) -> ReleaseProof:
    bounded = release.step.bounded
    return ReleaseProof(
        release.name,
        tuple(starmap(OperatorLine, chain_lines(bounded, units))),
        bounded.notes,
        tuple(_sensitivities(release)),
        tuple(_column(release, place) for place in range(len(bounded.outputs))),
        release.step.measurement.threshold,
        _told(release.step.query.sql, *operators(bounded.terms.source)),
    )


def _told(sql: str, *parts: Plan) -> str:
    """What the engine runs, unless it names a table that is hidden."""
    tables = [part.table for part in parts if isinstance(part, Scan)]
    owners = [table.ownership for table in tables]
    walked = (hop for own in owners if isinstance(own, EntityUnit) for hop in own.hops)
    is_hidden = any(table.alias for table in tables) or any(hop.hidden for hop in walked)
    return "" if is_hidden else sql


def _sensitivities(release: PreparedRelease) -> Iterator[SensitivityLine]:
    bounded = release.step.bounded
    for statistic, most in zip(
        bounded.terms.statistics, release.sensitivity.per_group, strict=True
    ):
        worth = describe_number(most * statistic.step)
        claim = f"{describe_statistic(statistic)}: {worth}{_derived(statistic, bounded)}"
        origins: list[str] = []
        if isinstance(statistic.term, Amount):
            origins = _origins(statistic.term.value.argument, bounded.terms.source)
        yield SensitivityLine(claim, tuple(origins))
    yield from map(SensitivityLine, describe_joint(release))
    yield from (
        SensitivityLine(describe_selection(found, bounded)) for found in bounded.terms.selections
    )


def describe_selection(selection: Selection, bounded: BoundedRelease) -> str:
    """Which cells are chosen by how many of a unit's rows."""
    match selection.cells:
        case Spaced(value=value, width=width):
            text = f"{describe(value.argument)} in steps of {describe_number(width * value.step)}"
        case Listed(argument=argument):
            text = describe(argument)
        case missing:
            assert_never(missing)
    where = "" if selection.filter is None else f" where {describe(selection.filter)}"
    rows = rows_per_group(bounded.limited)
    return f"rows in {selection.cells.count} cells of {text}{where}: {rows} of a unit"


def _derived(statistic: Statistic, bounded: BoundedRelease) -> str:
    if isinstance(statistic.term, Presence | Over):
        return " = 1 unit"
    if isinstance(statistic.term, Distinct):
        return " values of a unit"
    rows = rows_per_group(bounded.limited)
    low, high = (describe_number(b * statistic.step) for b in statistic.interval)
    return f" = {rows} row{'s' if rows > 1 else ''}, each in [{low}, {high}]"


def _origins(argument: Expression, source: Plan) -> list[str]:
    """The bounds of the columns that an argument's bounds follow from, and who set them."""
    found, declared = environment(source), _declared(source)
    lines: list[str] = []
    for column in sorted(columns(argument), key=lambda c: c.id):
        domain = found.get(column.id, Domain())
        if column.id not in declared:
            origin = "as computed"
        elif domain.as_not_null() == declared[column.id].as_not_null():
            origin = "declared in the schema"
        else:
            origin = "narrowed by the query"
        if domain.values is not None:
            lines.append(f"{column.name} is one of {len(domain.values)} values, {origin}")
        elif domain.bounds is not None and domain.bounds.ends is not None:
            low, high = map(describe_number, domain.bounds.ends)
            lines.append(f"{column.name} in [{low}, {high}], {origin}")
    return lines


def _declared(source: Plan) -> dict[Known, Domain]:
    """What the schema says of the columns of all tables and views below `source`."""
    found: dict[Known, Domain] = {}
    for part in operators(source):
        if isinstance(part, Scan):
            found |= environment(part)
        elif isinstance(part, Project):
            found.update((o.column.id, o.declared) for o in part.outputs if o.declared is not None)
    return found


def _made(release: PreparedRelease, place: int, rolled: Rolled) -> ColumnPrivacy:
    way = rolled.get(release.name)
    if way is None:
        return _column(release, place)
    found = way.noisier(_column(way.fine, way.outputs[place]))
    return replace(found, name=release.step.bounded.outputs[place].column.name)


def _column(release: PreparedRelease, place: int) -> ColumnPrivacy:
    output = release.step.bounded.outputs[place]
    mechanisms = release.step.measurement.mechanisms
    statistics = release.step.bounded.terms.statistics
    match output.formula:
        case Linear(terms=terms):
            scale, width = linear_error(output.formula, mechanisms)
            main = mechanisms[terms[0][0]]
            return ColumnPrivacy(output.column.name, main.name, float(scale), float(width))
        case Mean(total=total):
            main = mechanisms[total]
            scale = float(main.variance) ** 0.5 * float(statistics[total].step)
            return ColumnPrivacy(output.column.name, main.name, scale, None)
        case Moments(x=x):
            main = mechanisms[x.total]
            scale = float(main.variance) ** 0.5 * float(x.step)
            return ColumnPrivacy(output.column.name, main.name, scale, None)
        case Position(place=chosen) | Named(place=chosen):
            cells, chooser = _chooser(release, chosen)
            error = float(chooser.rank_error(cells, CONFIDENCE))
            return ColumnPrivacy(output.column.name, chooser.name, error, None, error)
        case missing:
            assert_never(missing)


def _chooser(release: PreparedRelease, place: int) -> tuple[int, Chooser]:
    """What makes the choice at `place`, and among how many cells."""
    pairs = zip(
        release.step.bounded.terms.selections, release.step.measurement.choosers, strict=True
    )
    for selection, chooser in pairs:
        if place < selection.choices:
            return selection.cells.count, chooser
        place -= selection.choices
    raise ValueError("there are fewer choices")


def _price(prepared: Prepared, schema: Schema) -> Price | None:
    loss = prepared.loss
    if loss is None:
        return None
    epsilon = float(epsilon_of(schema, loss.amount))
    zcdp = schema.budget.accounting is Accounting.ZCDP
    return Price(
        epsilon,
        float(conversion_delta(schema.budget) + loss.delta),
        float(loss.amount) if zcdp else None,
        float(loss.delta),
        schema.budget.accounting.value,
        schema.neighbors.value,
        math.exp(epsilon),
    )
