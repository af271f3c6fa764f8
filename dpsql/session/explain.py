"""EXPLAIN PRIVACY: the proof and the price of a statement, without private data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import starmap
from types import MappingProxyType
from typing import assert_never

from dpsql.plan.formula import Linear, Mean, Moments, Named, Position
from dpsql.plan.operator import Plan, Scan
from dpsql.plan.tree import operators
from dpsql.privacy.distance import Apart
from dpsql.privacy.loss import Accounting
from dpsql.release.choice import Chooser
from dpsql.release.interval import CONFIDENCE, linear_error
from dpsql.schema.model import EntityUnit, Schema
from dpsql.session.advice import advice
from dpsql.session.answer import ColumnPrivacy
from dpsql.session.claim import sensitivities
from dpsql.session.copied import copied_scans
from dpsql.session.grant import conversion_delta, epsilon_of
from dpsql.session.prepared import Prepared, PreparedRelease
from dpsql.session.proof import OperatorLine, Price, Proof, ReleaseProof
from dpsql.session.provenance import released_column
from dpsql.session.rollup import RollUp
from dpsql.stability.chain import chain_lines, tree_lines

Rolled = Mapping[str, RollUp]
NOTHING: Rolled = MappingProxyType({})


def explain(prepared: Prepared, schema: Schema) -> Proof:
    """The operators with their distances, sensitivities with their origin, noise and price."""
    apart = schema.apart
    units = apart.steps
    found = [hint for release in prepared.releases for hint in advice(release, schema)]
    return Proof(
        tuple(starmap(OperatorLine, tree_lines(prepared.plan, units))),
        tuple(_release(release, apart) for release in prepared.releases),
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


def _release(release: PreparedRelease, apart: Apart) -> ReleaseProof:
    bounded = release.step.bounded
    return ReleaseProof(
        release.name,
        tuple(starmap(OperatorLine, chain_lines(bounded, apart.steps))),
        bounded.notes,
        tuple(sensitivities(release, apart)),
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
        schema.relation,
        math.exp(epsilon),
    )
