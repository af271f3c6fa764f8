"""The clauses of CALIBRATE: its table, and MEASURE, BY and ALONG, each of which may be left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from dpsql.bind.context import Context
from dpsql.bind.from_clause.table import find_named
from dpsql.bind.scope import quoted_name
from dpsql.errors import Refused, SyntaxFault
from dpsql.schema.model import EntityUnit, Table, View
from dpsql.sqltext.tokens import Word, words

CALIBRATE: Final = "CALIBRATE table MEASURE expression BY keys ALONG tables FOR 0.5"
"""The form of the statement; MEASURE, BY and ALONG may be left out."""

_CLAUSES: Final = ("measure", "by", "along")
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")


class Calibration(Struct, frozen=True):
    """A calibration as it is written, by its clauses; `measure` and `keys` are SQL."""

    table: tuple[str, ...]
    measure: str | None
    keys: str | None
    along: tuple[tuple[str, ...], ...]


def read_calibration(sql: str) -> Calibration:
    """The clauses of `sql`; raises SyntaxFault for what has another form."""
    written = [word for word in words(sql) if word.text != ";"]
    starts = [n for n in _top_level(written) if written[n].folded in _CLAUSES]
    names = [written[n].folded for n in starts]
    if len(written) < 2 or names != [clause for clause in _CLAUSES if clause in names]:
        raise not_so()
    ends = [*starts[1:], len(written)] if starts else []
    texts: dict[str, str] = {}
    for start, end in zip(starts, ends, strict=True):
        inside = written[start + 1 : end]
        if not inside or inside[-1].text == ",":
            raise not_so()
        texts[written[start].folded] = sql[inside[0].start : inside[-1].end]
    table = _name(written[1 : starts[0] if starts else len(written)])
    along: tuple[tuple[str, ...], ...] = ()
    if "along" in texts:
        along = tuple(map(_name, _parted(list(words(texts["along"])))))
    return Calibration(table, texts.get("measure"), texts.get("by"), along)


def from_clause(calibration: Calibration, context: Context) -> str:
    """The FROM clause: the table, and those ALONG which its rows are followed, by declared keys."""
    tables = [find_named(context, calibration.table, None)]
    text = quoted_name(tables[0].name)
    for parts in calibration.along:
        table = find_named(context, parts, None)
        on = next(filter(None, (_reference(known, table) for known in tables)), None)
        if on is None:
            raise Refused(
                f"no table before {table.name} has a declared reference to it",
                hint=f"declare `references`, or name the tables in between: ALONG …, {table.name}",
                note="calibrate",
            )
        text += f" JOIN {quoted_name(table.name)} ON {on}"
        tables.append(table)
    return text


def _reference(table: Table | View, other: Table | View) -> str | None:
    """The condition on which rows of `table` lead to those of `other`; None if none is declared."""
    if isinstance(table, View):
        return None
    pairs = [
        (name, column.references.column)
        for name, column in table.columns.items()
        if column.references is not None and column.references.table == other.name
    ][:1]
    if isinstance(table.ownership, EntityUnit):
        hops = [hop for hop in table.ownership.hops[:1] if hop.table == other.name]
        pairs = [pair for hop in hops for pair in hop.pairs] or pairs
    left, right = quoted_name(table.name), quoted_name(other.name)
    on = [f"{left}.{quoted_name(a)} = {right}.{quoted_name(b)}" for a, b in pairs]
    return " AND ".join(on) or None


def _top_level(tokens: Sequence[Word]) -> list[int]:
    """The indices of the words that stand in no parentheses, behind the first."""
    depth, outside = 0, []
    for index, word in enumerate(tokens):
        depth += (word.text in _OPENING) - (word.text in _CLOSING)
        if index and not depth:
            outside.append(index)
    return outside


def _parted(tokens: list[Word]) -> list[list[Word]]:
    """The words between commas."""
    parts: list[list[Word]] = [[]]
    for word in tokens:
        if word.text == ",":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _name(tokens: Sequence[Word]) -> tuple[str, ...]:
    parts, signs = tokens[::2], tokens[1::2]
    if not 1 <= len(parts) <= 3 or len(parts) == len(signs) or any(s.text != "." for s in signs):
        raise not_so()
    return tuple(part.name for part in parts)


def not_so() -> SyntaxFault:
    """What is refused that is written in another form."""
    return SyntaxFault("CALIBRATE isn't written so", hint=f"write {CALIBRATE}")
