"""What BI tools send, written in their manner, and how a server answers it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pgwire.shop import FIXTURES

TOOLS = {
    "metabase": "Metabase",
    "dbeaver": "DBeaver",
    "datagrip": "DataGrip",
    "grafana": "Grafana",
    "pgadmin": "pgAdmin",
    "power_bi": "Power BI",
}
"""Names of the tools by the names of their files."""

_HEAD = re.compile(r"-- (?P<name>[^\[]+?)(?: \[(?P<kind>noisy|refused|but) ?(?P<word>\w*)\])?")
_OF_THE_SERVER = """
SELECT oid, relname FROM pg_class UNION ALL SELECT oid, conname FROM pg_constraint
UNION ALL SELECT oid, 'type ' || typname FROM pg_type UNION ALL SELECT oid, tgname FROM pg_trigger
"""
_FIRST_OF_USERS = 16384
_OID = 26


@dataclass(frozen=True, slots=True)
class Statement:
    """What a tool sends, in which `{orders}` stands for the OID of that table.

    `kind` says how dpsql answers: with PostgreSQL's rows ("equal"), but for the column `word`
    ("but"), with its rows but for noise ("noisy"), or by the SQLSTATE `word` ("refused").
    """

    tool: str
    name: str
    kind: str
    word: str
    sql: str

    def __str__(self) -> str:
        return f"{self.tool}: {self.name}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's columns, by name and type, and its rows as texts."""

    columns: tuple[tuple[str, int], ...]
    rows: tuple[tuple[str | None, ...], ...]

    def matches(self, other: Answer, *, noisy: bool) -> bool:
        """The same names, and the same values but for the digits of numbers, or for noise.

        A noisy answer can have more groups, since those of declared values are all in it.
        """
        mine, theirs = ([name for name, _ in a.columns] for a in (self, other))
        if noisy:
            return mine == theirs and self._keys() >= other._keys() and bool(other.rows)
        values = ([[*map(_number, row)] for row in answer.rows] for answer in (self, other))
        return mine == theirs and next(values) == next(values)

    def _keys(self) -> set[tuple[object, ...]]:
        """What isn't a number in each row."""
        rows = (map(_number, row) for row in self.rows)
        return {tuple(value for value in row if isinstance(value, str)) for row in rows}

    def without(self, column: str) -> Answer:
        """The answer without that column."""
        left = [n for n, (name, _) in enumerate(self.columns) if name != column]
        assert len(left) == len(self.columns) - (column != "")
        return Answer(
            tuple(self.columns[n] for n in left),
            tuple(tuple(row[n] for n in left) for row in self.rows),
        )


def statements(tool: str) -> list[Statement]:
    """The statements of the file of a tool, which blank lines part."""
    listed = []
    text = (FIXTURES / "tools" / f"{tool}.sql").read_text(encoding="utf-8")
    for part in text.strip().split("\n\n"):
        head, _, sql = part.partition("\n")
        match = _HEAD.fullmatch(head)
        assert match is not None, head
        listed.append(
            Statement(tool, match["name"], match["kind"] or "equal", match["word"] or "", sql)
        )
    return listed


def names_by_oid(connection: Any) -> Mapping[str, str]:
    """Names of what the server has given an OID, as the text of that."""
    rows = connection.execute(_OF_THE_SERVER).fetchall()
    return {str(oid): name for oid, name in rows if oid >= _FIRST_OF_USERS}


def answer(connection: Any, sql: str, names: Mapping[str, str]) -> Answer:
    """What the server answers, with the names of what it has given an OID instead of that OID."""
    import psycopg

    oids = {name: oid for oid, name in names.items()}
    cursor = psycopg.ClientCursor(connection)
    cursor.execute(re.sub(r"\{(\w+)\}", lambda match: oids.get(match[1], match[0]), sql))
    result = cursor.pgresult
    assert result is not None
    columns = [((result.fname(n) or b"").decode(), result.ftype(n)) for n in range(result.nfields)]
    rows = [
        tuple(
            _text(result.get_value(row, n), names if kind == _OID else {})
            for n, (_, kind) in enumerate(columns)
        )
        for row in range(result.ntuples)
    ]
    return Answer(tuple(columns), tuple(rows))


def _number(value: str | None) -> object:
    try:
        return None if value is None else round(float(value), 9)
    except ValueError:
        return value


def _text(value: bytes | None, names: Mapping[str, str]) -> str | None:
    if value is None:
        return None
    text = value.decode()
    return names.get(text, text)
