"""CALIBRATE … FOR epsilon [AS name]: what ladders are drawn of, at which price, as which table."""

from __future__ import annotations

from msgspec import Struct

from dpsql.bind.statements.ladder_clauses import CALIBRATE
from dpsql.errors import Span, SyntaxFault
from dpsql.session.compile.loss_conversion import parse_epsilon
from dpsql.session.ladders.draw_ladders import LadderSpec
from dpsql.sqltext.tokens import words


class Calibrate(Struct, frozen=True):
    """CALIBRATE …: draw ladders of what a table's units contribute."""

    spec: LadderSpec


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
