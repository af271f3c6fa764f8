"""`dpsql prepare`: writes the sidecar of a source; verifies and records declared keys.

Of a source on a server it is written there, as a role or by an address of the owner's that `--as`
names: that of `source:` may only read.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpsql.report.terminal.progress import Watch
    from dpsql.schema.model import Schema


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
def prepare(schema: Path, owner: str | None) -> None:
    """Make queries faster: store each row's unit, and sums of units.

    For the owner of the data: verifies keys as check does, and writes a file
    beside the ledger, readable by its owner only; of a source on PostgreSQL or
    Spark, tables of a schema or database of its own there, with rows and their
    units. Answers keep their law, and limits are each query's own.
    After the data or their bounds change, it isn't used until it is made again.
    """
    from dpsql.cli.exit_codes import ExitCode, echo_err, reporting_errors  # noqa: PLC0415 - opens engines
    from dpsql.report.terminal.progress import Cancelled, Watch  # noqa: PLC0415
    from dpsql.schema.load.load import load_schema  # noqa: PLC0415
    from dpsql.session.preparing.server_sidecar import space_name  # noqa: PLC0415
    from dpsql.session.sidecar import sidecar_path  # noqa: PLC0415

    watch = Watch()
    with reporting_errors():
        watch.step("reading the schema")
        loaded = load_schema(schema)
        try:
            ready = watch.run(lambda: _prepared(loaded, owner, watch), lambda: None)
        except Cancelled:
            echo_err("cancelled; nothing was prepared")
            raise click.exceptions.Exit(ExitCode.CANCELLED) from None
    names = ", ".join(ready) or "no table"
    if owner is not None:
        click.echo(f"prepared {names} in {space_name(loaded)} of {loaded.source}")
        return
    target = sidecar_path(loaded)
    click.echo(f"prepared {names} in {target}")
    click.echo(f"{target.stat().st_size / 1e6:,.1f} MB, of this version of the data")


def _prepared(schema: Schema, owner: str | None, watch: Watch) -> Collection[str]:
    from dpsql.engine.opening import open_engine  # noqa: PLC0415 - see above
    from dpsql.engine.postgres.engine import PostgresEngine  # noqa: PLC0415
    from dpsql.engine.spark.engine import SparkEngine  # noqa: PLC0415
    from dpsql.errors import SourceFault  # noqa: PLC0415
    from dpsql.schema.load.table_section.column_types import whole_source  # noqa: PLC0415
    from dpsql.session.preparing.server_tables import prepare_server  # noqa: PLC0415
    from dpsql.session.preparing.spark_tables import prepare_spark  # noqa: PLC0415
    from dpsql.session.sidecar import prepare_source, remove_left  # noqa: PLC0415

    remove_left(schema)
    watch.step("opening the source")
    with open_engine(whole_source(schema)) as engine:
        watch.step("verifying keys")
        match engine, owner:
            case PostgresEngine(), str():
                return sorted(prepare_server(schema, engine, owner, watch.step))
            case SparkEngine(), str():
                return sorted(prepare_spark(schema, engine, owner, watch.step))
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
                return prepare_source(schema, engine, watch.step)
            case _:
                what = f"--as names who may write to a server, and the source is {schema.source}"
                hint = "leave --as out"
        raise SourceFault(what, hint=hint)
