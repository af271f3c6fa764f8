"""CREATE DASHBOARD name AS (chart; chart; …) WITH (epsilon = 0.5)."""

from __future__ import annotations

from dpsql.dbapi.statements.assignment import Setting, assigned
from dpsql.dbapi.statements.create_release import CreateRelease, blanked
from dpsql.dbapi.statements.options import assignments
from dpsql.errors import Span, SyntaxFault
from dpsql.session.compile.loss_conversion import parse_epsilon
from dpsql.session.compile.request import DashboardRequest
from dpsql.session.saved.create import SaveRequest
from dpsql.sqltext.tokens import Word, words

_FORM = (
    "CREATE DASHBOARD name AS (SELECT k1, count(*) FROM … GROUP BY k1; SELECT …)"
    " WITH (epsilon = 0.5)"
)
_OF_DASHBOARDS = ("epsilon", "groups", "rows_per_group", "rows", "max_cost")


def read_dashboard(sql: str, first_words: list[Word]) -> CreateRelease:
    """The dashboard that `sql` asks for; SyntaxFault if it is written otherwise."""
    written = [word for word in words(sql) if word.text != ";" or word.end < len(sql.rstrip())]
    replaces = first_words[1].folded == "or"
    match written[4 if replaces else 2 :]:
        case [name, before, opened, *rest] if before.folded == "as" and opened.text == "(":
            pass
        case _:
            raise _not_so(written)
    depth, closing = 1, None
    for index, word in enumerate(rest):
        depth += (word.text == "(") - (word.text == ")")
        if not depth:
            closing = index
            break
    if closing is None:
        raise _not_so(rest or written)
    match rest[closing + 1 :]:
        case [word, left, *inside, right] if (word.folded, left.text, right.text) == (
            "with",
            "(",
            ")",
        ):
            own = {w.folded: v for w, v in assignments(inside, _OF_DASHBOARDS, _FORM)}
        case _:
            raise _not_so(rest[closing:])
    epsilon = own.pop("epsilon", None)
    if epsilon is None:
        raise _not_so(inside or rest[closing:])
    request = SaveRequest(
        name.value, sql.strip(), replaces, DashboardRequest(parse_epsilon(epsilon.value))
    )
    options = tuple(assigned(Setting(name), value, value) for name, value in own.items())
    return CreateRelease(request, blanked(sql[: rest[closing].start], opened.end), options)


def _not_so(at: list[Word]) -> SyntaxFault:
    return SyntaxFault(
        "CREATE DASHBOARD isn't written so",
        at=Span(at[0].start, at[-1].end) if at else None,
        hint=f"write {_FORM}",
    )
