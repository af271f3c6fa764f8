"""The arguments of each tool, checked by the same types that clients get as JSON schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta, Struct

from dpsql.errors import BadParameter

MAX_SIGNS: Final = 100_000
"""The length of a statement in characters."""

MAX_STATEMENTS: Final = 50

USUAL_ROWS: Final = 200
MAX_ROWS: Final = 5_000
MAX_ROWS_OF_EACH: Final = 1_000
_FAR: Final = 10**9

Sql = Annotated[
    str,
    Meta(
        max_length=MAX_SIGNS,
        description="One SQL statement that aggregates, such as SELECT city, count(*) FROM people"
        " GROUP BY city. Rows of single people are refused.",
    ),
]
Statements = Annotated[
    list[Sql],
    Meta(
        min_length=1,
        max_length=MAX_STATEMENTS,
        description="Queries, without OPTIONS. All are answered and charged in one entry, or none.",
    ),
]
Name = Annotated[str, Meta(max_length=1_000)]
Epsilon = Annotated[
    float,
    Meta(
        gt=0,
        description="Privacy loss to spend: more means less noise."
        " Default: what `budget` says a query spends.",
    ),
]
MaxError = Annotated[
    float,
    Meta(
        gt=0,
        description="Instead of epsilon: spend the least with which 95 % of values are no farther"
        " off than this.",
    ),
]
MaxCost = Annotated[
    float,
    Meta(gt=0, description="Refuse the statement, at no cost, if it costs more epsilon than this."),
]


class ListTables(Struct, frozen=True, forbid_unknown_fields=True):
    """Which tables are listed: those with `search` in name or comment, from `offset` on."""

    search: Annotated[Name, Meta(description="Part of a table's name or comment.")] = ""
    offset: Annotated[int, Meta(ge=0, le=_FAR, description="How many tables to pass over.")] = 0


class DescribeTable(Struct, frozen=True, forbid_unknown_fields=True):
    """One table by its name."""

    table: Annotated[Name, Meta(description="The table's name, as list_tables has it.")]


class Explain(Struct, frozen=True, forbid_unknown_fields=True):
    """A statement, and what it would spend."""

    sql: Sql
    epsilon: Epsilon | None = None
    max_error: MaxError | None = None


class Query(Struct, frozen=True, forbid_unknown_fields=True):
    """A statement, what it may spend, and which of its rows are returned."""

    sql: Sql
    epsilon: Epsilon | None = None
    max_error: MaxError | None = None
    max_cost: MaxCost | None = None
    max_rows: Annotated[
        int, Meta(ge=1, le=MAX_ROWS, description="How many rows to return at most.")
    ] = USUAL_ROWS
    offset: Annotated[
        int,
        Meta(
            ge=0,
            le=_FAR,
            description="How many rows to pass over. The same statement again is free, so this"
            " reads on.",
        ),
    ] = 0


class ExplainBatch(Struct, frozen=True, forbid_unknown_fields=True):
    """Queries that are declared together; `epsilon` and `max_error` are of each of them."""

    statements: Statements
    epsilon: Epsilon | None = None
    max_error: MaxError | None = None


class QueryBatch(Struct, frozen=True, forbid_unknown_fields=True):
    """Queries that are declared together, what they may spend, and how many rows are returned."""

    statements: Statements
    epsilon: Epsilon | None = None
    max_error: MaxError | None = None
    max_cost: (
        Annotated[
            float,
            Meta(gt=0, description="Refuse all, at no cost, if together they cost more epsilon."),
        ]
        | None
    ) = None
    max_rows: Annotated[
        int,
        Meta(
            ge=1,
            le=MAX_ROWS_OF_EACH,
            description="How many rows of each answer to return at most. `query` reads on, free.",
        ),
    ] = USUAL_ROWS


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """No arguments."""


Arguments = TypeVar("Arguments", bound=Struct)


def taken(arguments: Mapping[str, Any] | None, kind: type[Arguments]) -> Arguments:
    """The arguments as a `kind`; BadParameter names the first that isn't of its type."""
    try:
        return msgspec.convert(dict(arguments or {}), kind)
    except msgspec.ValidationError as wrong:
        reason = str(wrong)[:300]
        raise BadParameter(
            f"an argument isn't as the tool takes it: {reason[:1].lower()}{reason[1:]}",
            hint="the tool's input schema names all arguments with their types",
        ) from None


def json_schema(kind: type[Struct]) -> dict[str, Any]:
    """The JSON schema of `kind`, an object at its root."""
    (_,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    root: dict[str, Any] = parts.pop(kind.__name__)
    return root | ({"$defs": parts} if parts else {})
