"""EXPLAIN PRIVACY and hints: what analysts are told before anything is spent."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from notes.blocks import Claim, claims
from notes.compiler import prepared

from dpsql.errors import Error
from dpsql.report.explanation.explanation import Explanation
from dpsql.schema.load.load import load_schema
from dpsql.session.session import Session

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
QUERIES = json.loads((FIXTURES / "tpch" / "queries.json").read_text(encoding="utf-8"))


def test_a_query_is_explained_without_its_data(tmp_path: Path) -> None:
    schema = load_schema(FIXTURES / "tpch" / "schema.yaml", source=tmp_path / "nowhere")
    session = Session(schema, epsilon=1)
    found = str(Explanation(session.explain(QUERIES["1"])))
    session.close()
    assert not list(tmp_path.rglob("*.db"))
    for line in (
        "LimitGroups(6, all there are; rows=120 in all)",
        "ClampPerGroup(rows_per_group=60)",
        "Scan(lineitem, unit=l_orderkey → orders.o_custkey)",
        "PerGroup(units=1, groups_per_unit=6)",
        "rows: 60 = 60 rows, each in [0, 1]",
        "l_quantity less 25.5: 1470 = 60 rows, each in [-24.5, 24.5]",
        "l_extendedprice in [900, 105000], declared in the schema",
        "cost: epsilon = ",
    ):
        assert line in found


REFUSED = [claim for claim in claims() if claim.about == "refused"]


@pytest.mark.parametrize("claim", REFUSED, ids=lambda claim: claim.name)
def test_a_refusal_says_where_and_what_to_write_instead(claim: Claim) -> None:
    with pytest.raises(Error) as caught:
        prepared(claim.sql, claim.schema, claim.verified)
    error = caught.value
    assert re.fullmatch(r"[0-9A-Z]{5}", error.sqlstate)
    assert error.at is not None
    assert 0 <= error.at.start < error.at.end <= len(claim.sql)
    synopsis = re.match(r"CREATE SYNOPSIS \w+ ON ", claim.sql)
    for query in re.findall(r"SELECT [^…]*$", error.hint):
        kept = f"{synopsis[0]}{query} WITH (epsilon = 1)" if synopsis else query
        prepared(kept, claim.schema, claim.verified)


@pytest.mark.parametrize(
    ("refused", "fixed"),
    [
        ("SELECT * FROM patients", "SELECT count(*) FROM patients"),
        (
            "SELECT sum(doctor_id) FROM visits",
            "SELECT sum(CASE WHEN doctor_id BETWEEN 0 AND 1000 THEN doctor_id END) FROM visits",
        ),
        (
            "SELECT count(*) FROM visits JOIN tests ON visits.cost = tests.score",
            (
                "SELECT count(*) FROM visits JOIN tests ON visits.cost = tests.score"
                " AND visits.visit_id = tests.visit_id"
            ),
        ),
        (
            "SELECT min(d.region_id) FROM doctors d LEFT JOIN visits v USING (doctor_id)",
            (
                "SELECT min(d.region_id) FILTER (WHERE v.visit_id IS NOT NULL)"
                " FROM doctors d LEFT JOIN visits v USING (doctor_id)"
            ),
        ),
        (
            "SELECT sex, age, count(*) FROM patients GROUP BY sex",
            "SELECT sex, age, count(*) FROM patients GROUP BY sex, age",
        ),
    ],
)
def test_a_hint_that_is_followed_works(refused: str, fixed: str) -> None:
    with pytest.raises(Error) as caught:
        prepared(refused, "clinic", frozenset())
    assert caught.value.hint
    assert prepared(fixed, "clinic", frozenset()).loss is not None
