"""Whole statements: from SQL text and a schema to a plan whose rows aren't private."""

from __future__ import annotations

from types import MappingProxyType
from typing import Self

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.lineage.lineage import Visibility, private_scans, visibility
from dpsql.bind.context import BoundQuery, Context, SingleRow
from dpsql.bind.expression.current_time import reads_clock
from dpsql.bind.from_clause.view import views_read_clock
from dpsql.bind.grouping.empty_groups import with_groups_that_have_rows
from dpsql.bind.query.query import bind_query, statement_context
from dpsql.bind.saved_release import NO_RELEASES, SavedReleaseNames
from dpsql.bind.statements.alert import Alert, is_alert, read_alert
from dpsql.bind.statements.calibrate import LadderPart, calibration
from dpsql.bind.statements.decide import Decision, is_decision, read_decision
from dpsql.bind.statements.suggest_bounds import is_suggestion, suggestion
from dpsql.bind.syntax.complexity import check_nesting
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bind.syntax.parse import parse_query, span, tokens
from dpsql.bind.syntax.placeholder import as_written
from dpsql.errors import BadParameter, Error, Span, WouldShowIndividuals
from dpsql.plan.chart import Chart
from dpsql.plan.expression import Column
from dpsql.plan.operator import Plan
from dpsql.plan.output_columns import output_columns
from dpsql.schema.model import Schema

NO_PARAMETERS: Parameters = MappingProxyType({})


class Statement(Struct, frozen=True, cache_hash=True):
    """A bound statement: its plan, the answer's `columns`, and their `names` for the analyst.

    `reads_clock`: the plan has the current day or minute as a constant. `single` are the public
    rows that the statement uses as one row; `charts` what each chart of a dashboard has.
    `names_release`: it names a saved release, which is another table to others, or none; also where
    the plan doesn't read it, as of LIMIT 0.
    """

    plan: Plan
    columns: tuple[Column, ...]
    names: tuple[str, ...]
    names_release: bool
    reads_clock: bool = False
    single: tuple[SingleRow, ...] = ()
    charts: tuple[Chart, ...] = ()

    @classmethod
    def bound(
        cls,
        plan: Plan,
        names: tuple[str, ...],
        context: Context,
        *,
        reads_clock: bool = False,
        charts: tuple[Chart, ...] = (),
    ) -> Self:
        """The statement whose `plan` was bound in `context`, with what was noted there."""
        names_release, single = bool(context.named_releases), tuple(context.single)
        return cls(plan, output_columns(plan), names, names_release, reads_clock, single, charts)


def bind(
    sql: str,
    schema: Schema,
    parameters: Parameters = NO_PARAMETERS,
    releases: SavedReleaseNames = NO_RELEASES,
) -> Statement:
    """The plan of the one query that `sql` is, over the schema's tables and over `releases`.

    Raises `dpsql.errors.Error`, with a place in `sql`, for any construct that has no rule.
    """
    try:
        context = statement_context(schema, parameters, releases)
        words = tokens(sql)
        if is_suggestion(words):
            selected = suggestion(words, context)
            return _bound(selected, context, clocked=views_read_clock(context))
        if is_decision(words) or is_alert(words):
            read = read_decision if is_decision(words) else read_alert
            own: Decision | Alert = read(sql, words)
            _check_used(own.query, parameters)
            selected = own.bound(context)
            check_nesting(selected.plan)
            clocked = reads_clock(own.query) or views_read_clock(context)
            return _bound(selected, context, clocked=clocked)
        tree = parse_query(sql, words=words)
        _check_used(tree, parameters)
        selected = bind_query(tree, context)
        check_nesting(selected.plan)
        if visibility(selected.plan) is Visibility.PRIVATE:
            raise _individuals(selected.plan, span(tree))
    except Error as error:
        # The error's place is one in the text whose `?` are numbered.
        error.at = Span(0, len(sql)) if error.at is None else as_written(error.at, tokens(sql))
        raise
    return _bound(selected, context, clocked=reads_clock(tree) or views_read_clock(context))


def bind_calibration(
    part: LadderPart,
    sql: str,
    schema: Schema,
    parameters: Parameters = NO_PARAMETERS,
    releases: SavedReleaseNames = NO_RELEASES,
) -> Statement:
    """The plan of one part of the calibration that `sql` is."""
    try:
        if parameters:
            raise BadParameter("CALIBRATE takes no parameters", hint="write the values out")
        context = statement_context(schema, parameters, releases)
        selected = calibration(sql, part, context)
        check_nesting(selected.plan)
    except Error as error:
        # What it is bound as isn't what was written.
        error.at = Span(len(sql) - len(sql.lstrip()), len(sql.rstrip()))
        raise
    return _bound(selected, context, clocked=views_read_clock(context))


def _bound(selected: BoundQuery, context: Context, *, clocked: bool) -> Statement:
    plan = with_groups_that_have_rows(selected.plan, context.values)
    return Statement.bound(plan, selected.names, context, reads_clock=clocked)


def _check_used(tree: exp.Expr, parameters: Parameters) -> None:
    """Refuse a value for a parameter that the statement doesn't have."""
    if not parameters:
        return
    placeholders = {mark.name for mark in tree.find_all(exp.Placeholder, exp.Parameter)}
    for name in parameters:
        if name not in placeholders:
            raise BadParameter(
                f"the statement has no parameter {name}",
                hint="pass one value for each ?, $1 or :name",
            )


def _individuals(plan: Plan, at: Span | None) -> WouldShowIndividuals:
    table = private_scans(plan)[0].table.display_name
    return WouldShowIndividuals(
        f"the answer would list rows of {table}, or its units one by one",
        at=at,
        hint=f"aggregate over units: SELECT count(*) FROM {table}",  # noqa: S608 - a hint
        note="select",
    )
