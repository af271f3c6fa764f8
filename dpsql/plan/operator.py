"""Operators of the logical plan: immutable data, no behaviour.

SELECT l_returnflag, sum(l_quantity) / 2 FROM lineitem WHERE l_quantity < 24 GROUP BY 1

Project(l_returnflag, sum / 2)                    released: plain SQL over a noisy table
Release(keys=l_returnflag, sum(l_quantity))     the frontier
Filter(l_quantity < 24)                       private: each row belongs to one unit
Scan(lineitem, unit=#unit)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from dpsql.errors import Span
from dpsql.plan.expression import Column, Expression
from dpsql.schema.model import Table
from dpsql.schema.type import SqlType


@dataclass(frozen=True, slots=True)
class Scan:
    """Read a declared table; `unit` is its lineage, which no name reaches; None if public."""

    table: Table
    columns: tuple[Column, ...]
    unit: Column | None


@dataclass(frozen=True, slots=True)
class Filter:
    """Keep the rows where `predicate` is true."""

    source: Plan
    predicate: Expression


@dataclass(frozen=True, slots=True)
class Output:
    """A computed column; `at` is where the statement asks for it."""

    column: Column
    expression: Expression
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Project:
    """Compute `outputs` from each row; a private relation's unit comes along unseen."""

    source: Plan
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """All combinations of one row of each source for which all of `on` are true."""

    sources: tuple[Plan, ...]
    on: tuple[Expression, ...]


class AggregateFunction(Enum):
    """Aggregates that have a rule, over private rows or over public and released ones only."""

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """`function([DISTINCT] argument) [FILTER (WHERE filter)]`; no argument is count(*).

    `at` is where the statement asks for it.
    """

    function: AggregateFunction
    argument: Expression | None
    distinct: bool
    filter: Expression | None
    type: SqlType
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class AggregateOutput:
    """An aggregate and the column that holds it."""

    column: Column
    call: AggregateCall


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Group public or released rows exactly, or private rows by keys that determine their unit."""

    source: Plan
    keys: tuple[Output, ...]
    aggregates: tuple[AggregateOutput, ...]


@dataclass(frozen=True, slots=True)
class Release:
    """Group private rows and answer with noise: released from here on, whatever is built on it."""

    source: Plan
    keys: tuple[Output, ...]
    aggregates: tuple[AggregateOutput, ...]


@dataclass(frozen=True, slots=True)
class SortKey:
    """One term of ORDER BY."""

    expression: Expression
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Sort:
    """Order public or released rows."""

    source: Plan
    by: tuple[SortKey, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """Of public or released rows, skip `offset` and keep at most `count`."""

    source: Plan
    count: int | None
    offset: int


Plan = Scan | Filter | Project | Join | Aggregate | Release | Sort | Limit
