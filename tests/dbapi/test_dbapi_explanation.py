"""What EXPLAIN PRIVACY says in each of its forms, and what it advises."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

import dpsql

SCHEMA = """\
dataset: clinic
source: nowhere
units:
  person: {table: people, key: id}
tables:
  people:
    unit: person
    columns:
      id: {type: bigint}
      age: {type: integer, bounds: [0, 120]}
      town: {type: varchar}
      sex: {type: varchar, values: [F, M]}
  visits:
    unit: {column: person, references: people.id}
    columns:
      person: {type: bigint}
      cost: {type: "decimal(8,2)", bounds: [0, 100]}
      ward: {type: integer, bounds: [1, 99]}
  "towns": {public: true, columns: {town: {type: varchar}}}
version: 1
budget: {epsilon: 3, delta: 1.0e-6}
per_query: {epsilon: 0.5}
"""
QUERY = """\
SELECT ward, sum(cost) AS cost, avg(cost) FROM visits WHERE cost < 50
GROUP BY ward ORDER BY ward"""


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[dpsql.Connection]:
    """There is no source: what is explained reads no row."""
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA)
    with dpsql.connect(path) as connection:
        yield connection


def test_the_text_has_the_proof_and_the_price(connection: dpsql.Connection) -> None:
    text = str(connection.explain(QUERY))
    for part in (
        "Scan(visits, unit=person)",
        "Units(count=1)",
        "rows_per_group = 8: the default",
        "cost in [0, 50], narrowed by the query",
        "95 % error ± ",
        "cost: epsilon = 0.49999",
        "delta = 5e-07 (rho = ",
        "at most 1.65 times (e^epsilon) likelier or less likely, up to delta = 5e-07",
    ):
        assert part in text
    assert "GROUP BY\n" not in text


def test_the_sql_that_is_run_is_shown_on_request(connection: dpsql.Connection) -> None:
    text = connection.explain(QUERY).text(sql=True)
    assert "what the engine runs" in text
    assert 'FROM "visits" AS t' in text
    assert "FROM release_0" in text
    rows = connection.execute(f"EXPLAIN PRIVACY (SQL) {QUERY}").fetchall()
    assert "\n".join(str(row[0]) for row in rows) == text


def test_json_has_all_of_it(connection: dpsql.Connection) -> None:
    found = json.loads(connection.explain(QUERY).json())
    (release,) = found["releases"]
    assert release["operators"][0]["depth"] == 0
    assert {"operator", "distance"} < set(release["operators"][0])
    assert [column["name"] for column in release["noise"]] == ["sum(cost)", "avg(cost)"]
    assert found["price"]["odds"] == pytest.approx(1.6487, rel=1e-3)
    assert "SELECT" in release["sql"]
    ((value,),) = connection.execute(f"EXPLAIN PRIVACY (FORMAT json) {QUERY}").fetchall()
    assert json.loads(str(value)) == found


ALLOWED = {"div", "style", "table", "tr", "td", "h4", "small", "ul", "li", "br", "pre"}
ALLOWED |= {"details", "summary"}


class Tags(HTMLParser):
    """Elements that are open, and all names that were seen."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.seen.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_escaped(connection: dpsql.Connection) -> None:
    sql = "SELECT count(*) AS \"<script>alert(1)</script>\", sum(age) FROM people WHERE sex = '<b>'"
    found = connection.explain(sql)
    page = found.html()
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.seen <= ALLOWED
    assert "&lt;b&gt;" in page
    assert found._repr_html_() == page


def test_what_reads_nothing_private_costs_nothing(connection: dpsql.Connection) -> None:
    found = connection.explain("SELECT 1")
    assert "cost: nothing, no private table is read" in str(found)
    assert "odds" not in str(found)
    assert json.loads(found.json())["price"] is None


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT count(*) FROM people", "declare key: id of people"),
        (QUERY, "declare limits: {groups: …} of visits: 8 is the default"),
        (QUERY, "declare limits: {rows_per_group: …} of visits: 8 is the default"),
        (QUERY, "narrow cost by WHERE, or its declared bounds"),
        (QUERY, "leave out aggregates that aren't needed"),
        ("SELECT town, count(*) FROM people GROUP BY town", "declare values, or bounds, of town"),
    ],
)
def test_what_would_make_it_cheaper_is_said(
    connection: dpsql.Connection, sql: str, hint: str
) -> None:
    assert hint in str(connection.explain(sql))


def test_what_is_well_declared_has_no_advice(tmp_path: Path) -> None:
    text = SCHEMA.replace("    unit: person\n", "    unit: person\n    key: id\n")
    path = tmp_path / "keyed.yaml"
    path.write_text(text)
    with dpsql.connect(path) as keyed:
        advice = keyed.explain("SELECT sex, count(*) FROM people GROUP BY sex").report.advice
    assert advice == (
        "run dpsql check: keys that are verified need not be enforced, which takes time",
    )
