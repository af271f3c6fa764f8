"""Engine SQL as text: what sqlglot's generator writes, for the nodes that statements are made of.

The generator is made for any dialect, and takes most of the time that a small statement's emission
does. Here the nodes that nearly all statements consist of are written at once, letter for letter as
it writes them (a test compares both on every query of the notes and corpora); of whatever is rarer,
or has a part that isn't expected here, it writes the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from dpsql.emit.sql.expression_writer import OF_TERMS
from dpsql.emit.sql.query_writer import OF_QUERIES
from dpsql.emit.sql.writer import UnknownNode, Writer

_WRITERS: Final[Mapping[type[exp.Expr], Writer]] = {**OF_TERMS, **OF_QUERIES}


def rendered(node: exp.Expr) -> str:
    """`node` in DuckDB's SQL."""
    write = _WRITERS.get(type(node))
    if write is not None and not node.comments:
        try:
            return write(node, rendered)
        except UnknownNode:
            pass
    # Of a copy: the generator rewrites what it writes, and a part above may have to be left to it.
    return str(node.sql(dialect="duckdb"))
