"""Statements that differ in constants alone are translated as if each were read by itself."""

from __future__ import annotations

from itertools import pairwise

import pytest
from pgwire.asking import rows

from dpsql.errors import Error
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.sql.statement_shape import MAX_CHARACTERS, Shape, shape_of
from dpsql.pgwire.sql.translate import Translated, translated
from dpsql.pgwire.sql.translation_cache import MAX_SHAPES, ReadQuery, TranslationCache

STATEMENTS = (
    "SELECT count(*) FROM orders WHERE qty > {} AND status = {}",
    "SELECT region_id, sum(qty / 3) FROM orders WHERE qty between {} and {}\nGROUP BY 1 LIMIT 5",
    "SELECT CASE WHEN qty >= -{} THEN 'a' ELSE {} END, count(*) FROM orders GROUP BY 1",
    "SELECT count(*) FROM orders WHERE status::char(9) = {} OR status || 'x' <> {}",
    "SELECT count(*) FROM orders WHERE status LIKE {} AND (score < {}) AND ts >= {}",
    "SELECT avg(amount) FROM orders WHERE ts < TIMESTAMP {} OR amount * 2 = {} OR qty % 5 != {}",
    "SELECT round(amount, {}) AS x FROM orders WHERE 1 = {} GROUP BY 1 HAVING max(qty)>{}",
    "SELECT count(*) FROM orders WHERE status = E{} OR qty = {}::int OR qty = {} + 1",
    "SELECT count(*) FROM orders WHERE ts + INTERVAL {} < now() AND status ->> 'a' = {}",
    "SELECT count(*) FROM orders WHERE ts::timestamptz >= {}",
    "SELECT count(*) FROM orders WHERE qty = {} -- = {}\nAND qty = {}",
    "SELECT count(*) FROM orders WHERE qty NOT BETWEEN {} AND 1 AND extract(year FROM ts) = {}",
)
CONSTANTS = (
    *("7", "0", "999999999", "007", "3000000000", "1.50", "1e3", "-5"),
    *("'a'", "'2023-01-01'", "'now'", "'a '", "''", "'it''s'", r"'\d'", "'$1'", "'% a'", "'1 day'"),
)


class _Parsing:
    """How many texts were parsed since it was last asked."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count = 0

        def counted(*arguments: object) -> Translated:
            self.count += 1
            return translated(*arguments)  # type: ignore[arg-type]

        patch.setattr("dpsql.pgwire.sql.query_reader.translated", counted)

    def since(self) -> int:
        before, self.count = self.count, 0
        return before


@pytest.fixture
def parsing(monkeypatch: pytest.MonkeyPatch) -> _Parsing:
    return _Parsing(monkeypatch)


def _of(number: int, name: str = "age") -> str:
    return f"SELECT max({name}) AS m FROM customers WHERE age <> {number}"


def test_no_constant_changes_the_translation(alice: QueryService, parsing: _Parsing) -> None:
    by_shape = {}
    for statement in STATEMENTS:
        holes = statement.count("{}")
        for a, b in [*zip(CONSTANTS, CONSTANTS, strict=True), *pairwise(CONSTANTS)]:
            text = statement.format(*[a, *[b] * (holes - 1)])
            told = _told(alice, text)
            if not parsing.since():
                by_shape[text] = told
    assert len(by_shape) > 20
    for text, told in by_shape.items():
        assert told == _alone(alice, text), text


def _told(service: QueryService, text: str) -> object:
    try:
        read = service.reader.read(text)
    except Error as error:
        return str(error)
    query = read.query
    refused = query.refused and query.refused.message
    return query.written, query.sql, query.names, query.kinds, refused, query.tree, read.types


def _alone(service: QueryService, text: str) -> object:
    service.reader._cache = TranslationCache(service.schema.tables)
    return _told(service, text)


def test_the_third_statement_of_a_shape_is_not_parsed(
    alice: QueryService, parsing: _Parsing
) -> None:
    alice.reader._cache = TranslationCache(alice.schema.tables)
    assert [(_told(alice, _of(n)), parsing.since())[1] for n in (1, 1, 2, 3, 3, 4)] == [
        *(1, 0, 2, 0, 0, 0),
    ]


def test_answers_and_errors_are_those_of_the_statement_itself(alice: QueryService) -> None:
    for number in range(1, 4):
        assert rows(alice, f"SELECT count(*) FROM customers WHERE age < {-number}") is not None
    placed = []
    for number in (10, 2000, 300000):
        sql = f"SELECT count(*) FROM customers WHERE age < {number} AND ages > 1"
        with pytest.raises(Error) as refusal:
            alice.query(alice.translate(sql), {})
        assert refusal.value.at is not None
        placed.append(sql[refusal.value.at.start : refusal.value.at.end])
    assert placed == ["ages"] * 3


def test_a_shape_has_the_constants_beside_comparisons() -> None:
    assert shape_of("SELECT a WHERE b >= -5 AND c = 'x y';") == Shape(
        "SELECT a WHERE b >= -$1 AND c = $2;", (23, 705), ("5", "'x y'")
    )
    assert shape_of("SELECT a WHERE b <5 GROUP BY 1 LIMIT 3") == Shape(
        "SELECT a WHERE b <$1 GROUP BY 1 LIMIT 3", (23,), ("5",)
    )
    for none in (
        *("b = 5 + 1", "b = 5x", "b = 1.5", "b = 05", "b = 1234567890", "b ~= 5", "b ->> 'x'"),
        *("b = 'x '", "b = ''", "b = 'x' 'y'", "b = 'it''s'", "b = E'x'", "b = 'x'::date"),
        *('"= 5 " IS NULL', "b = '= 5 '", "b = 5 AND c = $1", "b = 5 -- c", "b = 5 /* c */"),
        *(r"b = 5 AND c = '\'", "b = 5 AND pg_typeof(b) = 'integer'", "b IN (5, 6)"),
    ):
        assert shape_of(f"SELECT a WHERE {none}") is None, none
    assert shape_of("SELECT a WHERE b = 5 AND " + "c" * MAX_CHARACTERS) is None


def test_the_shapes_are_bounded(alice: QueryService) -> None:
    cache, query = TranslationCache(()), alice.translate(_of(1))
    shapes = [Shape(f"{number}", (23,), ("1",)) for number in range(MAX_SHAPES + 1)]
    for shape in shapes:
        assert cache.is_new(shape)
        cache.learn(shape, ReadQuery(query, ()))
    assert cache.of_shape(shapes[-1], "x") is not None
    assert cache.of_shape(shapes[0], "x") is None
