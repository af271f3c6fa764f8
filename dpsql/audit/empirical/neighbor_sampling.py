"""Sensitivity sampling for an owner's statement: what plain SQL changes by, between neighbors.

Databases are drawn unit by unit from a law that reads no private row, and the statement is run on
both of a pair as it is written, without bounds or noise. What comes of it is a diagnostic: random
differential privacy at best, if data follow the law. No noise is derived from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import count
from random import Random

import duckdb
from msgspec import Struct

from dpsql.audit.databases.candidate_units import PlanConstants, public_table_rows
from dpsql.audit.databases.database_batch import DatabaseBatch, StatementFails
from dpsql.audit.databases.search_space import compiled, plan_constants
from dpsql.audit.databases.unit_law import PublicRows, UnitLaw
from dpsql.audit.databases.unit_ownership import Rows
from dpsql.audit.empirical.sensitivity_sampling import Plan, Sampled, order_statistic
from dpsql.errors import BadParameter
from dpsql.schema.model import Neighbors, Schema
from dpsql.session.compile.column_provenance import origins
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.structs import replace

Answer = Mapping[tuple[object, ...], Sequence[object]]
"""The values of an answer's rows, by their keys."""

_PAIRS_AT_ONCE = 100


class SampledColumn(Struct, frozen=True):
    """A column of the answer: its sampled change, and how many further pairs that covers."""

    name: str
    sampled: Sampled
    covered: int


class NeighborLaw(Struct, frozen=True):
    """How pairs are drawn: their relation, the units of a database, and what values are like."""

    neighbors: Neighbors
    units: int
    model: PublicRows | None = None


def sample_neighbors(
    sql: str, schema: Schema, law: NeighborLaw, plan: Plan, seed: int
) -> tuple[SampledColumn, ...]:
    """The sampled change of each column of `sql`, in the L1 norm over its groups.

    As many further pairs as the plan has are drawn to see how many of them it covers. Raises
    BadParameter if no value is noised, or rows can't be told apart.
    """
    if law.units < 1:
        raise BadParameter("a database has a unit at least", hint="write --units 1 or more")
    ready = compiled(sql, schema, schema.per_query.max_epsilon)
    if not ready.releases:
        raise BadParameter(
            "the statement reads nothing private", hint="sample one that aggregates private rows"
        )
    keys, values = _columns(ready)
    units = UnitLaw(schema, _constants(ready, schema), public_table_rows(schema), law.model)
    changes = _changes(sql, units, law, (keys, values), Random(seed))
    drawn = [next(changes) for _ in range(plan.pairs)]
    further = [next(changes) for _ in range(plan.pairs)]
    columns: list[SampledColumn] = []
    for number, index in enumerate(values):
        sampled = order_statistic(plan, [change[number] for change in drawn])
        covered = sum(change[number] <= sampled.sensitivity for change in further)
        columns.append(SampledColumn(ready.statement.names[index], sampled, covered))
    return tuple(columns)


def _constants(ready: CompiledStatement, schema: Schema) -> PlanConstants:
    """The one kind of units of all releases, and the columns that any of them reads."""
    each = [plan_constants(r.release, schema, is_strict=True) for r in ready.releases]
    columns: dict[str, frozenset[str]] = {}
    for constants in each:
        for table, names in constants.columns.items():
            columns[table] = columns.get(table, frozenset()) | names
    if len({constants.kind for constants in each}) > 1:
        raise BadParameter(
            "the statement has units of several kinds", hint="sample each of its parts alone"
        )
    return replace(each[0], columns=columns)


def _columns(ready: CompiledStatement) -> tuple[list[int], list[int]]:
    """The indices of the answer's columns that are keys, and of all others."""
    indices = range(len(ready.statement.columns))
    keys = [n for n in indices if origins(ready.plan, ready.statement.columns[n].id) == ()]
    values = [n for n in indices if n not in keys]
    if not values:
        raise BadParameter("the answer has keys alone", hint="add an aggregate")
    return keys, values


def _changes(
    sql: str, units: UnitLaw, law: NeighborLaw, columns: tuple[list[int], list[int]], random: Random
) -> Iterator[list[float]]:
    """The change of each value column, for one pair after another without end."""
    identities = count(1)
    while True:
        pieces: list[Rows] = []
        members: list[range | list[int]] = []
        for _ in range(_PAIRS_AT_ONCE):
            first = len(pieces)
            last = first + law.units - 1
            one, other = _pair(first, last, law.neighbors)
            drawn = law.units + (law.neighbors is Neighbors.CHANGE_ONE)
            pieces += [units.draw(random, next(identities)) for _ in range(drawn)]
            members += [one, other]
        answers = _answers(DatabaseBatch(units.schema, units.public, pieces, members), sql, columns)
        for one_answer, other_answer in zip(answers[::2], answers[1::2], strict=True):
            yield [_l1(one_answer, other_answer, n) for n in range(len(columns[1]))]


def _pair(first: int, last: int, relation: Neighbors) -> tuple[list[int], list[int]]:
    """Two databases by their units, `first` to `last`; of one the last is gone, or another."""
    one, shared = list(range(first, last + 1)), list(range(first, last))
    return one, shared if relation is Neighbors.ADD_REMOVE else [*shared, last + 1]


def _answers(worlds: DatabaseBatch, sql: str, columns: tuple[list[int], list[int]]) -> list[Answer]:
    keys, values = columns
    try:
        tables = worlds.run(sql)
    except (StatementFails, duckdb.Error):
        # A function of dpsql's own, or one that fails on some rows: dpsql writes it otherwise.
        raise BadParameter(
            "DuckDB doesn't answer the statement as it is written",
            hint="dpsql audit sensitivity runs it as dpsql does",
        ) from None
    answers: list[Answer] = []
    for rows in tables:
        answer = {tuple(row[n] for n in keys): [row[n] for n in values] for row in rows}
        if len(answer) != len(rows):
            raise BadParameter(
                "rows of the answer can't be told apart", hint="select the keys of GROUP BY, too"
            )
        answers.append(answer)
    return answers


def _l1(one: Answer, other: Answer, column: int) -> float:
    """The sum over all groups of the change of one column; a group that is missing counts as 0."""
    changes: list[float] = []
    for key in {*one, *other}:
        before, after = (_number(a[key][column]) if key in a else 0.0 for a in (one, other))
        # What isn't a number, as the mean of no rows, is no distance from one.
        if before is not None and after is not None:
            changes.append(abs(before - after))
    return math.fsum(changes)


def _number(value: object) -> float | None:
    """A finite number as float, None for all else."""
    number = float(value) if isinstance(value, int | float | Decimal) else math.nan
    return number if math.isfinite(number) else None
