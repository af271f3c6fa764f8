"""Reads the views of a schema file as they are written; `bind` binds their queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dpsql.schema.load.file_format import ViewColumnSection, ViewSection, fill
from dpsql.schema.load.identifiers import check_names, check_tables
from dpsql.schema.load.table_section.table import read_limits
from dpsql.schema.load.yaml_document import Document
from dpsql.schema.model import View, ViewColumn
from dpsql.structs import replace


def read_views(
    document: Document, written: Mapping[str, object] | None, tables: Collection[str]
) -> Mapping[str, View]:
    """Read the section `views`, whose names are different from each other and from the tables'."""
    views = written or {}
    check_tables(document, ("views",), (*tables, *views))
    for name in views:
        if name in tables:
            raise document.error(
                ("views", name), "is the name of a table, too", "choose another name"
            )
    # Views keep the document for its lines, and needn't hold all of the file's data.
    lines = replace(document, data=None)
    return {name: _view(lines, name, data) for name, data in views.items()}


def _view(document: Document, name: str, data: object) -> View:
    path = ("views", name)
    form = fill(ViewSection, document, path, data)
    columns = form.columns or {}
    check_names(document, (*path, "columns"), columns)
    at = (*path, "limits")
    return View(
        name=name,
        query=form.query,
        columns={
            column: _column(fill(ViewColumnSection, document, (*path, "columns", column), written))
            for column, written in columns.items()
        },
        limits=None
        if form.limits is None
        else replace(read_limits(document, at, form.limits), view=name),
        comment=form.comment,
        visible=form.visible,
        document=document,
    )


def _column(form: ViewColumnSection) -> ViewColumn:
    return ViewColumn(
        bounds=None if form.bounds is None else tuple(form.bounds),
        values=None if form.values is None else tuple(form.values),
        nullable=form.nullable,
        comment=form.comment,
    )
