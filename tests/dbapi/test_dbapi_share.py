"""What a query would take of the budget, and which columns of its answer have which noise."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.dbapi.connection import Connection
from dpsql.schema.model import Schema
from dpsql.session.session import Session
from dpsql.structs import replace

COUNT = "SELECT count(*) FROM penguins"


def test_a_share_is_of_what_is_left(connection: Connection) -> None:
    before = connection.share(COUNT)
    assert 0 < before < 1
    connection.execute(f"{COUNT} WHERE year = 2007")
    assert connection.share(COUNT) == pytest.approx(before / (1 - before))


def test_what_costs_nothing_takes_no_share(connection: Connection) -> None:
    connection.execute(COUNT)
    for sql in (COUNT, "SELECT 1", "SHOW dpsql.budget", f"EXPLAIN PRIVACY {COUNT}"):
        assert connection.share(sql) == 0


def test_what_can_not_be_paid_takes_all(connection: Connection) -> None:
    year = 2500
    while connection.share(f"{COUNT} WHERE body_mass_g > {year}") < 1:
        connection.execute(f"{COUNT} WHERE body_mass_g > {year}")
        year += 1
    assert connection.budget.queries_left <= 1


def test_an_analysts_own_cap_counts(schema: Schema) -> None:
    capped = replace(schema, analysts={"alice": Fraction(1)})
    with Connection(Session(capped, analyst="alice", epsilon=1)) as alice:
        assert alice.share(COUNT) > 0.99
    with Connection(Session(capped, analyst="bob", epsilon=1)) as bob:
        assert bob.share(COUNT) < 0.5


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT species AS s, count(*) AS n FROM penguins GROUP BY 1", [None, "count(*)"]),
        (
            "SELECT n FROM (SELECT count(*) AS n FROM penguins) AS t WHERE n > 1 LIMIT 1",
            ["count(*)"],
        ),
        ("SELECT count(*) + 1, 7, count(*) FROM penguins", [None, None, "count(*)"]),
        ("SELECT max(n) FROM (SELECT count(*) AS n FROM penguins GROUP BY sex) AS t", [None]),
        ("SELECT 1", [None]),
    ],
)
def test_released_values_are_told_from_others(
    connection: Connection, sql: str, names: list[str | None]
) -> None:
    privacy = connection.execute(sql).privacy
    assert privacy is not None
    assert [None if made is None else made.name for made in privacy.shown_columns] == names
