"""`dpsql init --calibrate`: asks whose rows tables have, and draws ladders for one price."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
from msgspec import Struct

from dpsql.cli.calibrate import draw, statements
from dpsql.cli.exit_codes import echo_err, reporting_errors
from dpsql.cli.init.command import STDOUT, draft_of, write_schema
from dpsql.cli.init.schema_yaml import skeleton
from dpsql.cli.init.unit_questions import decided
from dpsql.report.terminal.sanitize import sanitize
from dpsql.schema.load.load import load_schema


class CalibratedDraft(Struct, frozen=True):
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


def init_calibrated(
    source: Path | str, output: Path, sample: int | None, wanted: CalibratedDraft
) -> None:
    """Ask whose rows each table has, write the schema file, and draw ladders at their price."""
    if output == STDOUT:
        raise click.UsageError("ladders are drawn of a schema file: name one with --output")
    with reporting_errors():
        draft = decided(draft_of(source, output, sample), wanted.units)
        keys: dict[str, list[str]] = {table.name: [] for table in draft.tables}
        for table, key in wanted.keys:
            if table not in keys:
                raise click.UsageError(f"there is no table {table} to be grouped")
            keys[table].append(key)
        write_schema(source, output, skeleton(draft))
        loaded = load_schema(output)
        parts = list(statements(loaded, keys))
        if parts:
            draw(output, loaded, parts, wanted.epsilon, "analyst", yes=wanted.yes)
        echo_err("next: look through the file, and ask")
        echo_err(f"  dpsql console {sanitize(str(output))}")
