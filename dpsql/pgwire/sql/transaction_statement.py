"""BEGIN, COMMIT, ROLLBACK, SAVEPOINT and RELEASE: what becomes of a transaction's settings."""

from __future__ import annotations

from msgspec import Struct

from dpsql.errors import Span, SyntaxFault
from dpsql.sqltext.tokens import Word


class Begin(Struct, frozen=True):
    """A transaction begins; `tag` is that of CommandComplete, as in all classes here."""

    tag: str


class End(Struct, frozen=True):
    """A transaction ends: COMMIT `keeps` its settings, ROLLBACK reverts them.

    One that `chains` begins the next transaction.
    """

    keeps: bool
    chains: bool = False


class Savepoint(Struct, frozen=True):
    """SAVEPOINT: what the transaction may go back to."""

    name: str


class Release(Struct, frozen=True):
    """RELEASE: a savepoint is forgotten."""

    name: str


class GoBack(Struct, frozen=True):
    """ROLLBACK TO a savepoint: a failed transaction then goes on."""

    name: str


TransactionCommand = Begin | End | Savepoint | Release | GoBack


def read_transaction(tokens: list[Word]) -> TransactionCommand:
    """What COMMIT, ROLLBACK, SAVEPOINT or RELEASE does; `tokens` are its words."""
    last = tokens[-1]
    folded = [word.folded for word in tokens]
    if folded[0] not in {"savepoint", "release"} and folded[1:2] in (["work"], ["transaction"]):
        del folded[1]  # elsewhere, either may be a savepoint's name
    match folded:
        case ["savepoint", _]:
            return Savepoint(last.name)
        case ["release", _] | ["release", "savepoint", _]:
            return Release(last.name)
        case ["rollback" | "abort", "to", _] | ["rollback" | "abort", "to", "savepoint", _]:
            return GoBack(last.name)
        case [word] | [word, "and", "no", "chain"]:
            return End(keeps=word in {"commit", "end"})
        case [word, "and", "chain"]:
            return End(keeps=word in {"commit", "end"}, chains=True)
        case _:
            at = Span(tokens[0].start, last.end)
            raise SyntaxFault("a transaction doesn't end so", at=at, hint="COMMIT, or ROLLBACK")
