"""δ lasts as long as ε does, unless a schema states what a query may spend of it."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached

from dpsql.errors import BadParameter
from dpsql.report.budget import enough, read_budget
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema
from dpsql.session.compile.loss_conversion import ledger_terms, query_loss
from dpsql.session.options import DEFAULT_OPTIONS
from dpsql.session.session import Session
from dpsql.structs import replace

HEAD = """
dataset: people
source: people.duckdb
tables:
  people: {unit: row, columns: {name: {type: varchar}}}
"""


def schema(folder: Path, accounting: str, per_query: str, delta: str = "1.0e-6") -> Schema:
    path = folder / "schema.yaml"
    budget = f"budget: {{epsilon: 10, delta: {delta}, accounting: {accounting}}}"
    path.write_text(f"{HEAD}{budget}\nper_query: {{epsilon: 0.2{per_query}}}\n")
    return load_schema(path)


@pytest.mark.parametrize("accounting", ["zcdp", "gdp", "approx"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(1, 1000), Fraction(1)])
def test_a_delta_that_isnt_stated_is_spent_as_fast_as_epsilon(
    tmp_path: Path, accounting: str, epsilon: Fraction
) -> None:
    found = schema(tmp_path, accounting, "")
    loss, cap = query_loss(found, epsilon), ledger_terms(found).cap
    queries = int(cap.amount / loss.amount)
    assert queries * loss.delta <= cap.delta
    assert (queries + 1) * loss.delta > cap.delta * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize("accounting", ["zcdp", "gdp", "approx"])
def test_a_query_of_all_epsilon_has_a_tenth_of_delta(tmp_path: Path, accounting: str) -> None:
    assert query_loss(schema(tmp_path, accounting, ""), Fraction(10)).delta == Fraction(1, 10**7)


@pytest.mark.parametrize(("accounting", "queries"), [("zcdp", 1341), ("approx", 50)])
def test_what_is_left_says_for_how_many_there_is_delta(
    tmp_path: Path, accounting: str, queries: int
) -> None:
    stated = schema(tmp_path, accounting, ", delta: 2.5e-7")
    assert query_loss(stated, Fraction(1, 1000)).delta == Fraction(1, 4 * 10**6)
    budget = read_budget(stated, "ann", stated.per_query.epsilon)
    few = 2 if accounting == "zcdp" else 4
    assert (budget.queries_left, budget.queries_with_delta_left) == (queries, few)
    assert f"enough for {queries} queries at epsilon = 0.2, {few} of them with a delta" in enough(
        budget
    )
    shared = schema(tmp_path, accounting, "")
    budget = read_budget(shared, "ann", shared.per_query.epsilon)
    assert budget.queries_left == budget.queries_with_delta_left == queries
    assert "delta" not in enough(budget)


@pytest.mark.parametrize("accounting", ["zcdp", "gdp", "approx"])
def test_a_share_of_delta_that_no_ledger_counts_is_told_before_it_is_charged(
    tmp_path: Path, accounting: str
) -> None:
    with attached(tmp_path / "people.duckdb") as source:
        source.execute("CREATE TABLE people AS SELECT 'a' AS name FROM range(9)")
    schema(tmp_path, accounting, "", delta="1.0e-17")
    by_name = "SELECT name, count(*) AS n FROM people GROUP BY name"
    several = " UNION ALL ".join(f"{by_name} HAVING count(*) > {n}" for n in range(3))
    filtered = " UNION ALL ".join(
        f"SELECT name, count(*) AS n FROM people WHERE name <> '{n}' GROUP BY name"
        for n in range(30)
    )
    with closing(Session(tmp_path / "schema.yaml")) as session:
        assert session.compile(several).loss
        few = replace(DEFAULT_OPTIONS, epsilon=Fraction(1, 10**6))
        for ask in (session.compile, session.explain, session.query):
            with pytest.raises(BadParameter, match=r"share of delta .* below .* counted") as told:
                ask(filtered, few)
            assert "a higher epsilon" in told.value.hint
