"""`dpsql init`: its arguments and options."""

from __future__ import annotations

from pathlib import Path

import click

from dpsql.cli.options import SourcePath, sampled_rows


@click.command()
@click.argument("source", type=SourcePath(exists=True, path_type=Path))
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default="schema.yaml",
    show_default=True,
    help="The file to write, - for stdout.",
)
@sampled_rows
@click.option(
    "--calibrate",
    "epsilon",
    metavar="E",
    help="Ask what has to be decided, let limits be chosen by ladders, and draw these for E.",
)
@click.option(
    "--unit",
    "units",
    multiple=True,
    metavar="TABLE=WHOSE",
    help="With --calibrate: whose rows a table has, a column that identifies them, row, or public.",
)
@click.option(
    "--by",
    "keys",
    multiple=True,
    metavar="TABLE=KEYS",
    help="With --calibrate: what a table is grouped by, as orders=city or orders=city, kind.",
)
@click.option("--yes", is_flag=True, help="With --calibrate: don't ask before it is charged.")
def init(
    source: Path | str,
    output: Path,
    sample: int | None,
    epsilon: str | None,
    units: tuple[str, ...],
    keys: tuple[str, ...],
    *,
    yes: bool,
) -> None:
    """Write a schema file to be edited, from a source's catalogue.

    SOURCE is a DuckDB file, a folder of TABLE.parquet or TABLE.csv, a server's
    postgresql://user@host/database or sc://host:15002, or a metadata file of
    SmartNoise. Comments say what is left to decide. No row is read without
    --sample.
    """
    from dpsql.cli.init import command as run  # noqa: PLC0415 - opens engines

    if epsilon is None and (units or keys or yes):
        raise click.UsageError("--unit, --by and --yes go with --calibrate")
    if epsilon is None:
        run.init(source, output, sample)
    else:
        from dpsql.cli.init import calibrated  # noqa: PLC0415

        wanted = calibrated.CalibratedDraft(
            dict(map(calibrated.pair, units)), tuple(map(calibrated.pair, keys)), epsilon, yes
        )
        calibrated.init_calibrated(source, output, sample, wanted)
