"""The schema's views, each bound by itself and described by the table that analysts see.

A view that can't be bound is a fault of the schema's file, not of a statement that names it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.lineage.lineage import Visibility, private_scans, visibility
from dpsql.bind.context import BoundQuery
from dpsql.bind.from_clause.view import declared_column
from dpsql.bind.query.query import bind_query, statement_context
from dpsql.bind.syntax.parse import parse_query
from dpsql.errors import Error, SchemaFault
from dpsql.privacy.domain import UNKNOWN, Domain, day, timestamp
from dpsql.schema.load.identifiers import is_plain
from dpsql.schema.model import Column, Limits, Public, Schema, Table, Value, View
from dpsql.schema.sql_type import Date, Decimal, Double, Integer, SqlType, Timestamp
from dpsql.structs import replace


def resolved(schema: Schema) -> Schema:
    """`schema` with all its views bound and described; a `SchemaFault` where one can't be."""
    if all(view.table is not None for view in schema.views.values()):
        return schema
    return replace(schema, views={n: _described(v, schema) for n, v in schema.views.items()})


def _described(view: View, schema: Schema) -> View:
    """`view` with the table that analysts see it as."""
    path = ("views", view.name)
    try:
        context = statement_context(schema, {}).view_context(view)
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
    declared = declared_column(view, name, kind)
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
