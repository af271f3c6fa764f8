"""The annotated schema as frozen data.

Values of domains (`bounds`, `values`) are canonical Python values: int for integers, Fraction for
decimals and doubles, str, bool, datetime.date and datetime.datetime (naive).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from pathlib import Path

from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.budget import Budget, PerQuery
from dpsql.schema.load.yaml_document import Document
from dpsql.schema.qualified_name import resolve_name
from dpsql.schema.refresh_schedule import Period
from dpsql.schema.source_location import ServerSource, Source
from dpsql.schema.sql_type import SqlType

Value = int | Fraction | str | bool | dt.date | dt.datetime


class Neighbors(Enum):
    """Which databases are neighbours: those that lack a unit of the other's, or have another."""

    ADD_REMOVE = "add_remove"
    CHANGE_ONE = "change_one"

    def distance(self, units: int) -> NeighborDistance:
        """Databases that differ in so many units."""
        return NeighborDistance(units, self is Neighbors.CHANGE_ONE)


@dataclass(frozen=True, slots=True)
class Reference:
    """A column whose values are keys of another table."""

    table: str
    column: str


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its domain as its owner declares it, never as its data show it.

    `bounds` are inclusive; `values` is the finite set of values the column may take, without
    duplicates, in the schema's order. `nullable` False is a fact that only accuracy relies on.
    `response` is the ε with which its answers were randomised before they came, None if they
    weren't: one of `values` each, or true or false. `max_length` is how many characters a text has
    at most. `source_name` is what the source calls it, None if it has the same name there.
    """

    name: str
    type: SqlType
    bounds: tuple[Value, Value] | None = None
    values: tuple[Value, ...] | None = None
    nullable: bool = True
    references: Reference | None = None
    comment: str = ""
    response: Fraction | None = None
    max_length: int | None = None
    source_name: str | None = None

    @property
    def stored_as(self) -> str:
        """What the source calls it."""
        return self.name if self.source_name is None else self.source_name


@dataclass(frozen=True, slots=True)
class Public:
    """A table whose rows are nobody's secret."""


@dataclass(frozen=True, slots=True)
class RowUnit:
    """A table each of whose rows is a privacy unit of its own."""


@dataclass(frozen=True, slots=True)
class Hop:
    """From columns of one table to the key of the private table `table`, pair by pair.

    `key` is in the order in which that table declares it. `hidden`: analysts don't see that table.
    Rows of it that agree on `same_unit` are of one unit; empty where nothing like that is declared.
    """

    columns: tuple[str, ...]
    table: str
    key: tuple[str, ...]
    hidden: bool = field(default=False, repr=False)
    same_unit: tuple[str, ...] = field(default=(), repr=False)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Each of the columns with what it has to equal; NULL in any of them equals nothing."""
        return tuple(zip(self.columns, self.key, strict=True))

    @property
    def text(self) -> str:
        """The step in words."""
        names = ", ".join(self.columns)
        return f"{names if len(self.columns) == 1 else f'({names})'} → {self.table}"


@dataclass(frozen=True, slots=True)
class EntityUnit:
    """A table whose rows belong to entities of the unit kind `kind`.

    `hops` leads over private tables to the one that holds `column`, the entity's identity: no hop
    when the table's own `column` is it (the entity's table, or one that references it directly).
    lineitem: hops (l_orderkey → orders.o_orderkey), column o_custkey. orders: no hop, o_custkey.
    """

    kind: str
    hops: tuple[Hop, ...]
    column: str

    @property
    def first_hop_columns(self) -> tuple[str, ...]:
        """The columns of the table itself by which its rows' units are found, or that are them."""
        return self.hops[0].columns if self.hops else (self.column,)


Ownership = Public | RowUnit | EntityUnit


@dataclass(frozen=True, slots=True)
class Limits:
    """What one unit may contribute: groups, rows in each group, rows in all.

    `declared` names those that the schema states; the others are defaults. `view` is the one that
    states them in the place of its tables.
    """

    groups: int = 8
    rows_per_group: int = 8
    rows: int = 64
    declared: frozenset[str] = frozenset()
    view: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """One declared table. `key` names the columns that are unique together, if declared.

    `time` names the column that says when a row is from, where budgets are refreshed. A table that
    isn't `visible` is read by views alone; `hidden_behind` is then the view that is named in its
    place. `rows` is how many rows it has, where each is a unit and that is nobody's secret. A
    public table that an analyst keeps is in the ledger and not in the source: `saved_entry` named
    it. Rows that agree on `same_unit` are of one unit: what joins them relies on it, and no bound.
    """

    name: str
    columns: Mapping[str, Column] = field(hash=False)
    ownership: Ownership
    key: tuple[str, ...] | None = None
    limits: Limits = Limits()
    comment: str = ""
    time: str | None = None
    visible: bool = True
    hidden_behind: str = ""
    rows: int | None = None
    saved_entry: int | None = None
    same_unit: tuple[str, ...] = ()

    @property
    def display_name(self) -> str:
        """What analysts are told of where rows are from."""
        return self.hidden_behind or self.name

    @property
    def engine_name(self) -> str:
        """What engines call it. No declared name has a space, and no entry names two tables."""
        return self.name if self.saved_entry is None else f"kept {self.saved_entry}"

    def in_source(self, column: str) -> str:
        """What the source calls one of its columns."""
        found = self.columns.get(column)
        return column if found is None else found.stored_as


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """What is declared of a view's column; bounds and values as written: the query has the type."""

    bounds: tuple[object, ...] | None = None
    values: tuple[object, ...] | None = None
    nullable: bool = True
    comment: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A query that analysts see as a table, in DuckDB's dialect.

    `limits` None: those of the tables that it reads. `table` describes it, once it was bound, and
    `is_release` tells that its rows are noisy answers; `document` says where it is wrong.
    """

    name: str
    query: str
    columns: Mapping[str, ViewColumn] = field(hash=False)
    limits: Limits | None
    comment: str
    visible: bool
    document: Document = field(repr=False, compare=False)
    table: Table | None = None
    is_release: bool = False


@dataclass(frozen=True, slots=True)
class UnitKind:
    """A kind of entity: the table that lists them and its identifying column."""

    name: str
    table: str
    key: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A dataset that can be queried.

    `ledger` is a file, or a PostgreSQL connection string; a period's is named after both. `policy`
    says all that a ledger holds the owner to, as JSON, and `policy_hash` identifies it.
    `has_shared_store`: what one analyst was answered, others are answered again. Neighbours differ
    in up to `group_size` units. One analyst keeps up to `releases` releases and synopses.
    """

    dataset: str
    path: Path
    source: Source | ServerSource
    neighbors: Neighbors
    units: Mapping[str, UnitKind]
    tables: Mapping[str, Table]
    budget: Budget
    per_query: PerQuery
    analysts: Mapping[str, Fraction]
    ledger: Path | str
    anchor: Path
    has_shared_store: bool
    releases: int
    version: str | None
    policy: str
    policy_hash: str
    period: Period | None = None
    views: Mapping[str, View] = field(default_factory=dict)
    group_size: int = 1

    @property
    def visible_tables(self) -> Mapping[str, Table]:
        """What analysts see, by name: visible tables, and visible views as the tables they seem."""
        tables = {name: table for name, table in self.tables.items() if table.visible}
        seen = (view.table for view in self.views.values() if view.visible)
        return tables | {table.name: table for table in seen if table is not None}

    def resolve(self, *parts: str) -> Table | None:
        """The one of them that an analyst names by table, schema.table or catalog.schema.table."""
        offered = self.visible_tables
        found = resolve_name(offered, parts, self.dataset)
        return offered[found[0]] if len(found) == 1 else None

    @property
    def neighbor_distance(self) -> NeighborDistance:
        """How far apart the databases are that nobody may tell from each other."""
        return self.neighbors.distance(self.group_size)

    @property
    def relation(self) -> str:
        """Which databases are neighbours, in words that a ledger keeps."""
        name = self.neighbors.value
        return name if self.group_size == 1 else f"{name} in groups of {self.group_size}"

    @property
    def ledger_name(self) -> str:
        """What the ledger's budget is of: the dataset, or its rows of one period."""
        return self.dataset if self.period is None else f"{self.dataset}@{self.period.name}"
