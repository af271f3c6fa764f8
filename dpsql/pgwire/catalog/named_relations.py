"""Which relations of the catalogue a query names, and columns that PostgreSQL has of any table."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.errors import Refused
from dpsql.pgwire.catalog.relations import Relation, relations
from dpsql.pgwire.catalog.rows.system_rows import system_oids
from dpsql.pgwire.sql.column_labels import label

_NAMED_BY_OID: Final = frozenset({"regclass", "regtype", "regrole", "regnamespace"})


def relation(table: exp.Table, ctes: set[str]) -> Relation | None:
    """The relation of the catalogue that `table` names, None if it names none.

    `ctes` are the names of WITH queries, in lower case, which hide relations of pg_catalog.
    """
    if not isinstance(table.this, exp.Identifier):
        return None
    space, name = table.text("db").lower(), table.name.lower()
    if space:
        return relations().get((space, name))
    return None if name in ctes else relations().get(("pg_catalog", name))


def select_table_oids(tree: exp.Expr, ctes: set[str]) -> None:
    """Replace `tableoid` by the OID of the relation of the catalogue that it is a column of."""
    for column in list(tree.find_all(exp.Column)):
        if column.name.lower() == "tableoid":
            table = _table_of(column)
            named = None if table is None else relation(table, ctes)
            if named is not None:
                oid = exp.Literal.number(system_oids()[named.name])
                value: exp.Expr = exp.cast(oid, "BIGINT")
                is_output = column.arg_key == "expressions" and isinstance(
                    column.parent, exp.Select
                )
                column.replace(exp.alias_(value, "tableoid") if is_output else value)


def _table_of(column: exp.Column) -> exp.Table | None:
    """The table that the column is of, None if that is no table."""
    select = column.find_ancestor(exp.Select)
    while select is not None:
        from_, joins = select.args.get("from_"), select.args.get("joins") or ()
        parts = [part for part in (from_, *joins) if part is not None]
        tables: list[exp.Table] = [
            table
            for part in parts
            for table in part.find_all(exp.Table)
            if table.find_ancestor(exp.Select) is select
        ]
        for table in tables:
            if column.table and table.alias_or_name.lower() == column.table.lower():
                return table
        if not column.table:
            if len(tables) != 1:
                raise Refused("tableoid is a column of several tables", hint="write t.tableoid")
            return tables[0]
        select = select.find_ancestor(exp.Select)
    return None


def order_by_oids(tree: exp.Expr) -> None:
    """Order by the OIDs of objects where a query orders by the names that stand for them."""
    for ordered in list(tree.find_all(exp.Ordered)):
        term = _ordered_by(ordered)
        if term is None:
            continue
        select = ordered.find_ancestor(exp.Select)
        if select is not None and select.args.get("distinct"):
            raise Refused(
                "names of objects can't be ordered by after DISTINCT",
                hint="order by x::text, or by x::oid",
            )
        oid = exp.cast(term.this.copy(), "oid", dialect="postgres")
        is_grouped = select is not None and select.args.get("group") is not None
        ordered.set("this", exp.Min(this=oid) if is_grouped else oid)


def _ordered_by(ordered: exp.Ordered) -> exp.Cast | None:
    """The cast of an OID to a name that is ordered by, None if another expression is."""
    term = ordered.this
    select = ordered.find_ancestor(exp.Select)
    items = [] if select is None else select.selects
    if isinstance(term, exp.Literal) and not term.is_string and ordered.parent is not None:
        number = int(term.name) if term.name.isdigit() else 0
        term = items[number - 1] if 0 < number <= len(items) else term
    elif isinstance(term, exp.Column) and not term.table:
        term = next((item for item in items if label(item) == term.name), term)
    value = term.unalias()
    if isinstance(value, exp.Cast) and not isinstance(value.this, exp.Literal):
        kind = value.to.sql("postgres").lower().replace('"', "").removeprefix("pg_catalog.")
        return value if kind in _NAMED_BY_OID else None
    return None
