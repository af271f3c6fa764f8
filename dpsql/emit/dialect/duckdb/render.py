"""Engine SQL as text: what sqlglot's generator writes, for the nodes that statements are made of.

The generator is made for any dialect, and takes most of the time that a small statement's emission
does. Here the nodes that nearly all statements consist of are written at once, letter for letter as
it writes them (a test compares both on every query of the notes and corpora); of whatever is rarer,
or has a part that isn't expected here, it writes the text.

Measured in 2026-11 on all statements of the notes that are answered and on TPC-H, each with all
writers in turns, the least of 5 or 15 times: from the text to engine SQL and its finish, in ms. The
second generator is one object for all statements, and copies no tree.

| statements                 | these writers | generator   | one generator, no copy |
| -------------------------- | ------------- | ----------- | ---------------------- |
| 524 of notes, median       | 4.5           | 5.9         | 5.2                    |
| 524 of notes, in all       | 2,838         | 3,615       | 3,260                  |
| of it writing              | 246           | 956         | 619                    |
| 19 of TPC-H, median        | 9.8           | 11.6        | 10.6                   |
| 19 of TPC-H, in all        | 188           | 226         | 207                    |
| of it writing              | 10            | 47          | 31                     |

A cache changes nothing of that: a text that was asked before is found prepared by
`session.compile.plan_cache`, with any writer. sqlglot's compiled generator (sqlglot[c], 62 MB)
takes as long as these writers if it copies no tree, 2,428 ms to 2,435; but a compiled parser can't
be extended, as that of `pgwire.sql.grammar` has to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.duckdb.attempt.column_copies import mark_joined
from dpsql.emit.dialect.duckdb.lower import NEUTRAL, lowered, write_neutral
from dpsql.emit.sql.expression_writer import OF_TERMS
from dpsql.emit.sql.query_writer import OF_QUERIES
from dpsql.emit.sql.writer import UnknownNode, Writer

_WRITERS: Final[Mapping[type[exp.Expr], Writer]] = {
    **OF_TERMS,
    **OF_QUERIES,
    **dict.fromkeys(NEUTRAL, write_neutral),
}


def rendered(node: exp.Expr, *, is_joined: bool = False) -> str:
    """`node`, neutral or DuckDB's own, in DuckDB's SQL; its rows are joined if it `is_joined`."""
    if isinstance(node, exp.Query):
        mark_joined(node, is_joined=is_joined)
    return _written(node)


def _written(node: exp.Expr) -> str:
    write = _WRITERS.get(type(node))
    if write is not None and not node.comments:
        try:
            return write(node, _written)
        except UnknownNode:
            pass
    # Of a copy: the generator rewrites what it writes, and a part above may have to be left to it.
    return str(lowered(node).sql(dialect="duckdb", copy=False))
