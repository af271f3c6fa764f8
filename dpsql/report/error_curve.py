"""A statement's errors at many ε, as a table with a chart, JSON, SVG or HTML."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import msgspec
from msgspec import Struct

from dpsql.report.chart import Axes, Line, blocks, picture
from dpsql.report.html.template import render
from dpsql.session.explain.error_curve import Measure, Sweep, SweptColumn

_MARKS = "●○■□◆◇▲△"
_AXES = Axes(
    "95 % error against epsilon",
    "± of the noise, 95 %, in each column's unit",
    "epsilon that the query spends",
)


class OutputFormat(Enum):
    """The format in which a sweep is written."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"
    SVG = "svg"


class ErrorCurve(Struct, frozen=True):
    """The errors of a statement's columns at each ε. `str` is the text; notebooks show the HTML."""

    sweep: Sweep

    def text(self) -> str:
        """A table, and a chart with logarithmic axes."""
        parts = (_aligned(self._table()), blocks(self._lines()), self._notes())
        return "\n\n".join("\n".join(part) for part in parts)

    def json(self) -> str:
        """The whole sweep, for programs."""
        return msgspec.json.format(msgspec.json.encode(self.sweep), indent=2).decode()

    def svg(self) -> str:
        """The chart alone."""
        return render("chart.svg.j2", charts=[picture(self._lines(), _AXES)])

    def html(self) -> str:
        """Chart and table as a fragment of HTML, without scripts."""
        charts = [picture(self._lines(), _AXES)]
        return render(
            "error_curve.html.j2", table=self._table(), notes=self._notes(), charts=charts
        )

    def written(self, form: OutputFormat) -> str:
        """The sweep in the format `form`."""
        match form:
            case OutputFormat.TEXT:
                return self.text()
            case OutputFormat.JSON:
                return self.json()
            case OutputFormat.HTML:
                return self.html()
            case OutputFormat.SVG:
                return self.svg()

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def _table(self) -> list[list[str]]:
        columns = self.sweep.columns
        rows = [["epsilon", *map(_title, columns)]]
        rows += [
            [f"{epsilon:g}", *(f"{column.errors[row]:.4g}" for column in columns)]
            for row, epsilon in enumerate(self.sweep.epsilons)
        ]
        return rows

    def _lines(self) -> list[Line]:
        lines: list[Line] = []
        for number, column in enumerate(self.sweep.columns):
            points = zip(self.sweep.epsilons, column.errors, strict=True)
            lines.append(Line(_title(column), _MARKS[number % len(_MARKS)], tuple(points)))
        return lines

    def _notes(self) -> list[str]:
        notes = [
            "95 % of values are no farther off by noise; no data were read, nothing is charged"
        ]
        measures = {column.measure for column in self.sweep.columns}
        if Measure.ROWS in measures:
            notes.append("± · rows: what a mean is off by at most, times the rows of its group")
        if Measure.RANK in measures:
            notes.append("rank: at most so many rows too many lie on one side of what is chosen")
        if self.sweep.unknown:
            names = ", ".join(self.sweep.unknown)
            notes.append(f"{names}: errors are known with the answer")
        return notes


def _title(column: SweptColumn) -> str:
    return f"{column.name} {column.measure.value}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
