"""A table of what limits and bounds cut off, and of which would cut off less, for the owner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Final

from dpsql.plan.expression_text import describe_number
from dpsql.report.terminal.table import listing
from dpsql.schema.model import Schema
from dpsql.session.clipped_values import ClippedValues
from dpsql.session.limited_rows import LimitedRows

_PARTS: Final = (Fraction(0), Fraction(1, 100), Fraction(5, 100))
_HEADINGS: Final = ("table", "limit or bounds", "cuts off", "of units", "0 %", "1 %", "5 %")

_TITLE: Final = (
    "what limits cut off of rows, and bounds of sums of |x|, exactly; and the powers of two that"
    " would cut off 0 %, 1 % and 5 % at most"
)
_WARNING: Final = (
    "for you alone: limits and bounds that are declared are public, and those that are copied from"
    " here tell of private rows; SUGGEST BOUNDS tells them with noise, and charges"
)


def cuts_lines(
    schema: Schema, limited: Iterable[LimitedRows], clipped: Sequence[ClippedValues]
) -> Iterator[str]:
    """The table by lines, with a title and a warning; none where there is no limit and no bound."""
    rows = [(each.table.name, _limit(each)) for each in limited]
    rows += [(each.table.name, _bounds(each)) for each in clipped]
    if not rows:
        return
    ordered = [[name, *cells] for each in schema.tables for name, cells in rows if name == each]
    yield from ("", _TITLE, *listing(_HEADINGS, ordered).split("\n"))
    for each in clipped:
        if each.not_summed:
            what = f"{each.not_summed:,} values of {each.column.name}"
            yield f"{each.table.name}: {what} are NaN or beyond 2^80, and in no sum"
    yield _WARNING


def percent(part: Fraction) -> str:
    """A part in percent, to three digits; a little is told from nothing."""
    if not part:
        return "0 %"
    return "less than 0.1 %" if part < Fraction(1, 1000) else f"{float(100 * part):.3g} %"


def percent_of_rows(cut: LimitedRows) -> str:
    """The part of the rows that a limit leaves out."""
    return f"{'at most ' if cut.is_scaled else ''}{percent(cut.part)}"


def _limit(cut: LimitedRows) -> Sequence[str]:
    by = f" by {cut.key}" if cut.key else ""
    smallest = (str(cut.smallest_limit(part)) for part in _PARTS)
    return [f"{cut.limit}: {cut.value}{by}", percent_of_rows(cut), _units(cut), *smallest]


def _bounds(cut: ClippedValues) -> Sequence[str]:
    narrowest = (_interval(cut.narrowest_bounds(part)) for part in _PARTS)
    name = f"{cut.column.name}: {_interval(cut.bounds)}"
    return [name, percent(cut.part), _units(cut), *narrowest]


def _units(cut: LimitedRows | ClippedValues) -> str:
    return f"{cut.units:,} of {cut.every_unit:,}"


def _interval(bounds: tuple[Fraction, Fraction]) -> str:
    return f"[{', '.join(map(describe_number, bounds))}]"
