"""PostgreSQL's type regproc: the OID of a function, which is read and written as its name.

Of a function with its arguments, an operator and what text search has the OID is written alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from sqlglot import exp

from dpsql.errors import Refused, UnknownFunction
from dpsql.pgwire.catalog.duckdb_maps import map_of
from dpsql.pgwire.catalog.relations import relations, types
from dpsql.pgwire.catalog.rows.system_rows import (
    procedure_oids,
    procedures,
    signatures,
    written_objects,
)
from dpsql.pgwire.codec.arrow_rows import ArrowRows, Row
from dpsql.pgwire.codec.oid import Column

PROCEDURE: Final = "dpsql_procedure"
"""The macro that marks an OID as a regproc."""
NAME: Final = "dpsql_procedure_name"
"""The macro that gives the name of a regproc."""
WRITTEN: Final = {
    "regprocedure": "dpsql_signature",
    "regoperator": "dpsql_operator",
    "regdictionary": "dpsql_dictionary",
    "regconfig": "dpsql_configuration",
}
"""The macros that write down an OID, by the types that it is written as."""
_DESCRIBED: Final = f"""CASE _a WHEN 1255 THEN 'function ' || {WRITTEN["regprocedure"]}(_b)
    WHEN 2612 THEN 'language plpgsql' END"""
"""What extensions have: functions of pg_proc, and a language of pg_language."""
_COLUMNS: Final = frozenset(
    a.name for r in relations().values() for a in r.attributes if a.type == "regproc"
)


@cache
def function_names() -> frozenset[str]:
    """The names of PostgreSQL's functions, without their schemas."""
    return frozenset(name.rpartition(".")[2] for name in procedure_oids())


def is_procedure(node: object) -> bool:
    """Whether `node` is an expression of type regproc, told by a column's name or by its cast."""
    if isinstance(node, exp.Anonymous):
        return node.name == PROCEDURE
    return isinstance(node, exp.Column) and (
        node.name.lower() in _COLUMNS or bool(node.meta.get("procedure"))
    )


def mark_aliases(tree: exp.Expr) -> None:
    """Mark columns of subqueries that are regprocs under another name."""
    aliases = {
        alias.alias.lower()
        for alias in tree.find_all(exp.Alias)
        if is_procedure(alias.this) or _is_cast(alias.this)
    }
    for column in tree.find_all(exp.Column) if aliases else ():
        if column.name.lower() in aliases:
            column.meta["procedure"] = True


def _is_cast(node: exp.Expr) -> bool:
    return isinstance(node, exp.Cast) and node.to.sql("postgres").lower() == "regproc"


def procedure(inner: exp.Expr) -> exp.Expr:
    """`inner`::regproc, of a name or of an OID."""
    if _is_text(inner):
        inner = exp.Literal.number(_oid(inner.name))
    return exp.Anonymous(this=PROCEDURE, expressions=[inner])


def name_of(node: exp.Expr) -> exp.Expr:
    """The name of a regproc as a text; `node` itself if it is none."""
    if not is_procedure(node):
        return node
    return exp.Anonymous(this=NAME, expressions=[node.copy()])


def compared(node: exp.Expr) -> exp.Expr:
    """A comparison, or IN, of a regproc, in which constants are names of functions."""
    for key, value in list(node.args.items()):
        if isinstance(value, list):
            node.set(key, [_operand(item) for item in value])
        elif isinstance(value, exp.Any | exp.All):
            raise Refused(
                "ANY and ALL of functions' names have no answer here", hint="write IN (…)"
            )
        elif isinstance(value, exp.Expr):
            node.set(key, _operand(value))
    return node


def macros() -> Sequence[tuple[str, str]]:
    """Heads and bodies of the macros for functions' names, arguments and results."""
    unique = {name: oids[0] for name, oids in procedure_oids().items() if len(oids) == 1}
    oid = "CAST(_a AS BIGINT)"
    plain = "regexp_replace(replace(_a, '\"', ''), '^pg_catalog[.]', '')"
    written = (
        (f"{function}(_a)", f"{map_of({k: v for k, v in texts.items() if v is not None})}[{oid}]")
        for function, texts in signatures().items()
    )
    named = {NAME: procedures()}
    named |= {WRITTEN[kind]: texts for kind, texts in written_objects().items()}
    names = (
        (f"{macro}(_a)", f"coalesce({map_of(texts)}[{oid}], CAST(_a AS VARCHAR))")
        for macro, texts in named.items()
    )
    return (
        *written,
        *names,
        (f"{PROCEDURE}(_a)", oid),
        ("to_regproc(_a)", f"{map_of(unique)}[{plain}]"),
        ("pg_describe_object(_a, _b, _c)", _DESCRIBED),
    )


class Procedure(int):
    """The OID of a function, which is written as its name."""

    def __str__(self) -> str:
        return procedures().get(int(self), int.__repr__(self))


def with_names(columns: Sequence[Column], rows: ArrowRows) -> Sequence[Row]:
    """The rows, whose OIDs of functions are written as names in columns of type regproc."""
    kinds = types()
    named = {kinds["regproc"].oid, kinds["_regproc"].oid}
    if not any(column.oid in named for column in columns):
        return rows
    return [
        tuple(
            _procedure(value) if column.oid in named else value
            for column, value in zip(columns, row, strict=True)
        )
        for row in rows
    ]


def _procedure(value: object) -> object:
    match value:
        case int():
            return Procedure(value)
        case list():
            return [_procedure(item) for item in value]
        case _:
            return value


def _operand(node: exp.Expr) -> exp.Expr:
    return exp.Literal.number(_oid(node.name)) if _is_text(node) else node


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _oid(written: str) -> int:
    """The OID of the function that `written` names; raises if there isn't exactly one."""
    name = written.replace('"', "").removeprefix("pg_catalog.")
    if name.isdigit():
        return int(name)
    oids = procedure_oids().get(name, ())
    if not oids:
        raise UnknownFunction(f'function "{written[:60]}" does not exist')
    if len(oids) > 1:
        raise Refused(f'more than one function named "{written[:60]}"', hint="write its OID")
    return oids[0]
