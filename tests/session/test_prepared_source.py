"""A sidecar changes how rows are read, and no integer of any release."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from data.database import attached
from differential.statement import FIXTURES, tpch, written
from differential.test_tpch import ANSWERED
from neighbor_search.share import in_turn
from neighbor_search.sidecar import has_stored_ranks
from privacy.seeded import ReplayedRandomness
from schema.file_source import file_source

from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.engine.engine import Engine
from dpsql.engine.opening import open_engine
from dpsql.engine.sidecar import range_check
from dpsql.engine.sidecar.contents import SIDECAR, UNIT_SCHEMA
from dpsql.engine.sidecar.row_columns import (
    UNIT_COLUMN,
    UNIT_ROW_COUNT,
    SidecarTable,
    many_values_column,
    out_of_range_column,
    value_count_column,
)
from dpsql.errors import Error
from dpsql.physical.strategy.split_by_contribution import SplitByContribution
from dpsql.physical.strategy.stored_unit_sums import StoredUnitSums
from dpsql.plan.bounded_release.bounded_release import (
    Cell,
)
from dpsql.plan.bounded_release.engine_query import EngineQuery
from dpsql.plan.operator import Plan
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import EntityUnit, Schema
from dpsql.schema.sidecar_columns import group_count_columns, range_checked_columns
from dpsql.schema.verify import record_path
from dpsql.session.compile.compiled import CompiledStatement, compile_sql
from dpsql.session.compile.loss_conversion import query_loss
from dpsql.session.compile.source_facts import SourceFacts
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session
from dpsql.session.sidecar import open_source, prepare_source, sidecar_path
from dpsql.structs import replace

SALT = bytes(range(16))
"""Of the sidecar and of the statements: so they draw the same groups of a unit's."""

STATEMENTS = [
    *(tpch()[number] for number in ANSWERED),
    *(statement for statement in written() if statement.schema == "tpch"),
]


def schema_in(folder: Path, tpch_folder: Path) -> Schema:
    text = (FIXTURES / "tpch" / "schema.yaml").read_text(encoding="utf-8")
    path = folder / "schema.yaml"
    path.write_text(text.replace("source: data", f"source: {tpch_folder}"), encoding="utf-8")
    return load_schema(path)


@pytest.fixture
def schema(tpch_folder: Path, tmp_path: Path) -> Schema:
    return schema_in(tmp_path, tpch_folder)


@pytest.fixture(scope="module")
def made(tpch_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Schema:
    """A schema with its sidecar, which tests copy: each may spoil its own."""
    folder = tmp_path_factory.mktemp("prepared")
    schema = replace(schema_in(folder, tpch_folder), ledger=folder / "ledger.db")
    with open_engine(engine_source(schema)) as engine:
        prepared = prepare_source(schema, engine, randomness=ReplayedRandomness(SALT))
    assert prepared == ("customer", "orders", "lineitem")
    return schema


@pytest.fixture
def ready(made: Schema, schema: Schema) -> Schema:
    copy_sidecar(made, schema)
    return schema


@pytest.fixture(scope="module")
def made_of_far_values(
    made: Schema, tpch_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Schema:
    folder = tmp_path_factory.mktemp("far")
    schema = over_lines(made, tpch_folder, folder / "data")
    schema = replace(schema, ledger=folder / "ledger.db")
    with open_engine(engine_source(schema)) as engine:
        prepare_source(schema, engine, randomness=ReplayedRandomness(SALT))
    return schema


@pytest.fixture
def far(made_of_far_values: Schema, tmp_path: Path) -> Schema:
    """Prepared lines whose values are NULL, out of bounds, and as large as they can be."""
    schema = replace(made_of_far_values, ledger=tmp_path / "ledger.db")
    copy_sidecar(made_of_far_values, schema)
    return schema


def copy_sidecar(made: Schema, schema: Schema) -> None:
    for path in (sidecar_path, record_path):
        path(schema).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copy2(path(made), path(schema))


@pytest.fixture
def engine(ready: Schema) -> Iterator[Engine]:
    with open_source(ready) as found:
        yield found


class _Facts(SourceFacts):
    """Public rows come in one order, so that a group has one number: a unit's are chosen by it."""

    def rows(self, plan: Plan, at_most: int) -> tuple[Cell, ...] | None:
        found = super().rows(plan, at_most)
        return None if found is None else tuple(sorted(found, key=repr))


def proved(
    sql: str, schema: Schema, engine: Engine, limits: ContributionLimits, *, prepared: bool
) -> CompiledStatement:
    tables = engine.sidecar_tables if prepared else frozenset[str]()
    facts = _Facts(schema, lambda: engine, lambda: tables)
    return compile_sql(
        sql,
        schema,
        facts,
        query_loss(schema, Fraction(1)),
        "data",
        options=QueryOptions(limits=limits),
    )


@pytest.mark.parametrize(
    "limits",
    in_turn(
        (
            ("narrow", (ContributionLimits(groups=2, rows_per_group=1, rows=3),)),
            ("wide", (AS_DECLARED,)),
        ),
        2,
    ),
)
def test_every_statement_has_the_same_integers_key_and_sensitivities(
    ready: Schema, engine: Engine, limits: ContributionLimits
) -> None:
    compared = 0
    for statement in STATEMENTS:
        try:
            without = proved(statement.sql, ready, engine, limits, prepared=False)
        except Error:
            continue
        read = proved(statement.sql, ready, engine, limits, prepared=True)
        for one, other in zip(without.releases, read.releases, strict=True):
            assert one.key == other.key, statement.name
            assert one.sensitivity == other.sensitivity
            assert SIDECAR not in one.step.query.sql
            terms = one.step.bounded.contributions
            if one.step.reads or not (terms.statistics or terms.cell_choices):
                continue  # it reads noisy tables, or nothing private
            if terms.domains and has_stored_ranks(other):
                continue  # groups of listed keys are numbered, so that others of a unit are drawn
            assert integers(engine, one.step.query) == integers(engine, other.step.query)
            compared += 1
    assert compared > 20


Integers = list[list[object]]


def integers(engine: Engine, query: EngineQuery) -> Integers:
    tables = {domain.name: domain_table(domain) for domain in query.domains}
    texts = [(query.sql, query.salted), *((h.sql, h.salted) for h in query.histograms)]
    found: list[list[object]] = []
    for sql, salted in texts:
        table = engine.execute(sql, [SALT.hex()] * salted, tables).table
        found.append(sorted(zip(*table.to_pydict().values(), strict=True), key=repr))
    return found


def used(schema: Schema) -> frozenset[str]:
    with open_source(schema) as found:
        return found.sidecar_tables


def test_it_is_seen_in_explain(ready: Schema) -> None:
    session = Session(ready)
    proof = session.explain("SELECT l_returnflag, count(*) FROM lineitem GROUP BY 1")
    session.close()
    lines = [line.operator for line in proof.releases[0].operators]
    assert "Scan(lineitem, unit=l_orderkey → orders.o_custkey, prepared)" in lines
    assert SIDECAR in proof.releases[0].sql


def test_what_is_left_out_of_a_join_is_seen_in_explain(ready: Schema) -> None:
    session = Session(ready)
    proof = session.explain(
        "SELECT c_mktsegment, sum(l_tax) FROM lineitem JOIN orders ON l_orderkey = o_orderkey"
        " JOIN customer ON o_custkey = c_custkey WHERE l_quantity > 10 GROUP BY 1"
    )
    session.close()
    (said,) = (limit for limit in proof.releases[0].limits if limit.startswith("prepared"))
    assert "; orders isn't read: rows have their unit" in said


def test_a_source_without_one_is_read_as_it_is(schema: Schema) -> None:
    assert not used(schema)


def test_it_can_be_read_by_its_owner_only(ready: Schema) -> None:
    assert sidecar_path(ready).stat().st_mode & 0o777 == 0o600
    assert [f.name for f in sidecar_path(ready).parent.iterdir() if "prepared" in f.name] == [
        sidecar_path(ready).name
    ]


def test_rows_stand_in_the_order_of_their_units_those_over_a_limit_last(ready: Schema) -> None:
    table = ready.tables["lineitem"]
    most = ", ".join(f'"{value_count_column(column)}"' for column in group_count_columns(table))
    over = (
        f'"{UNIT_ROW_COUNT}" > {table.limits.rows} OR'
        f' max(greatest({most})) OVER (PARTITION BY "{UNIT_COLUMN}")'
        f" > {table.limits.rows_per_group}"
    )
    with attached(sidecar_path(ready), read_only=True) as connection:
        sql = f'SELECT {over}, "{UNIT_ROW_COUNT}", "{UNIT_COLUMN}" FROM lineitem ORDER BY rowid'
        found = connection.sql(sql).fetchall()
    assert found == sorted(found)
    assert {row[0] for row in found} == {False, True}


def test_a_long_table_is_made_in_parts_of_its_units(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows() -> tuple[list[pa.Table], list[pa.Table]]:
        """Rows as they stand, of the table and of its units, and the same rows in one order."""
        with open_engine(engine_source(schema)) as engine:
            prepare_source(schema, engine, steps.append, ReplayedRandomness(SALT))
        tables = "lineitem", f"{UNIT_SCHEMA}.lineitem"
        with attached(sidecar_path(schema), read_only=True) as connection:
            stand = [connection.sql(f"FROM {name}").to_arrow_table() for name in tables]
            ordered = [
                connection.sql(f"FROM {name} ORDER BY ALL").to_arrow_table() for name in tables
            ]
            return stand, ordered

    steps: list[str] = []
    at_once, at_once_ordered = rows()
    long = sum(table.num_rows for table in at_once)
    monkeypatch.setattr("dpsql.engine.sidecar.row_parts._AT_ONCE", -(-long // 3))
    for read_again in (3, 2):  # of three parts, rows wait in files
        monkeypatch.setattr("dpsql.engine.sidecar.row_parts._READ_AGAIN", read_again)
        steps.clear()
        in_parts, in_parts_ordered = rows()
        assert "counting and sorting the rows of lineitem, part 3 of 3" in steps
        assert in_parts != at_once
        assert in_parts_ordered == at_once_ordered


@pytest.mark.parametrize(
    "told", in_turn((("as made", (None,)), ("none is", (0,)), ("some are", (1,))), 3)
)
def test_values_beyond_bounds_are_clamped_whatever_is_told_of_them(
    far: Schema, told: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if told is not None:
        tell(far, told, monkeypatch)
    with open_source(far) as engine:
        for sql in (tpch()[1].sql, SUMS):
            plan, (without, read) = compared(sql, far, engine)
            assert isinstance(plan, SplitByContribution)
            assert plan.no_clamp is not None
            assert without == read


def compared(
    sql: str, schema: Schema, engine: Engine
) -> tuple[SplitByContribution | StoredUnitSums, tuple[Integers, Integers]]:
    """How rows are split, and the integers without the sidecar and with it."""
    (one,) = proved(sql, schema, engine, AS_DECLARED, prepared=False).releases
    (other,) = proved(sql, schema, engine, AS_DECLARED, prepared=True).releases
    plan = other.choice.plan
    assert isinstance(plan, SplitByContribution | StoredUnitSums)
    found = integers(engine, one.step.query), integers(engine, other.step.query)
    return plan, found


SUMS = """SELECT sum(l_quantity), sum(l_linenumber), sum(l_linenumber - 2 * l_quantity),
sum(l_extendedprice * l_discount) FILTER (WHERE l_tax > 0), avg(l_tax) FROM lineitem"""


READ_BY_UNITS = {
    "lines by segment": """
    SELECT c_mktsegment, count(*), sum(l_quantity), avg(l_tax) FILTER (WHERE c_acctbal > 0)
    FROM lineitem JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey
    GROUP BY 1""",
    "lines": """
    SELECT count(*), sum(l_quantity), avg(l_tax), count(l_discount), sum(l_extendedprice),
    sum(l_linenumber) FROM lineitem""",
    "orders": """
    SELECT c_mktsegment, count(*), sum(o_totalprice), count(DISTINCT o_custkey)
    FROM orders JOIN customer ON o_custkey = c_custkey WHERE c_nationkey < 20 GROUP BY 1""",
}


@pytest.mark.parametrize("sql", in_turn(((n, (sql,)) for n, sql in READ_BY_UNITS.items()), 3))
def test_sums_of_units_stand_ready(far: Schema, sql: str) -> None:
    with open_source(far) as engine:
        plan, (without, read) = compared(sql, far, engine)
    assert isinstance(plan, StoredUnitSums)
    assert without == read
    assert any(map(any, without))


@pytest.mark.parametrize(
    "wrong",
    [
        '"values of o_totalprice" = 1 + "rows of the unit"',
        '"sum of o_totalprice" = 1 + 60000000 * "values of o_totalprice"::BIGINT',
        '"sum of o_totalprice" = -1',
        '"sum of o_totalprice" = NULL',
    ],
)
def test_sums_of_units_that_cannot_be_count_for_nothing(ready: Schema, wrong: str) -> None:
    light = '"rows of the unit" <= 40'
    with attached(sidecar_path(ready)) as connection:
        connection.execute(f'UPDATE {UNIT_SCHEMA}."orders" SET {wrong} WHERE {light}')
    with open_source(ready) as engine:
        sql = "SELECT count(*), sum(o_totalprice) FROM orders"
        _, ((without,), (read,)) = compared(sql, ready, engine)
    with attached(sidecar_path(ready)) as connection:
        (rest,) = connection.sql(f"SELECT count(*) FROM orders WHERE NOT {light}").fetchall()
    assert without != read
    assert not any(rest)
    assert read == [(0, 0)]


def test_one_of_other_bounds_is_not_used(ready: Schema) -> None:
    # A unit's sums would be of other values than are clamped now.
    table = ready.tables["orders"]
    column = replace(table.columns["o_totalprice"], bounds=(Fraction(0), Fraction(500_000)))
    changed = replace(table, columns={**table.columns, column.name: column})
    assert used(ready)
    assert not used(replace(ready, tables={**ready.tables, "orders": changed}))


def over_lines(schema: Schema, tpch_folder: Path, folder: Path) -> Schema:
    """The fixture with lines whose values are NULL, out of bounds, and as large as they can be."""
    most = "9999999999999.99::DECIMAL(15, 2)"
    changed = ", ".join(
        f"CASE (l_orderkey + {place}) % 9 WHEN 1 THEN {most} WHEN 2 THEN -{most}"
        f" WHEN 3 THEN NULL ELSE {column} END AS {column}"
        for place, column in enumerate(("l_quantity", "l_extendedprice", "l_discount", "l_tax"))
    )
    lines = f"SELECT * REPLACE ({changed}) FROM '{tpch_folder}/lineitem.parquet'"
    return with_rows(schema, tpch_folder, folder, "lineitem", lines)


def with_rows(schema: Schema, tpch_folder: Path, folder: Path, table: str, rows: str) -> Schema:
    """The fixture with other rows of one table."""
    folder.mkdir()
    files = {name: folder / f"{name}.parquet" for name in schema.tables}
    for name, file in files.items():
        if name != table:
            file.symlink_to(tpch_folder / file.name)
    duckdb.execute(f"COPY ({rows}) TO '{files[table]}'")
    return replace(schema, source=replace(file_source(schema), path=folder, files=files))


def tell(schema: Schema, told: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sidecar say of all columns that all values are within their bounds, or not."""

    def otherwise(
        connection: duckdb.DuckDBPyConnection, contents: SidecarTable
    ) -> range_check.WholeTable:
        names = [out_of_range_column(column) for column, _ in contents.range_checked_columns]
        return {
            **range_check.of_whole_table(connection, contents),
            **dict.fromkeys(names, told),
        }

    monkeypatch.setattr("dpsql.engine.sidecar.file.of_whole_table", otherwise)
    with open_engine(engine_source(schema)) as engine:
        prepare_source(schema, engine)


def test_what_is_beyond_its_bounds_is_told_of_whole_tables(
    schema: Schema, tpch_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(schema: Schema) -> dict[str, set[int]]:
        with open_engine(engine_source(schema)) as engine:
            prepare_source(schema, engine)
        names = [column.name for column in range_checked_columns(schema.tables["lineitem"])]
        with attached(sidecar_path(schema), read_only=True) as connection:
            columns = {
                name: connection.sql(f'SELECT DISTINCT "{out_of_range_column(name)}" FROM lineitem')
                for name in names
            }
            return {name: {n for (n,) in column.fetchall()} for name, column in columns.items()}

    monkeypatch.setattr("dpsql.engine.sidecar.row_parts._AT_ONCE", 20_000)
    within = ["l_linenumber", "l_quantity", "l_extendedprice", "l_discount", "l_tax"]
    assert told(schema) == {name: {0} for name in within}
    far = over_lines(schema, tpch_folder, tmp_path / "far")
    assert told(far) == {name: {int(name != "l_linenumber")} for name in within}


def test_whether_columns_have_many_values_is_told_of_whole_tables(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.engine.sidecar.row_parts._AT_ONCE", 20_000)
    with open_engine(engine_source(schema)) as engine:
        prepare_source(schema, engine)
    few = ["l_linenumber", "l_returnflag", "l_linestatus", "l_shipinstruct", "l_shipmode"]
    with attached(sidecar_path(schema), read_only=True) as connection:
        for name in group_count_columns(schema.tables["lineitem"]):
            told = connection.sql(f'SELECT DISTINCT "{many_values_column(name)}" FROM lineitem')
            assert told.fetchall() == [(int(name not in few),)]


def test_one_that_others_may_write_is_not_used(ready: Schema) -> None:
    assert used(ready)
    sidecar_path(ready).chmod(0o660)
    assert not used(ready)


def test_one_with_a_log_beside_it_is_not_used(ready: Schema) -> None:
    Path(f"{sidecar_path(ready)}.wal").write_bytes(b"what DuckDB would replay")
    assert not used(ready)


def test_a_link_to_one_is_not_used(ready: Schema) -> None:
    path = sidecar_path(ready)
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))
    assert not used(ready)


def test_one_that_is_no_database_is_not_used(ready: Schema) -> None:
    sidecar_path(ready).write_bytes(b"nothing")
    assert not used(ready)


def test_one_of_other_owners_of_rows_is_not_used(ready: Schema) -> None:
    # Rows of orders would be those of other people than the statement's limits are for.
    owner = ready.tables["customer"].ownership
    assert isinstance(owner, EntityUnit)
    moved = replace(ready.tables["orders"], ownership=replace(owner, column="o_shippriority"))
    assert not used(replace(ready, tables={**ready.tables, "orders": moved}))


def test_one_of_other_columns_is_not_used(ready: Schema) -> None:
    table = ready.tables["orders"]
    fewer = {name: c for name, c in table.columns.items() if name != "o_clerk"}
    changed = replace(table, columns=fewer)
    assert not used(replace(ready, tables={**ready.tables, "orders": changed}))


def test_one_of_an_earlier_version_is_not_used(
    ready: Schema, tpch_folder: Path, tmp_path: Path
) -> None:
    # Whoever left since would still be counted.
    kept = f"FROM '{tpch_folder}/orders.parquet' WHERE o_custkey <> 1"
    assert not used(with_rows(ready, tpch_folder, tmp_path / "later", "orders", kept))


def test_rows_that_two_units_claim_are_not_prepared(
    schema: Schema, tpch_folder: Path, tmp_path: Path
) -> None:
    # An order whose key comes twice gives each of its lines two units: where orders are joined
    # beside lineitem, its owner is taken from there, and each line would come four times.
    orders = f"'{tpch_folder}/orders.parquet'"
    twice = f"FROM {orders} UNION ALL FROM (FROM {orders} LIMIT 1)"
    changed = with_rows(schema, tpch_folder, tmp_path / "twice", "orders", twice)
    with open_engine(engine_source(changed)) as engine:
        assert prepare_source(changed, engine) == ("customer", "orders")
