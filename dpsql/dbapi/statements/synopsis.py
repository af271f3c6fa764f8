"""CREATE SYNOPSIS name ON query of keys and sums WITH (epsilon = 0.5, rounds = 8)."""

from __future__ import annotations

from dpsql.dbapi.statements.assignment import Setting, assigned
from dpsql.dbapi.statements.create_release import CreateRelease, blanked
from dpsql.dbapi.statements.options import assignments, last_with
from dpsql.errors import Span, SyntaxFault
from dpsql.session.compile.loss_conversion import parse_epsilon
from dpsql.session.compile.request import SynopsisRequest
from dpsql.session.saved.create import SaveRequest
from dpsql.sqltext.tokens import Word

MIN_ROUNDS, MAX_ROUNDS = 1, 100

_SYNOPSIS = "CREATE SYNOPSIS name ON SELECT k1, k2 FROM … WITH (epsilon = 0.5, rounds = 8)"
_OF_SYNOPSES = ("epsilon", "rounds", "groups", "rows_per_group", "rows", "max_cost")


def read_synopsis(sql: str, first_words: list[Word]) -> CreateRelease:
    """The synopsis that `sql` asks for; SyntaxFault if it is written otherwise.

    Its options are in the last WITH of all, which is closed last.
    """
    replaces = first_words[1].folded == "or"
    match first_words[4 if replaces else 2 :]:
        case [name, before, *_] if before.folded == "on":
            pass
        case _:
            raise _not_so(first_words)
    rest, with_, inside = last_with(sql, before.end)
    if with_ is None:
        raise _not_so(rest)
    own = {w.folded: v for w, v in assignments(inside[1:-1], _OF_SYNOPSES, _SYNOPSIS)}
    epsilon, rounds = own.pop("epsilon", None), own.pop("rounds", None)
    if epsilon is None:
        raise _not_so(inside)
    content = SynopsisRequest(
        None if rounds is None else _rounds(rounds), parse_epsilon(epsilon.value)
    )
    wanted = SaveRequest(name.value, sql.strip(), replaces, content)
    options = tuple(assigned(Setting(name), value, value) for name, value in own.items())
    return CreateRelease(wanted, blanked(sql[: with_.start], before.end), options)


def _rounds(value: Word) -> int:
    if value.text.isdigit() and len(value.text) < 4:
        rounds = int(value.text)
        if MIN_ROUNDS <= rounds <= MAX_ROUNDS:
            return rounds
    raise SyntaxFault(
        f"rounds is a whole number from {MIN_ROUNDS} to {MAX_ROUNDS}",
        at=value.span,
        hint=f"write {_SYNOPSIS}",
    )


def _not_so(words: list[Word]) -> SyntaxFault:
    return SyntaxFault(
        "CREATE SYNOPSIS isn't written so",
        at=Span(words[0].start, words[-1].end) if words else None,
        hint=f"write {_SYNOPSIS}",
    )
