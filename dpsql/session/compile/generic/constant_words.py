"""Words of a text that are plainly one constant, which binding reads in one way.

| type             | written as                                               |
| ---------------- | -------------------------------------------------------- |
| integers         | up to nine digits, for a type that holds them all        |
| decimals, double | digits, with a point or without, as many in all texts    |
| varchar          | a text in quotes                                         |
| date, timestamp  | '2024-01-31', and for a timestamp '2024-01-31 12:00:00'  |
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Final

from msgspec import Struct
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.plan.expression import Literal, Scalar
from dpsql.plan.numeric_types import holds
from dpsql.schema.sql_type import Date, Decimal, Double, Integer, SqlType, Timestamp, Varchar
from dpsql.structs import replace

KINDS: Final = frozenset({TokenType.NUMBER, TokenType.STRING})
"""Of which words a constant may be one."""

_WHOLE: Final = re.compile("[0-9]{1,9}")
"""What fits in 32 bits, whatever its digits are."""

_PARTS: Final = re.compile(rf"({_WHOLE.pattern})(?:\.([0-9]{{1,12}}))?")
"""What has more digits before its point, and no point, may be of 32 bits or of 64."""

_DAY: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT: Final = re.compile(_DAY.pattern + " [0-9]{2}:[0-9]{2}:[0-9]{2}")

_DAY_LENGTH: Final = 10

_ONE_DAY, _SECOND = dt.timedelta(days=1), dt.timedelta(seconds=1)

_LONGEST: Final = 1_000
"""Characters of a text that is taken for a constant."""


class ConstantWord(Struct, frozen=True):
    """A word that is read as a constant of the type of `like`.

    `digits` are how many it has before and after its point, where its type may follow from these.
    """

    index: int
    number: int
    like: Literal
    digits: tuple[int, int] | None

    def read(self, word: Token) -> Literal | None:
        """The constant that `word` is; None if it is written in another way than that of `like`."""
        if self.digits is not None and self.digits != _digits(word.text):
            return None
        return read_constant(word.token_type, word.text, self.like)


def constant_words(
    words: Sequence[Token], compared: Mapping[int, SqlType | None], literals: Sequence[Literal]
) -> Iterator[ConstantWord]:
    """The words that are `compared`, and written as one of `literals`."""
    for index, named in sorted(compared.items()):
        word = words[index]
        for number, literal in enumerate(literals):
            if named is not None and named != literal.type:
                continue  # DATE '2024-01-31 12:00:00' is a day, whatever it is compared with
            if read_constant(word.token_type, word.text, literal) == literal:
                is_whole = word.token_type is TokenType.STRING or _is_whole(literal)
                digits = None if is_whole else _digits(word.text)
                yield ConstantWord(index, number, literal, digits)


def near_constants(text: str, value: Scalar, listed: Sequence[Scalar]) -> Iterator[str]:
    """How constants near `value` are written, which is written as `text`."""
    match value:
        case int() | Fraction():
            _, point, digits = text.partition(".")
            unit = Fraction(1, 10 ** len(digits))
            for step in (unit, -unit, 2 * unit, -2 * unit):
                scaled = int((Fraction(text) + step) / unit)
                if scaled >= 0:
                    all_digits = str(scaled).rjust(len(text) - len(point), "0")
                    split = len(all_digits) - len(digits)
                    yield f"{all_digits[:split]}{point}{all_digits[split:]}"
        case str():
            yield from (each for each in listed if isinstance(each, str))
            yield f"{text}Zz'"
        case dt.date():
            length = _SECOND if len(text) > _DAY_LENGTH else _ONE_DAY
            for away in (length, -length):
                with suppress(OverflowError):  # beyond the first day or the last one
                    yield str(value + away)[: len(text)]
        case _:
            return


def read_constant(kind: TokenType, text: str, like: Literal) -> Literal | None:
    """The constant of the type of `like` that `text` is; None if it isn't written plainly."""
    value: Scalar = None
    is_number = kind is TokenType.NUMBER
    match like.type:
        case Integer() if is_number and _is_whole(like) and _WHOLE.fullmatch(text):
            value = int(text)
        case Decimal() if is_number and _PARTS.fullmatch(text):
            value = Fraction(text)
        case Double(bits=64) if is_number and _PARTS.fullmatch(text):
            value = Fraction(float(text))
        case Varchar() if not is_number and len(text) <= _LONGEST:
            value = text
        case Date() if not is_number and _DAY.fullmatch(text):
            value = _moment(text, dt.date)
        case Timestamp() if not is_number and (_MOMENT.fullmatch(text) or _DAY.fullmatch(text)):
            value = _moment(text, dt.datetime)
        case _:
            return None
    return None if value is None else replace(like, value=value)


def _is_whole(literal: Literal) -> bool:
    """Whether a number of nine digits at most is an integer of its type, whatever they are."""
    kind = literal.type
    return isinstance(kind, Integer) and holds(kind, 0) and holds(kind, 10**9 - 1)


def _digits(text: str) -> tuple[int, int] | None:
    parts = _PARTS.fullmatch(text)
    return None if parts is None else (len(parts[1]), len(parts[2] or ""))


def _moment(text: str, kind: type[dt.date]) -> dt.date | None:
    try:
        return kind.fromisoformat(text)
    except ValueError:
        return None
