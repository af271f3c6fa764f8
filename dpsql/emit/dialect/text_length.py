"""How long a text can be: servers raise where texts that are joined are longer than they hold."""

from __future__ import annotations

from typing import Final

from dpsql.plan.expression import Call, Case, Cast, Expression, Literal
from dpsql.schema.sql_type import Boolean, Date, Decimal, Integer, SqlType, Timestamp

_JOINED: Final = 10_000
"""Texts are joined on servers up to so many characters."""


def is_short(text: Expression) -> bool:
    """Whether no server raises for the length of `text`, whatever values it is made of."""
    length = _character_limit(text)
    return length is not None and length <= _JOINED


def _character_limit(text: Expression) -> int | None:
    """The characters of `text` at most; None where its own values decide."""
    match text:
        case Literal(value=None):
            return 0
        case Literal(value=str() as value):
            return len(value)
        case Call(function="left", arguments=(_, Literal(value=int() as count))) if count >= 0:
            return count
        case Call(function="||", arguments=parts):
            return _sum([_character_limit(part) for part in parts])
        case Case(branches=branches, otherwise=otherwise):
            results = [_character_limit(r) for r in (*(b.result for b in branches), otherwise)]
            known = [length for length in results if length is not None]
            return max(known) if len(known) == len(results) else None
        case Cast(operand=operand):
            return _printed(operand.type)
        case _:
            return None


def _sum(lengths: list[int | None]) -> int | None:
    known = [length for length in lengths if length is not None]
    return sum(known) if len(known) == len(lengths) else None


def _printed(kind: SqlType) -> int | None:
    """The characters of the text of a value: 38 digits, a sign, a point and a zero before it."""
    return 41 if isinstance(kind, Boolean | Integer | Decimal | Date | Timestamp) else None
