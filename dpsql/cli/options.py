"""Arguments and options that several commands take."""

from __future__ import annotations

import sys
from pathlib import Path

import click

schema_file = click.argument("schema", type=click.Path(exists=True, dir_okay=False, path_type=Path))
epsilon_of_query = click.option(
    "--epsilon", type=float, metavar="E", help="What the query spends.  [default: the schema's]"
)
analyst_name = click.option(
    "--analyst", metavar="NAME", default="analyst", show_default=True, help="On whose account."
)
form_of_answer = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "markdown", "parquet"]),
    default="table",
    show_default=True,
    help="How the answer is written.",
)

errors_of_values = click.option(
    "--errors", is_flag=True, help="Add 95 % errors: a column n ± beside n."
)


def text(sql: str) -> str:
    """The statement: `sql` itself, or the text of stdin if `sql` is "-"."""
    if sql != "-":
        return sql
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise click.UsageError("stdin isn't UTF-8") from None
