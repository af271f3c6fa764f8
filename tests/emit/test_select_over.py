from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.sql.clauses import select_over
from dpsql.emit.sql.identifier import column_ref, with_alias


def over(below: str) -> str:
    rows = parse_one(below, dialect="duckdb")
    assert isinstance(rows, exp.Select)
    return rendered(select_over(rows, [with_alias(column_ref("c1"), "c4")]))


@pytest.mark.parametrize(
    "rows",
    [
        "FROM (SELECT 1 AS c1, 2 AS c2) AS t",
        "FROM (SELECT 1 AS c1, 2 AS c2) AS t WHERE c2 > 7",
        "FROM (SELECT 1 AS c1) AS t0 JOIN (SELECT 2 AS c2) AS t1 ON c1 = c2 WHERE c2 > 7",
    ],
)
def test_a_select_that_hands_columns_on_leaves_its_rows_to_the_next(rows: str) -> None:
    assert over(f"SELECT c1, c2 {rows}") == f"SELECT c1 AS c4 {rows}"


@pytest.mark.parametrize(
    "below",
    [
        "SELECT c3 AS c1 FROM t WHERE c2 > 7",
        "SELECT t.c1 FROM t",
        "SELECT c1 + 1 AS c1 FROM t",
        "SELECT * FROM t",
        "SELECT DISTINCT c1 FROM t",
        "SELECT c1 FROM t GROUP BY c1",
        "SELECT c1 FROM t HAVING c1 > 7",
        "SELECT c1 FROM t QUALIFY row_number() OVER (ORDER BY c1) <= 2",
        "SELECT c1 FROM t ORDER BY c1 LIMIT 2",
        "SELECT c1 FROM t OFFSET 2",
        "WITH t AS (SELECT 1 AS c1) SELECT c1 FROM t",
    ],
)
def test_any_other_select_stays_what_it_is(below: str) -> None:
    text = over(below)
    assert text.startswith("SELECT c1 AS c4 FROM (")
    assert text.endswith(") AS t")
