"""Arguments and options that several commands take."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from dpsql.engine.connection_string import SERVER
from dpsql.engine.spark.address import SPARK


class SourcePath(click.Path):
    """A file or folder, or the connection string of a server, which stays a text."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """The path, if it is there."""
        if isinstance(value, str) and value.startswith((*SERVER, SPARK)):
            return value
        return super().convert(value, param, ctx)


schema_file = click.argument("schema", type=click.Path(exists=True, dir_okay=False, path_type=Path))
epsilon_of_query = click.option(
    "--epsilon", type=float, metavar="E", help="What the query spends.  [default: the schema's]"
)
analyst_name = click.option(
    "--analyst", metavar="NAME", default="analyst", show_default=True, help="On whose account."
)
sampled_rows = click.option(
    "--sample",
    metavar="ROWS",
    type=click.IntRange(1, 1_000_000),
    help="Take types of CSV columns from so many first rows of each file.",
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

in_background = click.option(
    "--prepare/--no-prepare",
    default=None,
    help="Prepare new data in the background.  [default: if they were before]",
)


def text(sql: str) -> str:
    """The statement: `sql` itself, or the text of stdin if `sql` is "-"."""
    if sql != "-":
        return sql
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise click.UsageError("stdin isn't UTF-8") from None
