"""Budgets that are refreshed: each period's rows, and nothing of any other's."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.cli.ledger import amend
from dpsql.errors import BudgetSpent, LedgerFault, SchemaFault
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.shared_dataset import Dataset
from dpsql.schema.load.load import load_schema
from dpsql.schema.refresh_period import period_of
from dpsql.schema.refresh_schedule import RefreshInterval
from dpsql.session.session import Session
from dpsql.structs import replace

SCHEMA = """\
dataset: clicks
source: clicks.duckdb
tables:
  clicks:
    unit: row
    time: seen
    columns:
      seen: {type: timestamp, bounds: ["2024-01-01", "2026-12-31"]}
      page: {type: varchar, values: [home, shop]}
      seconds: {type: integer, bounds: [0, 100]}
  pages: {public: true, columns: {page: {type: varchar}, title: {type: varchar}}}
budget: {epsilon: 1, accounting: pure, refresh: month}
"""

MAY, JUNE = dt.date(2026, 5, 20), dt.date(2026, 6, 1)

QUERIES = [
    "SELECT page, count(*) AS n, sum(seconds) AS s FROM clicks GROUP BY page",
    "SELECT count(*) FROM (SELECT page FROM clicks c JOIN pages USING (page)) t",
    "WITH c AS (SELECT * FROM clicks) SELECT sum(seconds), avg(seconds) FROM c WHERE seconds > 1",
    "SELECT median(seconds), max(seen) FROM clicks",
    "SELECT count(*) FROM clicks WHERE seconds > (SELECT avg(seconds) FROM clicks)",
    "SELECT date_trunc('day', seen) AS day, count(*) FROM clicks GROUP BY ALL",
    "SELECT title, count(seen) FROM pages p LEFT JOIN clicks c ON p.page = c.page GROUP BY title",
    "SUGGEST BOUNDS seconds FROM clicks",
]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    write(tmp_path, outside=0)
    return path


def write(folder: Path, outside: int) -> None:
    """200 clicks in May 2026, and `outside` of it so many at its edges and without a time."""
    (folder / "clicks.duckdb").unlink(missing_ok=True)
    with attached(folder / "clicks.duckdb") as connection:
        connection.execute("CREATE TABLE clicks (seen TIMESTAMP, page VARCHAR, seconds INTEGER)")
        connection.execute("CREATE TABLE pages AS SELECT 'home' AS page, 'Home' AS title")
        connection.execute(
            "INSERT INTO clicks SELECT TIMESTAMP '2026-05-01' + INTERVAL (i * 3) HOUR,"
            " CASE WHEN i % 2 = 0 THEN 'home' ELSE 'shop' END, i % 60 FROM range(200) r(i)"
        )
        connection.execute(
            "INSERT INTO clicks SELECT t.* FROM (VALUES (TIMESTAMP '2026-04-30 23:59:59.999999',"
            " 'home', 100), ('2026-06-01 00:00:00', 'shop', 100), (NULL, 'shop', 100)) t,"
            f" range({outside})"
        )


def session(path: Path, day: dt.date, seed: str = "refresh") -> Session:
    return Session(load_schema(path, today=day), epsilon="0.5", randomness=SeededRandomness(seed))


@pytest.mark.parametrize("sql", QUERIES)
def test_rows_of_other_periods_change_nothing(path: Path, tmp_path: Path, sql: str) -> None:
    answers = []
    for outside in (0, 50):
        write(tmp_path, outside)
        if outside:
            (tmp_path / "state").rename(tmp_path / "before")
        found = session(path, MAY)
        answers.append(found.query(sql).table)
        found.close()
    assert answers[0].equals(answers[1])


def test_each_period_has_a_budget_of_its_own(path: Path) -> None:
    for day in (MAY, JUNE):
        found = session(path, day)
        for lowest in (1, 2):
            found.query(f"SELECT count(*) FROM clicks WHERE seconds > {lowest}")
        with pytest.raises(BudgetSpent):
            found.query("SELECT count(*) FROM clicks WHERE seconds > 3")
        found.close()


def test_a_clock_that_is_set_back_finds_the_old_periods_budget(path: Path) -> None:
    for day in (MAY, JUNE):
        found = session(path, day)
        found.query("SELECT count(*) FROM clicks")
        found.query("SELECT sum(seconds) FROM clicks")
        found.close()
    found = session(path, MAY)
    with pytest.raises(BudgetSpent):
        found.query("SELECT count(*) FROM clicks WHERE seconds > 9")
    found.close()


def test_a_looser_schema_needs_the_owner_in_the_next_period_too(path: Path) -> None:
    session(path, MAY).query("SELECT count(*) FROM clicks")
    path.write_text(SCHEMA.replace("epsilon: 1,", "epsilon: 2,"), encoding="utf-8")
    with pytest.raises(LedgerFault, match=r"budget.epsilon was 1, now 2|stricter terms"):
        session(path, JUNE).query("SELECT count(*) FROM clicks")
    amend(path, "more is needed")
    session(path, JUNE).query("SELECT count(*) FROM clicks")


def test_a_dataset_that_was_charged_is_not_refreshed_afterwards(path: Path) -> None:
    plain = SCHEMA.replace(", refresh: month", "").replace("    time: seen\n", "")
    path.write_text(plain, encoding="utf-8")
    session(path, MAY).query("SELECT count(*) FROM clicks")
    path.write_text(SCHEMA, encoding="utf-8")
    amend(path, "monthly")
    with pytest.raises(LedgerFault, match="was charged before its budget was refreshed"):
        session(path, MAY).query("SELECT count(*) FROM clicks")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("    time: seen\n", "", "doesn't say when its rows are from"),
        ("time: seen", "time: when", "no such column"),
        ("time: seen", "time: page", "neither a date nor a timestamp"),
        ("unit: row", "unit: person", "add up"),
        (", refresh: month", "", "remove it, or add refresh"),
        ("refresh: month", "refresh: hourly", "is not one of its values"),
        ("source:", "neighbors: change_one\nsource:", "may lie in two periods"),
        ("source:", "group_size: 2\nsource:", "may lie in two periods"),
    ],
)
def test_what_cannot_be_refreshed_is_refused(path: Path, old: str, new: str, says: str) -> None:
    text = SCHEMA.replace(old, new)
    if "person" in new:
        text = text.replace("tables:", "units: {person: {table: clicks, key: page}}\ntables:")
        text = text.replace("unit: person", "key: page\n    unit: person")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SchemaFault, match=says):
        load_schema(path)


def test_periods_meet_without_gap_or_overlap() -> None:
    for every in RefreshInterval:
        day = dt.date(2023, 12, 28)
        while day < dt.date(2025, 3, 2):
            found, after = period_of(every, day), period_of(every, day + dt.timedelta(days=1))
            assert found.first <= day < found.after
            assert after == found or after.first == found.after
            assert (after.name == found.name) == (after == found)
            day += dt.timedelta(days=1)


def test_a_server_goes_on_to_the_next_period(path: Path) -> None:
    dataset = Dataset(path, Limits(workers=1, catalog_workers=1))
    try:
        now = dataset.snapshot().schema
        assert now.period is not None
        before = period_of(now.period.interval, now.period.first - dt.timedelta(days=1))
        dataset.snapshot().schema = replace(now, period=before)
        assert dataset.snapshot().schema.period == now.period
        kept = dataset.snapshot()
        assert dataset.snapshot() is kept
    finally:
        dataset.close()
