"""What is run on the source for a statement, without a charge."""

from __future__ import annotations

from pathlib import Path

from dpsql.release.job import Job
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.session.session import Session


def job_of(sql: str, text: str, folder: Path) -> Job:
    """The job of `sql` under the schema `text`, whose source is in `folder`."""
    path = folder / "schema.yaml"
    path.write_text(text, encoding="utf-8")
    schema = load_schema(path)
    session = Session(schema)
    steps = tuple(release.step for release in session.compile(sql).releases)
    session.close()
    return Job(engine_source(schema), steps)
