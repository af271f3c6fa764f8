"""An answer as HTML, for notebooks: noise beside its values, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from html import escape
from typing import Final

from dpsql.report.cost import paid
from dpsql.report.error_columns import PLUS_MINUS, half_width_rows
from dpsql.report.result.python_value import Value, python_rows
from dpsql.report.result.result import Result
from dpsql.report.result.type_objects import NUMBER

MAX_ROWS: Final = 100
"""More aren't shown: they are there to be fetched."""

MAX_CHARACTERS: Final = 200
"""Of one value."""

_STYLE: Final = """<style>
.dpsql-answer{font:14px/1.45 system-ui,sans-serif}
.dpsql-answer td,.dpsql-answer th{padding:.1em .8em;text-align:left}
.dpsql-answer .n{text-align:right;font-variant-numeric:tabular-nums}
.dpsql-answer small,.dpsql-answer .noise,.dpsql-answer p{opacity:.6}
</style>"""


def answer_page(result: Result) -> str:
    """A fragment in which nothing acts: all names and values are escaped.

    Values that are no farther from 0 than their error are pale. At most `MAX_ROWS` rows.
    """
    return "\n".join(["<div class='dpsql-answer'>", _STYLE, *_body(result), "</div>"])


def _body(result: Result) -> Iterator[str]:
    numeric = [column[1] == NUMBER for column in result.description]
    heads = zip(result.names, numeric, strict=True)
    yield f"<table><tr>{''.join(_cell('th', escape(_cut(n)), is_n) for n, is_n in heads)}</tr>"
    some = result.table.slice(0, MAX_ROWS)
    widths = half_width_rows(result, some.num_rows)
    for number, row in enumerate(python_rows(some, result.types)):
        cells: list[str] = []
        for value, errors, is_n in zip(row, widths, numeric, strict=True):
            cells.append(_value(value, None if errors is None else errors[number], is_n))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</table>"
    more = result.table.num_rows - some.num_rows
    if more:
        yield f"<p>… and {more:,} more row{'' if more == 1 else 's'}</p>"
    if result.privacy is not None:
        for told in (f"cost: {paid(result.privacy)}", *result.privacy.notes):
            yield f"<p>{escape(told)}</p>"


def _value(value: Value, width: float | None, is_number: bool) -> str:  # noqa: FBT001
    text = escape(_cut(_text_of(value)))
    if value is None or width is None:
        return _cell("td", f"<small>{text}</small>" if value is None else text, is_number)
    is_noise = isinstance(value, int | float | Decimal) and abs(float(value)) <= width
    text = f"<span class='noise'>{text}</span>" if is_noise else text
    return _cell("td", f"{text} <small>{PLUS_MINUS} {width:.6g}</small>", is_number)


def _cell(tag: str, text: str, is_number: bool) -> str:  # noqa: FBT001
    return f"<{tag} class='n'>{text}</{tag}>" if is_number else f"<{tag}>{text}</{tag}>"


def _text_of(value: Value) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.10g}"
        case _:
            return str(value)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"
