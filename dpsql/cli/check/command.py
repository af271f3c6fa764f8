"""`dpsql check`: compares a schema with its source; verifies and records declared keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import assert_never

import click

from dpsql.cli.check.cuts_table import cuts_lines
from dpsql.cli.check.limits_text import left_out
from dpsql.cli.check.table_size import size_text, wrong_sizes
from dpsql.cli.exit_codes import ExitCode, echo_err, reporting_errors
from dpsql.engine.atomic_file import remove_left_behind
from dpsql.engine.duckdb.csv import is_text
from dpsql.engine.duckdb.read_check import Reading
from dpsql.engine.engine import Engine, PreparedOnServer
from dpsql.engine.opening import read_catalog
from dpsql.engine.postgres.read_check import ServerReading
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.source import DuckDBSource, PostgresSource, SparkSource
from dpsql.engine.source import Source as EngineSource
from dpsql.engine.spark.read_check import SparkReading
from dpsql.errors import SchemaFault, SourceFault
from dpsql.pgwire.login.users import renaming, users_path
from dpsql.report.sample_budget import sample_lines
from dpsql.report.terminal.error_message import describe
from dpsql.report.terminal.progress import Cancelled, Watch
from dpsql.report.terminal.sanitize import sanitize
from dpsql.report.terminal.table import listing
from dpsql.schema.load.all_faults import all_faults
from dpsql.schema.load.table_section.column_types import whole_source, with_all_units
from dpsql.schema.model import EntityUnit, Limits, Public, RowUnit, Schema, Table, View
from dpsql.schema.source_location import Source
from dpsql.schema.verify import verify_keys
from dpsql.session.clipped_values import clipped_values
from dpsql.session.dataset import load_dataset
from dpsql.session.ledger_access import existing_ledger, ledger_location
from dpsql.session.limited_rows import limited_rows
from dpsql.session.preparing.server_sidecar import note_usable, server_sidecar, space_name
from dpsql.session.sidecar import old_files, open_source, remove_left, sidecar_path
from dpsql.session.unit_rows import without_unit

_HEADINGS = ("table", "rows of", "key", "limits per unit")


def check(path: Path) -> None:
    """Print each table's unit, key and limits, and whether its key holds."""
    watch = Watch()
    engines: list[Engine] = []
    stops: list[Callable[[], None]] = []
    with reporting_errors():
        watch.step("reading the schema")
        schema = _loaded(path)
        for left in (*remove_left(schema), *remove_left_behind(users_path(schema))):
            echo_err(f"removed {left}, which a command left behind that was killed")
        for old in old_files(schema):
            echo_err(f"{old} isn't read any more: remove it, if it is no other program's")
        if rename := renaming(schema.ledger, schema.path):
            echo_err(rename)
        try:
            holds, rows, lacking = watch.run(
                lambda: _verified(schema, watch, engines, stops), lambda: _stop(stops)
            )
        except Cancelled:
            echo_err("cancelled; no key was recorded")
            raise click.exceptions.Exit(ExitCode.CANCELLED) from None
        with existing_ledger(schema) as ledger:
            state = "not made yet" if ledger is None else "as the schema says"
    click.echo(report(schema, holds))
    click.echo(f"\nledger: {sanitize(str(ledger_location(schema)))} ({state})")
    if (sidecar := server_sidecar(schema)) is not None:
        _on_server(schema, sidecar, engines[0])
    elif sidecar_path(schema).exists():
        ready = ", ".join(sorted(engines[0].sidecar_tables))
        again = "none: the file is of other data, owners or bounds; run dpsql prepare again"
        click.echo(f"prepared: {ready or again}")
    engines[0].close()
    for line in lacking:
        click.echo(sanitize(line))
    _judge(schema, holds, rows)


def _on_server(schema: Schema, sidecar: ServerSidecar, engine: Engine) -> None:
    """Print what of `sidecar` can be read, and note it beside the ledger."""
    if not isinstance(engine, PreparedOnServer) or not sidecar.tables:
        return
    was_noted = sidecar_path(schema).exists()
    ready = note_usable(schema, sidecar, engine)
    if ready:
        click.echo(f"prepared: {', '.join(sorted(ready))}, in {space_name(schema)}")
    elif was_noted:
        click.echo(
            f"prepared: none: {sidecar.space} isn't there, or is of another version, other owners"
            " or columns; run dpsql prepare again"
        )


def _loaded(path: Path) -> Schema:
    """The schema; if the file has faults, all but the last are printed, and the last is raised."""
    try:
        return load_dataset(path)
    except SchemaFault as first:
        *others, last = [*all_faults(path, read_catalog)] or [first]
        for fault in others:
            echo_err(describe(fault, None))
        raise last from None


def _verified(
    schema: Schema, watch: Watch, engines: list[Engine], stops: list[Callable[[], None]]
) -> tuple[Mapping[str, bool], Mapping[str, int], Sequence[str]]:
    """Open the source as queries do, and check its rows.

    Returns by table whether its key holds, and its number of rows, and lines on rows that count
    nowhere, for want of a unit or by limits, and on what bounds cut off. `engines` and `stops` get
    the engine, and the functions that interrupt the work.
    """
    if isinstance(schema.source, Source) and not schema.source.path.exists():
        raise SourceFault(
            f"the source {schema.source.path} doesn't exist", hint="correct source: in the schema"
        )
    watch.step("opening the source")
    engines.append(open_source(with_all_units(schema)))
    stops.append(engines[0].interrupt)
    source = whole_source(schema)
    reading = _reading(source)
    stops.append(reading.interrupt)
    stored = reading.rows(watch.step)
    rows = {name: count for name, count in stored.items() if count is not None}
    if failed := stored.keys() - rows.keys():
        raise SourceFault(
            f"{_files(schema, sorted(failed))} can't be read to the end",
            hint="restore it from a copy: every query that needs it fails, and is charged once",
        )
    watch.step("verifying keys")
    unread = source.tables if isinstance(source, DuckDBSource) else ()
    for table in unread:
        if table.file is not None and table.is_delimited and not is_text(table.file, table.csv):
            echo_err(
                f"{table.file} has bytes that are no {table.csv.encoding}, and are read as ?: if it"
                f" is another encoding, write csv: {{encoding: windows-1252}} in {table.name}"
            )
    holds = verify_keys(schema, engines[0])
    watch.step("looking for rows without a unit")
    lacking = [
        _lacking(table, count, rows[table.name])
        for table, count in without_unit(schema, engines[0], rows)
    ]
    watch.step("looking for rows that limits leave out")
    limited = [*limited_rows(schema, engines[0], rows)]
    watch.step("looking for values beyond their bounds")
    clipped = [*clipped_values(schema, engines[0], rows)]
    lines = [
        *_misfits(reading, rows),
        *lacking,
        *left_out(limited),
        *cuts_lines(schema, limited, clipped),
    ]
    return holds, rows, lines


def _reading(source: EngineSource) -> Reading | ServerReading | SparkReading:
    match source:
        case PostgresSource():
            return ServerReading(source)
        case SparkSource():
            return SparkReading(source)
        case DuckDBSource():
            return Reading(source)
        case missing:
            assert_never(missing)


def _misfits(reading: Reading | ServerReading | SparkReading, rows: Mapping[str, int]) -> list[str]:
    """Lines on values of files that aren't of their declared type."""
    counted = reading.misfits if isinstance(reading, Reading) else {}
    return [
        f"{table}: in {count:,} of {rows[table]:,} rows {column} isn't of type {kind.lower()}, and"
        " is NULL in every answer: correct the type, or the source"
        for (table, column, kind), count in counted.items()
    ]


def _lacking(table: Table, rows: int, every: int) -> str:
    """The line on rows of `table` whose unit isn't known, `rows` of `every` row."""
    assert isinstance(table.ownership, EntityUnit)
    hops = table.ownership.hops
    why = f"{table.ownership.column} is NULL"
    if hops:
        why = f"what they reference is NULL, or isn't there, on the way by {hops[0].text}"
    return f"{table.name}: {rows:,} of {every:,} rows have no unit, and count nowhere: {why}"


def _files(schema: Schema, tables: Sequence[str]) -> str:
    """The files that `tables` are in, or, of a database, its name and the tables."""
    files = schema.source.files if isinstance(schema.source, Source) else {}
    if files:
        return ", ".join(str(files[table]) for table in tables)
    return f"of {schema.source} table {', '.join(tables)}"


def _stop(stops: Sequence[Callable[[], None]]) -> None:
    for stop in stops:
        stop()


def report(schema: Schema, holds: Mapping[str, bool]) -> str:
    """The budget, and for each table its owner, key and limits; `holds` has verified keys."""
    rows = [
        [_name(table), owner(table), _key(table, holds.get(name)), limits(table)]
        for name, table in schema.tables.items()
    ]
    rows += [_view(view, view.table) for view in schema.views.values() if view.table is not None]
    budget = schema.budget
    head = (
        f"dataset {schema.ledger_name}: epsilon = {float(budget.epsilon):g}, "
        f"delta = {float(budget.delta):g} ({budget.accounting.value}), "
        f"neighbours: {schema.relation}"
    )
    return "\n".join([head, *sample_lines(schema), "", listing(_HEADINGS, rows)])


def _name(table: Table) -> str:
    return table.name if table.visible else f"{table.name} (hidden)"


def _view(view: View, seen: Table) -> list[str]:
    what = "view" if view.visible else "view, hidden"
    whose = "nobody: a release" if view.is_release else owner(seen)
    return [f"{view.name} ({what})", whose, "", "" if view.is_release else limits(seen)]


def owner(table: Table) -> str:
    """Whose rows a table has, with the columns that lead from a row to its unit."""
    match table.ownership:
        case Public():
            return "nobody (public)"
        case RowUnit():
            return "each its own unit"
        case EntityUnit(kind=kind, hops=hops, column=column):
            steps = [hop.text for hop in hops]
            return f"{kind}, by {'.'.join([*steps, column]) if steps else column}"
        case missing:
            assert_never(missing)


def limits(table: Table) -> str:
    """The limits of a private table, and which of them the schema leaves to the defaults."""
    match table.ownership:
        case Public():
            return ""
        case RowUnit():
            return size_text(table)
        case EntityUnit():
            names = ("groups", "rows_per_group", "rows")
            declared = [n for n in names if n in table.limits.declared]
            default = [n for n in names if n not in table.limits.declared]
            texts = [_limits(table.limits, declared), _limits(table.limits, default)]
            if default:
                texts[1] = f"default: {texts[1]}"
            return "; ".join(text for text in texts if text)
        case missing:
            assert_never(missing)


def _limits(limits: Limits, names: Sequence[str]) -> str:
    return ", ".join(f"{name} {getattr(limits, name)}" for name in names)


def _key(table: Table, holds: bool | None) -> str:  # noqa: FBT001 - None: not declared
    if table.key is None:
        return ""
    return f"{', '.join(table.key)}: {'holds' if holds else 'does NOT hold'}"


def _judge(schema: Schema, holds: Mapping[str, bool], rows: Mapping[str, int]) -> None:
    """Fail the check if a declared key doesn't hold, or if a declared number of rows is wrong."""
    broken = [name for name, is_unique in holds.items() if not is_unique]
    wrong = [*wrong_sizes(schema, rows)]
    if not broken and not wrong:
        return
    for name in broken:
        key = ", ".join(schema.tables[name].key or ())
        echo_err(
            f"error: the key of {name} is not unique: several rows have the same {key}, or none"
        )
    if broken:
        echo_err(
            "hint: correct the data, or remove key: from the schema; until then queries pay its"
            " limits"
        )
    for what, fix in wrong:
        echo_err(f"error: {what}")
        echo_err(f"hint: {fix}")
    raise click.exceptions.Exit(ExitCode.FAILED)
