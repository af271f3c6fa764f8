"""The constants of a generic plan's parameters, as the renderer writes them in DuckDB's SQL."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from dpsql.emit.dialect.duckdb.literal import emit_literal, untyped_literal
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.sql.parameter_mark import mark_name
from dpsql.plan.expression import Literal


class Constants(Struct, frozen=True):
    """The values of parameters 0, 1 …, and what is written in SQL for each mark, by its name."""

    literals: tuple[Literal, ...]
    texts: Mapping[str, str]


def constants(literals: tuple[Literal, ...]) -> Constants:
    """The values of parameters, and their texts."""
    texts: dict[str, str] = {}
    for number, one in enumerate(literals):
        typed, untyped = emit_literal(one.value, one.type), untyped_literal(one.value, one.type)
        texts[mark_name(number, is_typed=True)] = rendered(typed)
        texts[mark_name(number, is_typed=False)] = rendered(untyped)
    return Constants(literals, texts)
