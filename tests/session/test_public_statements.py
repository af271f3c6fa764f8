"""Statements over public tables alone run as they are written, for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from data.database import attached
from session.clinic import made

from dpsql.bind.syntax.parameter import literals
from dpsql.dbapi.connection import Connection
from dpsql.errors import DataError, Error, GroupingFault, Refused, UnknownTable
from dpsql.session.session import Session


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("clinic"))


@pytest.fixture(scope="module")
def session(schema: Path) -> Iterator[Session]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSQL_STATE", str(schema.parent / "state"))
        found = Session(schema)
        yield found
        found.close()


@pytest.fixture
def connection(schema: Path) -> Iterator[Connection]:
    with Connection(Session(schema)) as found:
        yield found


def rows(session: Session, sql: str) -> list[tuple[object, ...]]:
    table = session.query(sql).table
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


LATERAL = (
    "SELECT d.id, s FROM docs d, LATERAL (SELECT sum(fee) AS s FROM docs e WHERE e.id < d.id)"
    " ORDER BY d.id"
)
STATEMENTS = """
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5)
  SELECT n, name FROM r JOIN docs ON id = n ORDER BY n;
SELECT * FROM (PIVOT docs ON spec USING sum(fee) GROUP BY name) ORDER BY name;
SELECT id FROM docs WHERE fee >= ALL (SELECT fee FROM docs WHERE spec = 'eye') ORDER BY id;
SELECT id FROM docs WHERE fee > ANY (SELECT e.fee FROM docs e WHERE e.name = 'd2') ORDER BY id;
SELECT id, (SELECT max(e.fee) FROM docs e WHERE e.fee < d.fee AND e.name <> d.name)
  FROM docs d ORDER BY id;
SELECT list_sum(list(id)), len(list_filter(list(fee), lambda f: f > 30)) FROM docs;
SELECT * REPLACE (fee + 1 AS fee), COLUMNS('f.*') FROM docs ORDER BY id DESC;
FROM docs SELECT id, count(*) OVER (ORDER BY fee RANGE BETWEEN 15 PRECEDING AND CURRENT ROW)
  ORDER BY id;
SELECT name, sum(fee) FROM docs GROUP BY name QUALIFY sum(fee) > rank() OVER (ORDER BY name)
  ORDER BY name;
SELECT ward, unnest(range(beds)) AS bed FROM sites.wards ORDER BY ALL;
SELECT a.id, b.id FROM docs a ASOF JOIN docs b ON a.id > b.id ORDER BY 1
"""
SAME = [LATERAL, *STATEMENTS.strip().split(";\n")]


@pytest.mark.parametrize("sql", SAME)
def test_the_rows_are_duckdbs(session: Session, schema: Path, sql: str) -> None:
    with attached(schema.parent / "hospital_7731.duckdb", read_only=True) as connection:
        theirs = connection.sql(sql).fetchall()
    assert theirs
    assert rows(session, sql) == theirs


def test_a_sample_is_of_the_rows(session: Session) -> None:
    found = rows(session, "SELECT id FROM docs TABLESAMPLE 3 ROWS")
    assert len(found) == 3
    assert {one for (one,) in found} <= set(range(1, 9))


def test_a_pivot_finds_its_columns(session: Session) -> None:
    found = session.query("PIVOT docs ON spec USING sum(fee) GROUP BY name")
    assert found.names == ("name", "ear", "eye")


@pytest.mark.parametrize("named", ["DOCS", '"Docs"', "main.docs", "public.docs", "clinic.docs"])
def test_tables_go_by_all_their_names(session: Session, named: str) -> None:
    assert rows(session, f"SELECT len(list(id)) FROM {named}") == [(8,)]


@pytest.mark.parametrize("named", ["wards", "sites.wards", 'SITES."Wards"'])
def test_tables_of_other_schemas_do_too(session: Session, named: str) -> None:
    assert rows(session, f"SELECT len(list(beds)) FROM {named}") == [(3,)]


def test_a_public_view_is_a_table_whatever_it_reads(session: Session) -> None:
    assert rows(session, "SELECT list_distinct(list(code)) FROM eyes") == [("[77123]",)]


def test_types_without_rules_are_text(session: Session) -> None:
    assert rows(session, "SELECT [7::UHUGEINT][1]") == [("7",)]
    sql = "SELECT [1, 2], {'a': 1}, INTERVAL 3 DAY, TIME '10:00', NULL, DATE '99999-01-01'"
    assert rows(session, sql + ", 7::HUGEINT FROM range(1)") == [
        ("[1, 2]", "{'a': 1}", "3 days", "10:00:00", None, None, 7)
    ]


def test_every_type_is_copied(session: Session) -> None:
    names = ("id", "much", "price", "at", "on", "is", "part")
    listed = ", ".join(f'[k."{name}"]::VARCHAR' for name in names)
    ((first, *rest),) = rows(session, f"SELECT {listed} FROM kinds k, range(1)")
    assert first == "[7a1c9b1e-0000-4000-8000-000000000000]"
    assert rest[1:3] == ["[12.50]", "['2024-01-01 10:00:00.000001']"]
    plain = ", ".join(f'k."{name}"' for name in names)
    assert len(rows(session, f"SELECT {plain}, list(1) FROM kinds k, range(1) GROUP BY ALL")) == 1


@pytest.mark.parametrize("sql", ["… WHERE e.id < ?", "… WHERE e.id < $1"])
def test_parameters_are_values(session: Session, sql: str) -> None:
    asked = sql.replace("…", "SELECT len(list(id)) FROM docs e")
    given = literals([3])
    assert session.query(asked, parameters=given).table.to_pydict() == {"c1": [2]}
    hostile = literals(["d1' OR TRUE --"])
    named = asked.replace("e.id <", "e.name =")
    assert session.query(named, parameters=hostile).table.to_pydict() == {"c1": [None]}


def test_nothing_is_charged_or_stored(session: Session) -> None:
    before = session.balance()
    answer = session.query(LATERAL)
    assert answer.privacy.loss is None
    assert answer.privacy.epsilon == 0
    assert not answer.privacy.columns
    assert session.balance() == before
    # Chance is drawn anew: nothing is answered from a store.
    sql = "SELECT list(random()) FROM docs"
    assert rows(session, sql) != rows(session, sql)


def test_it_is_explained_for_what_it_is(connection: Connection) -> None:
    found = connection.explain(LATERAL)
    assert "PublicStatement(as written, over copies of docs)" in str(found)
    assert "cost: nothing, no private table is read" in str(found)
    assert "LATERAL" in found.text(sql=True)
    assert connection.execute(LATERAL).fetchall()[0] == (1, None)
    assert "PIVOT" in connection.explain("PIVOT docs ON spec USING sum(fee)").json()


def test_an_answer_can_be_kept(connection: Connection) -> None:
    connection.execute(f"CREATE RELEASE before AS {LATERAL}")
    assert connection.execute("SELECT max(s) FROM before").fetchall() == [(280.0,)]


def test_what_duckdb_says_of_public_rows_is_told(session: Session) -> None:
    with pytest.raises(DataError, match="Could not convert string 'd1' to INT32"):
        session.query("SELECT list(name::INT) FROM docs")
    with pytest.raises(Refused) as refused:
        session.query("SELECT list(feee) FROM docs")
    assert 'Referenced column "feee" not found' in refused.value.detail


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT list(age) FROM patients",
        'SELECT list(age) FROM "PATIENTS"',
        "SELECT list(age) FROM main.Patients",
        "SELECT * FROM docs, LATERAL (SELECT list(cost) FROM visits WHERE doc = id)",
        "SELECT list(id) FROM docs WHERE id IN (SELECT doc FROM visits)",
        "WITH v AS (FROM visits) SELECT list(doc) FROM v",
        "WITH patients AS (SELECT 1 AS a) SELECT list(a) FROM patients",
        "SELECT list(patients) FROM docs AS patients",
        "SELECT list(n) FROM ages",
        "SELECT list(day) FROM today",
        "SELECT list(id) FROM spans",
        "SELECT list(big) FROM unsigned",
        "SELECT list(text) FROM wide",
    ],
)
def test_what_names_anything_else_is_refused_by_dpsqls_own_rules(
    session: Session, sql: str
) -> None:
    with pytest.raises(Refused) as refused:
        session.query(sql)
    assert not refused.value.detail


def test_hidden_tables_are_tables_that_are_not_there(session: Session) -> None:
    said = []
    for name in ("codes", "nodes"):
        with pytest.raises(UnknownTable) as refused:
            session.query(f"SELECT list(code) FROM {name}")
        said.append((refused.value.message.replace(name, "…"), refused.value.detail))
        sql = (
            f"SELECT list(x), (SELECT list(c) FROM (SELECT 1 AS c FROM {name})) FROM range(3) t(x)"
        )
        with pytest.raises(Error) as other:
            session.query(sql)
        assert name not in str(other.value).replace(f"no table {name}", "")
    assert said[0] == said[1]
    # A name that only the owner knows is free for WITH.
    sql = "WITH {} AS (SELECT 1 AS a) SELECT list(a) FROM {}"
    assert rows(session, sql.format("codes", "codes")) == [("[1]",)]


def test_an_aggregate_in_qualify_groups(session: Session) -> None:
    with pytest.raises(GroupingFault, match="name is neither grouped"):
        session.query("SELECT name FROM docs QUALIFY sum(fee) > rank() OVER (ORDER BY name)")
    assert rows(session, "SELECT 1 FROM docs QUALIFY sum(fee) > rank() OVER ()") == [(1,)]
