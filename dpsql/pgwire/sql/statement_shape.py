"""Statements that differ in constants alone, which the translation leaves as they are.

Of a statement's constants, whole numbers and plain texts beside comparisons can be written as
parameters: `age > 30` has the shape `age > $1`. What is made of the shape is made without a look at
any constant, so that it holds for all of them, each written where its parameter stands. Whatever a
constant may decide stays in the shape: a sign; a number that isn't an integer of four bytes by its
digits, or begins with a zero; a text with a blank at its end, which char(n) ignores.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from dpsql.pgwire.codec import oid as o

MAX_CHARACTERS: Final = 4 * 1024
"""Longer statements are rare, and to remember their shapes takes memory."""

_BLANK: Final = r"[ \t\r\n]"
_CONSTANT: Final = re.compile(
    rf"""
    "[^"]*" |
    (?: (?<![^\w\s)"']) (?: <= | >= | <> | != | = | < | > ) {_BLANK}*
      | \b (?: BETWEEN | AND ) {_BLANK}+ )
    (?: -? (?P<number> 0 | [1-9][0-9]{{0,8}} ) | (?P<text> '[\w .:+/@-]* [\w.:+/@-]' ) )
    (?= {_BLANK}* (?: \Z | [);] )
      | {_BLANK}+ (?: AND | OR | GROUP | HAVING | ORDER | LIMIT | THEN | UNION | OPTIONS ) \b ) |
    '[^']*'
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What is quoted, or a comparison with a constant behind which the comparison ends."""

_NO_SHAPE: Final = re.compile(r"[$\\]|--|/\*|pg_typeof", re.IGNORECASE)
"""Parameters and comments, in which a number is no constant; escapes, and a type that is told."""

_PARAMETER: Final = re.compile(r"\$([0-9]+)")


class Shape(Struct, frozen=True):
    """A statement's `text` with parameters of the OIDs `types`, for which it has `constants`."""

    text: str
    types: tuple[int, ...]
    constants: tuple[str, ...]

    def written_out(self, sql: str) -> str:
        """`sql`, which was translated from the shape, with the statement's own constants."""
        return _PARAMETER.sub(lambda match: self.constants[int(match[1]) - 1], sql)


def shape_of(written: str) -> Shape | None:
    """The shape of a statement, None if it has none, or no constant that isn't a part of it."""
    if len(written) > MAX_CHARACTERS or _NO_SHAPE.search(written):
        return None
    parts: list[str] = []
    constants: list[str] = []
    types: list[int] = []
    at = 0
    for match in _CONSTANT.finditer(written):
        name = "number" if match["number"] else "text"
        if match[name] is None:  # within quotes
            continue
        constants.append(match[name])
        types.append(o.INT4 if name == "number" else o.UNKNOWN)
        parts += [written[at : match.start(name)], f"${len(constants)}"]
        at = match.end(name)
    if not constants:
        return None
    return Shape("".join([*parts, written[at:]]), tuple(types), tuple(constants))
