"""Errors as people read them: the message, its position, and what to write instead.

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
    """An error's message, its position in `sql`, its detail, hint and page, and its SQLSTATE."""
    from dpsql.report.documentation import link  # noqa: PLC0415 - only a failure needs it
    from dpsql.report.terminal.sanitize import sanitize  # noqa: PLC0415 - only a failure needs it

    lines = [click.style("error:", fg="red", bold=True) + " " + sanitize(error.message)]
    if sql is not None and error.at is not None:
        lines += _excerpt(sql, error.at)
    lines += [
        f"{name}: {sanitize(text)}"
        for name, text in (("detail", error.detail), ("hint", error.hint))
        if text and text not in error.message
    ]
    page = link(error.note) if error.note else ""
    if page:
        lines.append(f"see: {sanitize(page)}")
    lines.append(f"sqlstate: {error.sqlstate}")
    return "\n".join(lines)


_MAX_BEFORE = 60
_MAX_BEHIND = 40


def _excerpt(sql: str, at: Span) -> list[str]:
    """The line of `sql` where the span begins, and carets under the span."""
    from dpsql.report.terminal.sanitize import sanitize, width  # noqa: PLC0415 - only a failure needs it

    start = min(at.start, len(sql))
    first = sql.rfind("\n", 0, start) + 1
    last = sql.find("\n", start)
    line = sql[first : last if last >= 0 else len(sql)]
    inside = line[start - first : max(at.end - first, start - first + 1)]
    before = sanitize(line[: start - first].replace("\t", " "))
    behind = sanitize(line[start - first + len(inside) :].replace("\t", " ").rstrip())
    if width(before) > _MAX_BEFORE:
        before = "…" + before[-_MAX_BEFORE:]
    if width(behind) > _MAX_BEHIND:
        behind = behind[:_MAX_BEHIND] + "…"
    marked = sanitize(inside.replace("\t", " ").rstrip()) or " "
    if width(marked) > _MAX_BEFORE:
        marked, behind = marked[:_MAX_BEFORE] + "…", ""
    head = f"line {sql.count(chr(10), 0, first) + 1}: " if "\n" in sql.strip() else ""
    carets = click.style("^" * width(marked), fg="red", bold=True)
    return [
        f"  {head}{before}{marked}{behind}",
        "  " + " " * width(head + before) + carets,
    ]
