"""Statements of a batch that count and sum the same rows are planned, charged and drawn as one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.dbapi.connection import Connection
from dpsql.errors import OverTarget
from dpsql.ledger.chain.entry import Charged
from dpsql.session.ledger_access import recorded_ledger
from dpsql.session.session import Session

SCHEMA = """
dataset: people
source: {source}
units: {{person: {{table: people, key: id}}}}
tables:
  people:
    key: id
    unit: person
    columns:
      id: {{type: bigint}}
      sex: {{type: integer, bounds: [0, 1]}}
      region: {{type: integer, bounds: [0, 2]}}
      level: {{type: integer, bounds: [0, 3]}}
      age: {{type: integer, bounds: [0, 99]}}
  visits:
    unit: {{column: id, references: people.id}}
    limits: {{groups: 4, rows_per_group: 2}}
    columns:
      id: {{type: bigint}}
      ward: {{type: integer, bounds: [0, 2]}}
      month: {{type: integer, bounds: [1, 12]}}
budget: {{epsilon: 10, delta: 1.0e-6, accounting: {accounting}}}
per_query: {{epsilon: 0.2, max_epsilon: 1}}
"""
KEYS = ("sex", "region", "level")
CHARTS = [
    *(f"SELECT {key}, count(*) FROM people GROUP BY {key}" for key in KEYS),
    *(
        f"SELECT {a}, {b}, count(*) AS n FROM people GROUP BY 1, 2"
        for a, b in combinations(KEYS, 2)
    ),
    "SELECT count(*) FROM people",
]
VISITS = [f"SELECT {key}, count(*) FROM visits GROUP BY {key}" for key in ("ward", "month")]


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    with attached(tmp_path / "people.duckdb") as source:
        source.execute(
            "CREATE TABLE people AS SELECT i::BIGINT AS id, (i % 2)::INTEGER AS sex,"
            " (i % 3)::INTEGER AS region, (i % 4)::INTEGER AS level, (i % 99)::INTEGER AS age"
            " FROM range(600) t(i)"
        )
        source.execute(
            "CREATE TABLE visits AS SELECT (i % 600)::BIGINT AS id, (i % 3)::INTEGER AS ward,"
            " (i % 12 + 1)::INTEGER AS month FROM range(1800) t(i)"
        )
    return written(tmp_path, "zcdp")


def written(folder: Path, accounting: str) -> Path:
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.format(source="people.duckdb", accounting=accounting), encoding="utf-8")
    return path


def opened(schema: Path) -> Connection:
    return Connection(Session(schema, randomness=SeededRandomness("family")))


@pytest.fixture
def connection(schema: Path) -> Iterator[Connection]:
    with opened(schema) as found:
        yield found


def half_widths(connection: Connection, statements: list[str]) -> list[float]:
    """Of each statement's values, asked alone."""
    texts = (connection.explain(sql) for sql in statements)
    reports = [one.report for one in texts]
    return [float(c.half_width or math.nan) for r in reports for x in r.releases for c in x.noise]


@pytest.mark.parametrize("accounting", ["zcdp", "gdp"])
def test_each_value_is_less_noisy_at_no_more_loss(schema: Path, accounting: str) -> None:
    with opened(written(schema.parent, accounting)) as connection:
        check_gain(connection)


def check_gain(connection: Connection) -> None:
    alone = half_widths(connection, CHARTS)
    cursors, batch = connection.batch(CHARTS)
    together = [one.privacy.columns[0].half_width for one in cursors if one.privacy is not None]
    assert len(together) == len(alone)
    ratios = [float(own or math.nan) / apart for own, apart in zip(together, alone, strict=True)]
    assert max(ratios) < 0.95
    gain = 1 / math.prod(ratios) ** (1 / len(ratios))
    assert gain > 1.3
    assert (
        f"7 statements are planned as one: in the mean, noise moves their values {gain:.3g}"
        in (batch.notes[0])
    )
    assert batch.loss is not None
    assert batch.one_by_one is not None
    # Shares of a loss are rounded down, each alone by another last digit than all together.
    assert float(batch.loss.amount) == pytest.approx(float(batch.one_by_one.amount), rel=1e-3)
    with recorded_ledger(connection.schema) as ledger:
        charges = [one.event for one in ledger.history() if isinstance(one.event, Charged)]
    assert len(charges) == 1


def test_answers_have_their_own_shapes_and_agree(connection: Connection) -> None:
    ordered = "SELECT count(*) AS n, region AS r FROM people GROUP BY r ORDER BY n DESC LIMIT 2"
    by_two = "SELECT region, sex, count(*) FROM people GROUP BY region, sex"
    ages = "SELECT sex, sum(age) AS n FROM people GROUP BY sex"
    (top, cells, whole, _), batch = connection.batch([ordered, by_two, CHARTS[-1], ages])
    assert batch.notes
    assert [column[0] for column in top.description or ()] == ["n", "r"]
    rows = cells.fetchall()
    assert len(rows) == 12
    assert all(isinstance(row[2], int) for row in rows)
    (total,) = whole.fetchone() or (None,)
    # Each of them is rounded to whole numbers.
    assert abs(int(str(total)) - sum(int(str(row[2])) for row in rows)) <= 7
    for count, region in top.fetchall():
        inside = [int(str(row[2])) for row in rows if row[0] == region]
        assert abs(int(str(count)) - sum(inside)) <= 2


def test_it_is_free_when_it_is_asked_again(schema: Path) -> None:
    with opened(schema) as connection:
        first, _ = connection.batch(CHARTS)
        rows = [one.fetchall() for one in first]
        assert connection.batch(CHARTS)[1].loss is None
        alone = connection.execute(CHARTS[1])
        assert alone.privacy is not None
        assert alone.privacy.loss is None
        assert alone.fetchall() == rows[1]
    with opened(schema) as connection:
        again, batch = connection.batch(CHARTS)
        assert batch.loss is None
        assert [one.fetchall() for one in again] == rows


def test_what_does_not_fit_is_asked_as_before(connection: Connection) -> None:
    """Of visits a unit has several, so that limits of finer cells would leave out other rows."""
    cases = [
        VISITS,
        CHARTS[:1] * 3,
        [CHARTS[0], "SELECT sex, count(*) FROM people WHERE age > 9 GROUP BY sex"],
        [CHARTS[1], "SELECT region, avg(age) FROM people GROUP BY region"],
        [CHARTS[2], "SELECT region, count(DISTINCT age) FROM people GROUP BY region"],
    ]
    for statements in cases:
        cursors, batch = connection.batch(statements)
        assert len(cursors) == len(statements)
        assert not batch.notes
        assert batch.loss is not None
        assert batch.loss == batch.one_by_one
        assert connection.execute(statements[-1]).fetchall() == cursors[-1].fetchall()
    for setting in ("nonnegative = on", "groups = 1", "max_error = 100"):
        connection.execute(f"SET dpsql.{setting}")
        assert not any(
            "planned as one" in str(one) for one in connection.explain_batch(CHARTS[:3])
        ), setting
        connection.execute(f"SET dpsql.{setting.split()[0]} = DEFAULT")


def test_a_statement_that_would_become_noisier_is_left_out_and_told_of(
    connection: Connection,
) -> None:
    """Alone, the noise of a count and of a sum has a part in common, which a dashboard's lacks."""
    both = "SELECT sex, count(*), sum(age) FROM people GROUP BY sex"
    statements = [both, *CHARTS[1:3]]
    planned, alone = connection.explain_batch(statements)
    assert "2 statements are planned as one" in str(planned)
    told = re.search(r"asked alone: .* noise would move some value (\S+) times as far", str(alone))
    assert told is not None
    assert float(told[1]) > 1
    cursors, batch = connection.batch(statements)
    assert [note.split(" statements")[0] for note in batch.notes] == ["2"]
    privacy = cursors[0].privacy
    assert privacy is not None
    assert [one.half_width for one in privacy.columns] == half_widths(connection, [both])


def test_rows_of_each_filter_are_a_family_of_their_own(connection: Connection) -> None:
    old = [sql.replace("people", "people WHERE age > 50") for sql in CHARTS[:3]]
    _, batch = connection.batch([*CHARTS[:3], *old, "SELECT sum(age) FROM people WHERE sex = 1"])
    assert [note.split(" statements")[0] for note in batch.notes] == ["3", "3"]


def test_no_plan_of_a_batch_is_forgotten_before_it_is_read(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read of a forgotten one was charged again, on its own, beyond what the batch cost.

    A session remembered 64 plans, and a batch of 66 filters has as many of its own.
    """
    monkeypatch.setattr("dpsql.session.context.MAX_DASHBOARDS", 1)
    old = [sql.replace("people", "people WHERE age > 50") for sql in CHARTS[:3]]
    _, batch = connection.batch([*CHARTS[:3], *old])
    assert len(batch.notes) == 2
    with recorded_ledger(connection.schema) as ledger:
        charges = [one.event for one in ledger.history() if isinstance(one.event, Charged)]
    assert [one.loss for one in charges] == [batch.loss]


def test_explain_tells_it_and_a_cap_refuses_it_before_anything_is_charged(
    connection: Connection,
) -> None:
    planned, alone = connection.explain_batch([*CHARTS, "SELECT avg(age) FROM people"])
    assert "7 statements are planned as one" in str(planned)
    assert "by sex, region: n within ±" in str(planned)
    assert "planned as one" not in str(alone)
    connection.execute("SET dpsql.max_cost = 0.3")
    with pytest.raises(OverTarget, match=r"together, above dpsql\.max_cost") as refused:
        connection.batch(CHARTS)
    assert connection.budget.dataset.epsilon_spent == 0
    cheaper, _ = refused.value.hint.split(", or ")
    connection.execute(cheaper)
    assert 0.29 < connection.batch(CHARTS)[1].epsilon <= 0.3
