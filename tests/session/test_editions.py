"""Analysts who have answers of their own share proofs, and nothing else.

A plan that one analyst's statement was compiled to is another's, too, unless something that is in
its proof, its meaning or its keys differs:

    who sees the answers      each has keys of their own, also of what is computed on answers
    what names mean           a kept table is another one by the same name, or none
    the clock                 now() is another minute
    data, options, ε          as for one analyst alone
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached
from notes.compiler import prepared
from session.pinned import STATEMENTS

from dpsql.bounding.options import ReleaseOptions
from dpsql.errors import Error
from dpsql.schema.load.load import load_schema
from dpsql.session.compile import compile as first_stage
from dpsql.session.compile.compiled import CompiledStatement, compile_bound
from dpsql.session.compile.generic.edition import of_edition
from dpsql.session.compile.plan_cache import PlanCache
from dpsql.session.options import AnswerOptions, QueryOptions
from dpsql.session.run.execution import Execution
from dpsql.session.saved.create import SaveRequest
from dpsql.session.session import Session

SCHEMA = """\
dataset: people
source: people.duckdb
tables:
  people:
    unit: row
    columns:
      dept: {type: varchar, values: [a, b]}
      pay: {type: integer, bounds: [0, 1000]}
      born: {type: timestamp, bounds: [2000-01-01, 2030-01-01]}
  towns:
    public: true
    columns: {town: {type: varchar}, dept: {type: varchar}}
budget: {epsilon: 64, accounting: pure}
analysts: {carol: {epsilon: 1}}
store: private
"""
SQL = "SELECT dept, count(*) n, avg(pay) FROM people GROUP BY dept"
NESTED = "SELECT count(*) FROM people WHERE pay > (SELECT avg(pay) FROM people)"
CUBE = "SELECT dept, count(*) FROM people GROUP BY CUBE (dept)"

Opening = Callable[..., Session]


@pytest.fixture
def execution(tmp_path: Path) -> Iterator[Execution]:
    with attached(tmp_path / "people.duckdb") as connection:
        rows = "SELECT 'a' dept, i pay, TIMESTAMP '2024-01-31' born FROM range(100) r(i)"
        connection.execute(f"CREATE TABLE people AS {rows}")
        connection.execute("CREATE TABLE towns AS SELECT 'x' town, 'a' dept")
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    opened = Execution(load_schema(tmp_path / "schema.yaml"), lambda _: None)
    yield opened
    opened.close()


@pytest.fixture
def as_analyst(execution: Execution) -> Iterator[Opening]:
    opened: list[Session] = []

    def opening(analyst: str, epsilon: str = "0.5") -> Session:
        session = Session(execution._schema, analyst=analyst, epsilon=epsilon, execution=execution)
        opened.append(session)
        return session

    yield opening
    for each in opened:
        each._context.ledger.close()


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[CompiledStatement]:
    """What is proved from now on."""
    proved: list[CompiledStatement] = []

    def noting(*of: object) -> CompiledStatement:
        proved.append(compile_bound(*of))  # type: ignore[arg-type]
        return proved[-1]

    monkeypatch.setattr(first_stage, "compile_bound", noting)
    return proved


def keys(compiled: CompiledStatement) -> list[str]:
    return [release.key for release in compiled.releases]


@pytest.mark.parametrize("about", STATEMENTS)
def test_a_plan_of_another_edition_is_the_one_that_is_compiled_for_it(about: str) -> None:
    schema, sql = STATEMENTS[about]
    plan = prepared(sql, schema, frozenset())
    ours = of_edition(plan, "data\0alice")
    assert ours == prepared(sql, schema, frozenset(), edition="data\0alice")
    assert not {*keys(ours)} & {*keys(plan)}


@pytest.mark.parametrize("sql", [SQL, NESTED, CUBE])
def test_another_analyst_has_the_proof_and_keys_of_their_own(
    as_analyst: Opening, proofs: list[CompiledStatement], sql: str
) -> None:
    alice, bob = (as_analyst(name).compile(sql) for name in ("alice", "bob"))
    assert len(proofs) == 1
    assert len({*keys(alice), *keys(bob)}) == 2 * len(keys(alice))
    assert [r.step for r in alice.releases] == [r.step for r in bob.releases]
    assert alice.version != bob.version


def test_an_analyst_alone_has_the_same_keys(as_analyst: Opening, execution: Execution) -> None:
    as_analyst("alice").compile(NESTED)
    second = as_analyst("bob").compile(NESTED)
    execution.plans = PlanCache()
    assert as_analyst("bob").compile(NESTED) == second


@pytest.mark.parametrize("sql", [SQL, NESTED])
def test_nobody_is_given_what_was_drawn_for_another(as_analyst: Opening, sql: str) -> None:
    first, second = (as_analyst(name).query(sql) for name in ("alice", "bob"))
    assert [not one.privacy.stored and one.privacy.epsilon > 0 for one in (first, second)] == [
        True,
        True,
    ]
    again = as_analyst("alice").query(sql)
    assert again.privacy.stored
    assert again.table == first.table


def test_levels_that_add_up_have_the_keys_of_who_asks(as_analyst: Opening) -> None:
    options = QueryOptions(answer=AnswerOptions(consistent=True))
    for name in ("alice", "bob"):
        compiled = as_analyst(name).compile(CUBE, options)
        sums = compiled.consistency.sums
        levels = {r.key for one in sums for level in one.levels for r in level}
        assert levels == {*keys(compiled)}


def test_other_options_have_a_proof_of_their_own(
    as_analyst: Opening, proofs: list[CompiledStatement]
) -> None:
    as_analyst("alice").compile(SQL)
    as_analyst("bob", "0.25").compile(SQL)
    as_analyst("bob").compile(SQL, QueryOptions(release=ReleaseOptions(min_units=3)))
    as_analyst("bob").compile(SQL, QueryOptions(Fraction(1, 3)))
    assert len(proofs) == 4
    assert len({key for one in proofs for key in keys(one)}) == 4


def test_a_kept_table_is_the_own_one_of_who_names_it(as_analyst: Opening) -> None:
    read = "SELECT n FROM mine ORDER BY 1"
    for name, pay in (("alice", 10), ("bob", 20)):
        session = as_analyst(name)
        session.save(SaveRequest("mine", f"kept by {name}"), f"SELECT {pay} AS n")
        assert session.query(read).table.column(0).to_pylist() == [pay]
    with pytest.raises(Error, match="mine"):
        as_analyst("dan").query(read)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM people WHERE pay > (SELECT n FROM mine)",
        "SELECT dept, count(*) FROM people WHERE dept IN (SELECT n FROM mine) GROUP BY dept",
        "SELECT count(*) FROM people LEFT JOIN mine ON false",
        "SELECT (SELECT n FROM mine) FROM towns",
        "SELECT * FROM mine LIMIT 0",
        "SELECT count(*) FROM people WHERE dept IN (SELECT n FROM mine LIMIT 0)",
    ],
)
def test_what_reads_a_kept_table_is_nobody_elses_plan(as_analyst: Opening, sql: str) -> None:
    alice = as_analyst("alice")
    alice.save(SaveRequest("mine", "kept"), "SELECT 1 AS n" if "IN" not in sql else "SELECT 'a' n")
    try:
        alice.compile(sql)
    except Error as refusal:
        assert "mine" not in refusal.message  # noqa: PT017 - it may have no rule
    with pytest.raises(Error, match="mine"):
        as_analyst("bob").compile(sql)


@pytest.mark.parametrize("store", ["private", "shared"])
def test_of_no_rows_the_columns_are_those_of_the_kept_table_of_now(
    execution: Execution, tmp_path: Path, store: str
) -> None:
    execution.close()
    text = SCHEMA.replace("store: private", f"store: {store}")
    (tmp_path / "schema.yaml").write_text(text, encoding="utf-8")
    with closing(Session(tmp_path / "schema.yaml", analyst="alice", epsilon="0.5")) as session:
        for name in ("one", "other"):
            kept = SaveRequest("mine", f"kept as {name}", replace=True)
            session.save(kept, f"SELECT 1 AS {name}")
            assert session.query("SELECT * FROM mine LIMIT 0").names == (name,)


def test_now_is_the_minute_in_which_each_asks(
    as_analyst: Opening, execution: Execution, proofs: list[CompiledStatement]
) -> None:
    minutes = [dt.datetime(2024, 1, 31, 12, minute, tzinfo=dt.UTC) for minute in range(2)]
    execution.plans = PlanCache(lambda: minutes[0])
    sql = "SELECT count(*) FROM people WHERE born < now()"
    for name in ("alice", "bob"):
        as_analyst(name).compile(sql)
    assert len(proofs) == 1
    minutes.pop(0)
    as_analyst("bob").compile(sql)
    number = len(proofs)
    as_analyst("alice").compile(sql)
    assert len(proofs) == number > 1
