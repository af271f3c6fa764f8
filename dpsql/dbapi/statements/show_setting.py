"""SHOW dpsql.<setting>: a setting's value, or a table of what was asked, kept or spent."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.dbapi.statements.assignment import Setting
from dpsql.dbapi.statements.settings import shown
from dpsql.dbapi.statements.show_queries import own_queries
from dpsql.dbapi.statements.show_releases import kept_tables
from dpsql.report.budget import Budget, budget_table
from dpsql.report.result.result import Result, texts
from dpsql.session.session import Session


def show_setting(setting: Setting, session: Session, budget: Callable[[], Budget]) -> Result:
    """What `setting` is in `session`; the `budget` is read only where it is asked for."""
    match setting:
        case Setting.BUDGET:
            return budget_table(budget())
        case Setting.QUERIES:
            return own_queries(session.schema, session.analyst)
        case Setting.RELEASES:
            return kept_tables(session)
        case Setting.EPSILON:
            value = f"{float(session.epsilon):g}"
        case _:
            value = shown(session.settings, setting)
    return texts([f"dpsql.{setting.value}"], [[value]])
