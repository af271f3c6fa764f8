"""A draft from a PostgreSQL database, by its connection string. No row is read."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from dpsql.cli.init.draft import Draft
from dpsql.cli.init.from_database import dataset_name, draft_table
from dpsql.engine.connection_string import split, without_password
from dpsql.engine.opening import read_catalog
from dpsql.engine.postgres.declared_keys import read_declarations
from dpsql.engine.source import PostgresSource
from dpsql.errors import SourceFault


def of_server(url: str) -> Draft:
    """A draft of all base tables, with the keys, references and comments that are declared."""
    source = PostgresSource(url)
    tables, declared = read_catalog(source), read_declarations(source)
    if not tables:
        raise SourceFault(
            f"{source} has no tables", hint="name a database that has some, in PostgreSQL"
        )
    return Draft(
        dataset_name(Path(unquote(split(url).database))),
        without_password(url),
        f"the catalogue of {source}",
        tuple(draft_table(name, columns, declared[name]) for name, columns in tables.items()),
        on_server=True,
    )
