"""The annotated schema as frozen data.

Values of domains (`bounds`, `values`) are canonical Python values: int for integers, Fraction for
decimals and doubles, str, bool, datetime.date and datetime.datetime (naive).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Final

import msgspec

from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.margin_grid import MarginGrid
from dpsql.privacy.mechanisms.local_noise import LocalNoise
from dpsql.privacy.over_groups import OverGroups
from dpsql.schema.budget import Budget, PerQuery
from dpsql.schema.load.yaml_document import Document
from dpsql.schema.qualified_name import resolve_name
from dpsql.schema.refresh_schedule import Period
from dpsql.schema.row_norm import RowNorm
from dpsql.schema.source_location import ServerSource, Source
from dpsql.schema.sql_type import SqlType
from dpsql.structs import not_compared, not_hashed, not_shown

Value = int | Fraction | str | bool | dt.date | dt.datetime


class Neighbors(Enum):
    """How neighbours differ: one of them lacks a unit, or has another unit in its place."""

    ADD_REMOVE = "add_remove"
    CHANGE_ONE = "change_one"

    def distance(self, units: int) -> NeighborDistance:
        """The distance of neighbours that differ in up to `units` units."""
        return NeighborDistance(units, self is Neighbors.CHANGE_ONE)


class Reference(msgspec.Struct, frozen=True):
    """A column whose values are keys of another table."""

    table: str
    column: str


class Column(msgspec.Struct, frozen=True):
    """One column: its domain as its owner declares it, never as its data show it.

    `bounds` are inclusive; `values` is the finite set of values the column may take, without
    duplicates, in the schema's order. `nullable` False is a fact that only accuracy relies on.
    `response` is the ε with which the column's answers (each one of `values`, or a boolean) were
    randomised before they reached dpsql, None if they weren't. `local_noise` is what was added to
    each number before, None if nothing was; `bounds` are those of the noisy numbers. A text has
    `max_length` characters at most. `source_name` is its name in the source, None if it is `name`.
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
    local_noise: LocalNoise | None = None

    @property
    def local_epsilon(self) -> Fraction | None:
        """The ε with which each value was hidden before it reached dpsql; None if it wasn't."""
        return self.response if self.local_noise is None else self.local_noise.epsilon

    @property
    def stored_as(self) -> str:
        """The column's name in the source."""
        return self.name if self.source_name is None else self.source_name


class Public(msgspec.Struct, frozen=True):
    """A table whose rows are nobody's secret."""


class RowUnit(msgspec.Struct, frozen=True):
    """A table each of whose rows is a privacy unit of its own."""


@not_shown("hidden", "same_unit")
class Hop(msgspec.Struct, frozen=True):
    """From columns of one table to the key of the private table `table`, pair by pair.

    `key` is in the order in which that table declares it. `hidden`: analysts don't see that table.
    Its rows that agree on the columns `same_unit` are of one unit; empty if none are declared.
    """

    columns: tuple[str, ...]
    table: str
    key: tuple[str, ...]
    hidden: bool = False
    same_unit: tuple[str, ...] = ()

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Each of `columns` with the column of `key` that it must equal; NULL equals nothing."""
        return tuple(zip(self.columns, self.key, strict=True))

    @property
    def text(self) -> str:
        """The hop as text: (column, …) → table."""
        names = ", ".join(self.columns)
        return f"{names if len(self.columns) == 1 else f'({names})'} → {self.table}"


class EntityUnit(msgspec.Struct, frozen=True):
    """A table whose rows belong to entities of the unit kind `kind`.

    `hops` lead over private tables to the one that holds `column`, the entity's identity. There is
    no hop if the table has that column itself: it lists the entities, or references their table.
    lineitem: hops (l_orderkey → orders.o_orderkey), column o_custkey. orders: no hop, o_custkey.
    """

    kind: str
    hops: tuple[Hop, ...]
    column: str

    @property
    def first_hop_columns(self) -> tuple[str, ...]:
        """The table's own columns that lead to the unit: the first hop's, or the unit's."""
        return self.hops[0].columns if self.hops else (self.column,)


Ownership = Public | RowUnit | EntityUnit


class Limits(msgspec.Struct, frozen=True):
    """What one unit may contribute: groups, rows in each group, rows in all.

    `declared` names stated ones, `view` the view that states them. `calibrated`: ladders choose.
    """

    groups: int = 8
    rows_per_group: int = 8
    rows: int = 64
    declared: frozenset[str] = frozenset()
    view: str = ""
    calibrated: bool = False
    over_groups: OverGroups = OverGroups.SAMPLE


DEFAULT_LIMITS: Final = Limits()


@not_hashed("columns")
class Table(msgspec.Struct, frozen=True):
    """One declared table. `key` names the columns that are unique together, if declared.

    `time` names the column that says when a row is from, where budgets are refreshed. A table that
    isn't `visible` is read by views alone; where a view reads it, `hidden_behind` is the view whose
    name analysts see. Of a table whose rows are units `rows` is their public number, `min_rows` a
    least one, and `resized` one that it is made to have; None if it isn't declared. `saved_entry`
    is the entry of a saved release, whose rows are in the ledger, or margins of a `grid`. Rows that
    agree on `same_unit` are of one unit, for joins, not bounds. `norm` bounds columns together.
    """

    name: str
    columns: Mapping[str, Column]
    ownership: Ownership
    key: tuple[str, ...] | None = None
    limits: Limits = DEFAULT_LIMITS
    comment: str = ""
    time: str | None = None
    visible: bool = True
    hidden_behind: str = ""
    rows: int | None = None
    saved_entry: int | None = None
    same_unit: tuple[str, ...] = ()
    norm: RowNorm | None = None
    min_rows: int | None = None
    resized: int | None = None
    grid: MarginGrid | None = None

    @property
    def display_name(self) -> str:
        """The name of the table, or of the view that hides it, that analysts see."""
        return self.hidden_behind or self.name

    @property
    def engine_name(self) -> str:
        """The table's name in an engine. No declared name has a space; an entry names one table."""
        entry = self.saved_entry
        return self.name if entry is None else f"kept {entry}{self.grid or ''}"

    def in_source(self, column: str) -> str:
        """The name in the source of the table's column `column`."""
        declared = self.columns.get(column)
        return column if declared is None else declared.stored_as


class ViewColumn(msgspec.Struct, frozen=True):
    """A view's column; bounds and values are as written, since the query has the type."""

    bounds: tuple[object, ...] | None = None
    values: tuple[object, ...] | None = None
    nullable: bool = True
    comment: str = ""


@not_shown("document")
@not_compared("document")
class View(msgspec.Struct, frozen=True):
    """A query that analysts see as a table, in DuckDB's dialect.

    `limits` None: those of its tables apply. `table` describes the view once its query was bound;
    `is_release`: its rows are noisy answers. `document` has its section's lines, for faults.
    """

    name: str
    query: str
    columns: Mapping[str, ViewColumn]
    limits: Limits | None
    comment: str
    visible: bool
    document: Document
    table: Table | None = None
    is_release: bool = False


class UnitKind(msgspec.Struct, frozen=True):
    """A kind of entity: the table that lists them and its identifying column."""

    name: str
    table: str
    key: str


class Schema(msgspec.Struct, frozen=True):
    """A dataset that can be queried.

    `analysts` has the cap of each, in ε. `ledger` is a file, or a PostgreSQL connection string;
    that of `period` is named after it and the period. `policy` is all that a ledger holds the owner
    to, as JSON, and `policy_hash` its hash. `has_shared_store`: stored answers serve all analysts.
    Neighbours differ in up to `group_size` units. An analyst may keep `releases` saved tables.
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
    views: Mapping[str, View] = msgspec.field(default_factory=dict)
    group_size: int = 1

    @property
    def visible_tables(self) -> Mapping[str, Table]:
        """The tables that analysts see, by name: visible tables, and those of visible views."""
        tables = {name: table for name, table in self.tables.items() if table.visible}
        seen = (view.table for view in self.views.values() if view.visible)
        return tables | {table.name: table for table in seen if table is not None}

    def resolve(self, *parts: str) -> Table | None:
        """The visible table that `parts` name (table, schema.table, …); None unless just one."""
        visible = self.visible_tables
        names = resolve_name(visible, parts, self.dataset)
        return visible[names[0]] if len(names) == 1 else None

    @property
    def neighbor_distance(self) -> NeighborDistance:
        """How far neighbours, which nobody may tell apart, are from each other."""
        return self.neighbors.distance(self.group_size)

    @property
    def relation(self) -> str:
        """Which databases are neighbours, as `LedgerTerms.neighbors` records it."""
        name = self.neighbors.value
        if self.budget.sample is not None:
            return f"{name} in a sample of {self.budget.sample.law.rate}"
        return name if self.group_size == 1 else f"{name} in groups of {self.group_size}"

    @property
    def ledger_name(self) -> str:
        """The dataset's name in its ledger: DATASET, or DATASET@PERIOD for rows of one period."""
        return self.dataset if self.period is None else f"{self.dataset}@{self.period.name}"
