"""Whatever names, values and statements hold: a page has the same tags, and shows their text."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints
from xml.etree import ElementTree as ET

import jinja2
import pyarrow as pa
import pytest

from dpsql.audit.attacks.attacks import AttackReport
from dpsql.audit.sensitivity.change_curves import ChangeCurves
from dpsql.cli.audit import html_page, sensitivity_curves
from dpsql.ledger.refusal import Refusal
from dpsql.report.budget import Budget
from dpsql.report.budget_history import Point, Record
from dpsql.report.error_curve import ErrorCurve
from dpsql.report.explanation import html_fragment
from dpsql.report.html import budget
from dpsql.report.html.answer import answer_page
from dpsql.report.html.template import render
from dpsql.report.result.result import Result
from dpsql.schema.load.load import load_schema
from dpsql.schema.sql_type import Varchar
from dpsql.session.answer.answer import ColumnErrors
from dpsql.session.explain.error_curve import Sweep
from dpsql.session.explain.report import PrivacyReport
from dpsql.structs import field_names, has_fields

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = "harmless"
HOSTILE = [
    "<script>alert(1)</script>",
    "</td></table><img src=x onerror=alert(1)>",
    "</style></svg><svg onload=alert(1)>",
    """" onmouseover="alert(1)" ' onfocus='alert(1)""",
    "&lt;b&gt; & &amp;",
    "{{ 7 * 7 }}{% raw %}",
    "<!-- <![CDATA[ ]]>",
]
UNSEEN = ["a\u202eb", "a\x00b", "a\x1b[2Jb", "a\u200fb", "a\x7fb"]
"""What turns the text around, ends it, or acts on whoever prints the page."""


def filled(kind: Any, text: str) -> Any:
    """An instance of a type in which every text is `text`."""
    plain = {str: text, int: 3, float: 0.5, bool: True, Fraction: Fraction(1), datetime: NOW,
             Decimal: Decimal(1), type(None): None}  # fmt: skip
    origin, inner = get_origin(kind), get_args(kind)
    if kind in plain:
        return plain[kind]
    if origin is tuple:
        return tuple(filled(item, text) for item in inner if item is not ...)
    if origin is types.UnionType:
        return filled(inner[0], text)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if isinstance(kind, type) and has_fields(kind):
        hints = get_type_hints(kind)
        return kind(**{name: filled(hints[name], text) for name in field_names(kind)})
    return inner[0]  # a literal


def answer(text: str) -> str:
    table = pa.table({"a": [text, None], "b": [1, 2]})
    errors = ColumnErrors((None, 4.0))
    return answer_page(Result((text, text), (Varchar(), Varchar()), table, None, lambda: errors))


def spent(text: str) -> str:
    schema = load_schema(FIXTURES / "clinic" / "schema.yaml")
    points = [Point(NOW, Fraction(1)), Point(NOW, Fraction(1, 2))]
    return budget.page(
        schema, filled(Budget, text), [filled(Record, text)], points, [filled(Refusal, text)], NOW
    )


def swept(text: str) -> str:
    return ErrorCurve(filled(Sweep, text)).html()


def proved(text: str) -> str:
    return html_fragment.page(filled(PrivacyReport, text))


def attacked(text: str) -> str:
    return html_page.page(filled(AttackReport, text))


def enumerated(text: str) -> str:
    return sensitivity_curves.page([filled(ChangeCurves, text)])


PAGES = [answer, spent, swept, proved, attacked, enumerated]


class Skeleton(HTMLParser):
    """Tags with their attributes, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[object] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(tag)

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", data))

    def handle_decl(self, decl: str) -> None:
        self.tags.append(("decl", decl))

    def unknown_decl(self, data: str) -> None:
        self.tags.append(("decl", data))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_text(page: Callable[[str], str], text: str) -> None:
    usual, found = Skeleton(page(PLAIN)), Skeleton(page(text))
    assert found.tags == usual.tags
    assert found.text == usual.text.replace(PLAIN, text)
    assert PLAIN in usual.text


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("text", UNSEEN)
def test_what_is_not_printable_is_seen_and_does_nothing(
    page: Callable[[str], str], text: str
) -> None:
    found = page(text)
    shown = text.encode("unicode_escape").decode()
    assert text[1] not in found
    assert Skeleton(found).text == Skeleton(page(PLAIN)).text.replace(PLAIN, shown)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_needs_nothing_and_runs_nothing(page: Callable[[str], str]) -> None:
    found = page(PLAIN).replace("http://www.w3.org/2000/svg", "")
    for fetches in ("http", "url(", "@import", "<script", "<link", "<img", "<iframe", " src="):
        assert fetches not in found


@pytest.mark.parametrize("text", [PLAIN, *HOSTILE, *UNSEEN, "a\ud800b"])
def test_a_picture_is_well_formed(text: str) -> None:
    drawn = ErrorCurve(filled(Sweep, text)).svg()
    shown = "".join(ET.fromstring(drawn).itertext())  # noqa: S314 - our own
    assert (text if text.isprintable() else text.encode("unicode_escape").decode()) in shown


def test_no_module_writes_tags_by_hand() -> None:
    tag = re.compile(r"</(?:div|li|p|pre|small|span|style|svg|table|td|text|th|tr|ul)>")
    for file in (Path(__file__).parent.parent.parent / "dpsql").rglob("*.py"):
        assert not tag.search(file.read_text(encoding="utf-8")), file


def test_a_value_that_a_template_is_not_given_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        render("answer.html.j2", heads=[])
