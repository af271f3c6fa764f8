"""What `dpsql prepare --status` says: what is prepared, how old it is, and what would be made."""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.engine.engine import Engine, PreparedOnServer
from dpsql.report.terminal.sanitize import sanitize
from dpsql.schema.load.table_section.column_types import with_all_units
from dpsql.schema.model import Schema
from dpsql.session.preparing.server_sidecar import server_sidecar, space_name
from dpsql.session.preparing.status import Estimate, estimate, prepared_file
from dpsql.session.sidecar import open_source


def status_lines(schema: Schema) -> Iterator[str]:
    """The lines on what statements read now, and on what preparing would make."""
    with open_source(with_all_units(schema)) as engine:
        if (sidecar := server_sidecar(schema)) is None:
            yield from _of_file(schema, engine)
        elif isinstance(engine, PreparedOnServer):
            ready = ", ".join(sorted(engine.prepared_tables(sidecar)))
            yield f"prepared: {ready or 'nothing'}, in {space_name(schema)}"
            names = ", ".join(table.name for table in sidecar.tables)
            yield f"can be prepared: {names or 'no table'}"


def planned(expected: Estimate) -> str:
    """What will be made, how large it is, and how long it takes."""
    names = ", ".join(expected.tables) or "no table"
    about = f"about {expected.size / 1e6:,.1f} MB, in about {max(expected.seconds, 1):,.0f} s"
    return f"{names}: {expected.rows:,} rows, {about}"


def _of_file(schema: Schema, engine: Engine) -> Iterator[str]:
    file = prepared_file(schema)
    if file is None:
        yield "prepared: nothing"
    else:
        size = f"{file.size / 1e6:,.1f} MB of {file.modified:%Y-%m-%d %H:%M} UTC"
        ready = ", ".join(sorted(engine.sidecar_tables))
        yield f"prepared: {ready or 'nothing of these data, owners and bounds'}"
        yield f"file: {sanitize(str(file.path))}, {size}{'' if ready else ', which is not used'}"
    if schema.budget.sample is not None:
        yield "nothing would be made: answers are of a sample"
    else:
        yield f"would be made: {planned(estimate(schema, engine))}"
