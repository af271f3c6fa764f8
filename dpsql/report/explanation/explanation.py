"""The explanation of a statement, in any format."""

from __future__ import annotations

from enum import Enum

import msgspec
from msgspec import Struct

from dpsql.report.explanation.html_fragment import page
from dpsql.report.explanation.text_lines import paragraphs
from dpsql.session.explain.report import PrivacyReport


class OutputFormat(Enum):
    """The format in which an explanation is written."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"


class Explanation(Struct, frozen=True):
    """The proof and the price of a query. `str` is the text; notebooks show the HTML."""

    report: PrivacyReport

    def text(self, *, sql: bool = False) -> str:
        """The explanation as text; `sql` adds the SQL that the engine would run."""
        return "\n\n".join(paragraphs(self.report, sql=sql))

    def json(self) -> str:
        """The whole explanation for programs, SQL included."""
        return msgspec.json.format(msgspec.json.encode(self.report), indent=2).decode()

    def html(self) -> str:
        """The whole explanation as a fragment of HTML, without scripts."""
        return page(self.report)

    def written(self, form: OutputFormat, *, sql: bool = False) -> str:
        """The explanation in the format `form`; `sql` is for text alone."""
        match form:
            case OutputFormat.TEXT:
                return self.text(sql=sql)
            case OutputFormat.JSON:
                return self.json()
            case OutputFormat.HTML:
                return self.html()

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()
