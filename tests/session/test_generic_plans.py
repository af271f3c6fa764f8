"""Statements that differ in constants alone, by a plan that never saw these, are what each is."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random

import duckdb
import pytest
from data.database import attached
from differential import world
from differential.statement import noted
from fuzz.generated_query import private_tables, query
from fuzz.generated_schema import made
from neighbor_search.public_rows import create_tables
from neighbor_search.share import values_in_turn
from notes.whole import whole_over
from privacy.seeded import SeededRandomness
from sqlglot.tokenizer_core import TokenType

from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.bind.saved_release import NO_RELEASES
from dpsql.bind.statement import NO_PARAMETERS, Statement, bind
from dpsql.bind.syntax.parse import tokens
from dpsql.emit.dialect.duckdb.parameter import constants
from dpsql.errors import Error
from dpsql.plan.expression import Literal, Scalar
from dpsql.plan.expression_text import describe_value
from dpsql.plan.numeric_types import holds
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Column, Schema
from dpsql.schema.sql_type import Date, Decimal, Double, Integer, Timestamp, Varchar
from dpsql.session.compile.compiled import CompiledStatement, compile_bound
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.generic.generic_plans import as_run, generic_plan
from dpsql.session.compile.generic.instantiation import Template
from dpsql.session.compile.generic.parameters import Generalisation, with_parameters
from dpsql.session.compile.generic.statement_shapes import StatementShapes
from dpsql.session.compile.loss_conversion import query_loss
from dpsql.session.compile.request import ANSWER
from dpsql.session.compile.source_facts import DataEdition
from dpsql.session.options import DEFAULT_OPTIONS
from dpsql.session.run.finishing.finishing_text import FinishingText
from dpsql.session.session import Session
from dpsql.structs import replace

NOTE_TURNS, SCHEMA_TURNS = 4, 24

NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "00",
    "1.0",
    "0.50",
    "1e0",
    "1_0",
    "300",
    "999999999",
    "9" * 12,
    "9" * 40,
]

DAYS = ["2024-02-01", "2024-02-30", "2024-2-1", "2024-01-15 10:11:12", "infinity", "2024-02-01 "]

TEXTS = ["", "it's", "\\", "a\nb", "é\u200b", "$1", "u0", "t0", "\ue000u0\ue000", "%", "NULL"]


class _Compared:
    """Compares what statements of one shape have by their generic plan with what each has.

    `shapes` had a generic plan; where `alone` is counted, each is compiled by itself.
    """

    def __init__(self, found: world.World) -> None:
        self._world = found
        self.shapes = self.alone = self.constants = self.parameterized = 0

    def check(self, sql: str, random: Random) -> None:
        found = self._world
        try:
            statement = found.whole.bound(sql, found.schema, NO_PARAMETERS, NO_RELEASES)
            first = self._compiled(statement)
        except Error:
            return
        shape = with_parameters(statement)
        if shape is None:
            return
        plan = generic_plan(*shape, first, self._compiled)
        if plan is None:
            self.alone += 1
            return
        self.shapes += 1
        generic, template = shape[0].statement, Template(shape[0].statement.plan, shape[0].types)
        for literals in _others(shape[1], random):
            other = replace(statement, plan=template.instance(constants(literals)))
            again = with_parameters(other)
            if again is not None and (again[0].statement, again[1]) == (generic, literals):
                own, by_plan = self._compiled(other), plan.instance(other, literals)
                if by_plan is None:
                    continue  # two of its releases are one
                assert as_run(by_plan) == as_run(own), (sql, literals)
                assert FinishingText(by_plan).sql == FinishingText(own).sql
                for release in by_plan.releases:
                    self._check_integers(release)
                keys = {release.key for each in (first, by_plan) for release in each.releases}
                assert len(keys) > len({release.key for release in first.releases})
                self.constants += 1

    def _check_integers(self, release: CompiledRelease) -> None:
        """The text that an engine parses once has the same rows."""
        query, connection = release.step.query, self._world.connection
        if query.parameterized is None or release.step.reads:
            return
        for domain in query.domains:
            connection.register(domain.name, domain_table(domain))
        salt = ["salt"] * query.salted
        own = connection.execute(query.sql, salt or None).fetchall()
        values = [*salt, *query.parameterized.values]
        found = connection.execute(query.parameterized.sql, values).fetchall()
        for domain in query.domains:
            connection.unregister(domain.name)
        assert Counter(found) == Counter(own), query.parameterized
        self.parameterized += 1

    def _compiled(self, statement: Statement) -> CompiledStatement:
        schema, facts = self._world.schema, self._world.facts
        loss, edition = query_loss(schema, Fraction(1)), DataEdition("data")
        return compile_bound(statement, "", schema, facts, loss, edition, ANSWER, DEFAULT_OPTIONS)


def _others(literals: tuple[Literal, ...], random: Random) -> Iterator[tuple[Literal, ...]]:
    """`literals`, one of them another each time, of the same type."""
    for place, literal in enumerate(literals):
        for value in random.sample(list(_values(literal)), 2):
            yield (*literals[:place], replace(literal, value=value), *literals[place + 1 :])


def _values(literal: Literal) -> Iterator[Scalar]:
    match literal.value:
        case bool() as value:
            yield from (not value, not value)
        case int() as value:
            near = (value + 1, value - 1, value + 7, -value - 1, 2**31 - 2, value + 2, value + 3)
            assert isinstance(literal.type, Integer)
            yield from (each for each in near if holds(literal.type, each))
        case Fraction() as value:
            yield from (value + 1, value - 1, value + Fraction(1, 10))
        case dt.datetime() as value:
            yield from (value + dt.timedelta(days=1), value - dt.timedelta(microseconds=1))
        case dt.date() as value:
            yield from (value + dt.timedelta(days=1), value - dt.timedelta(days=30))
        case str():
            yield from TEXTS
        case missing:
            raise AssertionError(missing)


@pytest.mark.parametrize("turn", values_in_turn(range(NOTE_TURNS), 4))
def test_notes_have_by_generic_plans_what_each_has(turn: int) -> None:
    compared = {name: _Compared(world.generated(name)) for name in ("clinic", "bi")}
    for statement in noted()[turn::NOTE_TURNS]:
        if statement.schema in compared:
            compared[statement.schema].check(statement.sql, Random(statement.sql))
    assert sum(each.constants for each in compared.values()) > 5


@pytest.mark.parametrize("turn", values_in_turn(range(SCHEMA_TURNS), 4))
def test_generated_statements_have_by_generic_plans_what_each_has(
    turn: int, tmp_path: Path
) -> None:
    random = Random(f"generic {turn}")
    found = made(random, tmp_path)
    with closing(duckdb.connect()) as connection:
        create_tables(connection, found.schema, found.rows)
        facts = WorldFacts(found.schema, connection, found.holds)
        whole = whole_over(found.schema, connection)
        compared = _Compared(world.World(found.schema, connection, facts, whole))
        for _ in range(12):
            compared.check(_with_conditions(query(random, found).sql, found.schema, random), random)
        assert compared.shapes >= compared.alone


@pytest.mark.parametrize("turn", values_in_turn(range(SCHEMA_TURNS), 4))
def test_texts_of_one_shape_are_bound_as_each_is(turn: int, tmp_path: Path) -> None:
    random = Random(f"shapes {turn}")
    found = made(random, tmp_path)

    def bound(text: str) -> Statement | None:
        try:
            return bind(text, found.schema)
        except Error:
            return None

    for _ in range(12):
        shapes = StatementShapes()
        sql = _with_conditions(query(random, found).sql, found.schema, random)
        for text in (sql, *(_with_other_constants(sql, random) for _ in range(8))):
            words, own = tokens(text), bound(text)
            shaped = shapes.statement(words)
            assert shaped is None or shaped == own, text
            if shaped is not None:
                assert _told(shapes.generalised(shaped)) == _told(with_parameters(shaped)), text
            if own is not None:
                shapes.learn(text, words, own, bound)


def _told(generalisation: Generalisation | None) -> object:
    """Without the comparisons, of which one has the constants of any statement."""
    assert generalisation is not None
    generic, literals = generalisation
    return generic.statement, generic.types, literals


def _with_other_constants(sql: str, random: Random) -> str:
    """`sql` with other numbers and texts, most of them near those that it has."""
    parts, last = [], 0
    for word in tokens(sql):
        if word.token_type not in (TokenType.NUMBER, TokenType.STRING) or random.random() < 0.3:
            continue
        parts.append(sql[last : word.start])
        if word.token_type is TokenType.NUMBER:
            parts.append(random.choice(NUMBERS))
        else:
            parts.append(quoted(random.choice([*TEXTS, word.text + "x", *DAYS])))
        last = word.end + 1
    return "".join([*parts, sql[last:]])


def _with_conditions(sql: str, schema: Schema, random: Random) -> str:
    """`sql` with one to three comparisons of columns of its tables with constants."""
    tables = private_tables(schema)
    names = sorted(set(re.findall(r"\ba(\d)\b", sql)))
    columns = [(f"a{n}.{c.name}", c) for n in names for c in tables[int(n)].columns.values()]
    conditions = []
    for name, column in random.sample(columns, min(len(columns), random.choice([1, 2, 3]))):
        constant = _constant(column, random)
        if constant is not None:
            conditions.append(
                f"{name} {random.choice(['=', '<>', '<', '<=', '>', '>='])} {constant}"
            )
    head, by, keys = sql.partition(" GROUP BY ")
    for condition in conditions:
        head += f" {'AND' if ' WHERE ' in head else 'WHERE'} {condition}"
    return head + by + keys


def _constant(column: Column, random: Random) -> str | None:
    value = random.choice(column.values) if column.values else None
    if column.bounds is not None:
        low, high = column.bounds
        if isinstance(low, int | Fraction) and isinstance(high, int | Fraction):
            value = (low + high) // 2 + random.choice([-1, 0, 1])
        else:
            value = high
    match column.type:
        case Varchar():
            return quoted(random.choice(TEXTS) if value is None else str(value))
        case Integer() | Decimal() | Double():
            return str(random.choice([0, 1, 5, -2])) if value is None else describe_value(value)
        case Date():
            return "DATE '2024-02-03'"
        case Timestamp():
            return random.choice(["TIMESTAMP '2024-02-03 04:05:06'", "'2024-03-01'"])
        case _:
            return None


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


SCHEMA = """\
dataset: people
source: people.duckdb
tables:
  people:
    unit: row
    columns:
      age: {type: integer, bounds: [0, 120]}
      dept: {type: varchar, values: [a, b]}
      pay: {type: "decimal(10,2)", bounds: [0, 1000]}
budget: {epsilon: 64, accounting: pure}
"""
QUERY = "SELECT dept, count(*) n, avg(pay) p FROM people WHERE age > {} GROUP BY dept"


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    with attached(tmp_path / "people.duckdb") as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT (i % 121)::INTEGER AS age,"
            " ['a', 'b'][1 + i % 2] AS dept, (i % 1000)::DECIMAL(10,2) AS pay FROM range(500) r(i)"
        )
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return path


def test_each_constant_has_an_answer_of_its_own_which_is_stored_as_its_text_alone_has_it(
    schema: Path,
) -> None:
    """The later ones have it by a plan that others made; a new session, each by itself."""
    with closing(Session(schema, epsilon="1/10", randomness=SeededRandomness("a"))) as session:
        first = [session.query(QUERY.format(age)) for age in range(1, 9)]
    assert not any(answer.privacy.stored for answer in first)
    for age, answer in zip(range(1, 9), first, strict=True):
        with closing(Session(schema, epsilon="1/10", randomness=SeededRandomness("b"))) as session:
            again = session.query(QUERY.format(age))
        assert again.privacy.stored
        assert again.table == answer.table


@pytest.mark.parametrize(
    ("sql", "reason"),
    [("SELECT 'open FROM people", "isn't closed"), ("SELECT " + "9" * 2000, "more than 1,000")],
)
def test_a_text_without_words_is_refused(schema: Path, sql: str, reason: str) -> None:
    with closing(Session(schema, epsilon="1/10")) as session, pytest.raises(Error, match=reason):
        session.compile(sql)


def test_an_engine_is_sent_one_text_for_all_statements_of_a_plan(schema: Path) -> None:
    with closing(Session(schema, epsilon="1/10")) as session:
        compiled = [session.compile(QUERY.format(age)) for age in range(30, 36)]
    queries = [statement.releases[0].step.query.parameterized for statement in compiled[2:]]
    assert [query is not None and query.values for query in queries] == [(32,), (33,), (34,), (35,)]
    assert len({query.sql for query in queries if query is not None}) == 1


@pytest.mark.parametrize("age", ["-1", "0", "120", "500", "99999999999", "30.5", "'31'", "NULL"])
def test_a_constant_that_makes_another_plan_is_compiled_by_itself(schema: Path, age: str) -> None:
    with closing(Session(schema, epsilon="1/10")) as session:
        for other in range(40, 45):
            session.compile(QUERY.format(other))
        with closing(Session(schema, epsilon="1/10")) as alone:
            assert _compiled(session, QUERY.format(age)) == _compiled(alone, QUERY.format(age))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(age) FROM people WHERE age > 30",
        "SELECT age, count(*) FROM people WHERE age > 30 GROUP BY age",
        "SELECT count(*) FROM people WHERE age > 30 AND age + pay < 100",
        "SELECT count(*) FILTER (WHERE age > 50) FROM people WHERE age > 30",
        "SELECT sum(a) FROM (SELECT age AS a FROM people) WHERE a > 30",
    ],
)
def test_where_something_else_reads_its_column_a_constant_is_no_parameter(
    schema: Path, sql: str
) -> None:
    assert with_parameters(bind(sql, load_schema(schema))) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM people WHERE age > 30",
        "SELECT count(*) FROM (SELECT * FROM people) AS p WHERE p.age > 30",
        "SELECT sum(pay) FROM people WHERE 30 < age AND dept <> 'a'",
        "SELECT count(*) FROM people WHERE age BETWEEN 20 AND 40",
    ],
)
def test_where_nothing_else_reads_its_column_a_constant_is_a_parameter(
    schema: Path, sql: str
) -> None:
    assert with_parameters(bind(sql, load_schema(schema))) is not None


def _compiled(session: Session, sql: str) -> object:
    try:
        return as_run(session.compile(sql))
    except Error as error:
        return str(error), error.at


WIDE = """\
dataset: wide
source: wide.duckdb
ledger: wide.ledger
tables:
  people:
    unit: row
    columns:
      age: {type: integer, bounds: [0, 120]}
      small: {type: tinyint}
      dept: {type: varchar, values: [a, b, c]}
      name: {type: varchar}
      pay: {type: "decimal(10,2)", bounds: [0, 1000]}
      rate: {type: double}
      day: {type: date}
      seen: {type: timestamp}
budget: {epsilon: 64, accounting: pure}
"""


@pytest.mark.parametrize(
    ("condition", "bound"),
    [
        (["age > 30", "age > 31", "age > 39"], False),
        (["age > 30 AND age <= 60", "age > 31 AND age <= 61", "age > 32 AND age <= 62"], False),
        (["dept = 'a'", "dept = 'b'", "dept = 'c'"], False),
        (["name <> 'x'", "name <> 'it''s'", "name <> ''"], False),
        (["pay >= 12.50", "pay >= 12.51", "pay >= 99.99"], False),
        (["pay >= 12.50", "pay >= 12.51", "pay >= 112.50"], True),
        (["rate < 1.5", "rate < 2.5", "rate < 0.1"], False),
        (["day < '2024-01-01'", "day < '2024-02-01'", "day < '0001-01-01'"], False),
        (["day < '2024-01-01'", "day < '2024-02-01'", "day < '2024-1-1'"], True),
        (["seen < '2024-01-01'", "seen < '2024-02-01 01:02:03'", "seen < '2025-01-01'"], False),
        (["small = 1", "small = 2", "small = 3"], True),
        (["age > 30", "age > 31", "age > 500"], True),
        (["age > 30 AND pay > 1", "age > 31 AND pay > 2", "age > 7 AND pay > 7"], False),
        (["age > 30 AND name = 'a'", "age > 31 AND name = 'b'", "age > 3 AND name = 'c'"], False),
        (["age > 30 AND 1 = 1", "age > 31 AND 1 = 1", "age > 32 AND 1 = 2"], True),
        (["age > 30 AND age < 60", "age > 31 AND age < 61", "age > 40 AND age < 40"], True),
    ],
)
def test_of_a_shape_that_was_met_twice_a_text_need_not_be_bound(
    tmp_path: Path, condition: list[str], bound: bool
) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(WIDE, encoding="utf-8")
    schema, texts = load_schema(path), [f"SELECT count(*) FROM people WHERE {c}" for c in condition]
    shapes = StatementShapes()
    for text in texts[:2]:
        shapes.learn(text, tokens(text), bind(text, schema), partial(bind, schema=schema))
    known = shapes.statement(tokens(texts[2]))
    assert (known is None) is bound
    if known is not None:
        assert known == bind(texts[2], schema)
        assert _told(shapes.generalised(known)) == _told(with_parameters(known))
