"""AT TIME ZONE, casts to timestamptz, and date_trunc() in a zone, as conversions of timestamps.

A timestamp with time zone is one without here, by UTC, which is every session's time zone. So
AT TIME ZONE converts from UTC to local time, or back, and its operand's type tells which.

Of a text that is a date, or a timestamp without time zone, PostgreSQL reads no zone: JDBC, which
sends no parameters in its simple mode, writes that of its machine behind each, '2024-02-01 +01'.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from sqlglot import exp

from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.pgwire.sql.tree_search import constant_text
from dpsql.pgwire.sql.types.expression_types import Typing
from dpsql.pgwire.sql.types.pg_type import TIMESTAMPS, Kind
from dpsql.plan.time_zone.conversion import CONVERSION
from dpsql.plan.time_zone.zone_names import UTC, zone_named

Edit = tuple[exp.Expr, Callable[[], exp.Expr]]

_T = exp.DataType.Type
_ZONED: Final = frozenset({_T.TIMESTAMPTZ, _T.TIMESTAMPLTZ})
_WHOLE_DAYS: Final = frozenset(
    "day week month quarter year decade century millennium".split()  # noqa: SIM905 - one line
)
_WITHOUT_ZONE: Final = frozenset({_T.DATE, _T.TIMESTAMP, _T.TIMESTAMPNTZ})
_IN_ZONE: Final = re.compile(
    r"(\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?) ?[+-]\d\d(?::?\d\d)?"
)


def zone_edits(tree: exp.Expr, typing: Typing) -> list[Edit]:
    """Replacements of conversions between time zones."""
    edits: list[Edit] = []
    for node in tree.walk():
        match node:
            case exp.AtTimeZone():
                edits.append(_converted(node, node.this, node.args.get("zone"), typing))
            case exp.Anonymous(expressions=[zone, moment]) if node.name.lower() == "timezone":
                edits.append(_converted(node, moment, zone, typing))
            case exp.TimestampTrunc() | exp.DateTrunc() if node.args.get("zone") is not None:
                edits.append((node, _truncated(node, typing)))
            case exp.Cast() if node.to.this in _ZONED:
                edits += _cast(node, typing)
            case exp.Cast() if node.to.this in _WITHOUT_ZONE:
                edits += _without_zone([node.this])
            case exp.Binary() | exp.Between() | exp.In() if isinstance(node, exp.Predicate):
                edits += _compared(node, typing)
            case _:
                pass
    return edits


def _converted(node: exp.Expr, moment: exp.Expr, zone: exp.Expr | None, typing: Typing) -> Edit:
    name, kind = _zone(node, zone), typing.of(moment)
    # A text constant, and a date, are timestamps with time zone there.
    if kind in {Kind.TIMESTAMPTZ, Kind.DATE, Kind.UNKNOWN}:
        return node, partial(_conversion, node, UTC, name)
    if kind is Kind.TIMESTAMP:
        return node, partial(_conversion, node, name, UTC)
    raise Refused(
        "whether this has a time zone can't be told",
        at=span(node),
        hint="name its type: x::timestamp AT TIME ZONE 'UTC'",
    )


def _zone(node: exp.Expr, zone: exp.Expr | None) -> str:
    name = constant_text(zone)
    known = None if name is None else zone_named(name)
    if known is None:
        raise Refused(
            "a time zone is a constant here, by its region and city"
            if name is None
            else f"{name[:60]} isn't a time zone by its region and city",
            at=span(node),
            hint="write x AT TIME ZONE 'Europe/Berlin', or 'UTC', or add an interval",
        )
    return known


def _conversion(node: exp.Expr, source: str, target: str) -> exp.Expr:
    """The conversion of the moment that `node` has by now, inner ones being replaced."""
    moment = node.expressions[1] if isinstance(node, exp.Anonymous) else node.this
    return _between(moment, source, target)


def _between(moment: exp.Expr, source: str, target: str) -> exp.Expr:
    if isinstance(moment, exp.Literal):
        moment = exp.cast(moment.copy(), "TIMESTAMPTZ")
    elif source == target:
        return exp.cast(moment.copy(), "TIMESTAMP")
    zones = [exp.Literal.string(zone) for zone in (source, target)]
    return exp.Anonymous(this=CONVERSION, expressions=[*zones, moment.copy()])


def _truncated(node: exp.Expr, typing: Typing) -> Callable[[], exp.Expr]:
    zone, unit = _zone(node, node.args["zone"]), node.text("unit").lower()
    if typing.of(node.this) not in {Kind.TIMESTAMPTZ, Kind.DATE}:
        raise Refused(
            "date_trunc() in a time zone takes a timestamptz here",
            at=span(node),
            hint="name its type: date_trunc('day', x::timestamptz, 'Europe/Berlin')",
        )

    def plain(moment: exp.Expr) -> exp.Expr:
        truncated = node.copy()
        truncated.set("zone", None)
        truncated.set("this", moment.copy())
        return truncated

    def local() -> exp.Expr:
        moment = node.this
        if unit in _WHOLE_DAYS:
            return _between(plain(_between(moment, UTC, zone)), zone, UTC)
        if unit not in {"hour", "minute"}:
            return plain(moment)  # Offsets are whole seconds.
        # Where an hour comes twice, its parts are cut off of the one that it is.
        there = _between(moment, UTC, zone)
        part = exp.Sub(this=there, expression=plain(there))
        return exp.paren(exp.Sub(this=exp.paren(moment.copy()), expression=exp.paren(part)))

    return local


def _cast(node: exp.Cast, typing: Typing) -> list[Edit]:
    if node.to.expressions:
        raise Refused(
            "a timestamptz has microseconds here",
            at=span(node),
            hint="write date_trunc('second', x::timestamptz)",
        )
    if typing.of(node.this) not in TIMESTAMPS:
        return []  # The zone that a text constant names is read where it is bound.
    return [(node, lambda: exp.cast(node.this.copy(), "TIMESTAMP"))]


def _compared(node: exp.Expr, typing: Typing) -> list[Edit]:
    """Texts that `node` compares with times: with a time zone's, or without one."""
    operands = _operands(node)
    if not any(operand.is_string for operand in operands):
        return []
    kinds = {typing.of(operand) for operand in operands}
    if Kind.TIMESTAMPTZ in kinds:
        return _constants(node)
    return _without_zone(operands) if kinds & {Kind.DATE, Kind.TIMESTAMP} else []


def _without_zone(operands: list[exp.Expr]) -> list[Edit]:
    """Texts of dates and times among `operands` that have a zone, without it."""
    texts = [operand for operand in operands if operand.is_string]
    matches = [(text, _IN_ZONE.fullmatch(text.name)) for text in texts]
    return [
        (text, partial(exp.Literal.string, match[1]))
        for text, match in matches
        if match is not None
    ]


def _operands(node: exp.Expr) -> list[exp.Expr]:
    parts = [node.args.get(name) for name in ("this", "expression", "low", "high")]
    return [part for part in (*parts, *node.expressions) if isinstance(part, exp.Expr)]


def _constants(node: exp.Expr) -> list[Edit]:
    """A text constant beside a timestamp with time zone is one, and may name its zone."""
    texts = (operand for operand in _operands(node) if operand.is_string)
    return [(text, partial(exp.cast, text.copy(), "TIMESTAMPTZ")) for text in texts]
