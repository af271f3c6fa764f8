"""Make a draft of a source, by its kind, and write a schema file from it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from dpsql.cli.calibrate import draw, statements
from dpsql.cli.exit_codes import echo_err, reporting_errors
from dpsql.cli.init.draft import Draft
from dpsql.cli.init.from_database import of_database, of_folder
from dpsql.cli.init.from_server import of_postgres, of_spark
from dpsql.cli.init.from_smartnoise import of_metadata
from dpsql.cli.init.schema_yaml import skeleton
from dpsql.cli.init.unit_questions import decided
from dpsql.engine.connection_string import without_password
from dpsql.engine.spark.address import SPARK, TOKEN, without_secrets
from dpsql.errors import SourceFault
from dpsql.report.terminal.sanitize import sanitize
from dpsql.schema.load.load import load_schema

STDOUT = Path("-")


def init(source: Path | str, output: Path, sample: int | None) -> None:
    """Write the schema file to `output`; a file that exists is never overwritten.

    A `source` that is a text is a connection string; its password isn't written.

    `sample` rows of each CSV file are read for the types of its columns; None reads none.
    """
    with reporting_errors():
        text = skeleton(_draft(source, output, sample))
    _write(source, output, text)
    if output != STDOUT:
        echo_err("next: decide what its comments ask, then run")
        echo_err(f"  dpsql check {sanitize(str(output))}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be calibrated: whose rows tables have, what they are grouped by, and the price.

    Nobody is asked about that if `yes`.
    """

    units: Mapping[str, str]
    keys: tuple[tuple[str, str], ...]
    epsilon: str
    yes: bool


def pair(text: str) -> tuple[str, str]:
    """What stands before and behind the first = of a text."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise click.UsageError(f"{text} isn't written as TABLE=WHAT")
    return name, value


def init_calibrated(source: Path | str, output: Path, sample: int | None, wanted: Wanted) -> None:
    """Ask whose rows each table has, write the schema file, and draw ladders at their price."""
    if output == STDOUT:
        raise click.UsageError("ladders are drawn of a schema file: name one with --output")
    with reporting_errors():
        draft = decided(_draft(source, output, sample), wanted.units)
        keys: dict[str, list[str]] = {table.name: [] for table in draft.tables}
        for table, key in wanted.keys:
            if table not in keys:
                raise click.UsageError(f"there is no table {table} to be grouped")
            keys[table].append(key)
        _write(source, output, skeleton(draft))
        loaded = load_schema(output)
        asked = list(statements(loaded, keys))
        if asked:
            draw(output, loaded, asked, wanted.epsilon, "analyst", yes=wanted.yes)
        echo_err("next: look through the file, and ask")
        echo_err(f"  dpsql console {sanitize(str(output))}")


def _write(source: Path | str, output: Path, text: str) -> None:
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


def _draft(source: Path | str, output: Path, sample: int | None) -> Draft:
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
