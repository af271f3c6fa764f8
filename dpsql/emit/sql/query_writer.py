"""The texts of queries, and of their clauses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from dpsql.emit.sql.writer import UnknownNode, Write, Writer, node_args, write_list

_SIDES: Final = (None, "", "LEFT", "FULL")
_KINDS: Final = (None, "", "CROSS")

_CLAUSES: Final = ("where", "group", "having", "qualify", "order", "limit", "offset")
"""Those after FROM and joins, in SQL's order."""

_WORDS: Final[Mapping[type[exp.Expr], str]] = {
    exp.From: "FROM",
    exp.Where: "WHERE",
    exp.Having: "HAVING",
    exp.Qualify: "QUALIFY",
}

_NUMBERS: Final[Mapping[type[exp.Expr], str]] = {exp.Limit: "LIMIT", exp.Offset: "OFFSET"}


def _select(node: exp.Select, write: Write) -> str:
    args = node_args(node, "with_", "distinct", "expressions", "from_", "joins", *_CLAUSES)
    distinct, items = args.get("distinct"), args.get("expressions")
    parts = [_part(args["with_"], write)] if args.get("with_") else []
    parts.append(f"SELECT {_part(distinct, write)}" if distinct else "SELECT")
    parts += [write_list(items, write)] if items else []
    clauses = [args.get("from_"), *(args.get("joins") or []), *map(args.get, _CLAUSES)]
    parts += [_part(clause, write) for clause in clauses if clause]
    return " ".join(parts)


def _part(node: exp.Expr, write: Write) -> str:
    """A clause, whose text by the generator would depend on what is around it."""
    writer = OF_QUERIES.get(type(node))
    if writer is None or node.comments:
        raise UnknownNode
    return writer(node, write)


def _distinct(node: exp.Distinct, write: Write) -> str:
    del write
    node_args(node)
    return "DISTINCT"


def _with(node: exp.With, write: Write) -> str:
    return f"WITH {write_list(node_args(node, 'expressions')['expressions'], write)}"


def _common(node: exp.CTE, write: Write) -> str:
    args = node_args(node, "this", "alias", "materialized")
    how = {True: "MATERIALIZED ", False: "NOT MATERIALIZED ", None: ""}[args.get("materialized")]
    return f"{write(args['alias'])} AS {how}({_query(args['this'], write)})"


def _union(node: exp.Union, write: Write) -> str:
    args = node_args(node, "this", "expression", "distinct")
    arms = (args["this"], args["expression"])
    for arm in arms:
        if not isinstance(arm, exp.Select) or any(arm.args.get(c) for c in ("with_", "limit")):
            raise UnknownNode
    word = "UNION ALL" if args.get("distinct") is False else "UNION"
    return f" {word} ".join(map(write, arms))


def _subquery(node: exp.Subquery, write: Write) -> str:
    args = node_args(node, "this", "alias")
    inner, alias = f"({_query(args['this'], write)})", args.get("alias")
    return inner if not alias else f"{inner} AS {write(alias)}"


def _query(node: exp.Expr, write: Write) -> str:
    # A neutral query becomes a Select.
    if not isinstance(node, exp.Query) or isinstance(node, exp.Subquery):
        raise UnknownNode
    return write(node)


def _exists(node: exp.Exists, write: Write) -> str:
    return f"EXISTS({_query(node_args(node, 'this')['this'], write)})"


def _table(node: exp.Table, write: Write) -> str:
    args = node_args(node, "catalog", "db", "this", "alias")
    name = ".".join(write(args[part]) for part in ("catalog", "db", "this") if args.get(part))
    alias = args.get("alias")
    return name if not alias else f"{name} AS {write(alias)}"


def _table_alias(node: exp.TableAlias, write: Write) -> str:
    return write(node_args(node, "this")["this"])


def _join(node: exp.Join, write: Write) -> str:
    args = node_args(node, "this", "on", "side", "kind")
    side, kind, on = args.get("side"), args.get("kind"), args.get("on")
    if not (side in _SIDES and kind in _KINDS and (on or kind)):
        raise UnknownNode
    how = " ".join(word for word in (side, kind, "JOIN") if word)
    return f"{how} {write(args['this'])}" + (f" ON {write(on)}" if on else "")


def _group(node: exp.Group, write: Write) -> str:
    return f"GROUP BY {write_list(node_args(node, 'expressions')['expressions'], write)}"


def _order(node: exp.Order, write: Write) -> str:
    return f"ORDER BY {write_list(node_args(node, 'expressions')['expressions'], write)}"


def _ordered(node: exp.Ordered, write: Write) -> str:
    args = node_args(node, "this", "desc", "nulls_first")
    way = {True: " DESC", False: " ASC", None: ""}[args.get("desc")]
    nulls = " NULLS FIRST" if args.get("nulls_first") else ""
    return f"{write(args['this'])}{way}{nulls}"


def _clause(node: exp.Expr, write: Write) -> str:
    return f"{_WORDS[type(node)]} {write(node_args(node, 'this')['this'])}"


def _number(node: exp.Expr, write: Write) -> str:
    return f"{_NUMBERS[type(node)]} {write(node_args(node, 'expression')['expression'])}"


OF_QUERIES: Final[Mapping[type[exp.Expr], Writer]] = {
    **dict.fromkeys(_WORDS, _clause),
    **dict.fromkeys(_NUMBERS, _number),
    exp.Select: _select,
    exp.Distinct: _distinct,
    exp.With: _with,
    exp.CTE: _common,
    exp.Union: _union,
    exp.Subquery: _subquery,
    exp.Exists: _exists,
    exp.Table: _table,
    exp.TableAlias: _table_alias,
    exp.Join: _join,
    exp.Group: _group,
    exp.Order: _order,
    exp.Ordered: _ordered,
}
