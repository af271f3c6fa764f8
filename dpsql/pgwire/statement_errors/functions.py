"""Calls of functions that PostgreSQL doesn't have, for the types of their arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from sqlglot import exp

from dpsql.bind.aggregate.syntax import is_aggregate
from dpsql.bind.syntax.parse import span
from dpsql.engine.duckdb.constant_evaluation import engine_functions
from dpsql.errors import ProgrammingError, TypeFault
from dpsql.pgwire.sql.types.expression_types import Typing
from dpsql.pgwire.sql.types.pg_type import Kind
from dpsql.pgwire.statement_errors.signatures import has_function, is_function
from dpsql.plan.functions import find

_WRITTEN: Final[dict[type[exp.Expr], str]] = {
    exp.Substring: "substring",
    exp.Trim: "btrim",
    exp.GroupConcat: "string_agg",
}
"""Functions by the nodes of calls whose arguments words stand between."""
_WORDS: Final = frozenset({"row", "any", "all", "some", "grouping", "values"})
"""Words of the grammar that stand before parentheses like functions' names."""
_SCHEMAS: Final = frozenset({"pg_catalog", "information_schema", "public"})
CAST_IT: Final = "You might need to add explicit type casts."


class UnknownSchema(ProgrammingError):
    """There is no schema of that name."""

    sqlstate = "3F000"


class NoSuchSignature(TypeFault):
    """No operator or function takes arguments of these types."""

    sqlstate = "42883"


def check_call(node: exp.Func, typing: Typing, *, is_unknown: bool) -> None:
    """Raise PostgreSQL's error of a call, if no function takes arguments of these types.

    `is_unknown` is whether some function of the statement has no rule here.
    """
    name = str(node.meta.get("name", "")) or _WRITTEN.get(type(node), node.name.lower())
    if isinstance(node.parent, exp.Dot) and node.parent.this.name.lower() not in _SCHEMAS:
        space = node.parent.this.name
        raise UnknownSchema(f'schema "{space[:63]}" does not exist', at=span(node.parent))
    if not is_function(name):
        if isinstance(node, exp.Anonymous) and _is_nobodys(name, node, is_unknown=is_unknown):
            raise no_function(name, [typing.of(a) for a in node.expressions], node)
        return
    kinds = [typing.of(argument) for argument in _arguments(node)]
    if name == "date_trunc":
        kinds[:2] = reversed(kinds[:2])
    elif not isinstance(node, exp.Anonymous):
        # The parser keeps further arguments by their meaning, in no certain order.
        kinds[1:] = [None] * len(kinds[1:])
    if kinds and not has_function(name, kinds):
        raise no_function(name, kinds, node)


def _is_nobodys(name: str, node: exp.Expr, *, is_unknown: bool) -> bool:
    """Whether no function is called so: none with a rule, and none of DuckDB's."""
    if find(name) is not None or is_aggregate(node) or name in _WORDS:
        return False
    return is_unknown or name not in _engine_names()


def no_function(name: str, kinds: Sequence[Kind | None], node: exp.Expr) -> NoSuchSignature:
    """The error of a call of `name` with arguments of `kinds`, which no function takes."""
    shown = "…" if None in kinds else ", ".join(str(kind) for kind in kinds)
    return NoSuchSignature(
        f"function {name[:63]}({shown}) does not exist",
        at=span(node),
        hint=f"No function matches the given name and argument types. {CAST_IT}",
    )


@cache
def _engine_names() -> frozenset[str]:
    return frozenset(function.name.lower() for function in engine_functions())


def _arguments(node: exp.Expr) -> Iterator[exp.Expr]:
    """The arguments of a call, the one that the parser calls `this` first."""
    first = None if isinstance(node, exp.Anonymous) else node.this
    match first:
        case exp.Distinct():
            yield from first.expressions
        case exp.Order():
            yield first.this
        case exp.Expr() if not isinstance(first, exp.Star):
            yield first
        case _:
            pass
    for name, value in node.args.items():
        if name != "this":
            values = value if isinstance(value, list) else [value]
            yield from (v for v in values if isinstance(v, exp.Expr))
