"""Reads a schema file into the model; every fault names its file, line, path and fix."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

from dpsql.engine.opening import read_catalog
from dpsql.engine.spark.address import has_host
from dpsql.schema.load.budget import (
    read_analysts,
    read_budget,
    read_group_size,
    read_per_query,
    read_releases,
)
from dpsql.schema.load.csv_form import read_csv_forms
from dpsql.schema.load.file_format import SchemaSection, TableSection, UnitSection, fill
from dpsql.schema.load.identifiers import check_names, check_tables
from dpsql.schema.load.paths import anchor_path, check_dataset, find_source, ledger_path
from dpsql.schema.load.sampling import check_sample
from dpsql.schema.load.spill import with_spill
from dpsql.schema.load.table_section.column_types import Read, add_public_columns, find_columns
from dpsql.schema.load.table_section.row_norm import attach_norms
from dpsql.schema.load.table_section.table import check_types, read_table
from dpsql.schema.load.table_section.table_size import check_sizes
from dpsql.schema.load.table_section.unit_path import UnitDeclaration, read_unit_declaration
from dpsql.schema.load.view import read_views
from dpsql.schema.load.yaml_document import Document, read_document
from dpsql.schema.model import Neighbors, Schema, UnitKind
from dpsql.schema.policy import policy_hash, policy_text
from dpsql.schema.refresh_period import attach_time_columns, read_period
from dpsql.schema.source_location import PushDown, ServerSource, Source
from dpsql.structs import replace


def load_schema(
    path: Path,
    *,
    source: Path | None = None,
    today: dt.date | None = None,
    read: Read = read_catalog,
    spark: object | None = None,
) -> Schema:
    """Read and check a schema file; `source` replaces the source that the file names.

    Where the budget is refreshed, the schema is for the period of `today`, by default today by UTC.
    If the source exists, `read` reads its catalogue; its rows are never read. `spark` is a
    SparkSession in place of the host of a source on Spark. Raises `SchemaFault` for anything wrong
    with the file, `SourceFault` for a source that can't be read. Views are SQL:
    `dpsql.bind.schema_views.resolved` checks them.
    """
    document = read_document(Path(path))
    return schema_of(document, source=source, today=today, read=read, spark=spark)


def schema_of(
    document: Document,
    *,
    source: Path | None = None,
    today: dt.date | None = None,
    read: Read = read_catalog,
    spark: object | None = None,
) -> Schema:
    """The schema in `document`; arguments and faults are those of `load_schema`."""
    file = fill(SchemaSection, document, (), document.data)
    check_dataset(document, file.dataset)
    forms = _table_sections(document, file)
    units = _units(document, file, forms)
    claims = {
        name: read_unit_declaration(document, name, form, units) for name, form in forms.items()
    }
    _check_units(document, units, claims)
    where = read_csv_forms(document, forms, find_source(document, file.source, forms, source))
    where = _with_push_down(document, where, file.push_down)
    where = _with_session(document, where, spark)
    _check_version(document, where, file.version)
    ledger, anchor = ledger_path(document, file.ledger, file.dataset), anchor_path(file.dataset)
    where = with_spill(document, where, file.spill, ledger, anchor)
    public = {name for name, form in forms.items() if form.public}
    source_columns = find_columns(where, forms, public, read)
    tables = {
        name: read_table(document, name, form, claims, where, source_columns)
        for name, form in forms.items()
    }
    check_types(document, tables)
    tables = attach_norms(document, forms, tables)
    budget, every = read_budget(document, file.budget)
    neighbors, group_size = Neighbors(file.neighbors), read_group_size(document, file.group_size)
    check_sizes(document, tables, neighbors)
    if budget.sample is not None:
        check_sample(document, where, tables, neighbors.distance(group_size))
    timed = attach_time_columns(document, forms, tables, refreshed=every is not None)
    schema = Schema(
        dataset=file.dataset,
        path=document.path,
        source=where,
        neighbors=neighbors,
        units=units,
        tables=timed,
        budget=budget,
        per_query=read_per_query(document, file.per_query, budget),
        analysts=read_analysts(document, file.analysts, budget),
        ledger=ledger,
        anchor=anchor,
        has_shared_store=file.store == "shared",
        version=None if file.version is None else str(file.version),
        policy="",
        policy_hash="",
        period=read_period(
            document, every, neighbors.distance(group_size), today or dt.datetime.now(dt.UTC).date()
        ),
        group_size=group_size,
        releases=read_releases(document, file.releases),
        views=read_views(document, file.views, forms),
    )
    policy = policy_text(schema)
    return replace(
        schema,
        policy=policy,
        policy_hash=policy_hash(policy),
        tables=add_public_columns(timed, where, source_columns),
    )


def ledger_of(path: Path) -> tuple[Path | str, Path]:
    """The ledger's location by a schema file, and that file; its sections aren't checked."""
    document = read_document(Path(path))
    file = fill(SchemaSection, document, (), document.data)
    check_dataset(document, file.dataset)
    return ledger_path(document, file.ledger, file.dataset), document.path


def _with_push_down(
    document: Document, source: Source | ServerSource, written: str | None
) -> Source | ServerSource:
    if written is None:
        return source
    if isinstance(source, ServerSource) and source.keeps_keys:
        return replace(source, push_down=PushDown(written))
    raise document.error(
        ("push_down",), "the source leaves no choice of where it is computed", "remove push_down"
    )


def _with_session(
    document: Document, source: Source | ServerSource, session: object | None
) -> Source | ServerSource:
    if not isinstance(source, ServerSource) or not source.is_spark:
        if session is not None:
            raise document.error(
                ("source",), "is not on Spark", "write sc://, or hand in no session"
            )
    elif session is not None:
        return replace(source, session=session)
    elif not has_host(source.url):
        raise document.error(
            ("source",),
            "names no host",
            "write sc://host:15002, or hand in a session: dpsql.connect(…, spark=session)",
        )
    return source


def _check_version(document: Document, source: Source | ServerSource, stated: object) -> None:
    """Refuse a server without a version: nothing on it tells stored answers from those of before.

    What is counted on a server (transactions, or rows that were changed) counts other tables, and
    aborted ones, or is lost when it crashes: it is no version of these tables.
    """
    if isinstance(source, ServerSource) and stated is None:
        raise document.error(
            ("source",),
            "a server doesn't tell which version of the data it has",
            "add version: …, such as the number of a load or a date; an answer is given again, and"
            " free, as long as it stays",
        )


def _table_sections(document: Document, file: SchemaSection) -> Mapping[str, TableSection]:
    path = ("tables",)
    if not file.tables:
        raise document.error(
            path, "no table is declared", "declare one: a table not declared is not there"
        )
    check_tables(document, path, file.tables)
    return {
        name: fill(TableSection, document, (*path, name), written)
        for name, written in file.tables.items()
    }


def _units(
    document: Document, file: SchemaSection, forms: Mapping[str, TableSection]
) -> Mapping[str, UnitKind]:
    check_names(document, ("units",), file.units)
    units = {}
    for name, written in file.units.items():
        path = ("units", name)
        if name.casefold() == "row":
            raise document.error(path, "row means that each row is a unit", "choose another name")
        form = fill(UnitSection, document, path, written)
        if form.table not in forms:
            raise document.unknown_key_error(
                (*path, "table", form.table), "no such table", forms, "declare it under tables"
            )
        units[name] = UnitKind(name, form.table, form.key)
    return units


def _check_units(
    document: Document, units: Mapping[str, UnitKind], declarations: Mapping[str, UnitDeclaration]
) -> None:
    """Refuse a unit kind whose table declares another unit: both sections must agree."""
    for unit in units.values():
        if declarations[unit.table].kind != unit.name:
            raise document.error(
                ("tables", unit.table), f"is the table of {unit.name}", f"write unit: {unit.name}"
            )
