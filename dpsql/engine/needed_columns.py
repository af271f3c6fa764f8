"""Which tables and columns a statement of ours reads: no fewer, and hardly more.

A column is read by its name, or by a star over its table. So the columns whose names stand
somewhere in the statement are enough, and all of a table that a star is over. A column that was
missing nevertheless would be an error of the binder's, and no other answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpsql.engine.source import ServerTable


@lru_cache(maxsize=64)
def needed_columns(sql: str, tables: tuple[ServerTable, ...]) -> Mapping[str, tuple[str, ...]]:
    """By table the names of the columns that `sql` reads, in the order of their declaration."""
    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
    except (SqlglotError, RecursionError):
        # What isn't understood may read all of what it seems to name.
        seen = sql.casefold()
        return {t.name: _names(t) for t in tables if t.name.casefold() in seen}
    named = {identifier.name.casefold() for identifier in tree.find_all(exp.Identifier)}
    read = {table.name.casefold() for table in tree.find_all(exp.Table)}
    whole = set(_under_stars(tree))
    return {
        table.name: tuple(
            name
            for name in _names(table)
            if table.name.casefold() in whole or name.casefold() in named
        )
        for table in tables
        if table.name.casefold() in read
    }


def _names(table: ServerTable) -> tuple[str, ...]:
    return tuple(name for name, _ in table.columns or ())


def _under_stars(tree: exp.Expr) -> Iterator[str]:
    for select in tree.find_all(exp.Select):
        if any(_is_star(item) for item in select.expressions):
            yield from _sources(select)


def _is_star(item: exp.Expr) -> bool:
    """A star that stands for columns: that of count(*) is of rows."""
    return any(not isinstance(star.parent, exp.Count) for star in item.find_all(exp.Star))


def _sources(select: exp.Select) -> Iterator[str]:
    first = select.args.get("from_") or select.args.get("from")
    joins: Sequence[exp.Expr] = select.args.get("joins") or ()
    for source in (first, *joins):
        if source is not None:
            # A star over a subquery is over what that selects.
            for part in source.walk(prune=lambda node: isinstance(node, exp.Subquery)):
                if isinstance(part, exp.Table):
                    yield part.name.casefold()
