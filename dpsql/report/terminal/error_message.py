"""Errors as people read them: what, where, what to write instead.

error: o_comment can't be summed
  line 2: SELECT sum(o_comment) FROM orders
                 ^^^^^^^^^^^^^^
hint: sum a number
see: …/grammar_notes/aggregate_sum.md
sqlstate: 42804
"""

from __future__ import annotations

import click

from dpsql.errors import Error, Span


def describe(error: Error, sql: str | None = None) -> str:
    """An error's message, its place in `sql`, its detail, hint and page, and its SQLSTATE."""
    from dpsql.report.documentation import link  # noqa: PLC0415 - only a failure needs it
    from dpsql.report.terminal.sanitize import visible  # noqa: PLC0415 - only a failure needs it

    lines = [click.style("error:", fg="red", bold=True) + " " + visible(error.message)]
    if sql is not None and error.at is not None:
        lines += _place(sql, error.at)
    lines += [
        f"{name}: {visible(text)}"
        for name, text in (("detail", error.detail), ("hint", error.hint))
        if text and text not in error.message
    ]
    page = link(error.note) if error.note else ""
    if page:
        lines.append(f"see: {visible(page)}")
    lines.append(f"sqlstate: {error.sqlstate}")
    return "\n".join(lines)


_MOST_BEFORE = 60
_MOST_BEHIND = 40


def _place(sql: str, at: Span) -> list[str]:
    """The line of `sql` where the span begins, and carets under what lies in it."""
    from dpsql.report.terminal.sanitize import visible, width  # noqa: PLC0415 - only a failure needs it

    start = min(at.start, len(sql))
    first = sql.rfind("\n", 0, start) + 1
    last = sql.find("\n", start)
    line = sql[first : last if last >= 0 else len(sql)]
    inside = line[start - first : max(at.end - first, start - first + 1)]
    before = visible(line[: start - first].replace("\t", " "))
    behind = visible(line[start - first + len(inside) :].replace("\t", " ").rstrip())
    if width(before) > _MOST_BEFORE:
        before = "…" + before[-_MOST_BEFORE:]
    if width(behind) > _MOST_BEHIND:
        behind = behind[:_MOST_BEHIND] + "…"
    marked = visible(inside.replace("\t", " ").rstrip()) or " "
    if width(marked) > _MOST_BEFORE:
        marked, behind = marked[:_MOST_BEFORE] + "…", ""
    head = f"line {sql.count(chr(10), 0, first) + 1}: " if "\n" in sql.strip() else ""
    carets = click.style("^" * width(marked), fg="red", bold=True)
    return [
        f"  {head}{before}{marked}{behind}",
        "  " + " " * width(head + before) + carets,
    ]
