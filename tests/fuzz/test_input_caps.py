"""Long, wide and deep statements end in an error, soon, whatever they are made of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from decimal import Decimal

import pytest
from fuzz.long import deep, wide
from fuzz.outcome import prepared, runs
from neighbor_search.share import in_turn
from notes.compiler import schema_of

from dpsql.bind.statement import bind
from dpsql.bind.syntax.complexity import MAX_JOINED
from dpsql.bind.syntax.parameter import literals
from dpsql.bind.syntax.parse import MAX_CHARACTERS, MAX_DIGITS, MAX_TOKENS
from dpsql.errors import BadParameter, TooComplex


def of_some_lengths(kinds: Iterable[str], lengths: Sequence[int]) -> list[object]:
    """One in five: in five runs, each kind is tried at each length."""
    return in_turn(((f"{k}-{n}", (k, n)) for k in kinds for n in lengths), 5)


@pytest.mark.parametrize(("kind", "depth"), of_some_lengths(deep(1), (30, 100, 5000)))
def test_nesting_is_answered_or_refused_soon(kind: str, depth: int) -> None:
    prepared(deep(depth)[kind], "clinic")


@pytest.mark.parametrize(("kind", "count"), of_some_lengths(wide(1), (40, 400, 5000)))
def test_chains_are_answered_or_refused_soon(kind: str, count: int) -> None:
    prepared(wide(count)[kind], "clinic")


@pytest.mark.parametrize("kind", ["joins", "tables", "joins of joins"])
def test_more_tables_than_an_engine_orders_soon_are_not_joined(kind: str) -> None:
    # A charge for 300 of them was followed by minutes in which DuckDB ordered them.
    few, many = (wide(count)[kind] for count in (MAX_JOINED - 1, MAX_JOINED + 1))
    prepared(few, "clinic")
    with pytest.raises(TooComplex, match="one join has more than 100 tables"):
        bind(many, schema_of("clinic"))


@pytest.mark.slow
def test_as_many_tables_as_are_allowed_are_joined() -> None:
    assert runs(wide(MAX_JOINED - 1)["joins"], "clinic")


def test_more_text_than_allowed_is_refused_by_its_length() -> None:
    text = "SELECT '" + "x" * MAX_CHARACTERS + "'"
    with pytest.raises(TooComplex, match="characters"):
        bind(text, schema_of("clinic"))


def test_more_words_than_allowed_are_refused_by_their_number() -> None:
    text = "SELECT " + "1," * MAX_TOKENS + "1"
    assert len(text) < MAX_CHARACTERS
    with pytest.raises(TooComplex, match="words"):
        bind(text, schema_of("clinic"))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT {}",
        "SELECT 1 ORDER BY {}",
        "SELECT INTERVAL {} HOUR + DATE '2024-01-01'",
        "SELECT ward FROM visits GROUP BY {}",
        "SELECT ward, sum(count(*)) OVER (ORDER BY ward ROWS {} PRECEDING) FROM visits GROUP BY 1",
    ],
)
def test_a_number_of_more_digits_than_allowed_is_refused_wherever_it_stands(text: str) -> None:
    with pytest.raises(TooComplex, match="digits"):
        bind(text.format("9" * (MAX_DIGITS + 1)), schema_of("clinic"))


@pytest.mark.parametrize("digits", [1, 30, 38, 39, 308, 309, MAX_DIGITS])
@pytest.mark.parametrize("suffix", ["", ".5", "e5", "e99999999"])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT {}",
        "SELECT 1 LIMIT {}",
        "SELECT INTERVAL {} HOUR + DATE '2024-01-01'",
        "SELECT INTERVAL '{}' HOUR + DATE '2024-01-01'",
        "SELECT width_bucket(age, 0, {}, 3), count(*) FROM patients GROUP BY 1",
        "SELECT sum(count(*)) OVER (ORDER BY ward ROWS {} PRECEDING) FROM visits GROUP BY ward",
        "SELECT sum(count(*)) OVER (ORDER BY 1e5 * count(*) RANGE {} PRECEDING) FROM visits",
        "SELECT sum(count(*)) OVER (ORDER BY 1.5 * count(*) RANGE {} PRECEDING) FROM visits",
    ],
)
def test_a_long_number_is_answered_or_refused(text: str, digits: int, suffix: str) -> None:
    runs(text.format("9" * (digits - len(suffix)) + suffix), "clinic")


@pytest.mark.parametrize(
    "value",
    [
        10**38,
        -(10**400),
        Decimal("1E+38"),
        Decimal("1E+999999999"),
        Decimal("1E-999999999"),
        dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-1))),
        dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=1))),
    ],
)
def test_a_parameter_that_sql_has_no_constant_for_is_refused(value: object) -> None:
    with pytest.raises(BadParameter):
        literals([value])
