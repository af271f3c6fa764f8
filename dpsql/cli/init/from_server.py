"""A draft from a PostgreSQL database, by its connection string. No row is read."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from dpsql.cli.init.draft import Draft
from dpsql.cli.init.from_database import dataset_name, draft_table
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
        dataset_name(Path(urlsplit(url).path)),
        without_password(url),
        f"the catalogue of {source}",
        tuple(draft_table(name, columns, declared[name]) for name, columns in tables.items()),
        on_server=True,
    )


def without_password(url: str) -> str:
    """The connection string as it may stand in a file that others read."""
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    settings = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode(
        [(k, v) for k, v in settings if k not in {"password", "sslpassword"}], safe="/"
    )
    public = parts._replace(netloc=f"{login.partition(':')[0]}{at}{host}", query=query)
    # A connection string without a host keeps its slashes: postgresql:///database.
    text = urlunsplit(public)
    return text if text.startswith(f"{parts.scheme}://") else text.replace(":", "://", 1)
