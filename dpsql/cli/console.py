"""`dpsql console`: a prompt on a terminal; from a pipe, statements one after the other."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
import platformdirs

from dpsql.cli.exit_codes import ExitCode, reporting_errors
from dpsql.console.repl import Console
from dpsql.errors import BudgetSpent
from dpsql.schema.load.paths import STATE
from dpsql.session.preparing.renewal import Renewal


def console(schema: Path, *, epsilon: float | None, analyst: str, prepare: bool | None) -> None:
    """Prompt on a terminal; otherwise run the statements of stdin until the first failure.

    At a prompt, new data are prepared in the background: as `prepare`, else where they were before.
    """
    with reporting_errors():
        named = _state_folder() / "console_queries.json"
        prompt = Console(schema, analyst=analyst, epsilon=epsilon, named=named)
        if sys.stdin.isatty() and sys.stdout.isatty():
            renewal = Renewal(schema, lambda: prompt.schema, prepare, prompt.notice)
            renewal.start()
            try:
                prompt.interact(_state_folder() / "console_history")
            finally:
                renewal.close()
            return
        try:
            text = sys.stdin.buffer.read().decode()
        except UnicodeDecodeError:
            raise click.UsageError("stdin isn't UTF-8") from None
        prompt.batch(text)
    if prompt.failure is not None:
        spent = isinstance(prompt.failure, BudgetSpent)
        raise click.exceptions.Exit(ExitCode.BUDGET_SPENT if spent else ExitCode.FAILED)


def _state_folder() -> Path:
    state = os.environ.get(STATE)
    return Path(state).absolute() if state else platformdirs.user_state_path("dpsql")
