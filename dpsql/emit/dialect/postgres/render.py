"""The text of PostgreSQL's trees: of the kinds of nodes on the list, and of no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.postgres import guard
from dpsql.emit.dialect.postgres.lower import DomainRows, Lowering
from dpsql.emit.sql.query_writer import OF_QUERIES
from dpsql.emit.sql.server_writer import OF_SERVERS
from dpsql.emit.sql.writer import UnknownNode, Write, Writer, node_args, write_list
from dpsql.engine.postgres.semantics import SUPPORTED
from dpsql.plan.bounded_release.engine_query import DomainTable
from dpsql.plan.bounded_release.server_query import ServerStatement


def rendered(
    tree: exp.Expr,
    domains: tuple[DomainTable, ...] = (),
    columns: tuple[tuple[str, str], ...] = (),
) -> ServerStatement:
    """`tree`, in neutral nodes, in PostgreSQL's SQL; Refused for what isn't on its lists.

    Its rows have `columns`, by their names and DuckDB types.
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
    return '"' + str(node.args["this"]).replace('"', '""') + '"'


def _literal(node: exp.Literal, write: Write) -> str:
    """Backslashes are themselves: the session has standard_conforming_strings."""
    del write
    text = str(node.args["this"])
    if node.args["is_string"]:
        return "'" + text.replace("'", "''") + "'"
    if not text.isdecimal():
        raise UnknownNode
    return text


def _called(node: exp.Anonymous, write: Write) -> str:
    args = node_args(node, "this", "expressions")
    name = str(args["this"]).upper()
    if name not in SUPPORTED.functions:
        raise guard.refused(name.lower())
    return f"{name}({write_list(args.get('expressions') or [], write)})"


def _cast(node: exp.Cast, write: Write) -> str:
    args = node_args(node, "this", "to")
    name = str(args["to"].args.get("kind"))
    if name.removesuffix("[]") not in SUPPORTED.types:
        raise UnknownNode
    return f"CAST({write(args['this'])} AS {name})"


def _collate(node: exp.Collate, write: Write) -> str:
    args = node_args(node, "this", "expression")
    return f"{write(args['this'])} COLLATE {write(args['expression'])}"


def _parameter(node: exp.Parameter, write: Write) -> str:
    return f"${write(node_args(node, 'this')['this'])}"


def _set(node: exp.SetOperation, write: Write) -> str:
    args = node_args(node, "this", "expression", "distinct")
    word = _SETS[type(node)] + (" ALL" if args.get("distinct") is False else "")
    arms = (args["this"], args["expression"])
    return f" {word} ".join(
        write(arm)
        if isinstance(arm, exp.Select) and not arm.args.get("offset")
        else f"({write(arm)})"
        for arm in arms
    )


def _distinct(node: exp.Distinct, write: Write) -> str:
    return f"DISTINCT {write_list(node_args(node, 'expressions')['expressions'], write)}"


def _extract(node: exp.Extract, write: Write) -> str:
    args = node_args(node, "this", "expression")
    return f"EXTRACT({args['this'].name} FROM {write(args['expression'])})"


def _escape(node: exp.Escape, write: Write) -> str:
    args = node_args(node, "this", "expression")
    return f"{write(args['this'])} ESCAPE {write(args['expression'])}"


def _domain_rows(node: DomainRows, write: Write) -> str:
    args = node_args(node, "expressions", "alias")
    return f"UNNEST({write_list(args['expressions'], write)}) AS {write(args['alias'])}"


_SETS: Final[Mapping[type[exp.Expr], str]] = {
    exp.Union: "UNION",
    exp.Intersect: "INTERSECT",
    exp.Except: "EXCEPT",
}

_WRITERS: Final[Mapping[type[exp.Expr], Writer]] = {
    **OF_SERVERS,
    exp.Limit: OF_QUERIES[exp.Limit],
    exp.Offset: OF_QUERIES[exp.Offset],
    **dict.fromkeys(_SETS, _set),
    exp.Identifier: _identifier,
    exp.Literal: _literal,
    exp.Anonymous: _called,
    exp.Cast: _cast,
    exp.Collate: _collate,
    exp.Parameter: _parameter,
    exp.Distinct: _distinct,
    exp.Extract: _extract,
    exp.Escape: _escape,
    DomainRows: _domain_rows,
}
