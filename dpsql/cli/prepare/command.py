"""`dpsql prepare`: writes the sidecar of a source; verifies and records declared keys.

Of a source on a server it is written there, as a role or by an address of the owner's that `--as`
names: that of `source:` may only read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from dpsql.cli.exit_codes import ExitCode, echo_err, reporting_errors
from dpsql.cli.prepare.allocator import keep_freed_memory

if TYPE_CHECKING:
    from dpsql.report.terminal.progress import Watch
    from dpsql.schema.model import Schema

_LOWEST: Final = 19
"""The niceness of what nobody waits for."""

_PAUSE_SECONDS: Final = 0.5


@click.command()
@click.argument("schema", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--as",
    "owner",
    metavar="URL",
    help="On PostgreSQL: postgresql://OWNER@HOST/DATABASE, who may create a schema there; the"
    " password is that of ~/.pgpass or PGPASSWORD. On Spark: sc://HOST:PORT, where a database"
    " may be created in the catalog.",
)
@click.option("--status", is_flag=True, help="Say what is prepared, and what would be.")
@click.option(
    "--if-new",
    is_flag=True,
    help="Only if the data, owners or bounds are new since; at low priority.",
)
def prepare(schema: Path, owner: str | None, *, status: bool, if_new: bool) -> None:
    """Make queries faster: store each row's unit, and sums of units.

    For the owner of the data: verifies keys as check does, and writes a file
    beside the ledger, readable by its owner only; of a source on PostgreSQL or
    Spark, tables of a schema or database of its own there, with rows and their
    units. Answers keep their law, and limits are each query's own.
    After the data or their bounds change, it isn't used until it is made again;
    of new data, only the units whose rows are others are.
    """
    keep_freed_memory()
    from dpsql.cli.prepare.status import status_lines  # noqa: PLC0415 - opens engines
    from dpsql.report.terminal.progress import Cancelled, Watch  # noqa: PLC0415
    from dpsql.schema.load.load import load_schema  # noqa: PLC0415
    from dpsql.session.preparing.server_sidecar import space_name  # noqa: PLC0415
    from dpsql.session.sidecar import sidecar_path  # noqa: PLC0415

    watch = Watch()
    with reporting_errors():
        watch.step("reading the schema")
        loaded = load_schema(schema)
        if if_new:
            os.nice(_LOWEST)
        try:
            if status:
                watch.step("opening the source")
                for line in watch.run(lambda: [*status_lines(loaded)], lambda: None):
                    click.echo(line)
                return
            ready = watch.run(lambda: _alone(loaded, owner, watch, if_new=if_new), lambda: None)
        except Cancelled:
            echo_err("cancelled; nothing was prepared")
            raise click.exceptions.Exit(ExitCode.CANCELLED) from None
    if ready is None:
        click.echo("prepared already, of this version of the data")
        return
    names = ", ".join(ready) or "no table"
    if owner is not None:
        click.echo(f"prepared {names} in {space_name(loaded)} of {loaded.source}")
        return
    target = sidecar_path(loaded)
    click.echo(f"prepared {names} in {target}")
    if not if_new:  # a server's log has no size of private tables
        click.echo(f"{target.stat().st_size / 1e6:,.1f} MB, of this version of the data")


def _alone(
    schema: Schema, owner: str | None, watch: Watch, *, if_new: bool
) -> Collection[str] | None:
    """What was prepared; None if it was already, by another process that was waited for, say."""
    from dpsql.engine.atomic_file import alone  # noqa: PLC0415 - see above
    from dpsql.session.sidecar import is_prepared, sidecar_path  # noqa: PLC0415

    def wait() -> None:
        watch.step("waiting for another process that prepares in this folder")
        time.sleep(_PAUSE_SECONDS)

    def step(name: str) -> None:
        # In how many parts a table is sorted tells how long it is, and a server logs this.
        watch.step(name.partition(", part")[0] if if_new else name)

    with alone(sidecar_path(schema).parent, wait):
        if not if_new:
            return _prepared(schema, owner, step, echo_err)
        return None if is_prepared(schema) else _prepared(schema, owner, step, lambda _: None)


def _prepared(
    schema: Schema, owner: str | None, step: Callable[[str], None], announce: Callable[[str], None]
) -> Collection[str]:
    """The tables that are prepared now; `announce` is called before with how large they are."""
    from dpsql.cli.prepare.status import planned  # noqa: PLC0415 - see above
    from dpsql.engine.opening import open_engine  # noqa: PLC0415
    from dpsql.engine.postgres.engine import PostgresEngine  # noqa: PLC0415
    from dpsql.engine.spark.engine import SparkEngine  # noqa: PLC0415
    from dpsql.errors import Error, SourceFault  # noqa: PLC0415
    from dpsql.schema.load.table_section.column_types import whole_source  # noqa: PLC0415
    from dpsql.session.preparing.server_tables import prepare_server  # noqa: PLC0415
    from dpsql.session.preparing.spark_tables import prepare_spark  # noqa: PLC0415
    from dpsql.session.preparing.status import estimate  # noqa: PLC0415
    from dpsql.session.sidecar import prepare_source, remove_left  # noqa: PLC0415

    remove_left(schema)
    step("opening the source")
    with open_engine(whole_source(schema)) as engine:
        step("verifying keys")
        match engine, owner:
            case PostgresEngine(), str():
                return sorted(prepare_server(schema, engine, owner, step))
            case SparkEngine(), str():
                return sorted(prepare_spark(schema, engine, owner, step))
            case PostgresEngine(), None:
                what = f"the role of source: may not write to {schema.source}"
                hint = (
                    "name by --as postgresql://OWNER@HOST/DATABASE a role that may create a schema"
                    " there"
                )
            case SparkEngine(), None:
                what = f"queries only read from {schema.source}: what is prepared is written as you"
                hint = (
                    "name by --as sc://HOST:PORT an address by which a database may be created"
                    " there"
                )
            case _, None:
                # What can't be read or prepared, prepare_source says better.
                with suppress(Error):
                    announce(f"preparing {planned(estimate(schema, engine))}")
                return prepare_source(schema, engine, step)
            case _:
                what = f"--as names who may write to a server, and the source is {schema.source}"
                hint = "leave --as out"
        raise SourceFault(what, hint=hint)
