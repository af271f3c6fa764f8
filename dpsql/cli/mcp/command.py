"""Runs the server that assistants connect to, over stdin and stdout or HTTP."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click

from dpsql.cli.exit_codes import ExitCode, echo_err, reporting_errors
from dpsql.cli.options import analyst_name, schema_file
from dpsql.engine.duckdb.failure_cause import causes_hidden
from dpsql.installed_extra import install_extra


@click.command()
@schema_file
@analyst_name
@click.option(
    "--epsilon",
    type=float,
    metavar="E",
    help="What a query spends.  [default: the schema's, or less if --max-cost is]",
)
@click.option(
    "--max-cost",
    type=float,
    metavar="E",
    help="The most a statement may.  [default: what a query spends]",
)
@click.option(
    "--max-total",
    type=float,
    metavar="E",
    help="The most all together may, until the server ends.  [default: a fifth of what is left]",
)
@click.option(
    "--ask-above",
    type=float,
    metavar="E",
    help="Have the client ask a human before a statement that costs more.",
)
@click.option("--statement-seconds", default=60.0, show_default=True, help="The longest statement.")
@click.option(
    "--http",
    type=int,
    metavar="PORT",
    help="Listen on 127.0.0.1, streamable HTTP; 0 for any port.  [default: stdin and stdout]",
)
def mcp(schema: Path, **arguments: Any) -> None:
    """Serve assistants: speak the Model Context Protocol.

    Tools list tables, explain a statement's privacy, run it and tell the
    budget; only running it spends. Limits hold whatever an assistant asks.
    """
    from dpsql.cli.mcp.short_log import log_without_tracebacks  # noqa: PLC0415 - few need it

    try:
        from dpsql.mcp.options import Options, WrongOptions  # noqa: PLC0415 - opens engines
        from dpsql.mcp.transport import serve  # noqa: PLC0415 - the SDK may be missing
    except ModuleNotFoundError as missing:
        raise click.UsageError(f"this needs {missing.name}: {install_extra('mcp')}") from None
    log_without_tracebacks()
    # The client collects stderr, and may show it to anybody.
    warnings.simplefilter("ignore")
    with causes_hidden(), reporting_errors():
        try:
            serve(Options(schema, **arguments), echo_err)
        except WrongOptions as wrong:
            for fault in wrong.faults:
                echo_err(f"error: {fault}")
            raise click.exceptions.Exit(ExitCode.MISUSED) from None
