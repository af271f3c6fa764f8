"""Runs a statement: the answer goes to stdout, its cost and the remaining budget to stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Literal, TypeVar, assert_never

import click

# These are needed far below, at the end of a chain of imports by which the interpreter's stack may
# be full to the edge of a part: each call of what a library then does would map a new part, and
# unmap it, 1,500 times in all.
import duckdb  # noqa: F401
import numpy as np  # noqa: F401
import platformdirs  # noqa: F401
import sqlglot.generators.duckdb  # noqa: F401

from dpsql.cli.exit_codes import ExitCode, echo_err, reporting_errors
from dpsql.dbapi.connection import Connection
from dpsql.dbapi.cursor import Cursor
from dpsql.report.cost import cost, cost_of_batch
from dpsql.report.explanation.explanation import OutputFormat as Explained
from dpsql.report.export import csv, json, parquet
from dpsql.report.terminal.progress import Cancelled, Watch
from dpsql.report.terminal.sanitize import sanitize_lines
from dpsql.report.terminal.table import markdown, plain, print_on_terminal
from dpsql.session.session import Session
from dpsql.sqltext.script import parts

Result = TypeVar("Result")
OutputFormat = Literal["table", "csv", "json", "markdown", "parquet"]
Written = Literal["text", "json", "html", "svg"]


def query(
    schema: Path, sql: str, form: OutputFormat, *, errors: bool, epsilon: float | None, analyst: str
) -> None:
    """Answer `sql` in the format `form`, with columns of errors if `errors`."""
    if form == "parquet" and sys.stdout.isatty():
        raise click.UsageError("Parquet isn't for terminals: redirect it, as in > answer.parquet")
    with reporting_errors(sql):
        connection, cursor = watched(
            schema, epsilon, analyst, lambda connection: connection.execute(sql)
        )
        with closing(connection):
            write(cursor, form, errors=errors)
            if cursor.privacy is not None:
                echo_err(cost(cursor.privacy, connection.budget))
                for note in cursor.privacy.notes:
                    echo_err(note)


def batch(
    schema: Path,
    statements: str,
    form: OutputFormat,
    *,
    errors: bool,
    epsilon: float | None,
    analyst: str,
) -> None:
    """Answer all statements of a text, charged together, or none."""
    if form == "parquet":
        raise click.UsageError("Parquet holds one answer: ask for another format")
    with reporting_errors():
        connection, (cursors, together) = watched(
            schema, epsilon, analyst, lambda connection: connection.batch(parts(statements))
        )
        with closing(connection):
            for number, cursor in enumerate(cursors):
                if number:
                    click.echo()
                write(cursor, form, errors=errors)
            echo_err(cost_of_batch(together, connection.budget))
            for note in together.notes:
                echo_err(note)


def explain(
    schema: Path, sql: str, form: Written, *, with_sql: bool, epsilon: float | None, analyst: str
) -> None:
    """Print the proof and the price of `sql`."""
    with reporting_errors(sql):
        connection, explanation = watched(
            schema, epsilon, analyst, lambda connection: connection.explain(sql)
        )
        with closing(connection):
            click.echo(sanitize_lines(explanation.written(Explained(form), sql=with_sql)))


def explain_batch(
    schema: Path,
    statements: str,
    form: Written,
    *,
    with_sql: bool,
    epsilon: float | None,
    analyst: str,
) -> None:
    """Print the proof and the price of what the statements of a text are planned as."""
    with reporting_errors():
        connection, explanations = watched(
            schema, epsilon, analyst, lambda connection: connection.explain_batch(parts(statements))
        )
        with closing(connection):
            written = (one.written(Explained(form), sql=with_sql) for one in explanations)
            click.echo("\n\n".join(map(sanitize_lines, written)))


def sweep(schema: Path, sql: str, form: Written, epsilons: str | None, *, analyst: str) -> None:
    """Print the errors of `sql` at many epsilons."""
    from dpsql.report.error_curve import OutputFormat as Swept  # noqa: PLC0415 - few need it

    with reporting_errors(sql):
        connection, curve = watched(
            schema, None, analyst, lambda connection: connection.sweep(sql, epsilons)
        )
        with closing(connection):
            click.echo(sanitize_lines(curve.written(Swept(form))))


def write(cursor: Cursor, form: OutputFormat, *, errors: bool) -> None:
    """Write an answer to stdout, nothing where there is none."""
    if cursor.description is None:
        return
    cursor = cursor.with_errors() if errors else cursor
    columns = cursor.description or ()
    match form:
        case "table" if sys.stdout.isatty() and len(columns) > 1:
            print_on_terminal(columns, cursor.fetchall())
        case "table":
            click.echo(plain(columns, cursor.fetchall()))
        case "markdown":
            click.echo(markdown(columns, cursor.fetchall()))
        case "csv":
            click.echo(csv([column[0] for column in columns], cursor.fetchall()), nl=False)
        case "json":
            click.echo(json([column[0] for column in columns], cursor.fetchall()), nl=False)
        case "parquet":
            click.echo(parquet(cursor.fetch_arrow_table()), nl=False)
        case missing:
            assert_never(missing)


def watched(
    schema: Path,
    epsilon: float | None,
    analyst: str,
    ask: Callable[[Connection], Result],
) -> tuple[Connection, Result]:
    """Connect, and return the connection with what `ask` returns; steps are shown meanwhile.

    After Ctrl-C, a message says whether the charge was made, and the command exits.
    """
    watch = Watch()
    connections: list[Connection] = []

    def work() -> Result:
        watch.step("reading the schema")
        session = Session(schema, analyst=analyst, epsilon=epsilon, progress=watch.step)
        connections.append(Connection(session))
        return ask(connections[0])

    def interrupt() -> None:
        for connection in connections:
            connection.interrupt()

    try:
        outcome = watch.run(work, interrupt)
    except Cancelled as cancelled:
        if not cancelled.running:
            _close(connections)
        echo_err(
            "cancelled; " + ("its charge stands" if cancelled.charged else "nothing was charged")
        )
        raise click.exceptions.Exit(ExitCode.CANCELLED) from None
    except BaseException:
        _close(connections)
        raise
    return connections[0], outcome


def _close(connections: list[Connection]) -> None:
    for connection in connections:
        connection.close()
