"""What the compiler says of a query, without any private row: the answers notes are held to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

import sqlglot
from neighbor_search.public_rows import public_connection
from notes.whole import whole_over

from dpsql.analysis.plan_text import plan_text, tree_text
from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.bind.saved_release import NO_RELEASES
from dpsql.bind.statement import NO_PARAMETERS
from dpsql.bind.statements.calibrate import LadderPart
from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.dbapi.statements.alert import CreateAlert
from dpsql.dbapi.statements.calibrate import Calibrate
from dpsql.dbapi.statements.create_release import CreateRelease
from dpsql.dbapi.statements.parse import Query, read_statement
from dpsql.dbapi.statements.settings import updated
from dpsql.errors import Error
from dpsql.plan.expression_text import describe_number
from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Neighbors, Schema
from dpsql.session.answer.column_errors import column_privacy
from dpsql.session.compile.compiled import CompiledStatement, compile_bound, compile_sql
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import epsilon_of, query_loss
from dpsql.session.compile.request import (
    ANSWER,
    AnswerRequest,
    LadderRequest,
    Request,
    TableRequest,
    binder_of,
)
from dpsql.session.compile.source_facts import DataEdition
from dpsql.session.explain.sensitivity_text import (
    format_all_rows,
    format_cell_choice,
    format_joint,
    format_norms,
    format_statistic,
)
from dpsql.session.options import ANY_PRICE, AnswerOptions, QueryOptions
from dpsql.session.run.public_statements import WholeStatements
from dpsql.structs import replace

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"


@cache
def schema_of(name: str) -> Schema:
    return load_schema(FIXTURES / name / "schema.yaml")


@cache
def prepared(
    sql: str,
    schema: str,
    verified: frozenset[str],
    apart: NeighborDistance | None = None,
    limits: ContributionLimits = AS_DECLARED,
    edition: str = "data",
) -> CompiledStatement:
    """`sql` up to the point where it would be charged; `apart` may be another than the schema's.

    Where rows are removed, how many there are is no public number.
    """
    found = schema_of(schema)
    if apart is not None:
        relation = Neighbors.CHANGE_ONE if apart.is_replacement else Neighbors.ADD_REMOVE
        found = replace(found, neighbors=relation, group_size=apart.units)
        if not apart.is_replacement:
            tables = {name: replace(table, rows=None) for name, table in found.tables.items()}
            found = replace(found, tables=tables)
    facts = WorldFacts(found, public_connection(schema), verified)
    query, request, options = asked(sql, found, limits)
    bind = binder_of(request, whole(schema).bound)
    statement = bind(query, found, NO_PARAMETERS, NO_RELEASES)
    epsilon = request.epsilon if isinstance(request, TableRequest) else options.epsilon
    loss = query_loss(found, Fraction(1) if epsilon is None else epsilon)
    return compile_bound(
        statement, query, found, facts, loss, DataEdition(edition), request, options
    )


@cache
def whole(schema: str) -> WholeStatements:
    """Statements over the fixture's public rows that run as they are written."""
    return whole_over(schema_of(schema), public_connection(schema))


def asked(
    sql: str, schema: Schema, limits: ContributionLimits = AS_DECLARED
) -> tuple[str, Request, QueryOptions]:
    """The query that a statement is or keeps, what for, and its options, ε = 1 by default."""
    found = read_statement(sql)
    if isinstance(found, Calibrate):
        return _part_of_ladders(found, sql, limits)
    if isinstance(found, CreateAlert):
        own = found.spec.options(ANY_PRICE)
        chosen = own.limits if limits == AS_DECLARED else limits
        return found.spec.sql, found.spec.request, replace(own, limits=chosen)
    assert isinstance(found, Query | CreateRelease)
    options = QueryOptions(Fraction(1), limits)
    for option in found.options:
        options = updated(options, option, schema)
    request = found.request.content if isinstance(found, CreateRelease) else ANSWER
    return found.sql, request, options


def _part_of_ladders(
    found: Calibrate, sql: str, limits: ContributionLimits
) -> tuple[str, Request, QueryOptions]:
    """The part that a comment names, as if three groups of a unit were found to count."""
    named = re.search(r"-- part: (\w+)", sql)
    part = LadderPart(named[1]) if named else LadderPart.CONTRIBUTIONS
    rows = 3 if part is LadderPart.CONTRIBUTIONS else 1
    limits = replace(limits, rows=min(rows, limits.rows or rows))
    request = AnswerRequest(LadderRequest(part, Fraction(1)))
    return found.spec.sql, request, QueryOptions(found.spec.epsilon, limits)


def plan(sql: str, schema: str, verified: frozenset[str]) -> str:
    found = prepared(sql, schema, verified)
    units = schema_of(schema).neighbor_distance.steps
    parts = [tree_text(found.plan, units)]
    parts += [f"{r.name}:\n{plan_text(r.step.bounded, units)}" for r in found.releases]
    return "\n".join(parts)


def rewritten(sql: str, schema: str, verified: frozenset[str]) -> str:
    return "\n".join(
        text
        for release in prepared(sql, schema, verified).releases
        for text in _statements(release)
    )


def _statements(release: CompiledRelease) -> Iterator[str]:
    """The strategy that computes `release`, and its statements, one clause a line."""
    query = release.step.query
    yield f"-- {release.choice.candidates[0].name}"
    for sql in (query.sql, *(histogram.sql for histogram in query.histograms)):
        yield sqlglot.transpile(sql, read="duckdb", write="duckdb", pretty=True)[0]


def sensitivity(sql: str, schema: str, verified: frozenset[str]) -> str:
    lines: list[str] = []
    for release in prepared(sql, schema, verified).releases:
        bounded = release.step.bounded
        for statistic, most in zip(
            bounded.contributions.statistics, release.sensitivity.per_group, strict=True
        ):
            worth = describe_number(most * statistic.step)
            groups = release.sensitivity.groups
            lines.append(f"{format_statistic(statistic)} = {worth} in each of {groups} groups")
        groups = release.sensitivity.groups
        lines += [
            f"{format_cell_choice(s, bounded)}, in each of {groups} groups"
            for s in bounded.contributions.cell_choices
        ]
        lines += [f"  {text}" for text in format_joint(release)]
        lines += [f"  {text}" for text in format_norms(release)]
        lines += [f"  {text}" for text in format_all_rows(release)]
        lines += [f"  {note}" for note in (*bounded.notes, release.choice.plan.note) if note]
        if release.threshold_in_units is not None:
            number = f"{release.threshold_in_units} {release.threshold_of}"
            lines.append(f"  keys appear from {number} on")
    return "\n".join(lines)


def loss(sql: str, schema: str, verified: frozenset[str]) -> str:
    found = prepared(sql, schema, verified).loss
    if found is None:
        return "nothing"
    epsilon = float(epsilon_of(schema_of(schema), found.amount))
    delta = f", delta = {float(found.delta):g}" if found.delta else ""
    return f"epsilon = {epsilon:.3f}{delta}"


def refused(sql: str, schema: str, verified: frozenset[str]) -> str:
    """The refusal's SQLSTATE, message, place and hint."""
    try:
        prepared(sql, schema, verified)
    except Error as error:
        lines = [f"{error.sqlstate}: {error.message}"]
        if error.at is not None:
            lines.append(f"at: {sql[error.at.start : error.at.end]}")
        if error.hint:
            lines.append(f"hint: {error.hint}")
        return "\n".join(lines)
    return "accepted"


def totals(sql: str, schema: str, verified: frozenset[str]) -> str:
    """What is made to add up where that is asked for, and what 95 % errors become by that."""
    found = schema_of(schema)
    facts = WorldFacts(found, public_connection(schema), verified)
    raw = prepared(sql, schema, verified)
    asked = compile_sql(
        sql,
        found,
        facts,
        query_loss(found, Fraction(1)),
        "data",
        options=QueryOptions(answer=AnswerOptions(consistent=True)),
    )
    lines = list(asked.consistency.notes)
    for drawn, shown in zip(column_privacy(raw), column_privacy(asked), strict=True):
        if drawn.half_width is not None and shown.half_width is not None:
            lines.append(f"{shown.name}: ± {drawn.half_width:g} becomes ± {shown.half_width:g}")
    return "\n".join(lines)


SAYS = {
    "plan": plan,
    "rewritten": rewritten,
    "sensitivity": sensitivity,
    "loss": loss,
    "refused": refused,
    "totals": totals,
}
