"""SHOW TABLES and DESCRIBE: what the schema declares, and never anything of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct

from dpsql.bind.scope import quoted_name
from dpsql.errors import Refused, Span, SyntaxFault, UnknownTable
from dpsql.report.result.result import Result, text_result
from dpsql.schema.model import Column, EntityUnit, Public, RowUnit, Schema, Table
from dpsql.sqltext.tokens import Word


class Describe(Struct, frozen=True):
    """SHOW TABLES, or DESCRIBE and SUMMARIZE of a `table`, which stands `at` a place."""

    table: tuple[str, ...] | None
    at: Span | None
    summarizes: bool = False


def read_describe(words: Sequence[Word]) -> Describe | None:
    """What the first words of a statement ask of the schema; None if it is another statement."""
    written = [word for word in words if word.text != ";"]
    match [word.folded for word in written]:
        case ["show", "tables"] | ["show", "all", "tables"] | ["describe" | "desc"]:
            return Describe(None, None)
        case ["describe" | "desc" | "summarize" as what, "select" | "with" | "from" | "(", *_]:
            raise Refused(
                f"{what.upper()} of a query has no rule",
                at=written[0].span,
                hint="write EXPLAIN PRIVACY SELECT …, which is free, and shows what is released",
            )
        case ["describe" | "desc" | "summarize" as what, "table", _, *_] if len(written) > 2:
            return _of_table(written[2:], what)
        case ["describe" | "desc" | "summarize" as what, _, *_]:
            return _of_table(written[1:], what)
        case _:
            return None


def described(statement: Describe, schema: Schema) -> Result:
    """The tables that analysts see, or the columns of one; Refused for SUMMARIZE."""
    if statement.table is None:
        return _tables(schema)
    parts = statement.table
    table = schema.resolve(*parts)
    if table is None:
        what = f"there is no table {'.'.join(parts)}"
        raise UnknownTable(what, at=statement.at, hint="SHOW TABLES lists them")
    if statement.summarizes:
        items, quoted = ", ".join(["count(*)", *_means(table)]), ".".join(map(quoted_name, parts))
        raise Refused(
            "SUMMARIZE shows the least and the greatest value of each column as they are",
            at=statement.at,
            hint=f"ask for what you need: SELECT {items} FROM {quoted}",  # noqa: S608 - a hint
        )
    return _columns(table, schema)


def _of_table(named: Sequence[Word], what: str) -> Describe:
    """A name of one, two or three parts, and nothing behind it."""
    parts, signs = named[::2], named[1::2]
    at = Span(named[0].start, named[-1].end)
    if len(parts) > 3 or len(parts) == len(signs) or any(sign.text != "." for sign in signs):
        raise SyntaxFault(
            f"{what.upper()} takes the name of a table", at=at, hint=f"write {what.upper()} table"
        )
    return Describe(tuple(part.name for part in parts), at, what == "summarize")


def _tables(schema: Schema) -> Result:
    """A row for each table and view: whose rows it has, and what is said of it."""
    rows = [
        [t.name, whose(t, schema), str(len(t.columns)), t.comment or None]
        for t in schema.visible_tables.values()
    ]
    return text_result(("name", "rows of", "columns", "comment"), rows)


def _columns(table: Table, schema: Schema) -> Result:
    """A row for each column: its type, the values or bounds that it has, and where it leads."""
    rows = [
        [
            column.name,
            str(column.type),
            "YES" if column.nullable else "NO",
            "PRI" if column.name in (table.key or ()) else None,
            declared_domain(column),
            reference(column, schema),
            column.comment or None,
        ]
        for column in table.columns.values()
    ]
    names = ("column_name", "column_type", "null", "key", "domain", "references", "comment")
    return text_result(names, rows)


def whose(table: Table, schema: Schema) -> str:
    """Whose rows a table or view has; those of a view that is a release are noisy answers."""
    view = schema.views.get(table.name)
    return "nobody (a release)" if view is not None and view.is_release else owner(table)


def owner(table: Table) -> str:
    """Whose rows a table has."""
    match table.ownership:
        case Public():
            return "nobody (public)"
        case RowUnit():
            return "each its own unit"
        case EntityUnit(kind=kind):
            return kind
        case missing:
            assert_never(missing)


def declared_domain(column: Column) -> str | None:
    """The values or the bounds that the schema declares of a column."""
    if column.values is not None:
        shown = ", ".join(map(str, column.values[:_SHOWN]))
        more = len(column.values) - _SHOWN
        return f"{shown}, and {more} more" if more > 0 else shown
    if column.bounds is not None:
        low, high = column.bounds
        return f"from {low} to {high}"
    return None


def reference(column: Column, schema: Schema) -> str | None:
    """The column of another table that it leads to, if analysts see that table."""
    to = column.references
    return (
        None if to is None or to.table not in schema.visible_tables else f"{to.table}.{to.column}"
    )


_SHOWN = 8
"""Of so many values all are named."""

_EXAMPLES = 2
"""Of so many columns a mean is asked for: all that is asked together shares one loss."""


def _means(table: Table) -> list[str]:
    bounded = [c.name for c in table.columns.values() if isinstance(c.bounds, tuple)]
    return [f"avg({quoted_name(name)})" for name in bounded[:_EXAMPLES]]
