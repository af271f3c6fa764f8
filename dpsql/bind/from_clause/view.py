"""Views: queries of the schema's owner, bound where a statement names them.

A view is a query like a named one of WITH, but its text is the owner's: it sees every table, and
nothing of the statement. Sensitivities follow from the declared bounds and values of its columns.
These are never believed, as those of tables aren't: in the statement's own release, values are
clamped to the bounds, and keys are joined to the listed values.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from dpsql.analysis.domains.column_domains import column_domains, declared_domain
from dpsql.analysis.lineage.lineage import Visibility, private_scans, visibility
from dpsql.bind.column_ids import Names
from dpsql.bind.context import BoundQuery, Context, Cte
from dpsql.bind.expression.current_time import reads_clock
from dpsql.bind.from_clause.common_table_expression import named_query
from dpsql.bind.query.query import bind_query
from dpsql.bind.syntax.parse import parse_query, span
from dpsql.errors import Error, SchemaFault, SyntaxFault
from dpsql.plan.operator import Project, Scan
from dpsql.plan.traversal import operators
from dpsql.privacy.domain import UNKNOWN, Domain, day, timestamp
from dpsql.schema.load.identifiers import is_plain
from dpsql.schema.load.values import read_bounds, read_values
from dpsql.schema.model import Column, Limits, Public, Schema, Table, Value, View
from dpsql.schema.sql_type import Date, Decimal, Double, Integer, SqlType, Timestamp


def resolved(schema: Schema) -> Schema:
    """`schema` with all its views bound and described; a `SchemaFault` where one can't be."""
    if all(view.table is not None for view in schema.views.values()):
        return schema
    return replace(schema, views={n: _described(v, schema) for n, v in schema.views.items()})


def viewed(view: View, node: exp.Table, context: Context) -> BoundQuery:
    """The rows of `view` where `node` names it, under column ids of their own."""
    if view in context.view_stack:
        names = " → ".join(v.name for v in (*context.view_stack, view))
        raise SyntaxFault(
            f"view {view.name} reads itself: {names}", at=span(node), hint="name tables in it"
        )
    known = context.views.get(view.name)
    if known is None or known.bound is None or visibility(known.bound.plan) is Visibility.PRIVATE:
        known = Cte(_placed(parse_query(view.query), node), context.view_context(view), ())
        context.views[view.name] = known
    bound = named_query(known, node, context)
    assert isinstance(bound.plan, Project)
    # EXPLAIN doesn't show the plan of a view that reads hidden tables, nor of views in it.
    scans = (p for p in operators(bound.plan) if isinstance(p, Scan))
    hides = not context.view_stack and any(scan.table.hidden_behind for scan in scans)
    outputs = tuple(
        replace(output, declared=_domain(view, name, output.column.type))
        for output, name in zip(bound.plan.outputs, bound.names, strict=True)
    )
    plan = replace(bound.plan, outputs=outputs, view=view.name if hides else "")
    return replace(bound, plan=plan)


def views_read_clock(context: Context) -> bool:
    """Whether a view that the statement names reads the current day or minute."""
    queries = (named.query for named in context.views.values())
    return any(isinstance(query, exp.Query) and reads_clock(query) for query in queries)


def _placed(query: exp.Query, node: exp.Expr) -> exp.Query:
    """`query` with the place of `node`, where the statement names the view, for all its parts."""
    at = span(node)
    for part in query.walk():
        if "start" in part.meta:
            part.meta.pop("start"), part.meta.pop("end")
            if at is not None:
                part.meta.update(start=at.start, end=at.end - 1)
    return query


def _domain(view: View, name: str, kind: SqlType) -> Domain | None:
    column = _column(view, name, kind)
    return None if column is None else declared_domain(column)


def _column(view: View, name: str, kind: SqlType) -> Column | None:
    """The view's column `name` as declared, with values of its type `kind`; None if it isn't."""
    folded = {declared.casefold(): declared for declared in view.columns}
    if name.casefold() not in folded:
        return None
    written = folded[name.casefold()]
    form, path = view.columns[written], ("views", view.name, "columns", written)
    if form.bounds is not None and form.values is not None:
        raise view.document.error(path, "has bounds and values", "remove one of them")
    if form.bounds is None and form.values is None and form.nullable:
        return None
    bounds = values = None
    if form.bounds is not None:
        bounds = read_bounds(view.document, (*path, "bounds"), kind, form.bounds)
    if form.values is not None:
        values = read_values(view.document, (*path, "values"), kind, form.values)
    return Column(name, kind, bounds, values, form.nullable)


def _described(view: View, schema: Schema) -> View:
    """`view` with the table that analysts see it as."""
    path = ("views", view.name)
    try:
        context = Context(schema, Names()).view_context(view)
        bound = bind_query(parse_query(view.query), context)
    except SchemaFault:
        raise
    except Error as error:
        at = "" if error.position is None else f" at character {error.position}"
        fix = error.hint or "correct the query"
        raise view.document.error((*path, "query"), f"{error.message}{at}", fix) from None
    _check_columns(view, bound)
    scans = private_scans(bound.plan)
    own = scans[0].table.ownership if scans else Public()
    limits = view.limits or (scans[0].table.limits if scans else Limits())
    below = column_domains(bound.plan)
    columns = {
        name: _seen(view, name, column.type, below.get(column.id, UNKNOWN))
        for name, column in zip(bound.names, bound.columns, strict=True)
    }
    table = Table(view.name, columns, own, None, limits, view.comment)
    released = visibility(bound.plan) is Visibility.RELEASED
    return replace(view, table=table, is_release=released)


def _check_columns(view: View, bound: BoundQuery) -> None:
    """Refuse columns of the query without plain, different names, and declarations of others."""
    path, document = ("views", view.name), view.document
    seen: set[str] = set()
    for name in bound.names:
        if not is_plain(name):
            fix = "name it with AS: letters, digits and _"
            raise document.error((*path, "query"), f"column {name:.80} has no plain name", fix)
        if name.casefold() in seen:
            fix = "name one of them otherwise, with AS"
            raise document.error((*path, "query"), f"two columns are called {name}", fix)
        seen.add(name.casefold())
    for name in view.columns:
        if name.casefold() not in seen:
            at, fix = (*path, "columns", name), "correct the name, or remove it"
            raise document.unknown_key_error(at, "the query has no such column", bound.names, fix)


def _seen(view: View, name: str, kind: SqlType, derived: Domain) -> Column:
    """A view's column as analysts see it: with its declared domain, or else the `derived` one."""
    comments = {c.casefold(): form.comment for c, form in view.columns.items()}
    comment = comments.get(name.casefold(), "")
    declared = _column(view, name, kind)
    if declared is not None:
        nullable = declared.nullable and derived.nullable
        return replace(declared, nullable=nullable, comment=comment)
    bounds = None
    if derived.values is None and derived.bounds is not None and derived.bounds.ends is not None:
        bounds = _between(kind, *derived.bounds.ends)
    return Column(name, kind, bounds, derived.values, derived.nullable, comment=comment)


def _between(kind: SqlType, low: Fraction, high: Fraction) -> tuple[Value, Value] | None:
    """The bounds `low` and `high`, coordinates of a domain, as values of type `kind`, widened."""
    ends = math.floor(low), math.ceil(high)
    try:
        match kind:
            case Integer():
                return ends
            case Decimal() | Double():
                return low, high
            case Date():
                return day(ends[0]), day(ends[1])
            case Timestamp():
                return timestamp(ends[0]), timestamp(ends[1])
            case _:
                return None
    except OverflowError:
        return None  # beyond the years that there are
