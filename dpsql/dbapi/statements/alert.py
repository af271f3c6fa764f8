"""CREATE ALERT name WHEN … WITH (epsilon = 0.5), CHECK ALERT name, and the table of alerts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pyarrow as pa
from msgspec import Struct

from dpsql.dbapi.statements.create_release import blanked
from dpsql.dbapi.statements.options import assignments, last_with
from dpsql.errors import Span, SyntaxFault
from dpsql.report.result.result import Result
from dpsql.schema.sql_type import BIGINT, Double, SqlType, Timestamp, Varchar
from dpsql.session.alerts.create import COLUMNS
from dpsql.session.alerts.stored_alert import AlertSpec
from dpsql.session.answer.answer import Answer
from dpsql.session.compile.loss_conversion import epsilon_of, parse_epsilon
from dpsql.session.compile.request import AlertRequest
from dpsql.session.explain.report import PrivacyReport
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session
from dpsql.sqltext.tokens import Word

DEFAULT_CHECKS, MAX_CHECKS = 100, 1_000_000
"""How many checks an alert's error is told of, unless it says otherwise; more may be made."""

_FORM = "CREATE ALERT name WHEN count(*) > 100 FROM table BY key WITH (epsilon = 0.5)"
_OF_ALERTS = ("epsilon", "checks", "rows_per_group", "rows")


class CreateAlert(Struct, frozen=True):
    """CREATE ALERT: pay for an alert, and keep it."""

    spec: AlertSpec

    def answer(self, session: Session, options: QueryOptions) -> Answer:
        """What it was made as, and at which price."""
        return session.alerts.create(self.spec, options)

    def report(self, session: Session, options: QueryOptions) -> PrivacyReport:
        """The proof and the price, free."""
        del options
        return session.alerts.explain(self.spec)

    def columns(self, session: Session) -> tuple[Sequence[str], Sequence[SqlType]]:
        """The names and types of its answer's columns."""
        del session
        return tuple(COLUMNS), tuple(COLUMNS.values())

    def share(self, session: Session) -> Fraction:
        """What part of the budget that is left it would take, from 0 to 1."""
        return session.share_of(session.alerts.cost(self.spec))


class CheckAlert(Struct, frozen=True):
    """CHECK ALERT: what an alert says now; `statement` is what was written."""

    name: str
    statement: str

    def answer(self, session: Session, options: QueryOptions) -> Answer:
        """The condition that is named, if one is, with its group."""
        del options
        return session.alerts.check(self.name, self.statement)

    def columns(self, session: Session) -> tuple[Sequence[str], Sequence[SqlType]]:
        """The names and types of its answer's columns, free."""
        bound = session.alerts.statement(self.name)
        return bound.names, tuple(column.type for column in bound.columns)


def read_alert(sql: str, first_words: list[Word]) -> CreateAlert:
    """The alert that `sql` asks for; SyntaxFault if it is written otherwise.

    Its options are in the last WITH of all, which is closed last.
    """
    replaces = first_words[1].folded == "or"
    match first_words[3 if replaces else 1 :]:
        case [own, name, when, *_] if when.folded == "when":
            pass
        case _:
            raise _not_so(first_words)
    rest, with_, inside = last_with(sql, when.end)
    if with_ is None:
        raise _not_so(rest or first_words)
    options = {w.folded: v for w, v in assignments(inside[1:-1], _OF_ALERTS, _FORM)}
    if "epsilon" not in options:
        raise _not_so(inside)
    # ALERT WHEN … stays where it stands.
    blanks = blanked(sql[: when.start], when.start)
    text = blanks[: own.start] + own.text + blanks[own.end :] + sql[when.start : with_.start]
    checks = _whole(options.get("checks"), MAX_CHECKS)
    request = AlertRequest(parse_epsilon(options["epsilon"].value), checks or DEFAULT_CHECKS)
    return CreateAlert(
        AlertSpec(
            name.value,
            text,
            sql.strip(),
            request,
            _whole(options.get("rows_per_group"), MAX_CHECKS),
            _whole(options.get("rows"), MAX_CHECKS),
            replaces,
        )
    )


def alert_table(session: Session) -> Result:
    """A row for each of the analyst's alerts: how often it was checked, and what is left of it.

    `named` counts the checks that named a condition, and those that have no answer; `left` is how
    many may do so still. `checked` is when the last of `checks` began.
    """
    rows = [
        (
            alert.saved.table.name,
            alert.saved.info.at.replace(tzinfo=None),
            history.checks,
            None if history.at is None else history.at.replace(tzinfo=None),
            history.used,
            max(0, alert.stored.firings - history.used),
            float(epsilon_of(session.schema, session.saved.cost(alert.saved))),
            alert.saved.metadata.statement,
        )
        for alert, history in session.alerts.all()
    ]
    kinds: dict[str, tuple[SqlType, pa.DataType]] = {
        "name": (Varchar(), pa.string()),
        "made": (Timestamp(), pa.timestamp("us")),
        "checks": (BIGINT, pa.int64()),
        "checked": (Timestamp(), pa.timestamp("us")),
        "named": (BIGINT, pa.int64()),
        "left": (BIGINT, pa.int64()),
        "epsilon": (Double(), pa.float64()),
        "statement": (Varchar(), pa.string()),
    }
    columns = [pa.array([row[n] for row in rows], t) for n, (_, t) in enumerate(kinds.values())]
    table = pa.table(columns, names=list(kinds))
    return Result(tuple(kinds), tuple(kind for kind, _ in kinds.values()), table)


def _whole(value: Word | None, highest: int) -> int | None:
    """The whole number that is written, from 1 to `highest`; None where none is."""
    if value is None:
        return None
    if value.text.isdigit() and len(value.text) < 8 and 1 <= int(value.text) <= highest:
        return int(value.text)
    raise SyntaxFault(
        f"that is a whole number from 1 to {highest:,}", at=value.span, hint=f"write {_FORM}"
    )


def _not_so(words: list[Word]) -> SyntaxFault:
    return SyntaxFault(
        "CREATE ALERT isn't written so",
        at=Span(words[0].start, words[-1].end) if words else None,
        hint=f"write {_FORM}",
    )
