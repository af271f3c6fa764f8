from __future__ import annotations

import pytest

from dpsql.dbapi.statements.assignment import Assignment, Setting
from dpsql.dbapi.statements.describe import Describe
from dpsql.dbapi.statements.parse import ExplainPrivacy, Query, Show, Statement, read_statement
from dpsql.errors import BadParameter, Error, NotSupportedError, Span, SyntaxFault
from dpsql.report.explanation.explanation import OutputFormat


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT 1", Query("SELECT 1")),
        ("", Query("")),
        ("  -- nothing", Query("  -- nothing")),
        ("SET threads = 8", Query("SET threads = 8")),
        ("SHOW threads", Query("SHOW threads")),
        ("SHOW TABLES", Describe(None, None)),
        ("SELECT 'EXPLAIN PRIVACY'", Query("SELECT 'EXPLAIN PRIVACY'")),
        ("SHOW dpsql.budget", Show(Setting.BUDGET)),
        ("show DPSQL . Epsilon ;", Show(Setting.EPSILON)),
        ("/* what */ SHOW -- is left\n dpsql.budget", Show(Setting.BUDGET)),
        ("SET dpsql.epsilon = 0.1", Assignment(Setting.EPSILON, "0.1", Span(20, 23))),
        ("SET dpsql.epsilon TO '1e-3';", Assignment(Setting.EPSILON, "1e-3", Span(21, 27))),
        ("SET dpsql.epsilon = -1", Assignment(Setting.EPSILON, "-1", Span(20, 22))),
        ("SET dpsql.epsilon = DEFAULT", Assignment(Setting.EPSILON, None, Span(20, 27))),
        ("EXPLAIN PRIVACY SELECT 1", ExplainPrivacy("                SELECT 1")),
        ("explain\nprivacy\nSELECT 1", ExplainPrivacy("       \n       \nSELECT 1")),
        ("EXPLAIN PRIVACY (SELECT 1)", ExplainPrivacy("                (SELECT 1)")),
        ("EXPLAIN PRIVACY (SQL) SELECT 1", ExplainPrivacy(f"{' ' * 21} SELECT 1", with_sql=True)),
        (
            "EXPLAIN PRIVACY (format json, sql) SELECT 1",
            ExplainPrivacy(f"{' ' * 34} SELECT 1", OutputFormat.JSON, with_sql=True),
        ),
    ],
)
def test_own_statements_are_told_by_their_first_words(sql: str, found: Statement) -> None:
    assert read_statement(sql) == found


@pytest.mark.parametrize(
    ("sql", "error", "at"),
    [
        ("SHOW dpsql.bugdet", BadParameter, "bugdet"),
        ("SET dpsql.budget = 9", BadParameter, "budget"),
        ("SET dpsql.privacy = off", BadParameter, "privacy"),
        ("SHOW dpsql.budget now", SyntaxFault, "now"),
        ("SET dpsql.epsilon = 0.1; SELECT 1", SyntaxFault, "SELECT"),
        ("SET dpsql.epsilon", SyntaxFault, "SET dpsql.epsilon"),
        ("SHOW dpsql", SyntaxFault, "SHOW dpsql"),
        ("EXPLAIN PRIVACY (FORMAT xml) SELECT 1", BadParameter, "xml"),
        ("EXPLAIN PRIVACY (SQL, costs) SELECT 1", SyntaxFault, "costs"),
        ("EXPLAIN ANALYZE SELECT 1", NotSupportedError, "EXPLAIN"),
    ],
)
def test_what_is_written_wrong_is_refused_at_its_place(
    sql: str, error: type[Error], at: str
) -> None:
    with pytest.raises(error) as caught:
        read_statement(sql)
    span = caught.value.at
    assert span is not None
    assert sql[span.start : span.end] == at
    assert caught.value.hint
