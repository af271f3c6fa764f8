"""Casts to PostgreSQL's types: names of objects, and lists written as text."""

from __future__ import annotations

from sqlglot import exp

from dpsql.pgwire.codec.array import items
from dpsql.pgwire.codec.parameter import BadValue


def cast(node: exp.Cast) -> exp.Expr:
    """What a cast to one of PostgreSQL's types is in DuckDB."""
    kind = node.to.sql("postgres").lower().replace('"', "").removeprefix("pg_catalog.")
    inner: exp.Expr = node.this
    says = isinstance(inner, exp.Literal) and inner.is_string
    match kind:
        case "regclass":
            return call("to_regclass" if says else "dpsql_class", inner)
        case "regtype":
            return call("to_regtype" if says else "dpsql_type", inner)
        case "regnamespace":
            return call("to_regnamespace" if says else "dpsql_space", inner)
        case "regrole":
            return call("pg_get_userbyid", inner)
        case "regproc" | "regprocedure" | "regoper" | "regoperator" | "regconfig":
            if says:
                return exp.Literal.string(inner.name.rpartition(".")[2])
            return exp.cast(inner, "VARCHAR")
        case "oid" | "xid" | "cid":
            # What was cast to a name before means its number again.
            return exp.cast(_number(inner), "BIGINT")
        case (
            "name"
            | "text"
            | "varchar"
            | "char"
            | "cstring"
            | "unknown"
            | "bpchar"
            | "information_schema.sql_identifier"
            | "information_schema.character_data"
        ):
            return exp.cast(inner, "VARCHAR")
        case "int2vector" | "int2[]" | "smallint[]":
            return exp.cast(inner, "SMALLINT[]") if not says else array(inner.name)
        case "oid[]" | "oidvector":
            return array(inner.name) if says else inner
        case "text[]" | "name[]" | "varchar[]" | "char[]":
            return array(inner.name) if says else exp.cast(inner, "VARCHAR[]")
        case (
            "anyarray"
            | "regtype[]"
            | "regclass[]"
            | "aclitem[]"
            | "json"
            | "jsonb"
            | "pg_node_tree"
        ):
            return inner
        case _ if says and kind.endswith("[]"):
            return exp.cast(array(inner.name), node.to)
        case _:
            return node


def _number(inner: exp.Expr) -> exp.Expr:
    if isinstance(inner, exp.Anonymous) and inner.name.lower().startswith("dpsql_"):
        named: exp.Expr = inner.expressions[0]
        return named
    return inner


def array(written: str) -> exp.Expr:
    """'{a,b}' as a list."""
    found = items(written)
    if found is None:
        raise BadValue("an array isn't written so", hint="write '{1,2,3}'")
    parts = [exp.null() if part is None else exp.Literal.string(part) for part in found]
    return exp.Array(expressions=parts)


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A function's call."""
    return exp.Anonymous(this=name, expressions=list(arguments))
