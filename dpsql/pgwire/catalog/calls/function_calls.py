"""Calls of PostgreSQL's functions → DuckDB's expressions, where a macro can't stand for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from sqlglot import exp

from dpsql.errors import Refused, UnknownFunction
from dpsql.pgwire.catalog.calls.json_text import NODES, is_json_call, json_call
from dpsql.pgwire.catalog.cast import call, is_vector
from dpsql.pgwire.catalog.objects import ANALYST, READER
from dpsql.pgwire.catalog.procedures import function_names
from dpsql.pgwire.catalog.relations import Relation
from dpsql.pgwire.settings.time_zone import is_utc
from dpsql.pgwire.sql.column_labels import label

FUNCTIONS: Final = (
    exp.Format,
    exp.ArrayPosition,
    exp.ArrayRemove,
    exp.ArraySize,
    *NODES,
    exp.Substring,
    exp.SimilarTo,
    exp.Escape,
)
"""Nodes of functions for which `rewritten_function` has DuckDB's expression."""
_OF_ONE_VALUE: Final = (
    exp.CurrentSchema,
    exp.CurrentDatabase,
    exp.CurrentUser,
    exp.SessionUser,
    exp.StringToArray,
)
_WORDS: Final = frozenset({"any", "all", "some", "row"})
"""Words of the grammar that stand before parentheses like functions' names."""
_WILD: Final = {"%": ".*", "_": ".", ".": r"\.", "^": r"\^", "$": r"\$"}
_DIRECTIVE: Final = re.compile(r"%(?:(\d+)\$)?(-?\d*)([sIL%])")


class Caller(Struct, frozen=True):
    """What current_database(), current_user and pg_backend_pid() stand for."""

    database: str
    analyst: str
    process: int = 1


def rewritten_call(node: exp.Anonymous, caller: Caller) -> exp.Expr:
    """DuckDB's expression for a call whose arguments are DuckDB's already."""
    arguments, name = node.expressions, node.name.lower()
    if name not in function_names() | _WORDS:
        # Macros of the catalogue and functions of DuckDB are for its own rewriting alone.
        raise UnknownFunction(f"function {name[:63]} does not exist")
    match name:
        case "current_database" | "current_catalog":
            return exp.Literal.string(caller.database)
        case "current_user" | "session_user" | "getpgusername":
            return exp.Literal.string(caller.analyst)
        case "current_schema":
            return exp.Literal.string("public")
        case "pg_backend_pid":
            return exp.Literal.number(caller.process)
        case "set_config" if len(arguments) == 3 and not arguments[0].is_string:
            return call("dpsql_set_of_row", arguments[0])
        case "set_config" if len(arguments) == 3 and _changes_zone(arguments):
            raise Refused(
                "sessions are in UTC, and set_config() can't change that",
                hint="SET timezone = 'UTC', and write x AT TIME ZONE 'Europe/Berlin'",
            )
        case "set_config" if arguments and arguments[0].name.lower().startswith("dpsql."):
            raise Refused(
                "set_config() of a loss stands alone in its SELECT", hint="SET dpsql.epsilon = 0.1"
            )
        case "pg_get_userbyid":
            return role_name(node, caller)
        case "generate_subscripts" if arguments and is_vector(arguments[0]):
            return exp.Paren(this=exp.Sub(this=node.copy(), expression=exp.Literal.number(1)))
        case "pg_partition_ancestors" if _is_value(node):
            return exp.cast(exp.null(), "BIGINT")
        case "_pg_expandarray":
            return _expanded(arguments[0])
        case _ if is_json_call(node):
            return json_call(node)
        case "regexp_split_to_table":
            return exp.Unnest(expressions=[call("string_split_regex", *arguments)])
        case _:
            return node


def _changes_zone(arguments: list[exp.Expr]) -> bool:
    """Whether set_config() has the name of the time zone, and not UTC."""
    name, value = arguments[:2]
    return name.name.lower() == "timezone" and not (value.is_string and is_utc(value.name))


def rewritten_function(node: exp.Expr) -> exp.Expr:
    """DuckDB's expression for a call that the parser has a node of its own for."""
    match node:
        case exp.Format():
            return formatted(node.this, node.expressions)
        case exp.ArrayPosition():
            position = call("list_position", node.this, node.expression)
            if not is_vector(node.this):
                return position
            return exp.paren(exp.Sub(this=position, expression=exp.Literal.number(1)))
        case exp.ArrayRemove():
            return call("array_remove", node.this, node.expression)
        case exp.ArraySize():
            return exp.Nullif(this=node.copy(), expression=exp.Literal.number(0))
        case exp.Substring():
            return _matching(node)
        case exp.SimilarTo():
            return node if isinstance(node.parent, exp.Escape) else _similar(node, "\\")
        case exp.Escape():
            inner = node.this
            return _similar(inner, node.expression.name) if _is_similar(inner) else node
        case _:
            return json_call(node)


def _is_similar(node: exp.Expr) -> bool:
    return isinstance(node, exp.SimilarTo)


def _similar(node: exp.Expr, escape: str) -> exp.Expr:
    """Text SIMILAR TO pattern, a constant, as a regular expression for all of the text."""
    pattern = node.expression
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        raise Refused("SIMILAR TO takes a constant pattern here")
    parts, signs = [], iter(pattern.name)
    for sign in signs:
        if sign == escape:
            parts.append(re.escape(next(signs, "")))
        else:
            parts.append(_WILD.get(sign, sign))
    whole = exp.Literal.string(f"^(?s:{''.join(parts)})$")
    return exp.RegexpLike(this=node.this, expression=whole)


def _matching(node: exp.Substring) -> exp.Expr:
    """substring(text FROM pattern): the pattern's first group, or all that it matches, or NULL."""
    pattern = node.args.get("start")
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        return node
    matches = exp.RegexpLike(this=node.this.copy(), expression=pattern.copy())
    group = exp.Literal.number(1 if "(" in pattern.name else 0)
    part = call("regexp_extract", node.this.copy(), pattern.copy(), group)
    return exp.Case(ifs=[exp.If(this=matches, true=part)])


def role_name(node: exp.Anonymous, caller: Caller) -> exp.Expr:
    """The name of a role by its OID, which the analyst has, too."""
    (oid,) = node.expressions
    is_own = exp.EQ(this=oid.copy(), expression=exp.Literal.number(READER))
    return exp.Case(
        ifs=[exp.If(this=is_own, true=exp.Literal.string(caller.analyst))], default=node.copy()
    )


def formatted(template: exp.Expr, arguments: Sequence[exp.Expr]) -> exp.Expr:
    """format(template, arguments…), whose template has to be a constant."""
    if not (isinstance(template, exp.Literal) and template.is_string):
        raise Refused("format() takes a constant here", hint="write the text with ||")
    parts = list(_parts(template.name, arguments))
    whole = parts[0] if parts else exp.Literal.string("")
    for part in parts[1:]:
        whole = exp.DPipe(this=whole, expression=part)
    return exp.Paren(this=whole)


def _parts(template: str, arguments: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    at, index = 0, 0
    for directive in _DIRECTIVE.finditer(template):
        if directive.start() > at:
            yield exp.Literal.string(template[at : directive.start()])
        at = directive.end()
        number, width, kind = directive.groups()
        if kind == "%":
            yield exp.Literal.string("%")
            continue
        index = int(number) if number else index + 1
        if width or index > len(arguments):
            raise Refused("format() has a width, or too few values, here")
        text = exp.cast(arguments[index - 1].copy(), "VARCHAR")
        match kind:
            case "I":
                yield call("quote_ident", text)
            case "L":
                yield call("quote_nullable", text)
            case _:
                yield exp.Coalesce(this=text, expressions=[exp.Literal.string("")])
    if at < len(template):
        yield exp.Literal.string(template[at:])


def _is_value(node: exp.Expr) -> bool:
    """Whether a function is called in an expression, not as a table."""
    return isinstance(node.find_ancestor(exp.Select, exp.Table, exp.Lateral), exp.Select)


def select_values(tree: exp.Expr) -> None:
    """Replace a function of one value in FROM, as current_schema(), by a query that selects it."""
    for table in list(tree.find_all(exp.Table)):
        if isinstance(table.this, _OF_ONE_VALUE):
            name = table.alias or label(table.this)
            alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
            selected = exp.select(exp.alias_(table.this.copy(), name, quoted=True))
            table.replace(exp.Subquery(this=selected, alias=alias))


def zipped(node: exp.Unnest) -> exp.Expr:
    """unnest() of several arrays in FROM, as a query that has an item of each in a row."""
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier("unnest"))
    items: list[exp.Expr] = [exp.Explode(this=part.copy()) for part in node.expressions]
    names = [column.name for column in alias.columns]
    offset = node.args.get("offset")
    if offset is not None:
        names += [offset.name] if isinstance(offset, exp.Identifier) else []
        items.append(call("generate_subscripts", node.expressions[0].copy(), exp.Literal.number(1)))
    names += [f"unnest{n}" for n in range(len(names), len(items))]
    selected = [
        exp.alias_(item, name, quoted=True) for item, name in zip(items, names, strict=True)
    ]
    columns = [exp.to_identifier(name, quoted=True) for name in names]
    named = exp.TableAlias(this=alias.this, columns=columns)
    return exp.Subquery(this=exp.select(*selected), alias=named)


def _expanded(values: exp.Expr) -> exp.Expr:
    """A row for each item of an array: the item as x, its number from 1 as n."""
    written = (
        f"unnest(list_transform({values.sql('duckdb')}, lambda _v_, _n_: {{'x': _v_, 'n': _n_}}))"
    )
    return exp.maybe_parse(written, dialect="duckdb")


_ROLES: Final = {
    "pg_catalog__pg_roles": "rolname",
    "pg_catalog__pg_authid": "rolname",
    "pg_catalog__pg_user": "usename",
    "pg_catalog__pg_stat_activity": "usename",
    "information_schema__enabled_roles": "role_name",
    "information_schema__table_privileges": "grantee",
    "information_schema__role_table_grants": "grantee",
    "information_schema__column_privileges": "grantee",
    "information_schema__role_column_grants": "grantee",
}
"""The column that has `ANALYST` for the analyst's name."""
_PROCESSES: Final = frozenset({"pg_stat_activity", "pg_stat_ssl", "pg_stat_gssapi"})
"""Relations whose column `pid` is the connection's number."""


def rows_of(table: exp.Table, relation: Relation, caller: Caller) -> exp.Expr:
    """`table`, which names `relation`, or a query of it that has the caller's name and number."""
    role = _ROLES.get(relation.stored)
    process = "pid" if relation.name in _PROCESSES else None
    if role is None and process is None:
        return table
    columns = []
    for attribute in relation.attributes:
        column: exp.Expr = exp.column(attribute.name, quoted=True)
        if attribute.name == process:
            column = exp.cast(exp.Literal.number(caller.process), "INTEGER")
        elif attribute.name == role:
            own = exp.EQ(this=column.copy(), expression=exp.Literal.string(ANALYST))
            name = exp.Literal.string(caller.analyst)
            column = exp.Case(ifs=[exp.If(this=own, true=name)], default=column)
        columns.append(exp.alias_(column, attribute.name, quoted=True))
    alias, joins = table.args["alias"], table.args.get("joins")
    table.set("alias", None)
    table.set("joins", None)
    return exp.Subquery(this=exp.select(*columns).from_(table.copy()), alias=alias, joins=joins)
