"""The texts of names, constants, and what is computed of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from dpsql.emit.sql.writer import UnknownNode, Write, Writer, node_args, write_list

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
    exp.Mod: "%",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}

_FACTORS: Final = (exp.Mul, exp.Div, exp.IntDiv, exp.Mod)
"""On the right of these, a remainder stands in parentheses."""

_TYPES: Final[Mapping[exp.DType, str]] = {
    exp.DType.BOOLEAN: "BOOLEAN",
    exp.DType.UTINYINT: "UTINYINT",
    exp.DType.SMALLINT: "SMALLINT",
    exp.DType.INT: "INT",
    exp.DType.BIGINT: "BIGINT",
    exp.DType.UBIGINT: "UBIGINT",
    exp.DType.INT128: "INT128",
    exp.DType.DOUBLE: "DOUBLE",
    exp.DType.DECIMAL: "DECIMAL",
    exp.DType.VARCHAR: "TEXT",
    exp.DType.TEXT: "TEXT",
    exp.DType.DATE: "DATE",
    exp.DType.TIMESTAMP: "TIMESTAMP",
}


def _identifier(node: exp.Identifier, write: Write) -> str:
    del write
    args = node.args
    text = str(args["this"])
    if args.get("quoted"):
        if "\n" in text or "\r" in text:
            raise UnknownNode
        return '"' + text.replace('"', '""') + '"'
    if _PLAIN.fullmatch(text) is None or text in _RESERVED:
        raise UnknownNode
    return text


def _column(node: exp.Column, write: Write) -> str:
    args = node_args(node, "this", "table")
    own = write(args["this"])
    table = args.get("table")
    return own if table is None else f"{write(table)}.{own}"


def _literal(node: exp.Literal, write: Write) -> str:
    del write
    text = str(node.args["this"])
    if not node.args["is_string"]:
        return text
    if not text.isprintable() or "\\" in text:
        raise UnknownNode
    return "'" + text.replace("'", "''") + "'"


def _boolean(node: exp.Boolean, write: Write) -> str:
    del write
    return "TRUE" if node_args(node, "this").get("this") else "FALSE"


def _null(node: exp.Null, write: Write) -> str:
    del node, write
    return "NULL"


def _star(node: exp.Star, write: Write) -> str:
    del write
    node_args(node)
    return "*"


def _binary(node: exp.Binary, write: Write) -> str:
    args = node_args(node, "this", "expression")
    return f"{write(args['this'])} {_BINARY[type(node)]} {write(args['expression'])}"


def _mod(node: exp.Mod, write: Write) -> str:
    text, parent = _binary(node, write), node.parent
    is_right = isinstance(parent, _FACTORS) and parent.args.get("expression") is node
    return f"({text})" if is_right else text


def _bits(node: exp.BitwiseAnd | exp.BitwiseOr, write: Write) -> str:
    # The generator gives CAST(a AS BLOB) & b another cast.
    for part in (node.this, node.expression):
        if isinstance(part, exp.Cast) and part.to.this not in _TYPES:
            raise UnknownNode
    return _binary(node, write)


def _shift(node: exp.BitwiseLeftShift | exp.BitwiseRightShift, write: Write) -> str:
    text = _binary(node, write)
    return f"({text})" if isinstance(node.parent, exp.Binary) else text


def _parameter(node: exp.Parameter, write: Write) -> str:
    return f"${write(node_args(node, 'this')['this'])}"


def _paren(node: exp.Paren, write: Write) -> str:
    return f"({write(node_args(node, 'this')['this'])})"


def _not(node: exp.Not, write: Write) -> str:
    return f"NOT {write(node_args(node, 'this')['this'])}"


def _neg(node: exp.Neg, write: Write) -> str:
    inner = write(node_args(node, "this")["this"])
    return f"- {inner}" if inner.startswith("-") else f"-{inner}"


def _is_null(node: exp.Is, write: Write) -> str:
    args = node_args(node, "this", "expression")
    if not isinstance(args["expression"], exp.Null):
        raise UnknownNode
    return f"{write(args['this'])} IS NULL"


def _between(node: exp.Between, write: Write) -> str:
    args = node_args(node, "this", "low", "high")
    return f"{write(args['this'])} BETWEEN {write(args['low'])} AND {write(args['high'])}"


def _in(node: exp.In, write: Write) -> str:
    args = node_args(node, "this", "expressions", "query")
    query = args.get("query")
    if query is None:
        return f"{write(args['this'])} IN ({write_list(args.get('expressions') or [], write)})"
    if not isinstance(query, exp.Subquery) or query.args.get("alias"):
        raise UnknownNode
    return f"{write(args['this'])} IN {write(query)}"


def _cast(node: exp.Cast, write: Write) -> str:
    args = node_args(node, "this", "to")
    word = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    return f"{word}({write(args['this'])} AS {write(args['to'])})"


def _type(node: exp.DataType, write: Write) -> str:
    args = node_args(node, "this", "expressions")
    sizes = args.get("expressions") or []
    if args["this"] not in _TYPES or any(type(size) is not exp.DataTypeParam for size in sizes):
        raise UnknownNode
    name = _TYPES[args["this"]]
    return f"{name}({write_list((size.this for size in sizes), write)})" if sizes else name


def _case(node: exp.Case, write: Write) -> str:
    args = node_args(node, "ifs", "default")
    parts = ["CASE"]
    for branch in args["ifs"]:
        when = node_args(branch, "this", "true")
        parts.append(f"WHEN {write(when['this'])} THEN {write(when['true'])}")
    default = args.get("default")
    if default is not None:
        parts.append(f"ELSE {write(default)}")
    return " ".join([*parts, "END"])


def _called(node: exp.Anonymous, write: Write) -> str:
    args = node_args(node, "this", "expressions", "arithmetic")
    name = args["this"]
    if not isinstance(name, str) or isinstance(node.parent, exp.Dot):
        raise UnknownNode
    return f"{name.upper()}({write_list(args.get('expressions') or [], write)})"


def _coalesce(node: exp.Coalesce, write: Write) -> str:
    args = node_args(node, "this", "expressions")
    return f"COALESCE({write_list([args['this'], *args['expressions']], write)})"


def _count(node: exp.Count, write: Write) -> str:
    return f"COUNT({write(node_args(node, 'this', 'big_int')['this'])})"


def _window(node: exp.Window, write: Write) -> str:
    args = node_args(node, "this", "partition_by", "order", "over")
    if not isinstance(args["this"], exp.Anonymous) or args.get("over") not in (None, "OVER"):
        raise UnknownNode
    by, order = args.get("partition_by"), args.get("order")
    parts = [f"PARTITION BY {write_list(by, write)}"] if by else []
    parts += [write(order)] if order else []
    return f"{write(args['this'])} OVER ({' '.join(parts)})"


def _alias(node: exp.Alias, write: Write) -> str:
    args = node_args(node, "this", "alias")
    return f"{write(args['this'])} AS {write(args['alias'])}"


OF_TERMS: Final[Mapping[type[exp.Expr], Writer]] = {
    **dict.fromkeys(_BINARY, _binary),
    exp.Mod: _mod,
    exp.BitwiseAnd: _bits,
    exp.BitwiseOr: _bits,
    exp.BitwiseLeftShift: _shift,
    exp.BitwiseRightShift: _shift,
    exp.Parameter: _parameter,
    exp.Identifier: _identifier,
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.Star: _star,
    exp.Paren: _paren,
    exp.Not: _not,
    exp.Neg: _neg,
    exp.Is: _is_null,
    exp.Between: _between,
    exp.In: _in,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.DataType: _type,
    exp.Case: _case,
    exp.Anonymous: _called,
    exp.Coalesce: _coalesce,
    exp.Count: _count,
    exp.Window: _window,
    exp.Alias: _alias,
}
