"""Casts to PostgreSQL's types: names of objects, and lists written as text."""

from __future__ import annotations

import decimal
import re
from fractions import Fraction
from typing import Final

from sqlglot import exp

from dpsql.bind.syntax.parameter import literal
from dpsql.errors import BadParameter, Refused
from dpsql.pgwire.catalog.procedures import WRITTEN, is_procedure, name_of, procedure
from dpsql.pgwire.codec.array import items
from dpsql.pgwire.codec.parameter import BadValue, raw_bytes
from dpsql.plan.expression import Literal
from dpsql.schema.sql_type import Decimal

NAMES: Final = {"to_regclass": "dpsql_class", "to_regtype": "dpsql_type"}
"""The function that names what has an OID, by the function that gives the OID."""
_LENGTH: Final = re.compile(r"(?:varchar|char|bpchar)\(\d+\)")
_VECTORS: Final = frozenset({"indkey", "indoption", "indclass", "indcollation", "proargtypes"})
_OF_TYPE_NAME: Final = frozenset({"attname", "conname", "nspname", "proname", "relname", "typname"})


def cast(node: exp.Cast) -> exp.Expr:  # noqa: PLR0911 - one arm for each type
    """The expression of DuckDB for a cast to one of PostgreSQL's types."""
    kind = node.to.sql("postgres").lower().replace('"', "").removeprefix("pg_catalog.")
    inner: exp.Expr = node.this
    is_text = isinstance(inner, exp.Literal) and inner.is_string
    match kind:
        case "bytea" if is_text:
            return constant_bytes(inner.name)
        case "decimal" | "numeric":
            return _numeric(inner) or node
        case "regclass":
            return _object(inner, "to_regclass", "dpsql_class")
        case "regtype":
            return _object(inner, "to_regtype", "dpsql_type")
        case "regnamespace":
            return call("to_regnamespace" if is_text else "dpsql_space", inner)
        case "regrole":
            return call("pg_get_userbyid", inner)
        case "regproc":
            return procedure(inner)
        case "regprocedure" | "regoper" | "regoperator" | "regconfig" | "regdictionary":
            return _written(inner, kind)
        case "oid" | "xid" | "cid":
            # oid::regclass::oid is the OID again, not the name that the inner cast gives here.
            return exp.cast(_number(inner), "BIGINT")
        case "text" | "varchar":
            return _text(inner)
        case "char" | "bpchar":
            # "char" has one byte; char is char(1), and bpchar has any length.
            is_cut = kind == "char"
            text = exp.cast(name_of(inner), "VARCHAR")
            return exp.Left(this=text, expression=exp.Literal.number(1)) if is_cut else text
        case _ if _LENGTH.fullmatch(kind):
            length = exp.Literal.number(kind.partition("(")[2].rstrip(")"))
            if kind.startswith("char"):
                raise Refused("char(n) is filled with blanks here", hint="write x::varchar(10)")
            return exp.Left(this=exp.cast(name_of(inner), "VARCHAR"), expression=length)
        case (
            "name"
            | "cstring"
            | "unknown"
            | "information_schema.sql_identifier"
            | "information_schema.character_data"
        ):
            return exp.cast(name_of(inner), "VARCHAR")
        case "int2vector" | "int2[]" | "smallint[]":
            return exp.cast(inner, "SMALLINT[]") if not is_text else array(inner.name)
        case "_oid" | "oidvector":
            return exp.cast(array(inner.name), "BIGINT[]") if is_text else inner
        case "text[]" | "name[]" | "varchar[]" | "char[]":
            return array(inner.name) if is_text else exp.cast(inner, "VARCHAR[]")
        case (
            "anyarray" | "_regtype" | "_regclass" | "aclitem[]" | "json" | "jsonb" | "pg_node_tree"
        ):
            return inner
        case _ if is_text and kind.endswith("[]"):
            return exp.cast(array(inner.name), node.to)
        case _:
            return node


def _numeric(inner: exp.Expr) -> exp.Expr | None:
    """A constant with all its digits, where DuckDB's decimal has three behind the point."""
    number = inner.unnest()
    if isinstance(number, exp.Cast) and number.to.this == exp.DataType.Type.DECIMAL:
        return number  # a parameter that is one
    sign = "-" if isinstance(number, exp.Neg) else ""
    number = number.this if sign else number
    if not isinstance(number, exp.Literal):
        return None
    text = f"{sign}{number.name.strip()}"
    try:
        constant = literal(decimal.Decimal(text), "1")
    except (decimal.InvalidOperation, BadParameter):
        return None
    return None if "_" in text else constant_number(constant)


def constant_number(constant: Literal) -> exp.Expr:
    """A decimal of its own digits, or a double."""
    match constant:
        case Literal(value=int() | Fraction() as value, type=Decimal(precision, scale)):
            digits = f"{decimal.Decimal(f'{int(value * 10**scale)}e-{scale}'):f}"
            return exp.cast(exp.Literal.string(digits), f"DECIMAL({precision},{scale})")
        case Literal(value=Fraction() as value):
            return exp.cast(exp.Literal.string(repr(float(value))), "DOUBLE")
        case _:
            raise TypeError


def constant_bytes(text: str) -> exp.Expr:
    """The bytes that `text` is as PostgreSQL reads them, each escaped; `BadValue` if it is none."""
    try:
        escaped = "".join(f"\\x{byte:02X}" for byte in raw_bytes(text))
    except ValueError:
        raise BadValue("invalid input syntax for type bytea", hint=r"write '\x6162'") from None
    return exp.cast(exp.Literal.string(escaped), "BLOB")


def _object(inner: exp.Expr, by_name: str, by_oid: str) -> exp.Expr:
    """An object's OID from a text, which may have the OID itself, or its name from the OID."""
    if isinstance(inner, exp.Anonymous) and inner.name in {by_name, by_oid}:
        return inner  # it is cast to that type already, and an OID where it is compared with one
    is_text = isinstance(inner, exp.Literal) and inner.is_string
    if is_text and inner.name.isdigit():
        return exp.Literal.number(inner.name)
    return call(by_name if is_text or _makes_text(inner) else by_oid, inner)


def _written(inner: exp.Expr, kind: str) -> exp.Expr:
    if kind not in WRITTEN or (isinstance(inner, exp.Literal) and inner.is_string):
        raise Refused(f"{kind} of a name has no rule", hint="write the OID, or x::regproc")
    return call(WRITTEN[kind], inner)


def _text(inner: exp.Expr) -> exp.Expr:
    if isinstance(inner, exp.Anonymous) and inner.name in NAMES:
        return call(NAMES[inner.name], inner)
    if is_procedure(inner):
        return name_of(inner)
    if is_vector(inner):
        return call("array_to_string", inner, exp.Literal.string(" "))
    if isinstance(inner, exp.Array) and isinstance(inner.expressions[0], exp.Query):
        listed = call("array_to_string", inner, exp.Literal.string(","))
        return exp.func("concat", exp.Literal.string("{"), listed, exp.Literal.string("}"))
    return exp.cast(inner, "VARCHAR")


def _makes_text(node: exp.Expr) -> bool:
    """Whether an expression is a name that is put together, and no OID."""
    inner = node.unnest()
    if isinstance(inner, exp.Anonymous):
        return inner.name.lower() in {"quote_ident", "format"}
    return isinstance(inner, exp.DPipe | exp.Concat)


def is_vector(node: exp.Expr) -> bool:
    """Whether `node` is a column of an int2vector or oidvector, which count from 0."""
    return isinstance(node, exp.Column) and node.name.lower().removeprefix("i_") in _VECTORS


def counts_from_zero(node: exp.Expr) -> bool:
    """Whether subscripts of `node` count from 0: a vector's, and those of a name's letters."""
    is_name = isinstance(node, exp.Column) and node.name.lower() in _OF_TYPE_NAME
    return is_name or is_vector(node)


def _number(inner: exp.Expr) -> exp.Expr:
    if isinstance(inner, exp.Anonymous) and inner.name.lower().startswith("dpsql_"):
        named: exp.Expr = inner.expressions[0]
        return named
    return inner


def array(written: str) -> exp.Expr:
    """The list of text constants that `written` stands for, as in '{a,b}'; `BadValue` if none."""
    texts = items(written)
    if texts is None:
        raise BadValue("an array isn't written so", hint="write '{1,2,3}'")
    parts = [exp.null() if part is None else exp.Literal.string(part) for part in texts]
    return exp.Array(expressions=parts)


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of the function `name`."""
    return exp.Anonymous(this=name, expressions=list(arguments))
