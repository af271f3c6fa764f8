"""Engine SQL as text: what sqlglot's generator writes, for the nodes that statements are made of.

The generator is made for any dialect, and takes most of the time that a small statement's emission
does. Here the nodes that nearly all statements consist of are written at once, letter for letter as
it writes them (a test compares both on every query of the notes and corpora); of whatever is rarer,
or has a part that isn't expected here, it writes the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")
_RESERVED: Final = frozenset(DuckDB.Generator.RESERVED_KEYWORDS)

_BINARY: Final[Mapping[type[exp.Expr], str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.IntDiv: "//",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.And: "AND",
    exp.Or: "OR",
}

_SIDES: Final = (None, "", "LEFT", "FULL")
_KINDS: Final = (None, "", "CROSS")

_TYPES: Final[Mapping[exp.DType, str]] = {
    exp.DType.BOOLEAN: "BOOLEAN",
    exp.DType.UTINYINT: "UTINYINT",
    exp.DType.SMALLINT: "SMALLINT",
    exp.DType.INT: "INT",
    exp.DType.BIGINT: "BIGINT",
    exp.DType.INT128: "INT128",
    exp.DType.DOUBLE: "DOUBLE",
    exp.DType.DECIMAL: "DECIMAL",
    exp.DType.VARCHAR: "TEXT",
    exp.DType.TEXT: "TEXT",
    exp.DType.DATE: "DATE",
    exp.DType.TIMESTAMP: "TIMESTAMP",
}


class _Unknown(Exception):
    """The generator has to write this node."""


def rendered(node: exp.Expr) -> str:
    """`node` in DuckDB's SQL."""
    write = _WRITERS.get(type(node))
    if write is not None and not node.comments:
        try:
            return write(node, node.args)
        except _Unknown:
            pass
    # Of a copy: the generator rewrites what it writes, and a part above may have to be left to it.
    return str(node.sql(dialect="duckdb"))


def _given(args: Mapping[str, Any], *known: str) -> None:
    """No part of a node goes unwritten."""
    for name, value in args.items():
        if value and name not in known:
            raise _Unknown


def _listed(nodes: list[exp.Expr]) -> str:
    return ", ".join(map(rendered, nodes))


def _identifier(node: exp.Expr, args: Mapping[str, Any]) -> str:
    del node
    text = str(args["this"])
    if args.get("quoted"):
        if "\n" in text or "\r" in text:
            raise _Unknown
        return '"' + text.replace('"', '""') + '"'
    if _PLAIN.fullmatch(text) is None or text in _RESERVED:
        raise _Unknown
    return text


def _column(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this", "table")
    own = rendered(node.this)
    table = args.get("table")
    return own if table is None else f"{rendered(table)}.{own}"


def _literal(node: exp.Expr, args: Mapping[str, Any]) -> str:
    del node
    text = str(args["this"])
    if not args["is_string"]:
        return text
    if not text.isprintable() or "\\" in text:
        raise _Unknown
    return "'" + text.replace("'", "''") + "'"


def _binary(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this", "expression")
    return f"{rendered(node.this)} {_BINARY[type(node)]} {rendered(node.expression)}"


def _paren(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this")
    return f"({rendered(node.this)})"


def _not(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this")
    return f"NOT {rendered(node.this)}"


def _is_null(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this", "expression")
    if not isinstance(node.expression, exp.Null):
        raise _Unknown
    return f"{rendered(node.this)} IS NULL"


def _between(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this", "low", "high")
    return f"{rendered(node.this)} BETWEEN {rendered(args['low'])} AND {rendered(args['high'])}"


def _null(node: exp.Expr, args: Mapping[str, Any]) -> str:
    del node, args
    return "NULL"


def _star(node: exp.Expr, args: Mapping[str, Any]) -> str:
    del node
    _given(args)
    return "*"


def _neg(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this")
    inner = rendered(node.this)
    return f"- {inner}" if inner.startswith("-") else f"-{inner}"


def _cast(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this", "to")
    word = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    return f"{word}({rendered(node.this)} AS {rendered(args['to'])})"


def _type(node: exp.Expr, args: Mapping[str, Any]) -> str:
    del node
    _given(args, "this", "expressions")
    sizes = args.get("expressions") or []
    if args["this"] not in _TYPES or any(type(size) is not exp.DataTypeParam for size in sizes):
        raise _Unknown
    name = _TYPES[args["this"]]
    return f"{name}({_listed([size.this for size in sizes])})" if sizes else name


def _case(node: exp.Expr, args: Mapping[str, Any]) -> str:
    del node
    _given(args, "ifs", "default")
    parts = ["CASE"]
    for branch in args["ifs"]:
        _given(branch.args, "this", "true")
        parts.append(f"WHEN {rendered(branch.this)} THEN {rendered(branch.args['true'])}")
    default = args.get("default")
    if default is not None:
        parts.append(f"ELSE {rendered(default)}")
    return " ".join([*parts, "END"])


def _called(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this", "expressions")
    name = args["this"]
    if not isinstance(name, str) or isinstance(node.parent, exp.Dot):
        raise _Unknown
    return f"{name.upper()}({_listed(args.get('expressions') or [])})"


def _coalesce(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this", "expressions")
    return f"COALESCE({_listed([node.this, *args['expressions']])})"


def _alias(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this", "alias")
    return f"{rendered(node.this)} AS {rendered(args['alias'])}"


def _table_alias(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this")
    return rendered(node.this)


def _table(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this", "alias")
    alias = args.get("alias")
    return rendered(node.this) if not alias else f"{rendered(node.this)} AS {rendered(alias)}"


def _subquery(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this", "alias")
    if not isinstance(node.this, exp.Select):
        raise _Unknown
    alias = args.get("alias")
    inner = f"({rendered(node.this)})"
    return inner if not alias else f"{inner} AS {rendered(alias)}"


def _join(node: exp.Expr, args: Mapping[str, Any]) -> str:
    _given(args, "this", "on", "side", "kind")
    side, kind, on = args.get("side"), args.get("kind"), args.get("on")
    if not (side in _SIDES and kind in _KINDS and (on or kind)):
        raise _Unknown
    how = " ".join(word for word in (side, kind, "JOIN") if word)
    return f" {how} {rendered(node.this)}" + (f" ON {rendered(on)}" if on else "")


def _clause(word: str) -> Callable[[exp.Expr, Mapping[str, Any]], str]:
    def write(node: exp.Expr, args: Mapping[str, Any]) -> str:
        _given(args, "this")
        return f" {word} {rendered(node.this)}"

    return write


def _group(node: exp.Expr, args: Mapping[str, Any]) -> str:
    del node
    _given(args, "expressions")
    return f" GROUP BY {_listed(args['expressions'])}"


def _select(node: exp.Expr, args: Mapping[str, Any]) -> str:
    del node
    _given(args, "expressions", "from_", "joins", "where", "group")
    items = args.get("expressions")
    parts = [f"SELECT {_listed(items)}" if items else "SELECT"]
    clauses = [args.get("from_"), *(args.get("joins") or []), args.get("where"), args.get("group")]
    # The generator's text of a clause alone has no blank before it.
    parts += [_WRITERS[type(clause)](clause, clause.args) for clause in clauses if clause]
    return "".join(parts)


_WRITERS: Final[Mapping[type[exp.Expr], Callable[[Any, Mapping[str, Any]], str]]] = {
    **dict.fromkeys(_BINARY, _binary),
    exp.Identifier: _identifier,
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Paren: _paren,
    exp.Not: _not,
    exp.Is: _is_null,
    exp.Between: _between,
    exp.Case: _case,
    exp.Null: _null,
    exp.Star: _star,
    exp.Neg: _neg,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.DataType: _type,
    exp.Anonymous: _called,
    exp.Coalesce: _coalesce,
    exp.Alias: _alias,
    exp.TableAlias: _table_alias,
    exp.Table: _table,
    exp.Subquery: _subquery,
    exp.Join: _join,
    exp.From: _clause("FROM"),
    exp.Where: _clause("WHERE"),
    exp.Group: _group,
    exp.Select: _select,
}
