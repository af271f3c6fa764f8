"""Rows of which several EXISTS are asked have the answers of each, in one WHERE if it can be."""

from __future__ import annotations

import re

import pytest
from neighbor_search.sidecar import ReadyWorlds, private, proved

from dpsql.bounding.options import ContributionLimits
from dpsql.session.compile.compiled_release import CompiledRelease

OTHER = "EXISTS (SELECT 1 FROM visits w WHERE w.patient_id = v.patient_id AND w.cost > v.cost)"
TESTED = "EXISTS (SELECT 1 FROM tests t WHERE t.visit_id = v.visit_id AND t.score > 2)"
WIDE = ContributionLimits(groups=9, rows_per_group=999, rows=9999)
DATABASES = 12


def release(asked: str) -> CompiledRelease:
    sql = f"SELECT count(*), sum(cost) FROM visits v WHERE {asked}"
    (only,) = proved(sql, "clinic", private("clinic"), WIDE, ready=True).releases
    return only


def totals(asked: str) -> list[tuple[int, ...]]:
    worlds, one = ReadyWorlds("clinic", private("clinic"), DATABASES), release(asked)
    return [worlds.totals(n, one, "1").get((), (0, 0)) for n in range(DATABASES)]


def added(*parts: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [tuple(map(sum, zip(*world, strict=True))) for world in zip(*parts, strict=True)]


@pytest.mark.parametrize("order", ["{0} AND {1}", "{1} AND {0}", "{0} AND v.cost > 3 AND {1}"])
def test_rows_are_split_by_the_answers_of_both(order: str) -> None:
    asked = [
        totals(order.format(f"{own}{OTHER}", f"{other}{TESTED}"))
        for own in ("", "NOT ")
        for other in ("", "NOT ")
    ]
    assert all(any(any(world) for world in part) for part in asked)
    whole = totals("v.cost > 3" if "cost > 3" in order else "true")
    assert added(*asked) == whole


def test_what_is_asked_of_rows_stands_in_one_where() -> None:
    sql = release(f"{OTHER} AND NOT {TESTED}").step.query.sql
    first, second = (at.start() for at in re.finditer(r"EXISTS\(", sql))
    assert sql[first:second].endswith(" AND NOT ")


@pytest.mark.parametrize(
    ("asked", "table"),
    [(OTHER, '"dpsql prepared"."main"."visits"'), (TESTED, '"tests"')],
    ids=["in the order of units", "in the order of keys"],
)
def test_rows_are_searched_in_the_order_of_what_they_are_compared_by(
    asked: str, table: str
) -> None:
    searched = release(asked).step.query.sql.partition("EXISTS(")[2]
    assert re.findall(r'FROM ("[^()]*) AS t\)', searched)[0] == table


def test_an_answer_that_is_computed_is_one_of_those_rows() -> None:
    either = totals(f"({OTHER} OR {TESTED}) AND NOT {TESTED}")
    assert either == totals(f"{OTHER} AND NOT {TESTED}")
    assert any(either)
