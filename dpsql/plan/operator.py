"""Operators of the logical plan: immutable data, no behaviour.

SELECT l_returnflag, sum(l_quantity) / 2 FROM lineitem WHERE l_quantity < 24 GROUP BY 1

Project(l_returnflag, sum / 2)                    released: plain SQL over a noisy table
Release(keys=l_returnflag, sum(l_quantity))     private below, released above
Filter(l_quantity < 24)                       private: each row belongs to one unit
Scan(lineitem, unit=#unit)
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from dpsql.errors import Span
from dpsql.plan.aggregate import AggregateOutput, FrequentKey
from dpsql.plan.expression import Column, Comparison, Expression, Scalar
from dpsql.plan.frame import Frame
from dpsql.plan.sort_key import SortKey
from dpsql.privacy.domain import Domain
from dpsql.schema.model import Table
from dpsql.schema.sql_type import SqlType
from dpsql.structs import not_compared, not_hashed


class SidecarAccess(Enum):
    """The part of a sidecar that is read instead of a table; rows without a unit aren't in it."""

    ROWS = "the rows, each with its unit"
    NUMBERED = "the rows, and columns that stand only there"
    UNITS = "a row for each unit"
    ON_SERVER = "the rows on a server, each with the unit that it was stored with"


class Scan(Struct, frozen=True):
    """Read a declared table; `unit` is the column of its rows' units, which no name reaches.

    It is None if the table is public. Where `sidecar` is set, rows are read from there. `known` has
    the domains of columns of a public table without declared bounds, by column id.
    """

    table: Table
    columns: tuple[Column, ...]
    unit: Column | None
    sidecar: SidecarAccess | None = None
    known: tuple[tuple[int, Domain], ...] = ()


class Filter(Struct, frozen=True):
    """Keep the rows where `predicate` is true."""

    source: Plan
    predicate: Expression


@not_compared("at")
class Output(Struct, frozen=True):
    """A computed column; `at` is its position in the statement.

    `declared` is the domain that a view's owner declares for it, which replaces the derived one.
    """

    column: Column
    expression: Expression
    at: Span | None = None
    declared: Domain | None = None


class Project(Struct, frozen=True):
    """Compute `outputs` from each row; a private relation's unit comes along unseen.

    `view` is the name of the view whose projection this is; texts of plans show it instead of all
    that it reads.
    """

    source: Plan
    outputs: tuple[Output, ...]
    view: str = ""


class Join(Struct, frozen=True):
    """All combinations of one row of each source for which all of `on` are true."""

    sources: tuple[Plan, ...]
    on: tuple[Expression, ...]


class Aggregate(Struct, frozen=True):
    """Group public or released rows exactly, or private rows by keys that determine their unit."""

    source: Plan
    keys: tuple[Output, ...]
    aggregates: tuple[AggregateOutput, ...]


@not_compared("at")
class Candidates(Struct, frozen=True):
    """Public `rows`, of which a release chooses the one of the greatest score, or of the `lowest`.

    A row's score is its `weight` times the number of private rows whose `value` passes: for which
    `value comparison threshold` holds. A row whose weight is NULL has no score. `outputs` are the
    columns of the chosen row. `value` reads private rows, everything else reads `rows`.
    """

    rows: Plan
    value: Expression
    comparison: Comparison
    threshold: Expression
    weight: Expression
    lowest: bool
    outputs: tuple[Output, ...]
    at: Span | None = None


@not_hashed("source", "key_source")  # it is looked up all the time, and trees are large
class Release(Struct, frozen=True):
    """Group private rows and answer with noise; all operators above have released rows.

    `key_source` is a public plan whose rows are the keys that appear; None if other rules list or
    select them. `hides_empty_groups`: a group of listed keys that may be empty, as far as its noisy
    count of units tells, is no row. With `candidates` or a `frequent` key it has neither keys
    nor aggregates: its only row is what is chosen.
    """

    source: Plan
    keys: tuple[Output, ...]
    aggregates: tuple[AggregateOutput, ...]
    key_source: Plan | None = None
    hides_empty_groups: bool = False
    candidates: Candidates | None = None
    frequent: FrequentKey | None = None

    @property
    def chosen(self) -> tuple[Output, ...]:
        """The columns of what is chosen, if something is."""
        key = self.frequent
        frequent = () if key is None else tuple(Output(each, key.key) for each in key.columns)
        if key is not None and key.counted is not None:
            frequent += tuple(Output(each, each) for each in key.counted.columns)
        return frequent if self.candidates is None else self.candidates.outputs


class OuterKind(Enum):
    """The sides of an outer join that keep rows without a partner."""

    LEFT = "LEFT"
    FULL = "FULL"
    PUBLIC = "PUBLIC"
    """The left side, whose rows are public; the right is private, until rows are released."""


@not_compared("at")
class OuterJoin(Struct, frozen=True):
    """Pairs of rows for which all of `on` are true, and rows without a partner with NULLs.

    `unit` is the unit of the joined rows: the left row's, or that of whichever row there is. `at`
    is the join's position in the statement.
    """

    kind: OuterKind
    left: Plan
    right: Plan
    on: tuple[Expression, ...]
    unit: Column | None
    at: Span | None = None


class MarkJoin(Struct, frozen=True):
    """`source` with `column`, which is true where some row of `relation` makes all of `on` true."""

    source: Plan
    relation: Plan
    on: tuple[Expression, ...]
    column: Column


class Union(Struct, frozen=True):
    """All rows of all sources; the n-th column of each becomes the n-th of `outputs`."""

    sources: tuple[Plan, ...]
    outputs: tuple[Column, ...]
    unit: Column | None


class SetKind(Enum):
    """Set operations that compare whole rows."""

    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


class SetOperation(Struct, frozen=True):
    """Distinct rows of `left` that are (not) in `right`; columns correspond by position."""

    kind: SetKind
    left: Plan
    right: Plan
    outputs: tuple[Column, ...]


class WindowCall(Struct, frozen=True):
    """`function([DISTINCT] arguments [IGNORE NULLS]) OVER (PARTITION BY … ORDER BY … frame)`.

    A `frame` of None is the default one: up to the last row that ties with the current one.
    """

    function: str
    arguments: tuple[Expression, ...]
    partition: tuple[Expression, ...]
    order: tuple[SortKey, ...]
    frame: Frame | None
    type: SqlType
    ignore_nulls: bool = False
    distinct: bool = False


class WindowOutput(Struct, frozen=True):
    """A window function, and the column for its values."""

    column: Column
    call: WindowCall


class Window(Struct, frozen=True):
    """`source` with window functions: of public or released rows, or of one unit's private ones."""

    source: Plan
    outputs: tuple[WindowOutput, ...]


class Values(Struct, frozen=True):
    """Public rows that the statement's text lists; without any it is an empty relation.

    The n-th value of a row has the type of the n-th of `outputs`.
    """

    outputs: tuple[Column, ...]
    rows: tuple[tuple[Scalar, ...], ...]


class PublicStatement(Struct, frozen=True):
    """The rows of a statement that an engine of public copies runs as its analyst wrote it.

    It names the public `tables`, of which that engine has copies, and no other; `sql` never reaches
    an engine that has a private row. The n-th column is cast to the n-th of `casts`, or not if that
    is "". The operator is the whole of a plan.
    """

    outputs: tuple[Column, ...]
    sql: str
    tables: tuple[str, ...]
    casts: tuple[str, ...]


class Sort(Struct, frozen=True):
    """Order public or released rows."""

    source: Plan
    by: tuple[SortKey, ...]


class Limit(Struct, frozen=True):
    """Skip `offset` of the public or released rows, and keep at most `count`; None: all."""

    source: Plan
    count: int | None
    offset: int


Plan = (
    Scan
    | Filter
    | Project
    | Join
    | OuterJoin
    | MarkJoin
    | Union
    | SetOperation
    | Aggregate
    | Window
    | Release
    | Sort
    | Limit
    | Values
    | PublicStatement
)
