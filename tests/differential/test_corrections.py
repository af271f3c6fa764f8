"""What a refusal says to write instead is answered, and means what was asked."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress

import duckdb
import pytest
from differential.agreement import disagreement
from differential.exact_answer import Row, exact_answer, prepared
from differential.world import generated
from notes.blocks import Claim, claims

from dpsql.bind.syntax.correction import corrected
from dpsql.errors import Error, Refused, Span

_ROUNDED = 0.01
"""Values rounded to cents, of which there are a hundred at most."""

_ESTIMATED = {"local_noise", "randomized_response"}
"""Notes of estimates, which differ from what the answers as they are add up to."""

_NOT_GENERATED = {"polls", "registry", "school", "tpch"}
"""Schemas with columns of text that the generator has no words for."""


def _refused() -> list[Claim]:
    every = [claim for claim in claims() if claim.about == "refused" and claim.is_plain]
    return [claim for claim in every if claim.schema not in _NOT_GENERATED]


def _correction(sql: str, schema: str) -> str | None:
    with pytest.raises(Error) as refused:
        prepared(sql, generated(schema))
    return corrected(sql, refused.value)


def _plain(row: Row) -> Row:
    """A length of time as its seconds, which is what can be asked for."""
    return tuple(v.total_seconds() if isinstance(v, dt.timedelta) else v for v in row)


def test_a_fix_is_answered_as_what_was_refused_would_be() -> None:
    fixed: set[str] = set()
    for claim in _refused():
        correction = _correction(claim.sql, claim.schema)
        if correction is None:
            continue
        fixed.add(claim.note.stem)
        world = generated(claim.schema)
        ours = exact_answer(prepared(correction, world), world, empty_groups=True)
        if claim.note.stem in _ESTIMATED:
            continue
        with suppress(duckdb.Error):  # a name that nobody has
            theirs = [_plain(row) for row in world.connection.sql(claim.sql).fetchall()]
            slack = max(ours.slack, 100 * _ROUNDED)
            assert not disagreement(ours.rows, theirs, slack, order=False), claim.name
    assert fixed >= {"aggregate_distinct", "functions_time", "open_aggregates", *_ESTIMATED}


@pytest.mark.parametrize(
    ("sql", "fixed"),
    [
        ("SELECT avg(agee) FROM patients", "SELECT avg(age) FROM patients"),
        ("SELECT avg(p.agee) FROM patients p", "SELECT avg(p.age) FROM patients p"),
        ("SELECT count(*) FROM pateints", "SELECT count(*) FROM patients"),
        ('SELECT avg("agee" ) FROM patients', "SELECT avg(age ) FROM patients"),
        ("SELECT * EXCLUDE (specialt) FROM doctors", "SELECT * EXCLUDE (specialty) FROM doctors"),
        (
            "SELECT sex, bool_or(age > abs(-60)) AS old FROM patients GROUP BY sex",
            "SELECT sex, count(*) FILTER (WHERE age > 60) > 0 AS old FROM patients GROUP BY sex",
        ),
        (
            'SELECT count("my aje") FROM (SELECT age AS "my age" FROM patients)',
            'SELECT count("my age") FROM (SELECT age AS "my age" FROM patients)',
        ),
    ],
)
def test_a_fix_stands_in_the_place_of_the_fault(sql: str, fixed: str) -> None:
    assert _correction(sql, "clinic") == fixed
    prepared(fixed, generated("clinic"))


@pytest.mark.parametrize(
    ("sql", "at", "fix", "fixed"),
    [
        ("SELECT f((x), [y]) + 1", Span(7, 15), "g(x)", "SELECT g(x) + 1"),
        ("SELECT f(CASE WHEN x THEN y END) + 1", Span(7, 27), "g(x)", "SELECT g(x) + 1"),
        ("SELECT (x) + 1", Span(8, 9), "z", "SELECT (z) + 1"),
        ("SELECT x", Span(7, 8), "", None),
        ("SELECT x", None, "z", None),
    ],
)
def test_a_place_ends_where_its_brackets_do(
    sql: str, at: Span | None, fix: str, fixed: str | None
) -> None:
    assert corrected(sql, Refused("no", at=at, fix=fix)) == fixed
