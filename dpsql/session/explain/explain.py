"""EXPLAIN PRIVACY: the proof and the price of a statement, without private data."""

from __future__ import annotations

import math
from itertools import starmap

from dpsql.analysis.local_privacy import local_only
from dpsql.analysis.plan_text import plan_lines, tree_lines, view_line
from dpsql.plan.operator import Plan, PublicStatement, Scan
from dpsql.plan.traversal import operators
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.model import Column, EntityUnit, Schema
from dpsql.schema.randomized_response_loss import said as said_of
from dpsql.session.answer.column_errors import column_of
from dpsql.session.compile.compiled import Prepared, PreparedRelease
from dpsql.session.compile.loss_conversion import conversion_delta, epsilon_of
from dpsql.session.explain.advice import advice
from dpsql.session.explain.plan_visibility import hides
from dpsql.session.explain.report import OperatorLine, Price, Proof, ReleaseProof
from dpsql.session.explain.sensitivity_text import column_changes, sensitivities
from dpsql.session.run.public_tables import copied_scans


def explain(prepared: Prepared, schema: Schema) -> Proof:
    """The operators with their distances, sensitivities with their origin, noise and price."""
    apart = schema.apart
    units = apart.steps
    found = [hint for release in prepared.releases for hint in advice(release, schema)]
    return Proof(
        tuple(starmap(OperatorLine, tree_lines(prepared.plan, units))),
        tuple(_release(release, prepared, apart) for release in prepared.releases),
        _finish(prepared),
        _price(prepared, schema),
        tuple(dict.fromkeys(found)),
        prepared.totals.notes,
    )


def _finish(prepared: Prepared) -> str:
    """What makes the answer, unless it would name what is hidden."""
    plan = prepared.plan
    if isinstance(plan, PublicStatement):
        return plan.sql
    return "" if hides(plan) else _told(prepared.finish, *copied_scans(plan).values())


def _release(release: PreparedRelease, prepared: Prepared, apart: NeighborDistance) -> ReleaseProof:
    bounded, spreads = release.step.bounded, prepared.totals.spreads(release)
    noise = tuple(column_of(release, place, spreads) for place in range(len(bounded.outputs)))
    if release.opaque is not None:
        line = OperatorLine(
            *view_line(release.opaque.view, bounded.contributions.source, apart.steps)
        )
        threshold = release.step.measurement.threshold
        return ReleaseProof(release.name, (line,), (), (), noise, threshold, "")
    return ReleaseProof(
        release.name,
        tuple(starmap(OperatorLine, plan_lines(bounded, apart.steps))),
        bounded.notes,
        tuple(sensitivities(release, apart)),
        noise,
        release.step.measurement.threshold,
        _told(release.step.query.sql, *operators(bounded.contributions.source)),
        column_changes(release),
    )


def _told(sql: str, *parts: Plan) -> str:
    """What the engine runs, unless it names a table that is hidden."""
    tables = [part.table for part in parts if isinstance(part, Scan)]
    owners = [table.ownership for table in tables]
    walked = (hop for own in owners if isinstance(own, EntityUnit) for hop in own.hops)
    is_hidden = any(table.alias for table in tables) or any(hop.hidden for hop in walked)
    return "" if is_hidden else sql


def _price(prepared: Prepared, schema: Schema) -> Price | None:
    loss = prepared.loss
    if loss is None:
        return None
    epsilon, said = float(epsilon_of(schema, loss.amount)), _said(prepared, schema.apart)
    zcdp = schema.budget.accounting is Accounting.ZCDP
    return Price(
        epsilon,
        float(conversion_delta(schema.budget) + loss.delta),
        float(loss.amount) if zcdp else None,
        float(loss.delta),
        schema.budget.accounting.value,
        schema.relation,
        math.exp(epsilon + said),
        said,
    )


def _said(prepared: Prepared, apart: NeighborDistance) -> float:
    """The ε of the randomised answers that `prepared` shows without noise, each column's once.

    Of several tables a unit has its row in one.
    """
    shown: dict[str, dict[str, Column]] = {}
    for release in prepared.releases:
        found = local_only(release.step.bounded, apart)
        if found is not None and not release.step.measurement.noise:
            shown.setdefault(found.table.name, {}).update((c.name, c) for c in found.columns)
    lost = (said_of(name, columns.values(), apart).epsilon for name, columns in shown.items())
    return float(max(lost, default=0))
