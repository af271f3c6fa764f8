"""The largest changes of neighbours against their distance or size: text, JSON, SVG and HTML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Final, Literal, assert_never

import click

from dpsql.audit.databases.search_space import Size
from dpsql.audit.sensitivity.change_curves import (
    Against,
    ChangeCurve,
    ChangeCurves,
    change_curves,
)
from dpsql.cli.audit.sensitivity_text import report_violations
from dpsql.cli.exit_codes import reporting_errors
from dpsql.report.chart import Axes, Line, picture
from dpsql.report.html.template import render
from dpsql.report.terminal.sanitize import sanitize
from dpsql.report.terminal.table import listing
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Neighbors

PictureFormat = Literal["text", "json", "html", "svg"]

_SIZE: Final = (460, 280)
"""Pixels of one picture; a page has two beside each other, or one on a telephone."""

_POINTS: Final = {Against.DISTANCE: "k", Against.SIZE: "n"}
_AXIS: Final = {
    Against.DISTANCE: "k, the units that neighbours differ by",
    Against.SIZE: "n, the units of a database",
}
_NOTES: Final = (
    "Observed: the largest change among the databases that were tried. It bounds nothing.",
    "Derived: what was proved of all databases, and what noise is added for.",
    "Changes are in the unit of what changes.",
)


def curves(
    path: Path,
    queries: Sequence[str],
    neighbors: str | None,
    against: str,
    size: Size,
    form: PictureFormat,
) -> None:
    """Draw every query's changes under both relations, or one; a passed bound ends in an error."""
    relations = tuple(Neighbors) if neighbors is None else (Neighbors(neighbors),)
    drawn: list[ChangeCurves] = []
    for sql in queries:
        with reporting_errors(sql):
            schema = load_schema(path)
            drawn.append(change_curves(sql, schema, relations, Against(against), size))
    match form:
        case "text":
            click.echo("\n\n".join(map(_text, drawn)))
        case "json":
            click.echo(json.dumps([_document(each) for each in drawn]))
        case "svg":
            charts = [chart for each in drawn for chart in _charts(each)]
            click.echo(render("chart.svg.j2", charts=charts))
        case "html":
            click.echo(page(drawn))
        case missing:
            assert_never(missing)
    report_violations([text for each in drawn for text in each.violations])


def page(drawn: Sequence[ChangeCurves]) -> str:
    """Pictures and tables of all statements as one self-contained HTML page."""
    statements = [
        {
            "sql": each.sql,
            "held": each.held,
            "charts": _charts(each),
            "head": _head(each),
            "rows": list(_rows(each)),
        }
        for each in drawn
    ]
    return render(
        "sensitivity.html.j2",
        title="How much neighbours change",
        statements=statements,
        notes=_NOTES,
    )


def _text(drawn: ChangeCurves) -> str:
    table = listing(_head(drawn), list(_rows(drawn)))
    return f"{sanitize(drawn.sql)}\n{drawn.held}\n\n{table}"


def _head(drawn: ChangeCurves) -> list[str]:
    points = [f"{_POINTS[drawn.against]} = {point}" for point in drawn.points]
    return ["what changes", "neighbours", "", *points]


def _rows(drawn: ChangeCurves) -> Iterator[list[str]]:
    for curve in drawn.curves:
        about = [curve.description, curve.neighbors.value]
        yield [*about, "observed", *map(_number, curve.observed)]
        if curve.derived is not None:
            yield [*about, "derived", *map(_number, curve.derived)]


def _charts(drawn: ChangeCurves) -> list[dict[str, object]]:
    """A picture for each number, whose curves stand side by side in `drawn`."""
    charts: list[dict[str, object]] = []
    for about, same in groupby(drawn.curves, lambda curve: curve.description):
        lines = [line for curve in same for line in _lines(curve, drawn.points)]
        axes = Axes(
            "largest changes between neighbours",
            f"change of {about}",
            _AXIS[drawn.against],
            _SIZE,
            in_decades=False,
        )
        charts.append(picture(lines, axes))
    return charts


def _lines(curve: ChangeCurve, points: Sequence[int]) -> Iterator[Line]:
    relation = curve.neighbors.value
    yield Line(f"{relation}, observed", "●", _line(points, curve.observed))
    if curve.derived is not None:
        yield Line(f"{relation}, derived", "▬", _line(points, curve.derived), is_bound=True)


def _line(points: Sequence[int], values: Sequence[Fraction]) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), float(y)) for x, y in zip(points, values, strict=True))


def _number(value: Fraction) -> str:
    return f"{float(value):.5g}"


def _document(drawn: ChangeCurves) -> dict[str, object]:
    return {
        "sql": drawn.sql,
        "against": drawn.against.value,
        "points": list(drawn.points),
        "held": drawn.held,
        "curves": [
            {
                "about": curve.description,
                "neighbors": curve.neighbors.value,
                "observed": list(map(float, curve.observed)),
                "derived": None if curve.derived is None else list(map(float, curve.derived)),
            }
            for curve in drawn.curves
        ],
        "violations": list(drawn.violations),
    }
