"""Templates of HTML and SVG: every value is escaped, so that no value can act as HTML.

A page is self-contained: it has no script, and fetches no font or image.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: object) -> str:
    """The template of that name with `values`; raises if the template uses a name not in them."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - few need it

    return Environment(
        loader=PackageLoader("dpsql.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> object:
    """A text with escapes for characters that aren't printable, such as NUL and direction marks.

    Only a plain str is changed: the output of a macro is HTML already.
    """
    if type(value) is not str:
        return value
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode()
        for sign in value
    )
