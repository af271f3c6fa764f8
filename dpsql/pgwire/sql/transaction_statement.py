"""BEGIN, SET TRANSACTION, COMMIT, ROLLBACK, SAVEPOINT and RELEASE: what becomes of settings."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from dpsql.errors import Span, SyntaxFault
from dpsql.sqltext.tokens import Word

Modes = tuple[tuple[str, str], ...]
"""Settings of a transaction, by their names, that hold until it ends."""


class Begin(Struct, frozen=True):
    """A transaction begins; `tag` is that of CommandComplete."""

    tag: str
    modes: Modes = ()


class SetTransaction(Struct, frozen=True):
    """SET TRANSACTION, or, of all that follow, SET SESSION CHARACTERISTICS AS TRANSACTION."""

    modes: Modes
    follows: bool


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


TransactionCommand = Begin | SetTransaction | End | Savepoint | Release | GoBack

LEVELS: Final = ("serializable", "repeatable read", "read committed", "read uncommitted")
"""Levels of isolation: which one a transaction has changes no answer."""

_MODES: Final = {
    **{
        ("isolation", "level", *level.split()): (("transaction_isolation", level),)
        for level in LEVELS
    },
    ("read", "only"): (),
    ("read", "write"): (),  # a transaction is read-only all the same
    ("deferrable",): (("transaction_deferrable", "on"),),
    ("not", "deferrable"): (("transaction_deferrable", "off"),),
}


def read_begin(tokens: list[Word]) -> Begin:
    """What BEGIN or START TRANSACTION begins; `tokens` are its words."""
    first, *rest = [word for word in tokens if word.text != ";"]
    if first.folded == "start" and not (rest and rest[0].folded == "transaction"):
        raise SyntaxFault("a transaction doesn't start so", at=first.span, hint="BEGIN")
    if rest and rest[0].folded in {"work", "transaction"}:
        del rest[0]
    tag = "BEGIN" if first.folded == "begin" else "START TRANSACTION"
    return Begin(tag, read_modes(rest) if rest else ())


def read_modes(tokens: list[Word]) -> Modes:
    """The settings that the words of modes have, with or without commas between."""
    modes: list[tuple[str, str]] = []
    left = list(tokens)
    while True:
        words = tuple(word.folded for word in left[:4])
        mode = next((mode for mode in _MODES if words[: len(mode)] == mode), None)
        if mode is None:
            at = left[0].span if left else tokens[-1].span if tokens else None
            raise SyntaxFault("a mode of a transaction isn't written so", at=at, hint="BEGIN")
        modes += _MODES[mode]
        left = left[len(mode) :]
        if not left:
            return tuple(modes)
        if left[0].text == ",":
            del left[0]


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
