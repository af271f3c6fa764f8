"""Statements that the connection itself answers, recognized by their first words.

| statement                                       | what it does                              |
| ----------------------------------------------- | ----------------------------------------- |
| BEGIN, COMMIT, ROLLBACK, SAVEPOINT …            | transactions, which only revert settings  |
| SET, SHOW, RESET, DISCARD                       | settings                                  |
| PREPARE, EXECUTE, DEALLOCATE                    | prepared statements                       |
| DECLARE, FETCH, MOVE, CLOSE                     | cursors over a stored answer              |
| COPY (query) TO STDOUT                          | the answer as text, CSV or binary         |
| DROP RELEASE, SYNOPSIS, DASHBOARD, LADDER, ALERT | forgets a saved table                     |
| LISTEN, UNLISTEN, LOCK …                        | no effect                                 |
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from msgspec import Struct

from dpsql.errors import ProgrammingError, Span, SyntaxFault
from dpsql.pgwire.codec.copy import CopyOptions
from dpsql.pgwire.sql.copy_statement import read_copy
from dpsql.pgwire.sql.cursor_statement import Declare, Fetch, read_declare, read_fetch
from dpsql.pgwire.sql.prepare_statement import read_execute, read_prepare
from dpsql.pgwire.sql.transaction_statement import (
    SetTransaction,
    TransactionCommand,
    read_begin,
    read_modes,
    read_transaction,
)
from dpsql.sqltext.tokens import QUERY_WORDS, Word, words


class ReadOnly(ProgrammingError):
    """The statement would write, and dpsql is read-only."""

    sqlstate = "25006"


class Query(Struct, frozen=True):
    """A statement that the pipeline or the catalogue answers."""

    sql: str


class Set(Struct, frozen=True):
    """Change a setting, until the transaction ends if `local`; None stands for its default."""

    name: str
    value: str | None
    at: Span
    local: bool = False
    tag: str = "SET"


class Show(Struct, frozen=True):
    """The value of a setting, or of `all`."""

    name: str


class Discard(Struct, frozen=True):
    """Discard `what`: "all", "plans", "sequences" or "temp"."""

    what: str


class Deallocate(Struct, frozen=True):
    """Forget a prepared statement, all of them if `name` is None."""

    name: str | None


class Prepare(Struct, frozen=True):
    """PREPARE of the query `sql`, which begins at character `start`; `types` are names."""

    name: str
    types: tuple[str, ...]
    sql: str
    start: int


class Execute(Struct, frozen=True):
    """EXECUTE of a prepared statement with `values` in the text format, None for NULL."""

    name: str
    values: tuple[str | None, ...]


class CloseCursor(Struct, frozen=True):
    """Close a cursor, all of them if `name` is None."""

    name: str | None


class Copy(Struct, frozen=True):
    """COPY of the query `sql`, which begins at character `start` of the statement."""

    sql: str
    start: int
    options: CopyOptions


class DpsqlCommand(Struct, frozen=True):
    """A statement of dpsql's own that has no rows."""

    sql: str
    tag: str


class NoOp(Struct, frozen=True):
    """A statement that is accepted and has no effect."""

    tag: str


Command = (
    Query
    | TransactionCommand
    | Set
    | Show
    | Discard
    | Deallocate
    | Prepare
    | Execute
    | Declare
    | Fetch
    | CloseCursor
    | Copy
    | DpsqlCommand
    | NoOp
)

_WORDS: Final = 32
"""Words of a command that are looked at: SET TRANSACTION may have sixteen."""

_WRITES: Final = """
alter analyze call checkpoint cluster comment create delete do drop grant import insert load
merge reassign refresh reindex revoke security truncate update vacuum
"""
_NOTHING: Final = {"listen": "LISTEN", "unlisten": "UNLISTEN", "lock": "LOCK TABLE"}

_SHOWN: Final = {"tables", "alerts"}
"""What SHOW lists, beside settings."""


def read_command(sql: str) -> Command:
    """The command that `sql`, one statement, is: a `Query` unless its first words are another's."""
    tokens = list(islice(words(sql), 1))
    first = tokens[0].folded if tokens else ""
    if first not in QUERY_WORDS:
        tokens = list(islice(words(sql), _WORDS))
    match first, [word.folded for word in tokens[1:]]:
        case (("begin" | "start"), _):
            return read_begin(tokens)
        case (("commit" | "rollback"), ["prepared", *_]):
            raise ReadOnly("nothing is prepared to be written", hint="COMMIT")
        case (("commit" | "end" | "rollback" | "abort" | "savepoint" | "release"), _):
            return read_transaction([word for word in tokens if word.text != ";"])
        case "set", _:
            return _set(sql, tokens)
        case "reset", ["role"] | ["session", "authorization"] | ["role" | "session", _, *_]:
            return NoOp("RESET")
        case "reset", [_, *_]:
            name = "".join(word.name for word in tokens[1:] if word.text != ";")
            return Set(name, None, Span(0, len(sql)), tag="RESET")
        case "create", ["release" | "synopsis" | "dashboard" | "alert", *_] | [
            "or",
            _,
            "release" | "synopsis" | "dashboard" | "alert",
            *_,
        ]:
            return Query(sql)
        case "show", [what, *more] if what not in _SHOWN and more[:1] != ["tables"]:
            return Show(_setting_name([w for w in tokens[1:] if w.text != ";"]))
        case "discard", ["all" | "plans" | "sequences" | "temp" | "temporary" as what, *_]:
            return Discard("temp" if what == "temporary" else what)
        case (("prepare" | "execute" | "deallocate"), [_, *_]):
            return _prepared(sql, tokens)
        case (("declare" | "fetch" | "move" | "close"), [_, *_]):
            return _of_cursor(sql, tokens)
        case "copy", _:
            return Copy(*read_copy(sql))
        case "drop", [("release" | "synopsis" | "dashboard" | "ladder" | "alert") as kind, *_]:
            return DpsqlCommand(sql, f"DROP {kind.upper()}")
        case first, _ if first in _NOTHING:
            return NoOp(_NOTHING[first])
        case first, _ if first in _WRITES.split():
            raise ReadOnly(
                f"{first.upper()} would write, and nothing is written here",
                at=Span(tokens[0].start, tokens[0].end),
                hint="write SELECT …",
            )
        case _:
            return Query(sql)


def _prepared(sql: str, tokens: list[Word]) -> Command:
    match [word.folded for word in tokens[:3]]:
        case ["prepare", "transaction", *_]:
            raise ReadOnly("nothing is written, and so nothing is prepared to be", hint="COMMIT")
        case ["prepare", *_]:
            return Prepare(*read_prepare(sql))
        case ["execute", *_]:
            return Execute(*read_execute(sql))
        case ["deallocate", "prepare", what]:
            return Deallocate(None if what == "all" else tokens[2].name)
        case _:
            return Deallocate(None if tokens[1].folded == "all" else tokens[1].name)


def _of_cursor(sql: str, tokens: list[Word]) -> Command:
    match tokens[0].folded:
        case "declare":
            return read_declare(sql)
        case "close":
            return CloseCursor(None if tokens[1].folded == "all" else tokens[1].name)
        case _:
            return read_fetch(tokens)


def _setting_name(words: list[Word]) -> str:
    folded = [word.folded for word in words]
    match folded:
        case ["transaction", "isolation", "level"]:
            return "transaction_isolation"
        case ["time", "zone"]:
            return "timezone"
        case ["session", "authorization"]:
            return "session_authorization"
        case _:
            return "".join(word.name for word in words)


def _set(sql: str, tokens: list[Word]) -> Command:
    rest = tokens[1:]
    local = False
    if rest and rest[0].folded in {"session", "local"}:
        local = rest[0].folded == "local"
        rest = rest[1:]
    match [word.folded for word in rest]:
        case ["transaction", "snapshot", *_] | ["authorization" | "role" | "constraints", *_]:
            return NoOp("SET")
        case ["characteristics", "as", "transaction", *_] | ["transaction", *_] as folded:
            follows = folded[0] == "characteristics"
            modes = [word for word in rest[3 if follows else 1 :] if word.text != ";"]
            return SetTransaction(read_modes(modes), follows)
        case ["time", "zone", "interval", _, *_]:
            # SET TIME ZONE INTERVAL '+00:00' HOUR TO MINUTE
            return Set("timezone", rest[3].value, Span(rest[3].start, rest[3].end), local)
        case ["time", "zone", *_]:
            name, at = "timezone", rest[1].end
        case ["names", *_]:
            name, at = "client_encoding", rest[0].end
        case [_, ".", _, "=" | "to", *_]:
            name, at = f"{rest[0].name}.{rest[2].name}", rest[3].end
        case [_, "=" | "to", *_]:
            name, at = rest[0].name, rest[1].end
        case _:
            raise SyntaxFault("SET isn't written so", hint="write SET name = value")
    value_words = [word for word in words(sql, at) if word.text != ";"]
    value = " ".join(word.value for word in value_words).replace(" , ", ", ")
    default = len(value_words) == 1 and value_words[0].folded in {"default", "local"}
    span = Span(value_words[0].start, value_words[-1].end) if value_words else Span(0, len(sql))
    return Set(name, None if default else value, span, local)
