"""Engine SQL is, letter for letter, what sqlglot's generator would write of the same tree."""

from __future__ import annotations

import pytest
import sqlglot
from differential import world
from differential.exact_answer import prepared
from differential.statement import noted
from neighbor_search.share import values_in_turn
from sqlglot import exp

from dpsql.emit.dialect.duckdb.lower import lowered
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.nodes import integer, with_unit_total
from dpsql.emit.dialect.scaled_units import scaled_units
from dpsql.emit.relation.relation import emit_plan
from dpsql.emit.sql.identifier import with_alias
from dpsql.errors import Error
from dpsql.plan.operator import PublicStatement

TURNS = 4


@pytest.mark.parametrize("turn", values_in_turn(range(TURNS), TURNS))
def test_every_note_is_rendered_as_the_generator_does(turn: int) -> None:
    """The trees above and below each release, and what is parsed of the whole text again."""
    compared = 0
    for statement in noted()[turn::TURNS]:
        if statement.schema not in ("clinic", "bi"):
            continue
        try:
            ready = prepared(statement.sql, world.generated(statement.schema))
        except Error:
            continue
        if isinstance(ready.plan, PublicStatement):
            continue  # an analyst's own text
        names = {release.release: release.name for release in ready.releases}
        plans = [ready.plan, *(r.step.bounded.contributions.source for r in ready.releases)]
        trees: list[exp.Expr] = [emit_plan(plan, names) for plan in plans]
        texts = [ready.postprocessing_sql, *(release.step.query.sql for release in ready.releases)]
        trees += [sqlglot.parse_one(text, dialect="duckdb") for text in texts if text]
        for tree in trees:
            assert rendered(tree) == lowered(tree).sql(dialect="duckdb"), statement.name
            compared += 1
    assert compared > 500 // TURNS


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT",
        "SELECT 1 AS a /* remark */ FROM t",
        'SELECT "select" AS "a""b", t."x\ny" FROM "t" AS t',
        "SELECT 'it''s', 'a\\b', 'a\nb', '' FROM t WHERE NOT a IS NULL AND b IS NOT NULL OR c",
        "SELECT a.b.c, - -1, x // 2 / 3 % 4, a || b FROM a LEFT JOIN b USING (x)",
        "SELECT DISTINCT a FROM t, u AS v CROSS JOIN w ON a = b WHERE a = ALL (SELECT 1) LIMIT 3",
        "SELECT CASE a WHEN 1 THEN 2 END, CAST(a AS DECIMAL(10, 2)[]), TRY_CAST(a AS UINTEGER)",
        "SELECT * FROM t FULL JOIN u ON a IS DISTINCT FROM b GROUP BY ROLLUP (a) HAVING a > 1",
        "SELECT * EXCLUDE (a), sum(a) FILTER (WHERE b), count(*) OVER () FROM t ORDER BY a DESC",
        "WITH a AS (SELECT 1) SELECT a <> b FROM a QUALIFY b UNION ALL SELECT 1",
        "WITH RECURSIVE a AS (SELECT 1 UNION SELECT 2), b(c) AS NOT MATERIALIZED (FROM a) FROM b",
        "SELECT * FROM ((SELECT 1 LIMIT 2) UNION BY NAME SELECT 2 UNION ALL SELECT 3 ORDER BY 1)",
        "SELECT DISTINCT ON (a) a FROM t ORDER BY a DESC NULLS FIRST, b ASC, c LIMIT 3 OFFSET 2",
        "SELECT a FROM t GROUP BY ALL HAVING a IN (1, 2) OR a IN (SELECT 1) ORDER BY ALL",
        "SELECT row_number() OVER (PARTITION BY a ORDER BY b NULLS FIRST, hash(c)), TRUE FROM t",
        "SELECT a & 7 = 0, (a >> 3) & 7, a & b & c, ((a - 1) & 3), CAST(a AS BLOB) & b FROM t",
        "SELECT a | 7 = 0, (a >> 3) | 7, a & b | c, ((a - 1) | 3), CAST(a AS BLOB) | b FROM t",
        "SELECT sum(a) OVER (ORDER BY b ROWS 1 PRECEDING), first(a IGNORE NULLS) OVER w FROM t",
        "SELECT list(a ORDER BY b), count(DISTINCT a), count(a, b) FROM c.s.t AS u WINDOW w AS ()",
        "SELECT 1 WHERE EXISTS (SELECT 1) AND NOT EXISTS (VALUES (1)) LIMIT 10 PERCENT",
    ],
)
def test_what_is_rare_is_left_to_the_generator(sql: str) -> None:
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    assert rendered(tree) == tree.sql(dialect="duckdb")


def test_a_neutral_query_within_another_is_rendered_as_what_it_becomes() -> None:
    groups = sqlglot.parse_one("SELECT u, g0, s0 FROM t", dialect="duckdb")
    running = sqlglot.parse_one("sum(s0) OVER (PARTITION BY u ORDER BY g0)", dialect="duckdb")
    assert isinstance(groups, exp.Query)
    counted = exp.column("s0")
    for query in (
        with_unit_total(groups, [exp.column("g0")], counted, 120),
        scaled_units(
            groups,
            ["g0"],
            [with_alias(exp.column("k"), "s0")],
            with_alias(integer(1), "k"),
            (counted, running),
            120,
        ),
    ):
        within = exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier("q")))
        tree = exp.select("g0").from_(within)
        assert rendered(tree) == lowered(tree).sql(dialect="duckdb")
