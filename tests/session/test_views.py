"""Owner views: checked when the schema is read, answered like queries, hiding what they read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness
from sqlalchemy import create_engine, inspect

from dpsql.bind.statement import bind
from dpsql.console import schema_listing
from dpsql.dbapi.connect import connect
from dpsql.errors import Error, LedgerFault, SchemaFault, UnknownTable
from dpsql.pgwire.catalog.catalog import Catalog
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.sql.translate import translated
from dpsql.pgwire.workers.catalog_pool import CatalogWorkers
from dpsql.report.explanation.explanation import Explanation
from dpsql.schema.model import Schema
from dpsql.schema.policy_diff import policy_relaxations
from dpsql.session.dataset import load_dataset
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session

TEXT = """\
dataset: school
source: school.duckdb
units:
  pupil: {table: pupils, key: pupil_id}
tables:
  pupils:
    key: pupil_id
    unit: pupil
    visible: false
    comment: nobody sees this
    columns:
      pupil_id: {type: bigint}
      age: {type: integer, bounds: [0, 120]}
      salary: {type: integer, bounds: [0, 10]}
  marks:
    unit: {column: pupil_id, references: pupils.pupil_id}
    columns:
      pupil_id: {type: bigint}
      exam: {type: bigint}
      points: {type: integer, bounds: [0, 15]}
  exams:
    unit: {column: pupil_id, references: pupils.pupil_id}
    key: exam
    visible: false
    columns: {exam: {type: bigint}, pupil_id: {type: bigint}}
  answers:
    unit: {column: exam, references: exams.exam}
    columns: {exam: {type: bigint}, correct: {type: boolean}}
views:
  adults:
    comment: who is grown up
    query: SELECT pupil_id, age FROM pupils WHERE age >= 18
    columns: {age: {bounds: [18, 99], comment: in years}}
  ages: {query: "SELECT count(*) AS n, avg(age) AS mean FROM adults"}
  inner_ones: {query: SELECT pupil_id FROM pupils, visible: false}
  outer_ones: {query: SELECT * FROM inner_ones}
budget: {epsilon: 60, delta: 1e-6}
per_query: {epsilon: 1, max_epsilon: 10}
"""

LISTS = [
    *(f"SELECT * FROM pg_{name}" for name in ("class", "attribute", "constraint", "description")),
    *(f"SELECT * FROM pg_{name}" for name in ("views", "tables", "index")),
    *(f"SELECT * FROM information_schema.{name}" for name in ("views", "tables", "columns")),
    "SELECT pg_get_viewdef(oid) FROM pg_class",
]

SECRETS = ("pupils", "exams.", "salary", "inner_ones", "nobody sees this")
"""Names that no analyst is told."""


def load(folder: Path, text: str = TEXT) -> Schema:
    path = folder / "schema.yaml"
    path.write_text(text, encoding="utf-8")
    return load_dataset(path)


@pytest.fixture
def school(tmp_path: Path) -> Path:
    """The schema beside a DuckDB file in which most pupils are older than declared."""
    with attached(tmp_path / "school.duckdb") as made:
        made.execute(
            "CREATE TABLE pupils AS SELECT i::BIGINT AS pupil_id, (i % 200)::INT AS age,"
            " 1::INT AS salary FROM range(4000) t(i)"
        )
        made.execute(
            "CREATE TABLE marks AS SELECT i::BIGINT AS pupil_id, i::BIGINT AS exam,"
            " 15::INT AS points FROM range(4000) t(i)"
        )
        made.execute("CREATE TABLE exams AS SELECT exam, pupil_id FROM marks")
        made.execute("CREATE TABLE answers AS SELECT exam, true AS correct FROM marks")
    load(tmp_path)
    return tmp_path / "schema.yaml"


def test_a_view_is_answered_within_its_declared_bounds(school: Path) -> None:
    """The noise at epsilon 1 is off by 1,000 or 20 with a probability below 1e-9."""
    session = Session(school, epsilon=1, randomness=SeededRandomness("1"))
    exact = sum(min(age, 99) for age in range(18, 200)) * 20
    table = session.query("SELECT sum(age), count(*) FROM adults", QueryOptions(Fraction(1))).table
    session.close()
    (total,), (count,) = (column.to_pylist() for column in table.columns)
    assert abs(total - exact) < 4_000
    assert abs(count - 182 * 20) < 60


def test_a_view_that_is_a_release_is_charged_and_then_shared(school: Path) -> None:
    with connect(school, epsilon=1) as connection:
        first = connection.execute("SELECT n FROM ages").fetchall()
        spent = connection.budget.dataset.epsilon_spent
        assert spent > 0
        assert connection.execute("SELECT n FROM ages").fetchall() == first
        assert connection.budget.dataset.epsilon_spent == spent


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT avg(age) FROM adults",
        "SELECT * FROM ages",
        "SELECT count(*) FROM outer_ones",
        "SELECT avg(m.points) FROM marks m JOIN adults a ON m.pupil_id = a.pupil_id",
        "SELECT count(*) FROM answers",
        "SELECT correct, count(*) FROM answers GROUP BY 1",
        "SELECT count(*) FROM adults WHERE age > (SELECT mean FROM ages)",
    ],
)
def test_no_explanation_names_a_hidden_table(school: Path, sql: str) -> None:
    session = Session(school, epsilon=1)
    found = Explanation(session.explain(sql))
    session.close()
    for text in (found.text(sql=True), found.json(), found.html()):
        assert not [secret for secret in (*SECRETS, "exams") if secret in text]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM adults",
        "SELECT salary FROM adults",
        "SELECT count(*) FROM marks m JOIN adults a ON m.points = a.age",
        "SELECT count(*) FROM answers x JOIN adults a ON x.exam = a.age",
        "SELECT adults.salary FROM outer_ones",
        "SELECT count(*) FROM no_table",
        "SELECT a FROM outer_ones",
    ],
)
def test_no_refusal_names_a_hidden_table(school: Path, sql: str) -> None:
    session = Session(school, epsilon=1)
    with pytest.raises(Error) as caught:
        session.query(sql)
    session.close()
    error = caught.value
    assert error.at is not None
    told = f"{error.message} {error.hint}".replace("column salary", "").replace("pupil_id", "")
    assert not [secret for secret in SECRETS if secret in told]


def test_a_hidden_table_is_refused_as_an_unknown_one_is(school: Path) -> None:
    session = Session(school, epsilon=1)
    said = []
    for name in ("pupils", "absent"):
        with pytest.raises(UnknownTable) as caught:
            session.query(f"SELECT count(*) FROM {name}")
        said.append((caught.value.message.replace(name, "?"), caught.value.hint))
    session.close()
    assert said[0] == said[1]


@pytest.fixture
def catalogue_workers() -> Iterator[CatalogWorkers]:
    found = CatalogWorkers(Limits(catalog_workers=1))
    try:
        yield found
    finally:
        found.close()


def test_no_list_of_tables_has_a_hidden_one(
    school: Path, catalogue_workers: CatalogWorkers
) -> None:
    schema = load_dataset(school)
    told = [
        schema_listing.tables(schema),
        *(schema_listing.columns(schema, name) for name in schema.visible_tables),
    ]
    found = inspect(create_engine(f"dpsql:///{school}"))
    assert found.get_table_names() == ["marks", "answers"]
    assert found.get_view_names() == ["adults", "ages", "outer_ones"]
    assert found.has_table("adults")
    assert not found.has_table("pupils")
    told.append(repr(found.get_columns("adults")))
    reader = Catalog(schema, catalogue_workers).reader("alice")
    told += [repr(reader.answer(translated(sql, schema), {}).rows) for sql in LISTS]
    text = " ".join(told)
    assert not [secret for secret in SECRETS if secret in text]
    assert "who is grown up" in text
    assert "in years" in text


def test_a_view_is_a_view_to_postgresqls_clients(
    school: Path, catalogue_workers: CatalogWorkers
) -> None:
    schema = load_dataset(school)
    reader = Catalog(schema, catalogue_workers).reader("alice")

    def rows(sql: str) -> list[Sequence[object]]:
        return sorted(reader.answer(translated(sql, schema), {}).rows, key=repr)

    views = ["adults", "ages", "outer_ones"]
    own = "NOT IN ('pg_catalog', 'information_schema')"
    by_kind = rows(
        "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace"
        f" WHERE relkind = 'v' AND nspname {own}"
    )
    assert [row[0] for row in by_kind] == views
    listed = rows(f"SELECT table_name FROM information_schema.views WHERE table_schema {own}")
    assert [row[0] for row in listed] == views
    defined = rows(f"SELECT viewname, definition FROM pg_views WHERE schemaname {own}")
    assert defined == [(name, None) for name in views]
    assert ("adults", "VIEW") in rows(
        "SELECT table_name, table_type FROM information_schema.tables"
    )


VIEW = "views:\n  bad: {query: %s}\n"

FAULTS = [
    ("SELECT age FROM nobody", "views.bad.query", "there is no table nobody at character 17"),
    ("SELECT agee FROM pupils", "views.bad.query", "at character 8; did you mean age?"),
    ("SELECT age + 1 FROM pupils", "views.bad.query", "has no plain name; name it with AS"),
    ("SELECT age, salary AS AGE FROM pupils", "views.bad.query", "two columns are called AGE"),
    ("DELETE FROM pupils", "views.bad.query", "only queries are answered"),
    ("SELECT age FROM bad", "views.bad.query", "view bad reads itself: bad → bad"),
    ("SELECT n FROM loop", "views.loop.query", "view loop reads itself: loop → bad → loop"),
    ("SELECT age FROM pupils LIMIT 3", "views.bad.query", "at character"),
    ("SELECT age FROM pupils WHERE age > ?", "views.bad.query", "parameter"),
]


@pytest.mark.parametrize(("query", "place", "words"), FAULTS, ids=[query for query, *_ in FAULTS])
def test_a_view_that_cannot_be_bound_is_a_fault_of_the_file(
    tmp_path: Path, query: str, place: str, words: str
) -> None:
    more = VIEW % json.dumps(query)
    if "loop" in query:
        more = more.replace("views:\n", "views:\n  loop: {query: SELECT n FROM bad}\n")
    with pytest.raises(SchemaFault) as caught:
        load(tmp_path, TEXT.replace("views:\n", more))
    assert place in caught.value.message
    assert words in caught.value.message
    assert ", line " in caught.value.message


DECLARED = [
    ("{age: {bounds: [18, 99]", "{agee: {bounds: [18, 99]", "no such column; did you mean age?"),
    ("[18, 99]", "[99, 18]", "low 99 is above high 18"),
    ("[18, 99]", "[18.5, 99]", "18.5 is not a value of INTEGER"),
    ("[18, 99]", "[.nan, 99]", "NaN is not a value of INTEGER"),
    ("bounds: [18, 99]", "values: [18, 18]", "the same value as [0]"),
    ("bounds: [18, 99]", "values: [18], bounds: [1, 2]", "has bounds and values"),
    ("bounds: [18, 99]", "type: bigint", "unknown key"),
    ("  ages:", "  marks:", "is the name of a table, too"),
    ("  ages:", "  Marks:", "differs from marks only by case"),
    ("  ages:", '  "a b":', "not a plain name"),
]


@pytest.mark.parametrize(("old", "new", "words"), DECLARED, ids=[new for _, new, _ in DECLARED])
def test_what_is_declared_of_a_view_is_checked(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert TEXT.count(old) == 1
    with pytest.raises(SchemaFault) as caught:
        load(tmp_path, TEXT.replace(old, new))
    assert words in caught.value.message


LOOSER = [
    ("age >= 18", "age >= 17", "the query of view adults was another"),
    ("bounds: [18, 99]", "bounds: [18, 100]", "bounds of adults.age were [18, 99], now [18, 100]"),
    ("columns: {age: {bounds: [18, 99], comment: in years}}", "columns: {}", "adults.age were"),
    ("  ages:", "  more: {query: SELECT 1 AS a}\n  ages:", "view more is new"),
    ("    visible: false\n    comment", "    comment", "table pupils was not visible"),
    ("pupils, visible: false", "pupils", "view inner_ones was not visible"),
    ("    comment: who", "    limits: {rows: 9}\n    comment: who", "limits of view adults were"),
]


@pytest.mark.parametrize(("old", "new", "words"), LOOSER, ids=[new for _, new, _ in LOOSER])
def test_what_a_view_shows_more_of_needs_the_owners_word(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert TEXT.count(old) == 1
    before, after = load(tmp_path), load(tmp_path, TEXT.replace(old, new))
    assert words in "; ".join(policy_relaxations(before.policy, after.policy))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("who is grown up", "another comment"),
        ("bounds: [18, 99]", "bounds: [18, 98]"),
        ("  outer_ones: {query: SELECT * FROM inner_ones}\n", ""),
        ("  marks:\n", "  marks:\n    visible: false\n"),
    ],
)
def test_what_a_view_shows_less_of_needs_nobody(tmp_path: Path, old: str, new: str) -> None:
    before, after = load(tmp_path), load(tmp_path, TEXT.replace(old, new))
    assert policy_relaxations(before.policy, after.policy) == ()


def test_a_ledger_holds_its_owner_to_a_views_query(school: Path) -> None:
    with connect(school, epsilon=1) as connection:
        connection.execute("SELECT count(*) FROM adults").fetchall()
    text = school.read_text(encoding="utf-8").replace("age >= 18", "age >= 17")
    school.write_text(text, encoding="utf-8")
    with (
        pytest.raises(LedgerFault, match="the query of view adults was another"),
        connect(school, epsilon=1) as connection,
    ):
        connection.execute("SELECT count(*) FROM marks").fetchall()


@pytest.mark.parametrize(
    "sql",
    ["SELECT count(*) FROM recent", "SELECT count(*) FROM later", "SUGGEST BOUNDS d FROM recent"],
)
def test_a_view_that_reads_the_clock_makes_a_statement_of_the_minute(
    tmp_path: Path, sql: str
) -> None:
    views = """views:
  recent: {query: "SELECT points + day(current_date) AS d FROM marks"}
  later: {query: SELECT d FROM recent}
"""
    schema = load(tmp_path, TEXT.replace("views:\n", views))
    assert bind(sql, schema).reads_clock
    assert not bind("SELECT count(*) FROM adults", schema).reads_clock
