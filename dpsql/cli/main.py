"""The commands and their options; every exception ends in a message, never in a traceback."""

from __future__ import annotations

import io
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import click

from dpsql.cli.deferred_commands import DeferredCommands
from dpsql.cli.exit_codes import ExitCode, echo_err
from dpsql.cli.options import (
    analyst_name,
    epsilon_of_query,
    errors_of_values,
    form_of_answer,
    in_background,
    schema_file,
    text,
)
from dpsql.engine.duckdb.failure_cause import causes_shown

if TYPE_CHECKING:
    from dpsql.cli.budget import OutputFormat as BudgetForm
    from dpsql.cli.query import OutputFormat

_SPACE = 2048 * 1024 * 1024
"""Bytes of address space that libraries and threads map, with some room for a statement."""

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 80}

_DEFERRED: Final = {
    "audit": "dpsql.cli.audit.commands",
    "calibrate": "dpsql.cli.calibrate",
    "demo": "dpsql.cli.demo.command",
    "explain": "dpsql.cli.explain",
    "init": "dpsql.cli.init.options",
    "mcp": "dpsql.cli.mcp.command",
    "prepare": "dpsql.cli.prepare.command",
    "serve": "dpsql.cli.serve",
    "user": "dpsql.cli.user",
}


@click.group(cls=DeferredCommands, deferred=_DEFERRED, context_settings=_CONTEXT)
@click.version_option(package_name="dpsql", message="dpsql %(version)s")
def commands() -> None:
    """Differentially private answers to ordinary SQL.

    SCHEMA is a YAML file that says where the tables are, whose rows they hold
    and what may be spent on them. SQL may be - to be read from stdin.

    \b
    Exit codes: 0 answered, 1 refused or failed, 2 wrong usage, 3 not enough
    budget, 130 cancelled.
    """  # noqa: D301 - \b keeps click from filling the lines


@commands.command()
@schema_file
@click.argument("sql", required=False)
@form_of_answer
@errors_of_values
@epsilon_of_query
@analyst_name
@click.option(
    "--batch",
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="Answer all statements of a file together: at less cost, or with less noise.",
)
def query(
    schema: Path,
    sql: str | None,
    form: OutputFormat,
    epsilon: float | None,
    analyst: str,
    batch: TextIO | None,
    *,
    errors: bool,
) -> None:
    """Answer a query, and charge for it.

    The answer goes to stdout; its cost and what is left go to stderr.
    """
    from dpsql.cli import query as run  # noqa: PLC0415 - opens engines

    if (sql is None) == (batch is None):
        raise click.UsageError("give either SQL or --batch FILE")
    if batch is not None:
        run.batch(schema, batch.read(), form, errors=errors, epsilon=epsilon, analyst=analyst)
    elif sql is not None:
        run.query(schema, text(sql), form, errors=errors, epsilon=epsilon, analyst=analyst)


@commands.command()
@schema_file
def check(schema: Path) -> None:
    """Check a schema, also against its source.

    For the owner of the data: it reads private rows to verify the declared
    keys, and records those that hold, so that later queries need less noise.
    It tells exactly what limits and bounds cut off, which is nobody else's
    to know.
    """
    from dpsql.cli.check import command as run  # noqa: PLC0415 - opens engines

    run.check(schema)


@commands.command()
@schema_file
@analyst_name
@click.option("--history", is_flag=True, help="Show every entry, not only the latest.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="For people, or every entry for programs.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write all of it as one HTML page.",
)
def budget(
    schema: Path, analyst: str, form: BudgetForm, html: Path | None, *, history: bool
) -> None:
    """Show what was spent, what is left, by whom and on what.

    On a terminal, also draws how the budget burned down.
    """
    from dpsql.cli import budget as run  # noqa: PLC0415 - opens engines

    run.budget(schema, analyst, form, html, history=history)


@commands.group()
def ledger() -> None:
    """Verify, amend or back up a ledger: for its owner."""


@ledger.command()
@schema_file
@click.option(
    "--receipt", "receipts", multiple=True, metavar="N:HASH", help="An entry it has to hold."
)
def verify(schema: Path, receipts: tuple[str, ...]) -> None:
    """Replay the whole ledger, and compare all it keeps.

    Fails if entries, anchor, balances or kept answers disagree, or if an entry
    that a receipt was given for is gone: then it was rolled back or rewritten.
    """
    from dpsql.cli import ledger as run  # noqa: PLC0415 - slow to import

    run.verify(schema, receipts)


@ledger.command()
@schema_file
@click.option("--reason", metavar="TEXT", help="Why. Without it, nothing is changed.")
def amend(schema: Path, reason: str | None) -> None:
    """Agree to a schema that is looser than before.

    More budget, higher caps, wider bounds and limits, other owners of rows:
    prints what is looser and, given a reason, records both.
    """
    from dpsql.cli import ledger as run  # noqa: PLC0415 - slow to import

    run.amend(schema, reason)


@ledger.command()
@schema_file
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def backup(schema: Path, file: Path) -> None:
    """Copy a ledger, while it is used, into a new FILE.

    To move the ledger, copy it and then name FILE as ledger: in the schema. The
    anchor stays, so a copy is refused once the other was charged.
    """
    from dpsql.cli import ledger as run  # noqa: PLC0415 - slow to import

    run.backup(schema, file)


@commands.command()
@schema_file
@epsilon_of_query
@analyst_name
@in_background
def console(schema: Path, epsilon: float | None, analyst: str, *, prepare: bool | None) -> None:
    r"""Ask at a prompt, with completion and what is left of the budget.

    Statements end with a semicolon; \? lists the commands. A query that takes
    more than a fifth of what is left is asked about first. What is piped in is
    run until the first failure.
    """
    from dpsql.cli import console as run  # noqa: PLC0415 - opens engines

    run.console(schema, epsilon=epsilon, analyst=analyst, prepare=prepare)


def main() -> None:
    """Run a command, and exit with its code; an exception becomes a message on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    _warn_of_little_space()
    try:
        # The user of a command may see a failure's cause, which the errors' messages leave out.
        with causes_shown():
            code = commands.main(prog_name="dpsql", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        echo_err("cancelled")
        code = ExitCode.CANCELLED
    except BrokenPipeError:
        # The reader of stdout has closed it; without this, Python would complain at its exit.
        sys.stdout = None
        code = ExitCode.FAILED
    except OSError as error:
        echo_err(f"error: {(error.strerror or 'the system refused').lower()}")
        code = ExitCode.FAILED
    except Exception as error:  # noqa: BLE001 - never a traceback, which could hold data
        if _is_of_memory(error):
            echo_err(f"error: memory is short{_limit()}")
            echo_err("sqlstate: 53200")
        else:
            echo_err(f"error: dpsql failed by a fault of its own ({type(error).__name__})")
            echo_err("sqlstate: XX000")
        code = ExitCode.FAILED
    sys.exit(code)


def _warn_of_little_space() -> None:
    """Warn beforehand: libraries that get no memory end the process without any message."""
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    if space != resource.RLIM_INFINITY and space < _SPACE:
        echo_err(f"warning: memory may be short{_limit()}")


def _is_of_memory(error: Exception) -> bool:
    """Whether memory is short; with `ulimit -v`, threads and libraries raise other errors then."""
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    limited = isinstance(error, RuntimeError | ImportError | SystemError) and space < _SPACE
    # By its name: to import DuckDB takes memory.
    is_full = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException"
    return is_full or (limited and space != resource.RLIM_INFINITY)


def _limit() -> str:
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    if space == resource.RLIM_INFINITY:
        return ""
    mib = 1024 * 1024
    return (
        f": ulimit -v leaves this process {space // mib} MiB of address space, and most commands"
        f" need {_SPACE // mib}; write ulimit -v unlimited"
    )
