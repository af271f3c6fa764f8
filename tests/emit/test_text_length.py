"""Texts are joined on servers where their lengths are known: of longer ones servers raise."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from notes.compiler import prepared

from dpsql.engine.postgres.semantics import SUPPORTED as ON_POSTGRES
from dpsql.engine.spark.semantics import SUPPORTED as ON_SPARK
from dpsql.engine.supported import Supported
from dpsql.errors import Refused
from dpsql.physical.push_down import push_down

SERVERS: Mapping[str, Supported] = {"postgresql": ON_POSTGRES, "spark": ON_SPARK}


def pushed(text: str, on: str) -> str:
    sql = f"SELECT count(DISTINCT {text}) FROM visits"
    (release,) = prepared(sql, "clinic", frozenset()).releases
    return push_down(release.choice, SERVERS[on]).query.totals.sql


@pytest.mark.parametrize("on", SERVERS)
@pytest.mark.parametrize(
    "text",
    [
        "left(ward, 5000) || left(ward, 5000)",
        "CAST(visit_id AS VARCHAR) || ', ' || CAST(visit_date AS VARCHAR)",
        "CASE WHEN cost > 1 THEN CAST(cost AS VARCHAR) END || 'x'",
        "left(ward, 3) || NULL",
    ],
)
def test_texts_of_known_length_are_joined(text: str, on: str) -> None:
    assert pushed(text, on)


@pytest.mark.parametrize("on", SERVERS)
@pytest.mark.parametrize(
    "text",
    [
        "ward || 'x'",
        "left(ward, 5000) || left(ward, 5000) || 'x'",
        "left(ward, 3) || CASE WHEN cost > 1 THEN ward ELSE '' END",
        "left(ward, 2000000000) || 'x'",
    ],
)
def test_longer_ones_are_refused(text: str, on: str) -> None:
    with pytest.raises(Refused, match="is not computed on"):
        pushed(text, on)
