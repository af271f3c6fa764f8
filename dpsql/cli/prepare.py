"""`dpsql prepare`: writes the sidecar of a source; verifies and records declared keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpsql.report.terminal.progress import Watch
    from dpsql.schema.model import Schema


@click.command()
@click.argument("schema", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def prepare(schema: Path) -> None:
    """Make queries faster: store each row's unit, and sums of units.

    For the owner of the data: verifies keys as check does, and writes a file
    beside the ledger, readable by its owner only. Answers keep their law, and
    limits are each query's own. After the data or their bounds change, it isn't
    used until it is made again.
    """
    from dpsql.cli.exit_codes import ExitCode, echo_err, reporting_errors  # noqa: PLC0415 - opens engines
    from dpsql.report.terminal.progress import Cancelled, Watch  # noqa: PLC0415
    from dpsql.schema.load.load import load_schema  # noqa: PLC0415
    from dpsql.session.sidecar import sidecar_path  # noqa: PLC0415

    watch = Watch()
    with reporting_errors():
        watch.step("reading the schema")
        loaded = load_schema(schema)
        try:
            ready = watch.run(lambda: _prepared(loaded, watch), lambda: None)
        except Cancelled:
            echo_err("cancelled; nothing was prepared")
            raise click.exceptions.Exit(ExitCode.CANCELLED) from None
    target = sidecar_path(loaded)
    click.echo(f"prepared {', '.join(ready) or 'no table'} in {target}")
    click.echo(f"{target.stat().st_size / 1e6:,.1f} MB, of this version of the data")


def _prepared(schema: Schema, watch: Watch) -> tuple[str, ...]:
    from dpsql.engine.opening import open_engine  # noqa: PLC0415 - see above
    from dpsql.schema.load.column_types import engine_source  # noqa: PLC0415
    from dpsql.session.sidecar import prepare_source, remove_left  # noqa: PLC0415

    remove_left(schema)
    watch.step("opening the source")
    with open_engine(engine_source(schema)) as engine:
        watch.step("verifying keys")
        return prepare_source(schema, engine, watch.step)
