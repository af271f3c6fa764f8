"""Comparisons with one constant are one question, in whatever exact type it is written."""

from __future__ import annotations

import itertools
from fractions import Fraction

import duckdb
import pytest
from functions.samples import extreme
from notes.compiler import prepared

from dpsql.emit.dialect.duckdb.expression import emit_expression
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.plan.expression import Cast, Column, Compare, Comparison, Literal
from dpsql.schema.sql_type import HUGEINT, Decimal, Integer
from dpsql.session.digest.comparison_form import sides_in_shortest_form

KINDS: tuple[Integer | Decimal, ...] = (
    Integer(8),
    Integer(16, signed=False),
    Integer(32),
    Integer(64),
    Integer(64, signed=False),
    HUGEINT,
    Decimal(4, 2),
    Decimal(10, 2),
    Decimal(12, 3),
    Decimal(18, 18),
    Decimal(20, 1),
    Decimal(38, 0),
    Decimal(38, 30),
)
NUMBERS = tuple(map(Fraction, ("5", "-5", "0", "127", "128", "70000", "0.5", "-99.99", "1e20")))


def key(condition: str, table: str) -> str:
    (release,) = prepared(
        f"SELECT count(*) FROM {table} WHERE {condition}", "clinic", frozenset()
    ).releases
    return release.key


@pytest.mark.parametrize(
    "conditions",
    [
        ("cost <= 5", "cost <= 5::SMALLINT", "cost <= 5.00", "5::BIGINT >= cost", "cost <= 5.0000"),
        ("cost IN (1, 2.5)", "cost IN (2.50, 1.0)", "cost IN (1::TINYINT, 2.5)"),
        ("cost BETWEEN 1 AND 9.5", "cost BETWEEN 1.0 AND 9.50"),
        ("NOT cost > -7", "cost <= -7.0"),
        ("doctor_id = 3", "doctor_id = 3.0", "doctor_id = 3::HUGEINT", "doctor_id = 3::SMALLINT"),
    ],
    ids=lambda ways: ways[0],
)
def test_a_number_is_one_however_it_is_written(conditions: tuple[str, ...]) -> None:
    assert len({key(condition, "visits") for condition in conditions}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cost <= 5", "cost < 5"),
        ("cost <= 5", "cost <= 5.001"),
        ("cost <= 5", "CAST(cost AS INTEGER) <= 5"),
        ("cost <= 5", "CAST(cost AS DECIMAL(3,2)) <= 5"),
        ("cost <= 5", "CAST(cost AS DOUBLE) <= 5"),
        ("doctor_id = 3", "CAST(doctor_id AS DECIMAL(18,0)) = 3"),
        ("doctor_id = 3", "CAST(doctor_id AS SMALLINT) = 3"),
    ],
)
def test_another_question_has_another_key(one: str, other: str) -> None:
    assert key(one, "visits") != key(other, "visits")


def compared_as(
    kind: Integer | Decimal, number: Fraction, wide: Integer | Decimal
) -> Compare | None:
    """A column of `kind` and `number`, both in `wide`; None if that has no such number."""
    scale = wide.scale if isinstance(wide, Decimal) else 0
    if (number * 10**scale).denominator != 1:
        return None
    literal = Literal(number if isinstance(wide, Decimal) else int(number), wide)
    try:
        duckdb.execute(f"SELECT {rendered(emit_expression(literal))}")
    except duckdb.Error:
        return None
    return Compare(Comparison.LESS_EQUAL, Cast(Column(1, "x", kind), wide), literal)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_shortest_form_is_true_of_the_same_rows(kind: Integer | Decimal) -> None:
    listed = ", ".join(f"(TRY_CAST('{text}' AS {kind}))" for text in [*extreme(kind), "5", "NULL"])
    changed = 0
    for wide, number in itertools.product(KINDS, NUMBERS):
        written = compared_as(kind, number, wide)
        if written is None:
            continue
        shortest = Compare(written.op, *sides_in_shortest_form(written))
        changed += shortest != written
        both = ", ".join(rendered(emit_expression(each)) for each in (written, shortest))
        rows = duckdb.execute(f"SELECT {both} FROM (VALUES {listed}) t(c1)").fetchall()
        assert [one for one, _ in rows] == [other for _, other in rows], (wide, number)
    assert changed > 10
