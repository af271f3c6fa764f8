"""What stands above releases is written once for all analysts, and for no other statement."""

from __future__ import annotations

import pytest
from notes.compiler import prepared

from dpsql.plan.expression import Literal
from dpsql.plan.operator import Output, Project
from dpsql.plan.output_columns import output_columns
from dpsql.schema.sql_type import BIGINT, Boolean
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.generic.edition import of_edition
from dpsql.session.run.finishing.finishing_text import MAX_TRIED, FinishingText, FinishingTexts
from dpsql.structs import replace

STATEMENTS = [
    "SELECT ward, count(*) AS n, avg(cost) FROM visits GROUP BY ward HAVING n > 3 ORDER BY n",
    (
        "SELECT specialty, count(*) AS n FROM visits JOIN doctors USING (doctor_id) "
        "GROUP BY specialty HAVING n > (SELECT max(doctor_id) FROM doctors)"
    ),
    "SELECT 'all' AS ward, count(*) / 2 FROM visits UNION ALL SELECT 'none', 1",
]


def ready(sql: str) -> CompiledStatement:
    return prepared(sql, "clinic", frozenset())


@pytest.mark.parametrize("sql", STATEMENTS)
def test_another_analyst_has_the_text_that_their_plan_is_written_as(sql: str) -> None:
    texts, plan = FinishingTexts(), ready(sql)
    theirs = of_edition(plan, "data\0alice")
    assert texts.of(theirs) is texts.of(plan)
    assert texts.of(theirs).sql == FinishingText(theirs).sql


def test_a_plan_that_is_equal_and_is_written_otherwise_has_its_own_text() -> None:
    """TRUE is equal to 1, so that plans are told apart by what they are made of."""
    texts, plan = FinishingTexts(), ready(STATEMENTS[0])
    one, true = (
        Project(
            plan.plan,
            tuple(Output(c, Literal(value, kind)) for c in output_columns(plan.plan)),
        )
        for value, kind in ((1, BIGINT), (True, Boolean()))
    )
    plans = [replace(plan, plan=each, numbered=None) for each in (one, true)]
    assert [texts.of(each).sql for each in plans] == [FinishingText(each).sql for each in plans]
    assert texts.of(plans[0]) is not texts.of(plans[1])


def test_a_plan_with_other_tables_names_or_numbers_has_its_own_text() -> None:
    texts, plan = FinishingTexts(), ready(STATEMENTS[0])
    assert plan.numbered is not None
    (release,) = plan.releases
    renamed = replace(plan, releases=(replace(release, name="release_7"),))
    for other in (renamed, replace(plan, numbered=None)):
        assert texts.of(plan).sql == FinishingText(plan).sql
        assert texts.of(other).sql == FinishingText(other).sql
        assert texts.of(other).sql != FinishingText(plan).sql


def test_texts_that_were_not_used_for_long_are_written_again() -> None:
    texts, plans = FinishingTexts(1), [ready(sql) for sql in STATEMENTS]
    assert [texts.of(plan).sql for plan in plans * 2] == [FinishingText(p).sql for p in plans] * 2


def test_as_many_columns_are_remembered_to_have_been_tried_as_were_used_last() -> None:
    text = FinishingTexts().of(ready(STATEMENTS[0]))
    columns = [((f"c{number}",),) for number in range(MAX_TRIED + 1)]
    for each in columns:
        assert not text.was_tried(each)
        text.note_tried(each)
    assert [text.was_tried(each) for each in columns] == [False, *[True] * MAX_TRIED]
