"""A parameter is the constant that could have been written in its place."""

from __future__ import annotations

import datetime as dt

import pytest
from notes.compiler import schema_of

from dpsql.analysis.plan_text import tree_text
from dpsql.bind.statement import bind
from dpsql.bind.syntax.parameter import literal, literals
from dpsql.errors import BadParameter, Error

GROUPED = "SELECT ward, count(*) FROM visits GROUP BY ward"
NEWEST = (
    "SELECT avg(t.cost) FROM patients p, LATERAL (SELECT cost FROM visits v"
    " WHERE v.patient_id = p.patient_id ORDER BY visit_date DESC"
)


@pytest.mark.parametrize(
    ("asked", "given", "written"),
    [
        (f"{GROUPED} LIMIT ?", [2], f"{GROUPED} LIMIT 2"),
        (f"{GROUPED} LIMIT ? OFFSET ?", [2, 1], f"{GROUPED} LIMIT 2 OFFSET 1"),
        (f"{GROUPED} LIMIT ?", [None], GROUPED),
        (f"{GROUPED} OFFSET ? ROWS FETCH NEXT ? ROWS ONLY", [1, 2], f"{GROUPED} LIMIT 2 OFFSET 1"),
        (f"{GROUPED} UNION ALL {GROUPED} LIMIT $1", [3], f"{GROUPED} UNION ALL {GROUPED} LIMIT 3"),
        (f"{NEWEST} LIMIT ?) t", [2], f"{NEWEST} LIMIT 2) t"),
        (f"{NEWEST} OFFSET ? ROWS FETCH NEXT ROW ONLY) t", [1], f"{NEWEST} LIMIT 1 OFFSET 1) t"),
        (
            "SELECT quantile_cont(cost, ?) FROM visits",
            [0.9],
            "SELECT quantile_cont(cost, 0.9) FROM visits",
        ),
        (
            "SELECT percentile_disc(?) WITHIN GROUP (ORDER BY cost DESC) FROM visits",
            [0.9],
            "SELECT quantile_disc(cost, 0.1) FROM visits",
        ),
        (
            "SELECT extract(? FROM visit_date) AS part, count(*) FROM visits GROUP BY 1",
            ["month"],
            "SELECT extract(month FROM visit_date) AS part, count(*) FROM visits GROUP BY 1",
        ),
        (
            "SELECT date_part(?, visit_date) AS part, count(*) FROM visits GROUP BY 1",
            ["isodow"],
            "SELECT date_part('isodow', visit_date) AS part, count(*) FROM visits GROUP BY 1",
        ),
        (
            "SELECT count(*) FROM patients WHERE city LIKE ? ESCAPE ?",
            ["5!%%", "!"],
            "SELECT count(*) FROM patients WHERE city LIKE '5!%%' ESCAPE '!'",
        ),
    ],
)
def test_a_parameter_means_its_constant(asked: str, given: list[object], written: str) -> None:
    schema = schema_of("clinic")
    found = bind(asked, schema, literals(given))
    assert tree_text(found.plan, 1) == tree_text(bind(written, schema).plan, 1)


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (f"{GROUPED} LIMIT ?", [-1]),
        (f"{GROUPED} LIMIT ?", ["2"]),
        (f"{GROUPED} LIMIT ?", [True]),
        (f"{GROUPED} OFFSET ?", [1.5]),
        ("SELECT quantile_cont(cost, ?) FROM visits", [1.5]),
        ("SELECT quantile_cont(cost, ?) FROM visits", ["0.5"]),
        ("SELECT extract(? FROM visit_date), count(*) FROM visits GROUP BY 1", [3]),
        ("SELECT date_part(?, visit_date), count(*) FROM visits GROUP BY 1", ["shift"]),
    ],
)
def test_a_value_that_its_place_cannot_take_is_refused(asked: str, given: list[object]) -> None:
    with pytest.raises(Error):
        bind(asked, schema_of("clinic"), literals(given))


@pytest.mark.parametrize(
    "asked", [f"{GROUPED} LIMIT ?", "SELECT quantile_cont(cost, $1) FROM visits"]
)
def test_a_value_that_is_missing_is_asked_for(asked: str) -> None:
    with pytest.raises(BadParameter):
        bind(asked, schema_of("clinic"))


class Number(int):
    __slots__ = ()


class Text(str):
    __slots__ = ()


class Day(dt.date):
    __slots__ = ()


class Moment(dt.datetime):
    __slots__ = ()


class NoMoment(dt.datetime):
    __slots__ = ()

    @property
    def year(self) -> int:
        raise ValueError


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (Number(3), 3),
        (Text("ER"), "ER"),
        (Day(2024, 1, 2), dt.date(2024, 1, 2)),
        (Moment(2024, 1, 2, 3, 4, 5, 6), dt.datetime(2024, 1, 2, 3, 4, 5, 6)),  # noqa: DTZ001
        (dt.datetime(2024, 1, 2, fold=1), dt.datetime(2024, 1, 2)),  # noqa: DTZ001
    ],
    ids=["a number", "a text", "a day", "a moment", "an hour that comes twice"],
)
def test_a_value_of_another_class_is_the_constant_that_it_is_equal_to(
    given: object, plain: object
) -> None:
    found = literal(given, "x").value
    assert found == plain
    assert type(found) is type(plain)


def test_what_only_says_that_it_is_a_moment_is_refused() -> None:
    with pytest.raises(BadParameter, match="parameter x is no moment"):
        literal(NoMoment(2024, 1, 2), "x")
