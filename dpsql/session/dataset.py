"""A schema file with its views: what is declared, checked as SQL too."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpsql.bind.schema_views import resolved
from dpsql.engine.opening import read_catalog
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import Read
from dpsql.schema.model import Schema
from dpsql.session.compile.deep_recursion import with_deep_stack


@contextmanager
def _without_collecting() -> Iterator[None]:
    """A hundred thousand columns are many objects, none of them garbage: to look takes a third."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def load_dataset(schema: Path | Schema, *, read: Read = read_catalog) -> Schema:
    """The schema of a file, or one that was read, with every view bound against its tables.

    Anything wrong with it is a `SchemaFault`, with its line; `read` asks the source's catalogue.
    """
    with _without_collecting():
        loaded = load_schema(schema, read=read) if isinstance(schema, Path) else schema
    return with_deep_stack(lambda: resolved(loaded)) if loaded.views else loaded
