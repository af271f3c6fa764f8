"""The text of Spark's trees: of the kinds of nodes on the list, and of no others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.spark import guard
from dpsql.emit.dialect.spark.lower import Lowering
from dpsql.emit.sql.server_writer import OF_SERVERS
from dpsql.emit.sql.writer import UnknownNode, Write, Writer, node_args, write_list
from dpsql.engine.spark.semantics import SUPPORTED
from dpsql.plan.bounded_release.engine_query import DomainTable
from dpsql.plan.bounded_release.server_query import ServerStatement

_DECIMAL: Final = re.compile(r"DECIMAL\(\d{1,2},\d{1,2}\)")
_PLAIN_TEXT: Final = re.compile(r"[A-Za-z0-9 _.:+-]")
_FIRST_OF_TWO: Final = 0x10000
"""From this code on, a character has two of 16 bits."""


def rendered(
    tree: exp.Expr,
    domains: tuple[DomainTable, ...] = (),
    columns: tuple[tuple[str, str], ...] = (),
) -> ServerStatement:
    """`tree`, in neutral nodes, in Spark's SQL; Refused for what isn't on its lists.

    Its rows have `columns`, by their names and DuckDB types. A text is the parameter `:p1`, a table
    the view `parameter 1`.
    """
    own = frozenset(cte.alias for cte in tree.find_all(exp.CTE))
    lowering = Lowering({domain.name: domain for domain in domains}, own)
    text = _text(lowering.lower(tree))
    tables, names = frozenset(lowering.tables), frozenset(lowering.names)
    parameters, prepared = tuple(lowering.parameters), frozenset(lowering.prepared)
    return ServerStatement(text, parameters, tables, names, columns, prepared)


def _text(node: exp.Expr) -> str:
    write = _WRITERS.get(type(node))
    if write is None or node.comments:
        raise guard.refused(type(node).__name__)
    try:
        return write(node, _text)
    except UnknownNode:
        raise guard.refused(type(node).__name__) from None


def _identifier(node: exp.Identifier, write: Write) -> str:
    del write
    return "`" + str(node.args["this"]).replace("`", "``") + "`"


def _literal(node: exp.Literal, write: Write) -> str:
    """All that could mean something in a text is written by its code."""
    del write
    text = str(node.args["this"])
    if node.args["is_string"]:
        return "'" + "".join(map(_character, text)) + "'"
    if not text.isdecimal():
        raise UnknownNode
    return text


def _character(character: str) -> str:
    if _PLAIN_TEXT.fullmatch(character):
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < _FIRST_OF_TWO else f"\\U{code:08x}"


def _called(node: exp.Anonymous, write: Write) -> str:
    args = node_args(node, "this", "expressions")
    name = str(args["this"]).upper()
    if name not in SUPPORTED.functions:
        raise guard.refused(name.lower())
    return f"{name}({write_list(args.get('expressions') or [], write)})"


def _cast(node: exp.Cast, write: Write) -> str:
    args = node_args(node, "this", "to")
    name = str(args["to"].args.get("kind"))
    if name not in SUPPORTED.types and not _DECIMAL.fullmatch(name):
        raise UnknownNode
    word = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    return f"{word}({write(args['this'])} AS {name})"


def _lambda(node: exp.Lambda, write: Write) -> str:
    args = node_args(node, "this", "expressions")
    (name,) = args["expressions"]
    return f"{write(name)} -> {write(args['this'])}"


def _collate(node: exp.Collate, write: Write) -> str:
    args = node_args(node, "this", "expression")
    return f"{write(args['this'])} COLLATE {args['expression'].name}"


def _parameter(node: exp.Parameter, write: Write) -> str:
    del write
    return f":{node_args(node, 'this')['this'].name}"


def _whole_quotient(node: exp.IntDiv, write: Write) -> str:
    args = node_args(node, "this", "expression")
    return f"{write(args['this'])} div {write(args['expression'])}"


def _set(node: exp.SetOperation, write: Write) -> str:
    args = node_args(node, "this", "expression", "distinct")
    word = _SETS[type(node)] + (" ALL" if args.get("distinct") is False else "")
    arms = (args["this"], args["expression"])
    return f" {word} ".join(
        write(arm) if isinstance(arm, exp.Select) else f"({write(arm)})" for arm in arms
    )


def _distinct(node: exp.Distinct, write: Write) -> str:
    items = node_args(node, "expressions").get("expressions")
    return f"DISTINCT {write_list(items, write)}" if items else "DISTINCT"


_SETS: Final[Mapping[type[exp.Expr], str]] = {
    exp.Union: "UNION",
    exp.Intersect: "INTERSECT",
    exp.Except: "EXCEPT",
}

_WRITERS: Final[Mapping[type[exp.Expr], Writer]] = {
    **OF_SERVERS,
    exp.IntDiv: _whole_quotient,
    **dict.fromkeys(_SETS, _set),
    exp.Identifier: _identifier,
    exp.Literal: _literal,
    exp.Anonymous: _called,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Lambda: _lambda,
    exp.Collate: _collate,
    exp.Parameter: _parameter,
    exp.Distinct: _distinct,
}
