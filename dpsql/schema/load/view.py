"""Views of a schema file: read here as they are written, bound where SQL is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from dpsql.schema.load.file_format import ViewColumnSection, ViewSection, fill
from dpsql.schema.load.identifiers import check_names, check_tables
from dpsql.schema.load.table import read_limits
from dpsql.schema.load.yaml_document import Document
from dpsql.schema.model import View, ViewColumn


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
    kept = replace(document, data=None)
    return {name: _view(kept, name, data) for name, data in views.items()}


def _view(document: Document, name: str, data: object) -> View:
    place = ("views", name)
    form = fill(ViewSection, document, place, data)
    columns = form.columns or {}
    check_names(document, (*place, "columns"), columns)
    at = (*place, "limits")
    return View(
        name=name,
        query=form.query,
        columns={
            column: _column(fill(ViewColumnSection, document, (*place, "columns", column), found))
            for column, found in columns.items()
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
