"""docs/engines.md has what each engine computes, as the lists of its dialect say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import pytest
from documentation.pages import check_table

from dpsql.emit.dialect.postgres.aggregate import emit_aggregate as postgres_aggregate
from dpsql.emit.dialect.postgres.function import FUNCTIONS as POSTGRES
from dpsql.emit.dialect.postgres.guard import type_name as postgres_type
from dpsql.emit.dialect.spark.aggregate import emit_aggregate as spark_aggregate
from dpsql.emit.dialect.spark.function import FUNCTIONS as SPARK
from dpsql.emit.dialect.spark.guard import type_name as spark_type
from dpsql.engine.postgres.semantics import SUPPORTED as BY_POSTGRES
from dpsql.engine.spark.semantics import SUPPORTED as BY_SPARK
from dpsql.errors import Refused
from dpsql.physical.plan import STRATEGIES
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, OpenFunction
from dpsql.plan.expression import Column
from dpsql.plan.functions.date_arithmetic import SHIFTS
from dpsql.plan.functions.date_part import PARTS
from dpsql.plan.functions.date_trunc import GRIDS
from dpsql.plan.functions.function import Function
from dpsql.plan.functions.json import DOCUMENTS
from dpsql.plan.functions.numeric import NUMERIC
from dpsql.plan.functions.pattern import PATTERN
from dpsql.plan.functions.rounding import ROUNDING
from dpsql.plan.functions.text import TEXT
from dpsql.plan.functions.transcendental import TRANSCENDENTAL
from dpsql.schema.sql_type import (
    BIGINT,
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Varchar,
)

FAMILIES: Final[Mapping[str, tuple[Function, ...]]] = {
    "rounding": ROUNDING,
    "numbers": NUMERIC,
    "roots, powers, angles": TRANSCENDENTAL,
    "text": TEXT,
    "patterns": PATTERN,
    "JSON": DOCUMENTS,
    "parts of dates": PARTS,
    "truncated dates": GRIDS,
    "shifted dates": SHIFTS,
}
TYPES: Final[tuple[SqlType, ...]] = (
    Boolean(),
    *(Integer(bits, signed=signed) for signed in (True, False) for bits in (8, 16, 32, 64, 128)),
    Decimal(18, 2),
    Decimal(38, 10),
    Double(32),
    Double(64),
    Varchar(),
    Date(),
    Timestamp(),
)
OF_UNITS: Final = (
    AggregateFunction.COUNT,
    AggregateFunction.SUM,
    AggregateFunction.AVG,
    AggregateFunction.MIN,
    AggregateFunction.MAX,
    AggregateFunction.VAR_SAMP,
    AggregateFunction.CORR,
    AggregateFunction.QUANTILE_CONT,
    OpenFunction.BOOL_AND,
    OpenFunction.BOOL_OR,
)
"""Aggregates that may be of one unit's rows, below a release."""


def _listed(names: Iterator[str]) -> str:
    return " ".join(f"`{name}`" for name in names).replace("|", "\\|") or "—"


def _types(name_of: Callable[[SqlType], str]) -> Iterator[str]:
    for kind in TYPES:
        try:
            name_of(kind)
        except Refused:
            continue
        yield str(kind).lower()


def _aggregates(emit: Callable[[AggregateCall, Column | None], object]) -> Iterator[str]:
    unit = Column(1, "person", BIGINT)
    for function in OF_UNITS:
        kind = Boolean() if isinstance(function, OpenFunction) else BIGINT
        arguments = (Column(2, "x", kind),) * (2 if function is AggregateFunction.CORR else 1)
        try:
            emit(AggregateCall(function, arguments, False, None, kind), unit)
        except Refused:
            continue
        yield function.value


def table() -> str:
    """One line for each family of functions, and for aggregates, types and strategies."""
    lines = ["| | files, in DuckDB | PostgreSQL itself | Spark |", "| --- | --- | --- | --- |"]
    for family, functions in FAMILIES.items():
        names = [function.name for function in functions]
        cells = [
            _listed(name for name in names if name in known) for known in (names, POSTGRES, SPARK)
        ]
        lines.append(f"| {family} | {' | '.join(cells)} |")
    of_units = (
        _listed(function.value for function in OF_UNITS),
        _listed(_aggregates(postgres_aggregate)),
        _listed(_aggregates(spark_aggregate)),
    )
    lines.append(f"| aggregates of one unit's rows | {' | '.join(of_units)} |")
    types = (
        _listed(map(str.lower, map(str, TYPES))),
        *map(_listed, map(_types, (postgres_type, spark_type))),
    )
    lines.append(f"| types | {' | '.join(types)} |")
    strategies = [each.__name__ for each in STRATEGIES]
    ways = [
        _listed(name for name in strategies if name in known)
        for known in (strategies, BY_POSTGRES.strategies, BY_SPARK.strategies)
    ]
    lines.append(f"| physical strategies | {' | '.join(ways)} |")
    return "\n".join(lines) + "\n"


def test_the_page_has_what_each_dialect_lists(request: pytest.FixtureRequest) -> None:
    check_table(request, "engines", table())
