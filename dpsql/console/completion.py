"""Tables, columns, functions and keywords that fit where the cursor is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Final

from msgspec import Struct
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from dpsql.bind.aggregate.syntax import aggregate_names
from dpsql.dbapi.statements.assignment import Setting
from dpsql.dbapi.statements.options import OPTIONS
from dpsql.plan.aggregate import OutputKind
from dpsql.plan.functions import FUNCTIONS
from dpsql.privacy.domain import Value
from dpsql.schema.model import Column, Public, Schema, Table
from dpsql.schema.qualified_name import MAIN, PUBLIC, bare, identity

KEYWORDS: Final = (
    "SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET DISTINCT AS JOIN LEFT RIGHT FULL INNER"
    " OUTER CROSS ON USING WITH UNION ALL INTERSECT EXCEPT CASE WHEN THEN ELSE END AND OR NOT IN"
    " EXISTS BETWEEN LIKE ILIKE IS NULL TRUE FALSE ASC DESC NULLS FIRST LAST CAST EXTRACT DATE"
    " TIMESTAMP INTERVAL FILTER OVER PARTITION ROLLUP CUBE GROUPING SETS QUALIFY VALUES SHOW SET"
    " EXPLAIN PRIVACY CREATE DROP RELEASE SYNOPSIS DASHBOARD OPTIONS DECIDE AMONG ALERT CALIBRATE"
    " MEASURE ALONG LADDER CHECK ALERTS"
)

_NAME: Final = re.compile(r"[\w.\\]*$")
_AFTER_FROM: Final = re.compile(
    r"\b(?:from|join)\s+(?:[\w.]+\s*(?:as\s+)?\w*\s*,\s*)*$", re.IGNORECASE
)
_OWN: Final = re.compile(r"\b(?:show|set)\s+$", re.IGNORECASE)
_IN_OPTIONS: Final = re.compile(r"\boptions\s*\((?:[^()]*,)?\s*$", re.IGNORECASE)
_ALIAS: Final = re.compile(r"\b(?:from|join|,)\s*([\w.]+)(?:\s+(?:as\s+)?(\w+))?", re.IGNORECASE)
_COMPARED: Final = re.compile(
    r"([\w.]+)\s*(?:=|<>|!=|\bin\s*\((?:[^()]*,)?)\s*(')?$", re.IGNORECASE
)
"""A column, and what its value is compared with, up to where that is typed."""

_QUOTE: Final = "'"
_ERRORS: Final = tuple(kind for kind in OutputKind if kind is not OutputKind.VALUE)
_SETTINGS: Final = tuple(f"dpsql.{setting.value}" for setting in Setting)


class _Word(Struct, frozen=True):
    text: str
    meaning: str


class SchemaCompleter(Completer):
    """Completes names of the catalogue, functions, keywords, and the console's commands.

    `catalog` gives the schema as it is now; `commands` are the commands' meanings by name.
    """

    def __init__(self, catalog: Callable[[], Schema], commands: Mapping[str, str]) -> None:
        self._catalog = catalog
        self._commands = commands

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002
    ) -> Iterator[Completion]:
        """Completions of the word before the cursor, the most fitting first."""
        text = document.text_before_cursor
        match = _NAME.search(text)
        typed = match[0] if match else ""
        before = text[: len(text) - len(typed)]
        prefix, dot, last = typed.rpartition(".")
        words = self._words(before, document.text, prefix if dot else None, typed)
        wanted = last if dot and not typed.startswith("dpsql.") else typed
        for word in words:
            # A text is found by its first letters, too: A offers 'AA'.
            offered = word.text.casefold().removeprefix(_QUOTE)
            if offered.startswith(wanted.casefold()) and word.text != wanted:
                yield Completion(word.text, -len(wanted), display_meta=word.meaning)

    def _words(self, before: str, text: str, of: str | None, typed: str) -> Iterable[_Word]:
        compared = None if of is not None else _COMPARED.search(before)
        if compared is not None:
            values = self._values(compared[1], text, quoted=bool(compared[2]))
            return values if compared[2] else [*values, *self._names(before, text, of, typed)]
        return self._names(before, text, of, typed)

    def _names(self, before: str, text: str, of: str | None, typed: str) -> Iterable[_Word]:
        if before.lstrip().startswith("\\") or (not before.strip() and typed.startswith("\\")):
            return self._in_command(before)
        if _OWN.search(before):
            return [_Word(name, "") for name in _SETTINGS]
        if _IN_OPTIONS.search(before):
            return [_Word(name, "") for name in OPTIONS]
        if of is not None:
            table = None if _AFTER_FROM.search(before) else self._named(text, of)
            return self._tables(of) if table is None else _columns([table])
        if _AFTER_FROM.search(before):
            return self._tables()
        if not typed:
            return []
        read = [table for name in _read(text) if (table := self._table(name)) is not None]
        return [
            *_columns(read or self._catalog().visible_tables.values()),
            *_functions(),
            *_keywords(typed),
        ]

    def _in_command(self, before: str) -> Iterable[_Word]:
        if not before.strip():
            return [_Word(name, meaning) for name, meaning in self._commands.items()]
        return self._tables() if before.split(maxsplit=1)[0] == "\\d" else []

    def _tables(self, of: str | None = None) -> list[_Word]:
        """All tables, or those of the schema `of` by their names without it."""
        offered = self._catalog().visible_tables.values()
        if of is None:
            return [_Word(table.name, self._visibility(table)) for table in offered]
        space = MAIN if of.casefold() == PUBLIC else of.casefold()
        inside = (table for table in offered if identity(table.name)[0] == space)
        return [_Word(bare(table.name), self._visibility(table)) for table in inside]

    def _values(self, compared: str, text: str, *, quoted: bool) -> list[_Word]:
        """The values that the schema declares of a column, as they are written in SQL."""
        prefix, _, name = compared.rpartition(".")
        tables = [self._named(text, prefix)] if prefix else list(map(self._table, _read(text)))
        declared = [
            value
            for table in tables
            if table is not None
            for column in table.columns.values()
            if column.name.casefold() == name.casefold()
            for value in column.values or ()
        ]
        spelled = (_spelled(value, quoted=quoted) for value in declared)
        return [_Word(value, "declared") for value in spelled if value]

    def _visibility(self, table: Table) -> str:
        view = self._catalog().views.get(table.name)
        if view is not None and view.is_release:
            return "released"
        return "public" if isinstance(table.ownership, Public) else "private"

    def _named(self, text: str, name: str) -> Table | None:
        """The table whose alias in `text`, or whose name, is `name`; None if there is none."""
        for match in _ALIAS.finditer(text):
            if (match[2] or "").casefold() == name.casefold():
                return self._table(match[1])
        return self._table(name)

    def _table(self, name: str) -> Table | None:
        return self._catalog().resolve(*name.split("."))


def _spelled(value: Value, *, quoted: bool) -> str:
    """A value as it is written in SQL; "" if it isn't, behind the opening quote of a text."""
    if isinstance(value, bool):
        return "" if quoted else str(value).lower()
    if isinstance(value, int):
        return "" if quoted else str(value)
    if isinstance(value, Fraction):
        return "" if quoted else f"{float(value):g}"
    inside = f"{str(value).replace(_QUOTE, _QUOTE * 2)}{_QUOTE}"
    return inside if quoted else f"{_QUOTE}{inside}"


def _read(text: str) -> Iterator[str]:
    return (match[1] for match in _ALIAS.finditer(text))


def words() -> list[str]:
    """The functions and keywords, which are offered whatever the schema is."""
    return [word.text for word in (*_functions(), *_keywords(""))]


def _columns(tables: Iterable[Table]) -> list[_Word]:
    words = {c.name: _Word(c.name, describe(c)) for t in tables for c in t.columns.values()}
    return list(words.values())


def describe(column: Column) -> str:
    """A column's type, and its domain where the schema declares one."""
    kind = str(column.type).lower()
    if column.values is not None:
        return f"{kind}, one of {len(column.values)} values"
    if column.bounds is not None:
        low, high = column.bounds
        return f"{kind} in [{low}, {high}]"
    return kind


def _functions() -> list[_Word]:
    return [
        *(_Word(f"{name}(", "aggregate") for name in sorted(aggregate_names())),
        *(_Word(f"{kind.value}(", "error of an aggregate") for kind in _ERRORS),
        *(_Word(f"{name}(", "function") for name in sorted(FUNCTIONS) if name.isidentifier()),
    ]


def function_names() -> list[str]:
    """The names of the functions that have a rule, in order."""
    return sorted({word.text.removesuffix("(") for word in _functions()})


def _keywords(typed: str) -> list[_Word]:
    """The keywords, in small letters if the typed word is."""
    return [_Word(word.lower() if typed.islower() else word, "") for word in KEYWORDS.split()]
