"""What is picked of released rows without an engine is what the engine would make of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from differential import world
from differential.exact_answer import prepared, released_tables
from differential.statement import Statement, analytic, noted, tpch
from differential.world import World
from neighbor_search.share import values_in_turn

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.duckdb.postprocessing import postprocessing_engine
from dpsql.errors import Error
from dpsql.plan.operator import Limit
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import operators
from dpsql.release.columns.arrow import arrow_type
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.run.finishing.finishing_text import FinishingText
from dpsql.session.run.without_engine import MAX_SORTED, project_without_engine

NOTED = [
    s
    for s in noted()
    if s.schema in ("clinic", "bi") and not s.sql.lstrip().startswith(("DECIDE", "ALERT"))
]
STATEMENTS = [*NOTED, *tpch().values(), *analytic().values()]
TURNS = 4
END = 10**38 - 1
"""The last integer of 128 bits that Arrow has."""


@cache
def engine() -> DuckDBEngine:
    return postprocessing_engine()


def data(statement: Statement, folder: Path) -> World:
    if statement.schema == "tpch":
        return world.of_files("tpch", folder)
    return world.generated(statement.schema)


def both(ready: CompiledStatement, tables: dict[str, pa.Table]) -> tuple[pa.Table, pa.Table] | None:
    """The answer as it is picked and as the engine makes it; None if it isn't picked."""
    numbered = ready.finishing_tables(tables)
    ours = project_without_engine(ready, numbered)
    return (
        None
        if ours is None
        else (ours, engine().execute(FinishingText(ready).sql, (), numbered).table)
    )


def made_table(names: Sequence[str], made: Sequence[pa.Array]) -> pa.Table:
    """The first columns as they are `made`; those that means are computed of stand behind them."""
    sums = [pa.array([1] * len(made[0]), pa.int64())] * (len(names) - len(made))
    return pa.table(dict(zip(names, [*made, *sums], strict=True)))


def release_types(ready: CompiledStatement) -> list[pa.DataType]:
    """The types of the columns of its first release."""
    return [arrow_type(column.type) for column in output_columns(ready.releases[0].release)]


def rows(table: pa.Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize("turn", values_in_turn(range(TURNS), TURNS))
def test_picked_answers_are_the_engines(tpch_folder: Path, turn: int) -> None:
    """All statements of the corpora, with empty groups."""
    found = 0
    for statement in STATEMENTS[turn::TURNS]:
        there = data(statement, tpch_folder)
        try:
            ready = prepared(statement.sql, there)
        except Error:
            continue  # refused
        if not ready.releases:
            continue
        answers = both(ready, released_tables(ready, there, empty_groups=True))
        if answers is None:
            continue
        ours, theirs = answers
        found += 1
        assert ours.schema.equals(theirs.schema), statement.name
        if any(isinstance(part, Limit) for part in operators(ready.plan)):
            # Which of the rows that tie come first is nobody's promise.
            assert ours.num_rows == theirs.num_rows, statement.name
        else:
            assert sorted(map(repr, rows(ours))) == sorted(map(repr, rows(theirs)))
    assert found > 100 // TURNS


ORDERS = (
    "n",
    "n DESC",
    "n NULLS FIRST, k",
    "n DESC NULLS FIRST, k DESC",
    "k NULLS FIRST",
    "k DESC NULLS LAST",
    "s DESC",
    "s NULLS FIRST",
    "1 DESC",
)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("cut", ["", " LIMIT 3", " LIMIT 2 OFFSET 4", " LIMIT 100 OFFSET 99"])
def test_rows_are_put_in_order_and_cut_as_the_engine_does(order: str, cut: str) -> None:
    sql = "SELECT city k, count(*) n, avg(age) s FROM patients GROUP BY city"
    ready = prepared(f"{sql} ORDER BY {order}{cut}", world.generated("clinic"))
    (release,) = ready.releases
    made = (
        pa.array(["a", "B", "\u00e9", "z\u0000", "\U0001f600", "", None]),
        pa.array([5, -7, 12, 2**62, -(2**62), 0, None], pa.int64()),
        pa.array([0.5, -7.25, 0.0, 1e300, 3.5, None, 2.0]),
    )
    for nulls in (True, False):
        some = [column if nulls else column[:5] for column in made]
        answers = both(ready, {release.name: made_table(release.columns, some)})
        assert answers is not None
        assert rows(answers[0]) == rows(answers[1])


def test_what_python_cannot_put_in_order_is_left_to_the_engine() -> None:
    sql = "SELECT city, avg(age) a FROM patients GROUP BY city ORDER BY a"
    ready = prepared(sql, world.generated("clinic"))
    (release,) = ready.releases
    made = (pa.array(["a", "b"]), pa.array([float("nan"), 1.0]))
    tables = ready.finishing_tables({release.name: made_table(release.columns, made)})
    assert project_without_engine(ready, tables) is None


def test_few_numbers_are_computed_unless_the_engine_decides() -> None:
    sql = "SELECT city, count(*) * sum(age) p, sum(age) / count(*) q FROM patients GROUP BY city"
    ready = prepared(f"{sql} ORDER BY q DESC", world.generated("clinic"))
    (release,) = ready.releases
    for count, total, is_computed in ((5, 7, True), (0, 7, True), (None, 7, True), (5, END, False)):
        columns = (
            pa.array(["a", "b"]),
            pa.array([count, 2], pa.int64()),
            pa.array([total, 9], release_types(ready)[2]),
        )
        answers = both(ready, {release.name: made_table(release.columns, columns)})
        assert (answers is not None) == is_computed
        if answers is not None:
            assert answers[0].schema.equals(answers[1].schema)
            assert rows(answers[0]) == rows(answers[1])


def test_many_rows_are_left_to_the_engine_to_sort() -> None:
    there = world.generated("clinic")
    sql = "SELECT age, count(*) n FROM patients GROUP BY age ORDER BY n"
    ready = prepared(sql, there)
    (release,) = ready.releases
    table = released_tables(ready, there, empty_groups=True)[release.name]
    many = pa.concat_tables([table] * (MAX_SORTED // table.num_rows + 1))
    few_rows, many_rows = (ready.finishing_tables({release.name: t}) for t in (table, many))
    assert project_without_engine(ready, few_rows) is not None
    assert project_without_engine(ready, many_rows) is None


def test_of_several_releases_one_may_be_picked() -> None:
    """The other is what the picked one is computed on; its rows aren't shown."""
    there = world.generated("clinic")
    sql = """
    SELECT city, avg(age) a FROM patients WHERE age > (SELECT avg(age) FROM patients)
    GROUP BY city ORDER BY city DESC
    """
    ready = prepared(sql, there)
    assert len(ready.releases) == 2
    answers = both(ready, released_tables(ready, there, empty_groups=True))
    assert answers is not None
    assert answers[0].schema.equals(answers[1].schema)
    assert rows(answers[0]) == rows(answers[1])
