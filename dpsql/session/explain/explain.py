"""EXPLAIN PRIVACY: the proof and the price of a statement, without private data."""

from __future__ import annotations

import math
from itertools import starmap

from dpsql.analysis.local_privacy import local_only
from dpsql.analysis.plan_text import plan_lines, tree_lines, view_line
from dpsql.engine.read_limit import LARGEST_ANSWER, AnswerLimit
from dpsql.physical.choose import Candidate
from dpsql.physical.way import Way
from dpsql.plan.operator import Plan, PublicStatement, Scan
from dpsql.plan.traversal import operators
from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.model import Column, EntityUnit, Schema
from dpsql.schema.randomized_response_loss import local_loss as said_of
from dpsql.session.answer.column_errors import column_of
from dpsql.session.answer.distinct_range import distinct_ranges
from dpsql.session.answer.undeclared_values import undeclared_value_notes
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import conversion_delta, epsilon_of
from dpsql.session.explain.advice import advice
from dpsql.session.explain.plan_visibility import hides
from dpsql.session.explain.report import (
    OperatorLine,
    Price,
    PrivacyReport,
    ReleaseReport,
    StrategyLine,
)
from dpsql.session.explain.sensitivity_text import column_changes, sensitivities
from dpsql.session.run.finishing.public_tables import scans_above_releases
from dpsql.session.run.known_size import has_more_keys
from dpsql.structs import replace


def explain(compiled: CompiledStatement, schema: Schema) -> PrivacyReport:
    """The operators with their distances, sensitivities with their origin, noise and price."""
    distance = schema.neighbor_distance
    units = distance.steps
    hints = [hint for release in compiled.releases for hint in advice(release, schema)]
    return PrivacyReport(
        tuple(starmap(OperatorLine, tree_lines(compiled.plan, units))),
        tuple(_release(release, compiled, distance) for release in compiled.releases),
        _postprocessing_sql(compiled),
        _price(compiled, schema),
        tuple(dict.fromkeys(hints)),
        compiled.consistency.notes,
        (
            *undeclared_value_notes(compiled.plan),
            *(one.text for one in distinct_ranges(compiled)),
            *_size(compiled, schema.per_query.largest),
        ),
    )


def _size(compiled: CompiledStatement, largest: AnswerLimit) -> tuple[str, ...]:
    """How large an answer may be, where the schema says it, or this one is too large."""
    refused = "; this one is refused, since its keys alone make more rows"
    if any(has_more_keys(release, largest) for release in compiled.releases):
        return (f"an answer has at most {largest}{refused}",)
    return () if largest == LARGEST_ANSWER else (f"an answer has at most {largest}",)


def _postprocessing_sql(compiled: CompiledStatement) -> str:
    """What makes the answer, unless it would name what is hidden."""
    plan = compiled.plan
    if isinstance(plan, PublicStatement):
        return plan.sql
    return (
        ""
        if hides(plan)
        else _printed_sql(compiled.postprocessing_sql, *scans_above_releases(plan))
    )


def _release(
    release: CompiledRelease, compiled: CompiledStatement, distance: NeighborDistance
) -> ReleaseReport:
    bounded, spreads = release.step.bounded, compiled.consistency.spreads(release)
    noise = tuple(column_of(release, index, spreads) for index in range(len(bounded.outputs)))
    if release.opaque is not None:
        line = OperatorLine(
            *view_line(release.opaque.view, bounded.contributions.source, distance.steps)
        )
        threshold = release.threshold_in_units
        of = release.threshold_of
        return ReleaseReport(release.name, (line,), (), (), noise, threshold, "", threshold_of=of)
    limited = release.choice.limited if release.ways is None else release.ways.limited
    read = replace(bounded, limited=limited)
    return ReleaseReport(
        release.name,
        tuple(starmap(OperatorLine, plan_lines(read, distance.steps))),
        (*bounded.notes, *filter(None, _way_notes(release))),
        tuple(sensitivities(release, distance)),
        noise,
        release.threshold_in_units,
        _printed_sql(_sql(release), *operators(bounded.contributions.source)),
        column_changes(release),
        tuple(StrategyLine(c.name, float(c.estimate)) for c in _candidates(release)),
        release.threshold_of,
    )


def _sql(release: CompiledRelease) -> str:
    pushed = release.step.pushed
    return release.step.query.sql if pushed is None else pushed.totals.sql


def _candidates(release: CompiledRelease) -> tuple[Candidate | Way, ...]:
    """What may be run, the chosen one first: of a server's rows, the ways to have them."""
    return release.choice.candidates if release.ways is None else release.ways.ways


def _way_notes(release: CompiledRelease) -> tuple[str, ...]:
    if release.ways is None:
        return (release.choice.plan.note,)
    if release.step.pushed is not None:
        return (release.ways.reason,)
    return (release.choice.plan.note, release.ways.reason)


def _printed_sql(sql: str, *parts: Plan) -> str:
    """What the engine runs, unless it names a table that is hidden."""
    tables = [part.table for part in parts if isinstance(part, Scan)]
    owners = [table.ownership for table in tables]
    walked = (hop for own in owners if isinstance(own, EntityUnit) for hop in own.hops)
    is_hidden = any(table.hidden_behind for table in tables) or any(hop.hidden for hop in walked)
    return "" if is_hidden else sql


def _price(compiled: CompiledStatement, schema: Schema) -> Price | None:
    loss = compiled.loss
    if loss is None:
        return None
    epsilon, local_epsilon = (
        float(epsilon_of(schema, loss.amount)),
        _local_epsilon(compiled, schema.neighbor_distance),
    )
    accounting = schema.budget.accounting
    sample = schema.budget.sample
    of_all = None if sample is None else float(sample.law.epsilon_of_all(loss.amount))
    return Price(
        epsilon,
        float(conversion_delta(schema.budget) + loss.delta),
        float(loss.amount) if accounting is Accounting.ZCDP else None,
        float(loss.delta),
        accounting.value,
        schema.relation,
        math.exp((epsilon if of_all is None else of_all) + local_epsilon),
        local_epsilon,
        of_all,
        math.sqrt(loss.amount) if accounting is Accounting.GDP else None,
    )


def _local_epsilon(compiled: CompiledStatement, distance: NeighborDistance) -> float:
    """The ε of the randomised answers that `compiled` shows without noise, each column's once.

    Of several tables a unit has its row in one.
    """
    shown: dict[str, dict[str, Column]] = {}
    for release in compiled.releases:
        randomized = local_only(release.step.bounded, distance)
        if randomized is not None and not release.step.measurement.noise:
            shown.setdefault(randomized.table.name, {}).update(
                (c.name, c) for c in randomized.columns
            )
    lost = (said_of(name, columns.values(), distance).epsilon for name, columns in shown.items())
    return float(max(lost, default=0))
