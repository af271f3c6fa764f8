"""Make a draft of a source, by its kind, and write a schema file from it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from dpsql.cli.exit_codes import echo_err, reporting_errors
from dpsql.cli.init.draft import Draft
from dpsql.cli.init.from_database import of_database, of_folder
from dpsql.cli.init.from_server import of_postgres, of_spark
from dpsql.cli.init.from_smartnoise import of_metadata
from dpsql.cli.init.schema_yaml import skeleton
from dpsql.engine.connection_string import without_password
from dpsql.engine.spark.address import SPARK, TOKEN, without_secrets
from dpsql.errors import SourceFault
from dpsql.report.terminal.sanitize import sanitize

STDOUT = Path("-")


def init(source: Path | str, output: Path, sample: int | None) -> None:
    """Write the schema file to `output`; a file that exists is never overwritten.

    A `source` that is a text is a connection string; its password isn't written.

    `sample` rows of each CSV file are read for the types of its columns; None reads none.
    """
    with reporting_errors():
        text = skeleton(draft_of(source, output, sample))
    write_schema(source, output, text)
    if output != STDOUT:
        echo_err("next: decide what its comments ask, then run")
        echo_err(f"  dpsql check {sanitize(str(output))}")


def write_schema(source: Path | str, output: Path, text: str) -> None:
    """Write the text to `output`, or to stdout."""
    if output == STDOUT:
        click.echo(text, nl=False)
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise click.UsageError(
            f"{output} exists: remove it, or name another file with --output"
        ) from None
    echo_err(f"wrote {sanitize(str(output))}")
    if isinstance(source, str):
        _echo_secret(source)


def _echo_secret(url: str) -> None:
    """Say where to give what isn't written of a connection string."""
    if url.startswith(SPARK):
        if without_secrets(url) != url:
            echo_err(f"tokens and settings of a proxy are not: give a token in {TOKEN}")
    elif without_password(url) != url:
        echo_err("its password is not: give it in PGPASSWORD, or in ~/.pgpass")


def draft_of(source: Path | str, output: Path, sample: int | None) -> Draft:
    """The draft of a source; paths in it are as they are written beside `output`."""
    if isinstance(source, str):
        return of_spark(source) if source.startswith(SPARK) else of_postgres(source)
    folder = Path.cwd() if output == STDOUT else output.parent
    written = os.path.relpath(source, folder)
    if source.is_dir():
        return of_folder(source, written, sample)
    match source.suffix.lower():
        case ".yaml" | ".yml":
            return of_metadata(source)
        case ".parquet" | ".csv":
            raise SourceFault(f"{source} is one table", hint="name the folder that holds the file")
        case _:
            return of_database(source, written)
