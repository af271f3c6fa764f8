"""Which conditions say whose the rows are that EXISTS asks for."""

from __future__ import annotations

import pytest
from notes.compiler import prepared, schema_of

from dpsql.analysis.lineage.same_unit_conditions import is_same_unit
from dpsql.plan.expression import Column, Compare, Comparison
from dpsql.plan.operator import MarkJoin, Scan
from dpsql.plan.traversal import operators
from dpsql.schema.sql_type import BIGINT, Boolean
from dpsql.structs import replace


def test_a_table_may_be_named_as_anything() -> None:
    """A column `patient` of a table named unit is no patient."""
    visits = schema_of("clinic").tables["visits"]
    column = Column(1, "patient", BIGINT)
    asking = Scan(replace(visits, name="unit"), (column,), Column(2, "unit", BIGINT))
    owner = Column(3, "patient_id", BIGINT)
    asked = Scan(visits, (owner,), Column(4, "unit", BIGINT))
    on = (Compare(Comparison.EQUAL, column, owner),)
    assert not is_same_unit(MarkJoin(asking, asked, on, Column(5, "exists", Boolean())))


def told(table: str, condition: str, schema: str = "clinic") -> list[bool]:
    """Of each EXISTS in the statement, whether its condition says so."""
    sql = f"SELECT count(*) FROM {table} WHERE {condition}"
    (release,) = prepared(sql, schema, frozenset({"visits"})).releases
    plans = operators(release.step.bounded.contributions.source)
    return [is_same_unit(plan) for plan in plans if isinstance(plan, MarkJoin)]


@pytest.mark.parametrize(
    ("table", "condition"),
    [
        ("visits v", "EXISTS (SELECT 1 FROM tests t WHERE t.visit_id = v.visit_id)"),
        ("visits v", "visit_id IN (SELECT visit_id FROM tests WHERE kind = 'scan')"),
        ("patients p", "EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id)"),
        ("visits v", "EXISTS (SELECT 1 FROM visits w WHERE w.patient_id = v.patient_id)"),
        ("tests t", "EXISTS (SELECT 1 FROM tests o WHERE o.visit_id = t.visit_id)"),
        (
            "tests t JOIN visits v USING (visit_id) JOIN patients p USING (patient_id)",
            "EXISTS (SELECT 1 FROM tests o WHERE o.visit_id = v.visit_id AND o.score > t.score)",
        ),
        (
            "visits v LEFT JOIN doctors d USING (doctor_id)",
            "EXISTS (SELECT 1 FROM tests t WHERE t.visit_id = v.visit_id)",
        ),
    ],
)
def test_the_column_that_a_unit_is_looked_up_by_tells_it(table: str, condition: str) -> None:
    assert told(table, condition) == [True]


@pytest.mark.parametrize(
    ("table", "condition"),
    [
        # Of two visits of one key, of two patients, each would be asked for by both.
        ("tests t", "EXISTS (SELECT 1 FROM visits v WHERE v.visit_id = t.visit_id)"),
        ("visits v", "EXISTS (SELECT 1 FROM visits w WHERE w.visit_id = v.visit_id)"),
        (
            "visits v",
            "EXISTS (SELECT 1 FROM tests JOIN visits USING (visit_id) WHERE visit_id = v.visit_id)",
        ),
    ],
)
def test_a_key_tells_nothing_of_its_own_rows(table: str, condition: str) -> None:
    assert told(table, condition) == [False]


def test_the_columns_that_a_unit_is_looked_up_by_tell_it_together() -> None:
    returned = "EXISTS (SELECT 1 FROM returned r WHERE r.item = l.item AND r.parcel = l.parcel)"
    assert told("lines l", returned, "parcels") == [True]
    # Of two returns with one number, of two lines, each would be asked for by both.
    some = "r.number = o.number AND r.item = o.item AND r.parcel <> o.parcel"
    assert told("returned o", f"EXISTS (SELECT 1 FROM returned r WHERE {some})", "parcels") == [
        False
    ]
    # An item of one line and a parcel of another are those of no line.
    mixed = "r.number = o.number AND r.item = a.item AND r.parcel = b.parcel"
    assert told(
        "returned o JOIN lines a ON o.item = a.item AND o.parcel = a.parcel"
        " JOIN lines b ON a.buyer = b.buyer",
        f"EXISTS (SELECT 1 FROM returned r WHERE {mixed})",
        "parcels",
    ) == [False]
