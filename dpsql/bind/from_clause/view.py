"""Views: queries of the schema's owner, bound where a statement names them.

A view is a query like a named one of WITH, but its text is the owner's: it sees every table, and
nothing of the statement. Sensitivities follow from the declared bounds and values of its columns.
These are never believed, as those of tables aren't: in the statement's own release, values are
clamped to the bounds, and keys are joined to the listed values.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.analysis.domains.column_domains import declared_domain
from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.context import BoundQuery, Context, Cte
from dpsql.bind.expression.current_time import reads_clock
from dpsql.bind.from_clause.common_table_expression import named_query
from dpsql.bind.syntax.parse import parse_query, span
from dpsql.errors import SyntaxFault
from dpsql.plan.operator import Project, Scan
from dpsql.plan.traversal import operators
from dpsql.privacy.domain import Domain
from dpsql.schema.load.values import read_bounds, read_values
from dpsql.schema.model import Column, View
from dpsql.schema.sql_type import SqlType
from dpsql.structs import replace


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
    column = declared_column(view, name, kind)
    return None if column is None else declared_domain(column)


def declared_column(view: View, name: str, kind: SqlType) -> Column | None:
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
