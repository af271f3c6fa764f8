"""The constants of a generic plan's parameters, as the renderer writes them in DuckDB's SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from dpsql.emit.dialect.duckdb.literal import emit_literal, untyped_literal
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.sql.parameter_mark import filled, mark_name, marks
from dpsql.errors import Span
from dpsql.plan.bounded_release.engine_query import ParameterizedSql
from dpsql.plan.expression import Literal
from dpsql.schema.sql_type import Boolean, Date, Integer, SqlType, Timestamp, Varchar

_WORD: Final = 64


class Constants(Struct, frozen=True):
    """The values of parameters 0, 1 …, and what is written in SQL for each mark, by its name.

    `spans` are the places in their text of what stands elsewhere in the plan's, where these differ.
    """

    literals: tuple[Literal, ...]
    texts: Mapping[str, str]
    spans: Mapping[Span, Span] = {}


def constants(literals: tuple[Literal, ...]) -> Constants:
    """The values of parameters, and their texts."""
    texts: dict[str, str] = {}
    for number, one in enumerate(literals):
        typed, untyped = emit_literal(one.value, one.type), untyped_literal(one.value, one.type)
        texts[mark_name(number, is_typed=True)] = rendered(typed)
        texts[mark_name(number, is_typed=False)] = rendered(untyped)
    return Constants(literals, texts)


class ParameterizedText:
    """SQL with marks as a statement that takes their constants as values, after `others`.

    `types` are those of the constants, by the numbers of parameters.
    """

    def __init__(self, sql: str, types: tuple[SqlType, ...], others: int) -> None:
        numbers = list(dict.fromkeys(int(name[1:]) for name in marks(sql)))
        self._numbers = numbers
        self._has_values = all(_is_by_value(types[number]) for number in numbers)
        texts = {
            mark_name(number, is_typed=is_typed): f"CAST(${index} AS {types[number]})"
            for index, number in enumerate(numbers, start=others + 1)
            for is_typed in (True, False)
        }
        self._sql = filled(sql, texts)

    def with_values(self, literals: tuple[Literal, ...]) -> ParameterizedSql | None:
        """The statement for `literals`; None where DuckDB may read a value as another."""
        if not self._has_values:
            return None
        return ParameterizedSql(self._sql, tuple(literals[n].value for n in self._numbers))


def _is_by_value(kind: SqlType) -> bool:
    """Whether DuckDB takes Python's value for the constant that it is, but for its width."""
    match kind:
        case Integer(bits=bits):
            return bits <= _WORD
        case _:
            return isinstance(kind, Varchar | Boolean | Date | Timestamp)
