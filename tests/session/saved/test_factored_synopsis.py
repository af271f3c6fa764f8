"""CREATE SYNOPSIS of more combinations than are listed: what is kept, and how it is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.dbapi.connection import Connection
from dpsql.errors import LedgerFault, Refused, TooComplex
from dpsql.release.synopsis.cell_partition import Partition
from dpsql.release.synopsis.margin_error import SYNOPSIS_NOISE, MeasuredNoise
from dpsql.session.saved.synopsis_law import SynopsisLaw
from dpsql.session.saved.table_law import decode_table_law, encode_table_law
from dpsql.session.session import Session

SCHEMA = """
dataset: shop
source: shop.duckdb
units: {buyer: {table: buyers, key: buyer_id}}
tables:
  buyers:
    key: buyer_id
    unit: buyer
    columns:
      buyer_id: {type: bigint}
      region: {type: varchar, values: [n, s, w]}
      born: {type: integer, bounds: [1930, 2009], nullable: false}
      joined: {type: date, bounds: [2020-01-01, 2023-12-31], nullable: false}
      plan: {type: varchar, values: [a, b, c, d], nullable: false}
      visits: {type: integer, bounds: [0, 20], nullable: false}
  plans:
    public: true
    key: plan
    columns: {plan: {type: varchar}, price: {type: integer}}
budget: {epsilon: 50, delta: 1.0e-6, accounting: zcdp}
per_query: {epsilon: 1, max_epsilon: 20}
"""

KEYS = "region, born, date_trunc('month', joined) AS joined_in, year(joined) AS y, plan, visits"
MADE = f"CREATE SYNOPSIS shop ON SELECT {KEYS} FROM buyers WITH (epsilon = 20, rounds = 12)"
COMBINATIONS = 4 * 80 * 48 * 4 * 21


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("shop")
    with attached(home / "shop.duckdb") as source:
        source.execute(
            "CREATE TABLE buyers AS SELECT i AS buyer_id,"
            " CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN 's' WHEN 2 THEN 'w' ELSE 'n' END AS region,"
            " (1930 + i * 7 % 80)::INTEGER AS born, DATE '2020-01-01' + (i * i % 1461)::INTEGER AS"
            " joined, ['a', 'b', 'c', 'd'][1 + i % 7 % 4] AS plan, (i % 21)::INTEGER AS visits"
            " FROM range(6000) AS t(i)"
        )
        source.execute(
            "CREATE TABLE plans AS SELECT * FROM (VALUES ('a', 5), ('b', 7)) t(plan, price)"
        )
    (home / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return home


@pytest.fixture(scope="module")
def connection(home: Path) -> Iterator[Connection]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSQL_STATE", str(home / "state"))
        session = Session(
            home / "schema.yaml", analyst="alice", randomness=SeededRandomness("shop")
        )
        with Connection(session) as found:
            found.execute(MADE)
            yield found


def rows(connection: Connection, sql: str) -> list[tuple[Any, ...]]:
    return list(connection.execute(sql).fetchall())


def test_it_is_paid_once_and_its_margins_are_near_the_rows(connection: Connection) -> None:
    before = connection.budget.dataset.epsilon_spent
    (told,) = rows(connection, "SELECT sum(count) FROM shop")
    assert told[0] == pytest.approx(6000, abs=10)
    by_plan = rows(
        connection,
        "SELECT region, plan, sum(count) FROM shop GROUP BY ALL ORDER BY 1 NULLS LAST, 2",
    )
    assert len(by_plan) == 16
    exact = {("n", "d"): 857, ("s", "b"): 858, ("w", "c"): 857, (None, "a"): 858}
    for region, plan, count in by_plan:
        if (region, plan) in exact:
            assert count == pytest.approx(exact[region, plan], abs=40)
    assert connection.budget.dataset.epsilon_spent == before


def test_margins_add_up_whichever_keys_a_statement_names(connection: Connection) -> None:
    (of_sum,) = rows(connection, "SELECT sum(count) FILTER (plan = 'a') FROM shop")
    (of_rows,) = rows(connection, "SELECT sum(count) FROM shop WHERE plan = 'a'")
    (of_case,) = rows(connection, "SELECT sum(CASE plan WHEN 'a' THEN count ELSE 0 END) FROM shop")
    (of_groups,) = rows(
        connection,
        "SELECT sum(n) FROM (SELECT plan, region, sum(count) AS n FROM shop GROUP BY ALL)"
        " WHERE plan = 'a'",
    )
    assert of_sum == of_rows == of_case
    assert of_groups[0] == pytest.approx(of_sum[0], abs=0.5)


def test_keys_of_one_column_are_read_alone_and_together(connection: Connection) -> None:
    years = rows(connection, "SELECT y, sum(count) FROM shop GROUP BY y ORDER BY y")
    months = rows(connection, "SELECT y, joined_in, sum(count) FROM shop GROUP BY ALL ORDER BY ALL")
    assert [year for year, _ in years] == [2020, 2021, 2022, 2023]
    assert len(months) == 48
    assert sum(n for _, _, n in months[:12]) == pytest.approx(years[0][1])


def test_what_is_linear_in_counts_is_read_and_anything_stands_above(
    connection: Connection,
) -> None:
    (mean,) = rows(connection, "SELECT sum(count * visits) / sum(count) FROM shop")
    (other,) = rows(connection, "SELECT sum(visits * (2 * count)) / sum(count + count) FROM shop")
    assert mean[0] == pytest.approx(10, abs=1)
    assert other[0] == pytest.approx(mean[0])
    (largest,) = rows(
        connection,
        "SELECT max(n) FROM (SELECT s.plan AS p, sum(s.count / 1) AS n FROM shop AS s"
        " WHERE born > 1950 AND region IS NOT NULL GROUP BY 1 HAVING sum(count) > 1) AS t",
    )
    assert largest[0] > 1000
    joined = rows(
        connection,
        "SELECT plan, n * price FROM (SELECT plan, sum(count) AS n FROM shop GROUP BY plan)"
        " JOIN plans USING (plan) ORDER BY 1",
    )
    assert [plan for plan, _ in joined] == ["a", "b"]
    plans = rows(connection, "SELECT DISTINCT plan FROM shop ORDER BY 1")
    assert plans == [("a",), ("b",), ("c",), ("d",)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM shop",
        "SELECT plan, count FROM shop",
        "SELECT count(*) FROM shop",
        "SELECT max(count) FROM shop",
        "SELECT avg(count) FROM shop",
        "SELECT sum(DISTINCT count) FROM shop",
        "SELECT sum(1) FROM shop",
        "SELECT sum(visits) FROM shop",
        "SELECT sum(count + 1) FROM shop",
        "SELECT sum(count * count) FROM shop",
        "SELECT sum(visits / count) FROM shop",
        "SELECT sum(round(count)) FROM shop",
        "SELECT sum(CAST(count AS INTEGER)) FROM shop",
        "SELECT sum(CASE WHEN count > 0 THEN count END) FROM shop",
        "SELECT sum(count) FROM shop WHERE count > 0",
        "SELECT sum(count) FILTER (count > 0) FROM shop",
        "SELECT count > 1, sum(count) FROM shop GROUP BY 1",
        "SELECT sum(n) FROM (SELECT plan, count * count AS n FROM shop)",
        "SELECT sum(count) FROM shop JOIN plans USING (plan)",
        "SELECT sum(a.count * b.count) FROM shop a JOIN shop b USING (plan)",
        "SELECT sum(count) OVER (PARTITION BY plan) FROM shop",
        "SELECT count FROM shop UNION ALL SELECT price FROM plans",
        "SELECT sum(count) FROM (SELECT count FROM shop ORDER BY count LIMIT 5)",
        "SELECT price FROM plans WHERE price > (SELECT count FROM shop)",
        "SELECT price FROM plans WHERE plan IN (SELECT plan FROM shop)",
        "SELECT count(*) FROM buyers JOIN shop USING (plan)",
    ],
)
def test_rows_that_depend_on_the_keys_that_are_named_are_refused(
    connection: Connection, sql: str
) -> None:
    spent = connection.budget.dataset.epsilon_spent
    with pytest.raises(Refused, match="margins"):
        connection.execute(sql)
    assert connection.budget.dataset.epsilon_spent == spent


def test_of_no_rows_the_columns_are_told(connection: Connection) -> None:
    found = connection.execute("SELECT * FROM shop LIMIT 0")
    assert found.fetchall() == []
    assert [column[0] for column in found.description or ()][-2:] == ["visits", "count"]


def test_the_hint_of_a_refusal_runs(connection: Connection) -> None:
    with pytest.raises(Refused) as refused:
        connection.execute("SELECT * FROM shop")
    hint = str(refused.value.hint)
    statement = hint.removeprefix("write ").partition(", with conditions")[0]
    assert len(rows(connection, statement)) == 48


def test_too_many_keys_at_once_are_refused_by_their_sizes(connection: Connection) -> None:
    with pytest.raises(TooComplex, match=r"joined_in, born, plan, visits of shop have 48 x 80 x"):
        connection.execute(
            "SELECT plan, born, joined_in, visits, sum(count) FROM shop GROUP BY ALL"
        )


def test_sums_over_measured_margins_have_an_error_and_others_have_none(
    connection: Connection,
) -> None:
    def shown(sql: str) -> list[bool]:
        privacy = connection.execute(sql).privacy
        assert privacy is not None
        return [
            one is not None and one.mechanism == SYNOPSIS_NOISE for one in privacy.shown_columns
        ]

    assert shown("SELECT sum(count) FROM shop") == [True]
    assert shown("SELECT sum(count) / 2 FROM shop") == [False]
    assert shown("SELECT sum(count) FROM shop WHERE plan > 'a'") == [False]
    assert shown("SELECT born, joined_in, sum(count) FROM shop GROUP BY ALL") == [False] * 3


def test_what_is_explained_says_that_margins_are_kept(connection: Connection) -> None:
    told = "\n".join(line for (line,) in rows(connection, f"EXPLAIN PRIVACY {MADE}"))
    assert f"{COMBINATIONS:,} cells" in told
    assert "too many to list: margins are kept" in told
    read = rows(connection, "EXPLAIN PRIVACY SELECT plan, sum(count) FROM shop GROUP BY plan")
    assert ("cost: nothing, no private table is read",) in read


def test_another_session_reads_the_same_and_a_stored_synopsis_is_kept_again_for_nothing(
    connection: Connection, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSQL_STATE", str(home / "state"))
    sql = "SELECT region, y, sum(count) FROM shop GROUP BY ALL ORDER BY ALL"
    before = rows(connection, sql)
    with Connection(Session(home / "schema.yaml", analyst="alice")) as later:
        assert rows(later, sql) == before
        spent = later.budget.dataset.epsilon_spent
        later.execute(MADE.replace("SYNOPSIS shop", "SYNOPSIS again"))
        assert later.budget.dataset.epsilon_spent == spent
        assert rows(later, sql.replace("shop", "again")) == before
        later.execute("DROP SYNOPSIS again")


def test_margins_that_a_later_version_keeps_are_not_misread() -> None:
    law = SynopsisLaw(
        (("a",), ("b",)),
        {"count": ((Fraction(1), 0),)},
        (MeasuredNoise(((Partition((500, 300), (500, 300)), 4.0),), 1.96),),
        keeps_margins=True,
    )
    fields = json.loads(json.dumps(encode_table_law(law)))
    assert decode_table_law(fields) == law
    with pytest.raises(LedgerFault, match="isn't known here"):
        decode_table_law({**fields, "margins": 2})


def test_nobody_is_told_apart_from_no_table_at_all(connection: Connection) -> None:
    """Of no row there are the same margins to choose from, and nothing fails."""
    made = MADE.replace("SYNOPSIS shop", "SYNOPSIS nobody").replace(
        "buyers WITH (epsilon = 20", "buyers WHERE born > 2008 AND visits < 0 WITH (epsilon = 1"
    )
    connection.execute(made)
    (told,) = rows(connection, "SELECT sum(count) FROM nobody")
    assert told[0] < 300
    assert len(rows(connection, "SELECT plan, sum(count) FROM nobody GROUP BY plan")) == 4


def test_a_query_over_private_rows_reads_sums_of_it(connection: Connection) -> None:
    told = rows(
        connection,
        "SELECT plan, count(*) FROM buyers JOIN (SELECT plan, sum(count) AS n FROM shop GROUP BY"
        " plan) AS t USING (plan) WHERE n > 10 GROUP BY plan ORDER BY plan OPTIONS (epsilon = 1)",
    )
    assert len(told) == 4
