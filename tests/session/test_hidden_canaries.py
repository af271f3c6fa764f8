"""No name, bound, constant or comment of a hidden table or view reaches an analyst.

Each is a word with `zq` in it, or a number that stands nowhere else: all that analysts can read is
searched for them, for statements that explain, answer, fail and list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from data.database import attached
from neighbor_search.share import in_turn

from dpsql.console import schema_listing
from dpsql.dbapi.connect import connect
from dpsql.dbapi.connection import Connection
from dpsql.errors import Error
from dpsql.report.explanation.explanation import Explanation
from dpsql.session.dataset import load_dataset

SCHEMA = """\
dataset: company
source: company.duckdb
units: {person: {table: zqpeople, key: zqid}}
tables:
  zqpeople:
    key: zqid
    unit: person
    visible: false
    comment: zqcomment of the table
    limits: {groups: 3, rows_per_group: 5}
    columns:
      zqid: {type: bigint}
      zqpay: {type: integer, bounds: [-77001, 77005], comment: zqcomment of pay}
      zqdept: {type: varchar, values: [zqred, zqblue]}
      zqcity: {type: varchar}
      zqopen: {type: double}
      zqheard: {type: boolean, nullable: false, randomized_response: {epsilon: 0.77029}}
  zqplaces:
    public: true
    visible: false
    columns: {zqcode: {type: varchar}, zqname: {type: varchar}}
  visits:
    unit: {column: person, references: zqpeople.zqid}
    columns:
      person: {type: bigint}
      cost: {type: integer, bounds: [0, 40]}
views:
  zqinner: {visible: false, query: "SELECT zqid, zqpay AS zqwage FROM zqpeople WHERE zqpay < 77007"}
  workers:
    query: >-
      SELECT zqid AS id, zqpay AS pay, CASE WHEN zqdept = 'zqred' THEN 'r' ELSE 'b' END AS dept
      FROM zqpeople WHERE zqpay > -77011
    columns: {pay: {bounds: [10, 500]}}
  totals:
    query: >-
      SELECT count(*) AS n, avg(zqpay) AS mean, sum(zqpay - 77013) AS total,
      median(zqpay) AS middle, var_pop(zqpay) AS spread, count(DISTINCT zqdept) AS depts,
      sum(zqpay) / 77031 AS share FROM zqpeople WHERE zqpay <> 77017
  groups:
    query: >-
      SELECT CASE zqdept WHEN 'zqred' THEN 'r' ELSE 'b' END AS dept, count(*) AS n,
      corr(zqpay, zqpay + zqid % 77) AS together, max(zqpay) FILTER (WHERE zqid > -77019) AS most
      FROM zqpeople GROUP BY ALL HAVING count(*) > -77023
  cities: {query: "SELECT length(zqcity) AS letters, avg(zqpay) AS pay FROM zqpeople GROUP BY 1"}
  cube:
    query: >-
      SELECT zqdept = 'zqred' AS red, zqpay > -77021 AS rich, count(*) AS n, avg(zqpay) AS pay
      FROM zqpeople GROUP BY CUBE (1, 2)
  inside: {query: "SELECT count(*) AS n, avg(zqwage) AS pay FROM zqinner"}
  again: {query: "SELECT max(n) AS n FROM groups"}
  placed:
    query: >-
      SELECT zqname || 'zqtext' <> '' AS named, count(*) AS n FROM zqpeople
      JOIN zqplaces ON zqcity = zqcode GROUP BY 1
  unbounded: {query: "SELECT sum(zqopen) AS s FROM zqpeople"}
  heard: {query: "SELECT zqheard AS yes, count(*) AS n FROM zqpeople GROUP BY 1"}
budget: {epsilon: 64, delta: 1e-6}
per_query: {epsilon: 0.3, max_epsilon: 3}
"""

VIEWS = ["totals", "groups", "cities", "cube", "inside", "again", "placed", "unbounded", "heard"]

STATEMENTS = [
    *(f"SELECT * FROM {view}" for view in VIEWS),
    *(f"SELECT count(*) FROM {view}" for view in VIEWS),
    *(f"SELECT nothing FROM {view}" for view in VIEWS),
    *(f"SELECT v.* FROM {view} v JOIN visits ON cost = 1" for view in VIEWS),
    *(f"CREATE RELEASE kept_{view} AS SELECT * FROM {view}" for view in VIEWS),
    "SELECT * FROM workers",
    "SELECT avg(pay), sum(pay), median(pay), count(DISTINCT dept) FROM workers",
    "SELECT dept, avg(pay) FROM workers GROUP BY dept",
    "SELECT dept, pay > 100, count(*) FROM workers GROUP BY CUBE (1, 2)",
    "SELECT id, count(*) FROM workers GROUP BY id",
    "SELECT zqpay FROM workers",
    "SELECT count(*) FROM workers w JOIN visits v ON w.id = v.person",
    "SELECT w.dept, avg(v.cost) FROM workers w JOIN visits v ON w.id = v.person GROUP BY 1",
    "SELECT count(*) FROM visits",
    "SELECT count(*) FROM workers WHERE pay > (SELECT mean FROM totals)",
    "SELECT n, mean FROM totals UNION ALL SELECT n, together FROM groups",
    "SELECT sum(n) OVER (), dept FROM groups ORDER BY n LIMIT 3",
    "SUGGEST BOUNDS pay FROM workers",
    "CALIBRATE workers MEASURE pay FOR 0.3",
    "CALIBRATE workers MEASURE pay BY dept FOR 0.3",
    "CALIBRATE workers MEASURE zqpay FOR 0.3",
    "CALIBRATE visits BY cost ALONG zqpeople FOR 0.3",
    "CALIBRATE totals FOR 0.3",
    "SELECT * FROM ladder_workers",
    "DECIDE AMONG pay AS a, id AS b FROM workers BY dept",
    "DECIDE AMONG mean AS a, 1 AS b FROM totals BY mean",
    "ALERT WHEN sum(pay) > 5 FROM workers BY dept",
    "ALERT WHEN count(mean) > 1 FROM totals BY mean",
    "CREATE ALERT low WHEN sum(pay) > 5 FROM workers BY dept WITH (epsilon = 0.1)",
    "CHECK ALERT low",
    "SUGGEST BOUNDS mean FROM totals",
    "SUGGEST BOUNDS yes FROM heard",
    "CREATE SYNOPSIS s AS SELECT dept, count(*) FROM workers GROUP BY dept",
    "SELECT sum(x.cost), (SELECT count(*) FROM cities) FROM visits x",
    "CREATE DASHBOARD s AS (SELECT dept, count(*) FROM workers GROUP BY 1) WITH (epsilon = 0.1)",
    "CREATE DASHBOARD s AS (SELECT count(*) FROM heard; SELECT sum(mean) FROM totals)",
    "CREATE DASHBOARD s AS (SELECT sum(mean) FROM totals) WITH (epsilon = 0.1)",
]

SETTINGS = [
    ("SET dpsql.consistent = on", "SET dpsql.nonnegative = on"),
    ("SET dpsql.min_units = 20",),
    ("SET dpsql.max_error = 9",),
    ("SET dpsql.reuse = on",),
]

_ENDS = "|".join(sorted(set(re.findall(r"\b77(0\d\d)\b", SCHEMA))))
NUMBERS = re.compile(rf"(?<![\d.])77[,_]?(?:{_ENDS})(?!\d)|0\.77029")
"""Noise may be such a number, too: what is searched has some hundred of five digits at most."""

DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
"""The hash in a receipt, whose 64 digits have such a number in one of a thousand."""


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("company")
    with attached(folder / "company.duckdb") as made:
        made.execute(
            "CREATE TABLE zqpeople AS SELECT i::BIGINT AS zqid, (20 + i % 50)::INT AS zqpay,"
            " CASE WHEN i % 2 = 0 THEN 'zqred' ELSE 'zqblue' END AS zqdept, 'zqtown' AS zqcity,"
            " 1.5::DOUBLE AS zqopen, i % 3 = 0 AS zqheard FROM range(900) t(i);"
            "CREATE TABLE zqplaces AS SELECT 'zqtown' AS zqcode, 'zqhall' AS zqname;"
            "CREATE TABLE visits AS SELECT i::BIGINT AS person, 3::INT AS cost FROM range(900) t(i)"
        )
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return folder / "schema.yaml"


def canaries(text: str, statement: str = "") -> list[str]:
    """The lines that have one which the analyst didn't write."""
    words = set(re.findall(r"\w*zq\w*", statement.lower()))
    return [
        line
        for line in text.splitlines()
        if NUMBERS.search(DIGEST.sub("", line))
        or set(re.findall(r"\w*zq\w*", line.lower())) - words
    ]


def told(connection: Connection, sql: str) -> Iterator[str]:
    """All that is said of `sql`: errors with their hints, how it is made, names and notes."""
    try:
        cursor = connection.execute(sql)
        yield repr(cursor.description)
        if cursor.privacy is not None:
            yield repr(cursor.privacy)
        # A noisy mean of an empty group is an end of its bounds: that is an answer, not a text.
        yield NUMBERS.sub("", f"{cursor._repr_html_() or ''}\n{cursor.fetchall()}")
    except Error as error:
        yield f"{error!s}\n{error.detail}\n{error.hint}"
    for options in ("", "(FORMAT json)", "(FORMAT html)", "(SQL)"):
        try:
            yield "\n".join(
                str(row) for row in connection.execute(f"EXPLAIN PRIVACY {options} {sql}")
            )
        except Error as error:
            yield f"{error!s}\n{error.detail}\n{error.hint}"
    try:
        found = connection.explain(sql)
    except Error as error:
        yield f"{error!s}\n{error.detail}\n{error.hint}"
    else:
        assert isinstance(found, Explanation)
        yield "\n".join((found.text(sql=True), found.json(), found.html()))


ASKED = [
    ("none", (), STATEMENTS[::2]),
    ("none, others", (), STATEMENTS[1::2]),
    *((" ".join(chosen), chosen, STATEMENTS[: len(VIEWS)]) for chosen in SETTINGS),
]
"""What is asked under which settings: under none all statements, in two turns."""


@pytest.mark.parametrize(
    ("settings", "statements"),
    in_turn(((name, (settings, asked)) for name, settings, asked in ASKED), 2),
)
def test_nothing_hidden_is_told(
    company: Path, settings: tuple[str, ...], statements: list[str]
) -> None:
    wrong: list[str] = []
    with connect(company) as connection:
        for setting in settings:
            connection.execute(setting)
        for sql in statements:
            # Asked again, it is free, and says so.
            for _ in range(1 + ("(" not in sql)):
                for text in told(connection, sql):
                    wrong += [f"{sql}: {line[:300]}" for line in canaries(text, sql)]
    assert not wrong, "\n".join(dict.fromkeys(wrong))


def test_views_that_hide_are_answered(company: Path) -> None:
    """Nothing is hidden by refusing it."""
    with connect(company) as connection:
        for view in VIEWS:
            if view != "unbounded":
                assert connection.execute(f"SELECT * FROM {view}").description
                found = connection.explain(f"SELECT * FROM {view}").text(sql=True)
                assert f"View({view}" in found


def test_no_listing_names_what_is_hidden(company: Path) -> None:
    schema = load_dataset(company)
    names = [
        schema_listing.tables(schema),
        *(schema_listing.columns(schema, name) for name in schema.visible_tables),
    ]
    assert not [line for text in names for line in canaries(str(text)) if True]
