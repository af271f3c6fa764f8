"""PIVOT: a column for each value that it names, as an aggregate of the rows that have the value.

    PIVOT visits ON ward IN ('ER', 'GP') USING sum(cost) GROUP BY doctor_id

    SELECT doctor_id, sum(cost) FILTER (WHERE ward = 'ER') AS "ER", … GROUP BY doctor_id

Values that were read from the rows would appear as column names: they have to be named, or
declared. PIVOT visits ON ward has a column for each ward that the schema lists.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Final

from sqlglot import exp

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import domain
from dpsql.bind.context import Context
from dpsql.bind.from_clause.common_table_expression import bound_once
from dpsql.bind.query.select_list import default_name
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.bind.syntax.parse import span
from dpsql.errors import TooComplex

MAX_COLUMNS: Final = 1_000

Listed = str | int
"""A value that names a column: a text, a whole number or a truth value."""

_UNITED = "SELECT 'a' AS name, a AS value FROM (…) t UNION ALL SELECT 'b', b FROM (…) t"
_NAMED = "name the values: PIVOT t ON kind IN ('a', 'b') USING sum(x) GROUP BY key"


def without_pivots(node: exp.Select, context: Context) -> tuple[exp.Select, Context]:
    """`node` with each PIVOT of its FROM as a subquery, and the context to bind it in."""
    joins = [join.this for join in node.args.get("joins") or []]
    clause = node.args.get("from_")
    if not any(s.args.get("pivots") for s in [*joins, *([clause.this] if clause else [])]):
        return node, context
    changed = node.copy()
    for part in (changed.args["from_"], *(changed.args.get("joins") or [])):
        if part.this.args.get("pivots"):
            grouped, context = _grouped(part.this, context)
            part.set("this", grouped)
    return changed, context


def _grouped(source: exp.Expr, context: Context) -> tuple[exp.Subquery, Context]:
    """The PIVOT of `source` as a subquery with GROUP BY, and the context to bind it in."""
    pivot, *others = source.args["pivots"]
    if pivot.args.get("unpivot"):
        raise unsupported(source, "UNPIVOT", _UNITED)
    if others or not pivot.args.get("fields"):
        raise unsupported(source, "PIVOT of a PIVOT", _NAMED)
    joins = source.args.get("joins")
    plain = source.copy()
    for name in ("pivots", "joins"):
        plain.set(name, None)
    if isinstance(plain, exp.Subquery):
        name, _, context = bound_once(plain.this, context)
        alias = plain.args.get("alias")
        plain = exp.Table(this=exp.to_identifier(name, quoted=True), alias=alias)
    listed = [_values(field, plain, context) for field in pivot.args["fields"]]
    calls = [(call.unalias(), call.alias) for call in pivot.expressions]
    for call, _ in calls:
        if not isinstance(call, exp.AggFunc):
            raise unsupported(
                call, "PIVOT of what isn't one aggregate", "sum(x), count(*), avg(x) …"
            )
    columns = prod(map(len, listed)) * len(calls)
    if columns > MAX_COLUMNS:
        raise TooComplex(
            f"PIVOT makes {columns:,} columns, and {MAX_COLUMNS:,} are allowed",
            at=span(source),
            hint="name fewer values: PIVOT t ON kind IN ('a', 'b') USING sum(x) GROUP BY key",
        )
    keys = _keys(pivot, plain, context)
    items: list[exp.Expr] = [key.copy() for key in keys]
    for cell in product(*listed):
        where = exp.and_(*(condition for condition, _ in cell), copy=True)
        value = "_".join(name for _, name in cell)
        for call, alias in calls:
            called = alias or (default_name(call) if len(calls) > 1 else "")
            only_those = exp.Filter(this=call.copy(), expression=exp.Where(this=where.copy()))
            name = f"{value}_{called}" if called else value
            items.append(exp.alias_(only_those, name, quoted=True))
    select = exp.select(*items).from_(plain)
    if keys:
        select = select.group_by(*(key.copy() for key in keys))
    alias = pivot.args.get("alias")
    subquery = exp.Subquery(this=select, alias=alias and alias.copy())
    subquery.set("joins", joins)
    return subquery, context


def _values(field: exp.Expr, source: exp.Expr, context: Context) -> list[tuple[exp.Expr, str]]:
    """For each value of PIVOT's `field`, the condition that a row has it, and its column's name."""
    if isinstance(field, exp.Column):
        return [
            (exp.EQ(this=field.copy(), expression=exp.convert(value)), _shown(value))
            for value in _declared(field, source, context)
        ]
    if not isinstance(field, exp.In) or not field.expressions:
        raise unsupported(field, "PIVOT of values that aren't named", _NAMED)
    conditions: list[tuple[exp.Expr, str]] = []
    for entry in field.expressions:
        value = entry.this if isinstance(entry, exp.PivotAlias) else entry
        if not isinstance(value, exp.Literal | exp.Boolean):
            raise unsupported(entry, "PIVOT of a value that isn't a constant", _NAMED)
        is_named = isinstance(entry, exp.PivotAlias)
        name = entry.args["alias"].name if is_named else _shown(value.this)
        conditions.append((exp.EQ(this=field.this.copy(), expression=value.copy()), name))
    return conditions


def _declared(field: exp.Column, source: exp.Expr, context: Context) -> list[Listed]:
    """The values that the column `field` may have, in order; Refused if the schema lists none."""
    selected = context.bind_query(exp.select(field.copy()).from_(source.copy()), context)
    values = domain(selected.columns[0], column_domains(selected.plan)).values
    listed = [v for v in values or () if isinstance(v, str | int)]
    if not values or len(listed) < len(values):
        raise unsupported(field, "PIVOT of values that aren't named", _NAMED)
    return sorted(listed, key=lambda v: (v.encode(), 0) if isinstance(v, str) else (b"", v))


def _shown(value: Listed) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _keys(pivot: exp.Pivot, source: exp.Expr, context: Context) -> list[exp.Expr]:
    """The group keys: those of GROUP BY, or else the columns that nothing else in PIVOT reads."""
    group = pivot.args.get("group")
    if group is not None:
        require_args(group, "expressions")
        return list(group.expressions)
    parts = (*pivot.args["fields"], *pivot.expressions)
    read = {c.name.casefold() for part in parts for c in part.find_all(exp.Column)}
    names = context.bind_query(exp.select("*").from_(source), context).names
    return [exp.column(n, quoted=True) for n in names if n.casefold() not in read]
