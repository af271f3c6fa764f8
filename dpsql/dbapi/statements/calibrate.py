"""CALIBRATE … FOR epsilon [AS name]: what ladders are drawn of, at which price, as which table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from dpsql.bind.statements.ladder_clauses import CALIBRATE
from dpsql.errors import Span, SyntaxFault
from dpsql.schema.sql_type import SqlType
from dpsql.session.answer.answer import Answer
from dpsql.session.compile.loss_conversion import parse_epsilon, query_loss
from dpsql.session.explain.report import PrivacyReport
from dpsql.session.ladders.draw_ladders import LadderSpec
from dpsql.session.ladders.stored_ladders import COLUMNS
from dpsql.session.options import QueryOptions
from dpsql.session.session import Session
from dpsql.sqltext.tokens import words


class Calibrate(Struct, frozen=True):
    """CALIBRATE …: draw ladders of what a table's units contribute."""

    spec: LadderSpec

    def answer(self, session: Session, options: QueryOptions) -> Answer:
        """The ladders that are drawn."""
        return session.calibrate(self.spec, options)

    def report(self, session: Session, options: QueryOptions) -> PrivacyReport:
        """The proof and the price, free."""
        return session.explain_ladders(self.spec, options)

    def columns(self, session: Session) -> tuple[Sequence[str], Sequence[SqlType]]:
        """The names and types of its answer's columns."""
        del session
        return tuple(COLUMNS), tuple(COLUMNS.values())

    def share(self, session: Session) -> Fraction:
        """What part of the budget that is left they would take, from 0 to 1."""
        return session.share_of(query_loss(session.schema, self.spec.epsilon).amount)


def read_calibrate(sql: str) -> Calibrate:
    """… FOR 0.5 [AS name]: what stands last, behind what the ladders are of."""
    tokens = [word for word in words(sql) if word.text != ";"]
    name = None
    if len(tokens) > 4 and tokens[-2].folded == "as" and tokens[-4].folded == "for":
        name = tokens[-1].value
        tokens = tokens[:-2]
    if len(tokens) < 4 or tokens[-2].folded != "for":
        raise SyntaxFault(
            "CALIBRATE isn't written so",
            at=Span(tokens[0].start, tokens[-1].end),
            hint=f"write {CALIBRATE}",
        )
    what, epsilon = sql[: tokens[-2].start], parse_epsilon(tokens[-1].value)
    return Calibrate(LadderSpec(what, sql.strip(), epsilon, name))
