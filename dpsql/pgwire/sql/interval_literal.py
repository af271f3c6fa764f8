"""Lengths of time as PostgreSQL writes them, `1 mon`, `2 days 05:00` or `P1M`, by full units."""

from __future__ import annotations

import re
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

_SHORT: Final = {
    "microsecond": "us usec usecs microsecond microseconds",
    "millisecond": "ms msec msecs millisecond milliseconds",
    "second": "s sec secs second seconds",
    "minute": "m min mins minute minutes",
    "hour": "h hr hrs hour hours",
    "day": "d day days",
    "week": "w week weeks",
    "month": "mon mons month months",
    "year": "y yr yrs year years",
    "decade": "dec decs decade decades",
    "century": "c cent century centuries",
    "millennium": "mil mils millennium millennia",
}
_UNITS: Final = {short: unit for unit, written in _SHORT.items() for short in written.split()}
_PART: Final = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-z]+)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\s*[+-]?\d+(?:\.\d+)?\s*")
_ISO: Final = re.compile(
    r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)
_CLOCK: Final = re.compile(r"\s*([+-]?)(\d+):([0-5]?\d)(?::([0-5]?\d(?:\.\d+)?))?")
"""Hours, minutes and seconds, all of one sign: in '1 day -02:30' that of both."""

_OF_CLOCK: Final = ("hour", "minute", "second")
_OF_ISO: Final = ("year", "month", "week", "day", "hour", "minute", "second")


def parts(written: str) -> list[str] | None:
    """The length `written` as parts of one number and one unit, None if it isn't of such parts."""
    if _NUMBER.fullmatch(written):
        return [f"{written.strip()} second"]
    iso = _ISO.fullmatch(written.strip())
    if iso is not None:
        named = zip(iso.groups(), _OF_ISO, strict=True)
        return [f"{number} {unit}" for number, unit in named if number is not None] or None
    pairs, end = [], 0
    while (part := _PART.match(written, end)) is not None:
        unit = _UNITS.get(part[2].lower())
        if unit is None:
            return None
        pairs.append(f"{part[1]} {unit}")
        end = part.end()
    if (clock := _CLOCK.match(written, end)) is not None:
        sign, *times = clock.groups()
        pairs += [f"{sign}{t} {unit}" for t, unit in zip(times, _OF_CLOCK, strict=True) if t]
        end = clock.end()
    return pairs if pairs and not written[end:].strip() else None


def lengths(words: list[Token]) -> list[tuple[int, list[str] | None]]:
    """Indexes of the constants behind INTERVAL, and their parts.

    Of `INTERVAL '1' DAY`, whose unit is a word of its own, the constant has to be a number.
    """
    listed = []
    for index, word in enumerate(words[1:], 1):
        behind_interval = words[index - 1].token_type is TokenType.INTERVAL
        if not behind_interval or word.token_type is not TokenType.STRING:
            continue
        following = words[index + 1].text.lower() if index + 1 < len(words) else ""
        if following not in _UNITS:
            listed.append((index, parts(word.text)))
        elif not _NUMBER.fullmatch(word.text):
            listed.append((index, None))
    return listed


def typed(words: list[Token]) -> list[Token]:
    """The tokens with `(INTERVAL '1 day')` for each `'1 day'::interval` and CAST that is read.

    In brackets, since an alias behind it may be the name of a unit.
    """
    typed_words, at = [], 0
    while at < len(words):
        constant, length = _cast(words, at)
        if constant is None:
            typed_words.append(words[at])
        else:
            opening, closing = (TokenType.L_PAREN, "("), (TokenType.R_PAREN, ")")
            interval = _like(constant, TokenType.INTERVAL, "INTERVAL")
            typed_words += [_like(constant, *opening), interval, constant]
            typed_words.append(_like(constant, *closing))
        at += length
    return typed_words


def _cast(words: list[Token], at: int) -> tuple[Token | None, int]:
    """The constant that is cast to a length of time at an index, and how many tokens that takes.

    None, and one token, if there is no such cast, or its text isn't read.
    """
    for cast in _CASTS:
        part = words[at : at + len(cast)]
        constant = next((word for word in part if word.token_type is TokenType.STRING), None)
        written = tuple("?" if word is constant else word.text.lower() for word in part)
        if constant is not None and written == cast and parts(constant.text):
            return constant, len(cast)
    return None, 1


_CASTS: Final = (("?", "::", "interval"), ("cast", "(", "?", "as", "interval", ")"))
"""The words of a cast of a constant, which stands at the question mark."""


def spread(words: list[Token]) -> list[Token]:
    """The tokens with a sum of constants of one unit for each constant of several.

    A parser reads the first number alone, and units that it doesn't know as seconds.
    """
    spread_words = list(words)
    for index, constants in reversed(lengths(words)):
        interval, word = words[index - 1 : index + 1]
        if constants is None:
            continue
        sum_words: list[Token] = []
        for constant in constants:
            sum_words += [_like(word, TokenType.PLUS, "+")] if sum_words else []
            sum_words += [interval, _like(word, TokenType.STRING, constant)]
        if len(constants) > 1:
            opening, closing = (TokenType.L_PAREN, "("), (TokenType.R_PAREN, ")")
            sum_words = [_like(word, *opening), *sum_words, _like(word, *closing)]
        spread_words[index - 1 : index + 1] = sum_words
    return spread_words


def _like(word: Token, kind: TokenType, text: str) -> Token:
    position = {"line": word.line, "col": word.col, "start": word.start, "end": word.end}
    return Token(kind, text, comments=word.comments, **position)
