"""The files that a schema of a test names, whose source is never a server."""

from __future__ import annotations

from dpsql.schema.model import Schema
from dpsql.schema.source_location import Source


def file_source(schema: Schema) -> Source:
    assert isinstance(schema.source, Source)
    return schema.source
