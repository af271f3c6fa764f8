"""Public tables that are read above the releases, hence copied to where the answer is finished.

    SELECT s_name FROM supplier JOIN nation ON … WHERE n_name = 'CANADA' AND s_suppkey IN (released)

What of them depends on nothing that was released or is kept is copied as one table: here
Canada's suppliers. The source filters and joins once what would be filtered and joined for each
answer. A copy has no more rows than the largest table that it is of, and the columns that are read
above it; their names are those that SQL has for columns of plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.relation.relation import emit_plan
from dpsql.emit.sql.identifier import column_name
from dpsql.plan.expression import Column
from dpsql.plan.operator import Filter, Join, MarkJoin, Output, Plan, Project, Release, Scan
from dpsql.plan.output_columns import output_columns
from dpsql.plan.prune_columns import reads
from dpsql.plan.traversal import operators, replace_sources, sources
from dpsql.schema.model import Public, Table
from dpsql.session.run.finishing.row_bound import row_bound
from dpsql.structs import replace

_EACH: Final = 1_000_000
"""As many rows as any table of a part is taken to have, to see whether a join has more."""


class CopiedPart(Struct, frozen=True):
    """A `part` of a plan, whose `rows` the source reads by `sql`.

    They are a table of this `name`; no declared name has a space.
    """

    name: str
    part: Plan
    rows: Plan
    sql: str


class CopiedPlan(Struct, frozen=True):
    """A plan that reads `copies` in place of public tables."""

    plan: Plan
    copies: tuple[CopiedPart, ...]


def scans_above_releases(plan: Plan) -> Iterator[Scan]:
    """The scans of public tables, and of kept ones, that `plan` has above its releases."""
    if isinstance(plan, Scan):
        yield plan
    elif not isinstance(plan, Release):
        for source in sources(plan):
            yield from scans_above_releases(source)


def copied_plan(plan: Plan) -> CopiedPlan:
    """`plan` over copies of the largest parts that are the source's public rows."""
    read = (column for part in _above_copies(plan) for column in reads(part))
    needed = frozenset((*output_columns(plan), *read))
    copies: list[CopiedPart] = []

    def copied(part: Plan) -> Plan:
        if isinstance(part, Release):
            return part
        if not _is_copied(part):
            return replace_sources(copied, part)
        columns = tuple(column for column in output_columns(part) if column in needed)
        rows = Project(part, tuple(Output(c, c) for c in columns))
        name = f"public {len(copies)}"
        copies.append(CopiedPart(name, part, rows, rendered(emit_plan(rows, {}))))
        return _read_of_copy(name, columns)

    return CopiedPlan(copied(plan), tuple(copies))


def _above_copies(plan: Plan) -> Iterator[Plan]:
    """The operators of `plan` that stand above what is released, and what is copied."""
    if not isinstance(plan, Release) and not _is_copied(plan):
        yield plan
        for source in sources(plan):
            yield from _above_copies(source)


def _read_of_copy(name: str, columns: Iterable[Column]) -> Plan:
    """The `columns` of a copy, in which no two columns of tables have one name."""
    stored = {column: replace(column, name=column_name(column)) for column in columns}
    scan = Scan(Table(name, {}, Public()), tuple(stored.values()), None)
    return Project(scan, tuple(Output(column, read) for column, read in stored.items()))


def _is_copied(part: Plan) -> bool:
    """Whether `part` has columns of public tables, and is no larger than these.

    What it is filtered by may be any public rows.
    """
    return (
        _has_stored_columns(part)
        and visibility(part) is Visibility.PUBLIC
        and not any(
            isinstance(p, Scan) and p.table.saved_entry is not None for p in operators(part)
        )
        and row_bound(part, lambda _: _EACH) <= _EACH
    )


def _has_stored_columns(part: Plan) -> bool:
    match part:
        case Scan():
            return True
        case Filter(source=source) | MarkJoin(source=source):
            return _has_stored_columns(source)
        case Join(sources=joined):
            return all(map(_has_stored_columns, joined))
        case _:
            return False
