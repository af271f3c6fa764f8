"""SHOW dpsql.<setting>: a setting's value, or a table of what was asked, kept or spent."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.dbapi.statements.alert import alert_table
from dpsql.dbapi.statements.assignment import Setting
from dpsql.dbapi.statements.settings import format_setting
from dpsql.dbapi.statements.show_queries import own_queries
from dpsql.dbapi.statements.show_releases import saved_releases
from dpsql.report.budget import Budget, budget_table
from dpsql.report.result.result import Result, text_result
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session


def show_setting(
    setting: Setting, session: Session, options: QueryOptions, budget: Callable[[], Budget]
) -> Result:
    """What `setting` is in `options`; the `budget` is read only where it is asked for."""
    match setting:
        case Setting.BUDGET:
            return budget_table(budget())
        case Setting.QUERIES:
            return own_queries(session.schema, session.analyst)
        case Setting.RELEASES:
            return saved_releases(session)
        case Setting.ALERTS:
            return alert_table(session)
        case _:
            return text_result([f"dpsql.{setting.value}"], [[format_setting(options, setting)]])
