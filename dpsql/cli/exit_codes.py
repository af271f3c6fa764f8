"""Errors become messages on stderr and exit codes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import click

from dpsql.errors import BudgetSpent, Error
from dpsql.report.terminal.error_message import describe


class ExitCode(IntEnum):
    """The exit code of a command."""

    ANSWERED = 0
    FAILED = 1
    MISUSED = 2
    BUDGET_SPENT = 3
    CANCELLED = 130


@contextmanager
def reporting_errors(sql: str | None = None) -> Iterator[None]:
    """Print an error on stderr and exit with its code; `sql` is the text that errors point into."""
    try:
        yield
    except Error as error:
        echo_err(describe(error, sql))
        spent = isinstance(error, BudgetSpent)
        raise click.exceptions.Exit(ExitCode.BUDGET_SPENT if spent else ExitCode.FAILED) from None


def echo_err(text: str) -> None:
    """Write a line to stderr, in colour on a terminal unless NO_COLOR is set."""
    click.echo(text, err=True, color=False if os.environ.get("NO_COLOR") else None)
