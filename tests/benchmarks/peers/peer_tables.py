"""Tables of dpsql beside other libraries, column by column; what wasn't measured stays as it was.

A column says when it was measured, and on what, so that a library that can't be installed any more
keeps its figures and their date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from benchmarks.peers.peer_environments import PEERS, Found
from benchmarks.picture import picture

ASKED: Final = {
    "count": "count of lines",
    "flags": "count, two sums and a mean by flag and status",
    "segment": "count and sum of orders by segment",
    "month": "revenue by month",
    "clerk": "orders by clerk",
    "clerk, told": "the same, `OPTIONS (groups = 8, rows_per_group = 2, over_groups = scale)`",
    "distinct": "distinct customers by priority",
    "median": "median price by priority",
}
MEASURED: Final = "measured"
OWN, FIRST, LAW = "dpsql", "dpsql, first of an ε", "dpsql, by law"
HEADS: Final = {"dpsql": OWN, **{name: peer.head for name, peer in PEERS.items()}}
COLOURS: Final = dict(
    zip(HEADS.values(), ("#2f9172", "#8795a3", "#b58a3c", "#7a6fb0"), strict=True)
)
SLOWER: Final = 10
"""So many times as long as dpsql every library is to take, at no less error."""

Table = Mapping[str, Mapping[str, str]]
"""By head of a column and name of a row, what its cell says."""


def times_columns(found: Mapping[str, Found], measured: str) -> Table:
    """Of each shape ms, and how many times as long as without privacy."""
    columns: dict[str, Mapping[str, str]] = {}
    for name, each in found.items():
        columns[HEADS[name]] = _column(each, measured, lambda one: _time(one, "private", "ratio"))
        if name == "dpsql":
            columns[FIRST] = _column(each, measured, lambda one: _time(one, "first", "first ratio"))
    return columns


def errors_columns(found: Mapping[str, Found], measured: str) -> Table:
    """Of each shape the errors of its columns."""
    columns: dict[str, Mapping[str, str]] = {}
    for name, each in found.items():
        columns[HEADS[name]] = _column(each, measured, lambda one: _percents(one["errors"]))
        if name == "dpsql":
            columns[LAW] = _column(each, measured, lambda one: _percents(one["by law"]))
    return columns


def compared_columns(times: Table, errors: Table) -> Table:
    """How many times as long as dpsql a library takes, and its errors ÷ dpsql's, which are by law.

    One that isn't ten times slower is marked; one that wasn't measured in turns with dpsql is left
    out.
    """
    own, law = times[OWN], errors.get(LAW, errors[OWN])
    columns: dict[str, dict[str, str]] = {}
    for head, cells in times.items():
        is_peer = head not in (OWN, FIRST) and head in errors
        if is_peer and cells[MEASURED] == own[MEASURED]:
            columns[head] = {
                row: _compared(cell, errors[head][row], own[row], law[row])
                for row, cell in cells.items()
                if _is_answered(cell, errors[head].get(row))
                and _is_answered(own.get(row), law.get(row))
            }
    return columns


def kept(new: Table, old: str, heads: Sequence[str]) -> Table:
    """The new columns, and of the table `old` those that weren't measured again, in their order."""
    before = columns_of(old)
    return {head: new.get(head) or before[head] for head in heads if head in {**new, **before}}


def columns_of(table: str) -> Table:
    """What a table in Markdown says."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    if not rows:
        return {}
    heads, _, *cells = rows
    return {
        head: {row[0]: row[place] for row in cells if row[place]}
        for place, head in enumerate(heads)
        if place
    }


def markdown(columns: Table) -> str:
    """The table, with a row for each shape that is in a column."""
    rows = (MEASURED, *ASKED.values())
    lines = [
        ["shape", *columns],
        ["---", *["---:"] * len(columns)],
        *([row, *(cells.get(row, "") for cells in columns.values())] for row in rows),
    ]
    lines = [line for line in lines if any(line[1:])]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def plot(times: Table) -> str:
    """How many times as long as its plain question each library takes, shape by shape, as SVG."""
    bars = {
        head: {
            name: {"ratio": _number(ratio[1])}
            for name, row in ASKED.items()
            if (ratio := re.search(r"([\d,.]+)×", times[head].get(row, "")))
        }
        for head in COLOURS
        if head in times
    }
    colours = {head: COLOURS[head] for head in bars}
    return picture(bars, colours, "a whole answer ÷ without privacy, TPC-H", highest=1024)


def _column(
    found: Found, measured: str, say: Callable[[Mapping[str, Any]], str]
) -> Mapping[str, str]:
    cells = {ASKED[one["shape"]]: _refusal(one) or say(one) for one in found}
    return {MEASURED: measured, **cells}


def _refusal(one: Mapping[str, Any]) -> str | None:
    """What the library says, as a cell can have it."""
    return f"refused: {one['refused'].replace('|', '/')}" if "refused" in one else None


def _time(one: Mapping[str, Any], time: str, ratio: str) -> str:
    return f"{one[time]:,.{1 if one[time] < 10 else 0}f} ms, {one[ratio]:.1f}×"


def _percents(errors: Sequence[float]) -> str:
    return " / ".join(f"{e:.2g}" if e < 100 else f"{e:,.0f}" for e in errors) + " %"


def _is_answered(time: str | None, error: str | None) -> bool:
    """Whether both cells have figures, not what a library says when it refuses."""
    return bool(time and error and time.endswith("×") and error.endswith("%"))


def _compared(time: str, error: str, own_time: str, own_error: str) -> str:
    """As in "38×, 1.4 / 1.2"."""
    slower = _milliseconds(time) / _milliseconds(own_time)
    pairs = zip(_errors(error), _errors(own_error), strict=True)
    worse = [peer / own if own else float(peer > 0) for peer, own in pairs]
    told = f"{slower:.0f}×" if slower >= SLOWER else f"**{slower:.1f}×**"
    return f"{told}, {' / '.join(f'{each:.2g}' for each in worse)}"


def _milliseconds(cell: str) -> float:
    return _number(cell.partition(" ms")[0])


def _errors(cell: str) -> list[float]:
    return [_number(part) for part in cell.removesuffix(" %").split(" / ")]


def _number(text: str) -> float:
    return float(text.replace(",", ""))
