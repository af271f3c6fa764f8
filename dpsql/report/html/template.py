"""Templates of HTML and SVG: every value is escaped, and nothing in it acts.

A page needs nothing else: no script, no font, no image.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: object) -> str:
    """The template of that name with `values`; a name that it uses and isn't given is an error."""
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
    """Texts with escapes for what isn't printable, such as NUL and marks of direction.

    Only plain ones: what a macro has made is HTML already.
    """
    if type(value) is not str:
        return value
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode()
        for sign in value
    )
