"""What a session makes of a statement before it is charged, for comparisons with another's."""

from __future__ import annotations

from dpsql.errors import Error
from dpsql.session.compile.generic.generic_plans import as_run
from dpsql.session.compile.generic.statement_shapes import StatementShapes
from dpsql.session.compile.plan_cache import PlanCache
from dpsql.session.options import DEFAULT_OPTIONS, QueryOptions
from dpsql.session.run.finishing.finishing_text import FinishingText
from dpsql.session.run.statement_cache import StatementCache
from dpsql.session.session import Session


def outcome(session: Session, sql: str, options: QueryOptions = DEFAULT_OPTIONS) -> object:
    """All that decides the answer of `sql` and its price, or why it is refused, and where."""
    try:
        compiled = session.compile(sql, options)
    except Error as error:
        return type(error), str(error), error.at, error.hint, error.detail
    own = as_run(compiled)
    return own, own.loss, FinishingText(own).sql, own.consistency, [r.key for r in own.releases]


def forget(session: Session) -> None:
    """Have `session` bind, bound and emit its next statement as its first one."""
    session._context.execution.plans = PlanCache()
    session.whole.statements, session.whole.shapes = StatementCache(), StatementShapes()
