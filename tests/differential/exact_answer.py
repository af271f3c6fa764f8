"""What a statement answers without noise, over those groups that have rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import pyarrow as pa
from differential.world import World
from notes.exact import exact_measurement, raw_groups
from privacy.seeded import SeededRandomness

from dpsql.analysis.plan_text import sources
from dpsql.bind.saved_release import NO_RELEASES
from dpsql.bind.statement import NO_PARAMETERS
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.relation.relation import emit_plan
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.duckdb.postprocessing import postprocessing_engine
from dpsql.plan.operator import Plan, Project, PublicStatement, Release, Scan
from dpsql.release.add_noise import NoisyGroups, add_noise
from dpsql.release.columns.group_keys import domain_table
from dpsql.release.columns.released_table import columns
from dpsql.schema.sql_type import SqlType
from dpsql.session.compile.compiled import CompiledStatement, compile_bound
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import query_loss
from dpsql.session.compile.request import ANSWER
from dpsql.session.compile.source_facts import DataEdition
from dpsql.session.options import DEFAULT_OPTIONS
from dpsql.structs import replace

Row = tuple[object, ...]


@dataclass(frozen=True)
class Answer:
    """Names, types and rows of an answer; `slack` is how far doubles may be off, by rounding."""

    names: tuple[str, ...]
    types: tuple[SqlType, ...]
    rows: list[Row]
    slack: float


def prepared(sql: str, world: World) -> CompiledStatement:
    """`sql` up to its charge."""
    statement = world.whole.bound(sql, world.schema, NO_PARAMETERS, NO_RELEASES)
    loss = query_loss(world.schema, Fraction(1))
    schema, facts = world.schema, world.facts
    return compile_bound(
        statement, sql, schema, facts, loss, DataEdition("data"), ANSWER, DEFAULT_OPTIONS
    )


def exact_answer(ready: CompiledStatement, world: World, *, empty_groups: bool = False) -> Answer:
    """What `ready` answers without noise; enumerated groups without rows only if `empty_groups`."""
    if ready.releases:
        table = _finished(ready, world, empty_groups=empty_groups)
    elif isinstance(ready.plan, PublicStatement):
        table = world.whole.rows(ready.plan)
    else:
        table = world.connection.sql(ready.postprocessing_sql).to_arrow_table()
    shown = table.select([f"c{c.id}" for c in ready.statement.columns])
    rows = list(zip(*(column.to_pylist() for column in shown.columns), strict=True))
    types = tuple(c.type for c in ready.statement.columns)
    return Answer(ready.statement.names, types, rows, _slack(ready, world))


def released_tables(
    ready: CompiledStatement, world: World, *, empty_groups: bool = False
) -> dict[str, pa.Table]:
    """The releases without noise, by name."""
    tables: dict[str, pa.Table] = {}
    for release in ready.releases:
        tables[release.name] = _released(release, world, tables, empty_groups=empty_groups)
    return tables


def _finished(ready: CompiledStatement, world: World, *, empty_groups: bool) -> pa.Table:
    """All that stands above the releases, in an engine that has nothing else."""
    tables = released_tables(ready, world, empty_groups=empty_groups)
    for name in _public_tables(ready.plan):
        tables[name] = world.connection.sql(f'FROM "{name}"').to_arrow_table()
    return _finisher().execute(ready.postprocessing_sql, (), tables).table


def _released(
    release: CompiledRelease, world: World, earlier: Mapping[str, pa.Table], *, empty_groups: bool
) -> pa.Table:
    step = release.step
    count = len(step.bounded.contributions.statistics)
    least = 1 if empty_groups and step.bounded.partition_count_index is not None else None
    measurement = exact_measurement(release, least)
    for domain in step.query.domains:
        world.connection.register(domain.name, domain_table(domain))
    for name in step.reads:
        world.connection.register(name, earlier[name])
    raw = raw_groups(world.connection, release, "1")
    # With a selection, the groups of an answer are those that were found.
    bounded = step.bounded
    if count and step.bounded.contributions.keys and not empty_groups:
        bounded = replace(bounded, partition_count_index=bounded.partition_count_index or 0)
    groups = add_noise(raw, bounded, step.query, measurement, SeededRandomness("exact"))
    if not count and bounded.contributions.keys and not empty_groups:
        groups = _present(groups, release, world)
    return columns(step.bounded, groups, measurement)


def _present(groups: NoisyGroups, release: CompiledRelease, world: World) -> NoisyGroups:
    """The listed keys that rows have, where nothing is counted that would tell."""
    keys = release.step.bounded.contributions.keys
    shown = Project(release.step.bounded.contributions.source, keys)
    names = ", ".join(f"c{key.column.id}" for key in keys)
    sql = f"SELECT DISTINCT {names} FROM ({rendered(emit_plan(shown, {}))})"
    found = set(world.connection.sql(sql).fetchall())
    cells = zip(*(key.to_pylist() for key in groups.keys), strict=True)
    present = pa.array([cell in found for cell in cells], pa.bool_())
    return replace(
        groups, keys=tuple(key.filter(present) for key in groups.keys), count=present.true_count
    )


def _public_tables(plan: Plan) -> set[str]:
    """Those that are read above the releases."""
    if isinstance(plan, Release):
        return set()
    if isinstance(plan, Scan):
        return {plan.table.name}
    return {name for source in sources(plan) for name in _public_tables(source)}


def _slack(ready: CompiledStatement, world: World) -> float:
    """Rows × grid step, for the statistics that are rounded to a grid."""
    steps = [
        statistic.step
        for release in ready.releases
        for statistic in release.step.bounded.contributions.statistics
        if statistic.step.denominator & (statistic.step.denominator - 1) == 0
        and statistic.step != 1
    ]
    rows = max(
        world.connection.execute(f'SELECT count(*) FROM "{name}"').fetchall()[0][0]
        for name in world.schema.tables
    )
    return float(rows * max(steps, default=Fraction(0)))


@cache
def _finisher() -> DuckDBEngine:
    return postprocessing_engine()
