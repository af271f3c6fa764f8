"""Operators, conditions and units that PostgreSQL doesn't have for the types of their operands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from dpsql.bind.syntax.parse import span
from dpsql.errors import BadParameter, DataError, TypeFault
from dpsql.pgwire.catalog.relations import types as known_types
from dpsql.pgwire.error_response import UnknownType
from dpsql.pgwire.sql.types.expression_types import Typing
from dpsql.pgwire.sql.types.pg_type import INTEGERS, TIMESTAMPS, Kind
from dpsql.pgwire.statement_errors.functions import CAST_IT, NoSuchSignature, no_function
from dpsql.pgwire.statement_errors.signatures import has_operator

OPERATORS: Final[dict[type[exp.Expr], str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.Pow: "^",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.DPipe: "||",
    exp.Like: "~~",
    exp.ILike: "~~*",
    exp.RegexpLike: "~",
    exp.RegexpILike: "~*",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "#",
    exp.Neg: "-",
    exp.BitwiseNot: "~",
}
"""PostgreSQL's names of operators, by the parser's nodes."""
_UNITS: Final = frozenset(
    (
        *("microseconds", "microsecond", "us", "usec", "usecs", "useconds", "milliseconds"),
        *("millisecond", "ms", "msec", "msecs", "mseconds", "second", "seconds", "s", "sec"),
        *("secs", "minute", "minutes", "m", "min", "mins", "hour", "hours", "h", "hr", "hrs"),
        *("day", "days", "d", "week", "weeks", "w", "month", "months", "mon", "mons", "quarter"),
        *("qtr", "year", "years", "y", "yr", "yrs", "decade", "decades", "dec", "decs", "c"),
        *("century", "centuries", "cent", "mil", "mils", "millennium", "millennia", "dow", "doy"),
        *("isodow", "isoyear", "epoch", "julian", "timezone", "timezone_hour", "timezone_minute"),
        *("timezone_h", "timezone_m"),
    )
)
_WHOLE: Final = re.compile(r"\s*[+-]?\d+\s*")


class BadText(DataError):
    """A text constant isn't a value of the type that it stands for."""

    sqlstate = "22P02"


def check_operator(typing: Typing, name: str, operands: Sequence[exp.Expr], node: exp.Expr) -> None:
    """Raise PostgreSQL's error of an operator that takes no operands of these types."""
    kinds = [typing.of(operand) for operand in operands]
    if None in kinds or any(isinstance(side, exp.Any | exp.All) for side in operands):
        return
    if not has_operator(name, kinds):
        shown = f" {name} ".join(map(str, kinds)) if len(kinds) > 1 else f"{name} {kinds[0]}"
        raise NoSuchSignature(
            f"operator does not exist: {shown}",
            at=span(node),
            hint=f"No operator matches the given name and argument types. {CAST_IT}",
        )
    if name != "||":
        check_texts(typing, operands)


def check_texts(typing: Typing, values: Sequence[exp.Expr]) -> None:
    """Raise PostgreSQL's error of a text beside an integer that is none."""
    kinds = map(typing.of, values)
    whole = next((kind for kind in kinds if kind in INTEGERS), None)
    for side in values if whole is not None else ():
        if side.is_string and _WHOLE.fullmatch(side.name) is None:
            raise BadText(
                f'invalid input syntax for type {whole}: "{side.name[:60]}"', at=span(side)
            )


def check_truth(typing: Typing, node: exp.Expr | None, clause: str) -> None:
    """Raise PostgreSQL's error of a condition that is no boolean."""
    kind = None if node is None else typing.of(node)
    if kind not in {None, Kind.UNKNOWN, Kind.BOOL} and node is not None:
        raise TypeFault(
            f"argument of {clause} must be type boolean, not type {kind}", at=span(node)
        )


def check_unit(typing: Typing, node: exp.Expr) -> None:
    """Raise PostgreSQL's error of a unit that extract() or date_trunc() doesn't know."""
    is_part = isinstance(node, exp.Extract)
    unit = node.name if is_part else node.text("unit")
    moment = node.expression if is_part else node.this
    kind = typing.of(moment)
    if kind not in {None, Kind.UNKNOWN, Kind.INTERVAL} and kind not in TIMESTAMPS:
        called = "pg_catalog.extract" if is_part else "date_trunc"
        raise no_function(called, [Kind.UNKNOWN, kind], node)
    if unit.isidentifier() and unit.lower() not in _UNITS:
        raise BadParameter(
            f'unit "{unit.lower()[:63]}" not recognized for type {kind or Kind.TIMESTAMP}',
            at=span(node),
        )


def check_columns(typing: Typing, node: exp.SetOperation) -> None:
    """Raise PostgreSQL's error of UNION of columns whose types don't match."""
    sides = [typing.sources.outputs(side) for side in (node.this, node.expression)]
    for (_, left), (_, right) in zip(sides[0] or (), sides[1] or (), strict=False):
        word = {exp.Except: "EXCEPT", exp.Intersect: "INTERSECT"}.get(type(node), "UNION")
        known = {None, Kind.UNKNOWN}.isdisjoint({left, right})
        if known and not has_operator("=", [left, right]):
            raise TypeFault(f"{word} types {left} and {right} cannot be matched")


def check_type(node: exp.DataType) -> None:
    """Raise PostgreSQL's error of a cast to a type that it doesn't have."""
    name = node.args["kind"].name.lower() if node.args.get("kind") else ""
    if name and "." not in name and name not in known_types():
        raise UnknownType(f'type "{name[:63]}" does not exist', at=span(node))
