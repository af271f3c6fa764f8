"""Parameters that decide what a statement is, and are written into its text as constants.

A pattern of to_char(), a time zone and a length of time are read where a statement is translated or
bound. With the constant in its place a statement means what PostgreSQL means by the parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from dpsql.bind.syntax.parse import tokens
from dpsql.pgwire.codec import oid as o
from dpsql.pgwire.codec.parameter import Bound
from dpsql.pgwire.sql.tree_search import find_all
from dpsql.pgwire.sql.types.column_source import Missing
from dpsql.pgwire.sql.types.expression_types import Typing
from dpsql.pgwire.sql.types.pg_type import NUMBERS
from dpsql.plan.expression import Literal
from dpsql.schema.model import Schema
from dpsql.schema.sql_type import Varchar


class Use(Enum):
    """What a constant is; the value stands for it while a statement is described."""

    PATTERN = "YYYY"
    NUMBER_PATTERN = "9"
    ZONE = "UTC"
    LENGTH = "1 day"

    @property
    def example(self) -> Literal:
        """A parameter of that use."""
        return Literal(self.value, Varchar())


_LONGEST: Final = 1000
"""Characters of a constant: a longer one is none of these."""


NO_USES: Final[Mapping[str, Use]] = MappingProxyType({})
"""Of a statement without such parameters."""


class Insertion(Struct, frozen=True):
    """Where a constant stands in a text, and how many characters less its parameter has."""

    start: int
    end: int
    growth: int


def constant_uses(tree: exp.Expr | None, types: Sequence[int], schema: Schema) -> dict[str, Use]:
    """The parameters of `tree` that have to be constants, by their numbers.

    `types` are the OIDs of all its parameters.
    """
    if tree is None or not types:
        return {}
    uses = {str(n): Use.LENGTH for n, oid in enumerate(types, 1) if oid == o.INTERVAL}
    for use, part in _parts(tree, Typing(schema, types)):
        constant = part
        while isinstance(constant, exp.Cast | exp.Paren):
            constant = constant.this
        if isinstance(constant, exp.Parameter | exp.Placeholder):
            uses[constant.name] = use
    return uses


def _parts(tree: exp.Expr, typing: Typing) -> Iterator[tuple[Use, exp.Expr | None]]:
    """The patterns and zones of `tree`."""
    zoned = (exp.AtTimeZone, exp.TimestampTrunc, exp.DateTrunc)
    for node in find_all(tree, exp.TimeToStr, exp.ToChar, exp.Anonymous, *zoned):
        match node:
            case exp.TimeToStr() | exp.ToChar():
                yield _pattern_of(node.this, typing), node.args.get("format")
            case exp.Anonymous(expressions=[value, pattern]) if node.name.lower() == "to_char":
                yield _pattern_of(value, typing), pattern
            case exp.Anonymous(expressions=[zone, _]) if node.name.lower() == "timezone":
                yield Use.ZONE, zone
            case _:
                yield Use.ZONE, node.args.get("zone")


def _pattern_of(value: exp.Expr, typing: Typing) -> Use:
    try:
        return Use.NUMBER_PATTERN if typing.of(value) in NUMBERS else Use.PATTERN
    except Missing:  # whoever describes the statement says which column there isn't
        return Use.PATTERN


def with_constants(
    written: str, values: Mapping[str, Bound], uses: Mapping[str, Use]
) -> tuple[str, tuple[Insertion, ...], dict[str, Bound]]:
    """`written` with the constants among `values` that have `uses` in their parameters' place.

    Also where they stand, and the values that are left. NULL stays a parameter, and what is no
    text.
    """
    texts = {n: text for n in uses if (text := _text(values.get(n))) is not None}
    text, end, insertions = "", 0, []
    words = tokens(written)
    for index, (sign, number) in enumerate(pairwise(words)):
        if sign.token_type is not TokenType.PARAMETER or number.text not in texts:
            continue
        constant = "'" + texts[number.text].replace("'", "''") + "'"
        around = [word.text.lower() for word in words[max(0, index - 2) : index + 3]]
        is_cast = around[:2] == ["cast", "("] or around[-1] == "::"
        if uses[number.text] is Use.LENGTH and not is_cast:
            constant = f"({constant}::interval)"
        text += written[end : sign.start]
        end = number.end + 1
        growth = len(constant) - (end - sign.start)
        insertions.append(Insertion(len(text), len(text) + len(constant), growth))
        text += constant
    left = {n: value for n, value in values.items() if n not in texts}
    return text + written[end:], tuple(insertions), left


def _text(value: Bound | None) -> str | None:
    text = value.value if isinstance(value, Literal) else None
    return text if isinstance(text, str) and len(text) <= _LONGEST else None


def before_insertions(position: int, insertions: Sequence[Insertion]) -> int:
    """Where a character of a text with constants stood before they were inserted."""
    moved = 0
    for insertion in insertions:
        if position < insertion.end:
            return min(position, insertion.start) - moved
        moved += insertion.growth
    return position - moved
