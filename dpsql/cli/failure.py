"""Errors as people read them: what, where, what to write instead; and the exit codes.

error: o_comment can't be summed
  line 2: SELECT sum(o_comment) FROM orders
                 ^^^^^^^^^^^^^^
hint: sum a number
sqlstate: 42804
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import click

from dpsql.errors import BudgetSpent, Error, Span


class ExitCode(IntEnum):
    """What a command ends with."""

    ANSWERED = 0
    FAILED = 1
    MISUSED = 2
    BUDGET_SPENT = 3
    CANCELLED = 130


@contextmanager
def explained(sql: str | None = None) -> Iterator[None]:
    """Errors become messages on stderr and exit codes; `sql` is the text they point into."""
    try:
        yield
    except Error as error:
        say(describe(error, sql))
        spent = isinstance(error, BudgetSpent)
        raise click.exceptions.Exit(ExitCode.BUDGET_SPENT if spent else ExitCode.FAILED) from None


def say(text: str) -> None:
    """Write a line to stderr, in colour only where somebody sees it."""
    click.echo(text, err=True, color=False if os.environ.get("NO_COLOR") else None)


def describe(error: Error, sql: str | None = None) -> str:
    """An error's message, its place in `sql`, its detail and hint, and its SQLSTATE."""
    from dpsql.cli.visible import visible  # noqa: PLC0415 - only a failure needs it

    lines = [click.style("error:", fg="red", bold=True) + " " + visible(error.message)]
    if sql is not None and error.at is not None:
        lines += _place(sql, error.at)
    lines += [
        f"{name}: {visible(text)}"
        for name, text in (("detail", error.detail), ("hint", error.hint))
        if text
    ]
    lines.append(f"sqlstate: {error.sqlstate}")
    return "\n".join(lines)


_MOST_BEFORE = 60
_MOST_BEHIND = 40


def _place(sql: str, at: Span) -> list[str]:
    """The line of `sql` where the span begins, and carets under what lies in it."""
    from dpsql.cli.visible import visible, width  # noqa: PLC0415 - only a failure needs it

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
