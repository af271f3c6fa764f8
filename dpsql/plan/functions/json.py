"""JSON documents, which are texts here: the text at a constant path in them.

A text that isn't JSON has NULL at every path, where the engine would raise an error.
"""

from __future__ import annotations

import re

from dpsql.plan.expression import Expression, Literal
from dpsql.plan.functions.domain_rules import nullable
from dpsql.plan.functions.function import Function, Totalization
from dpsql.plan.functions.text import MAX_CHARACTERS
from dpsql.plan.functions.type_rules import texts
from dpsql.schema.sql_type import Varchar

_PATH = re.compile(r'\$(\."[^"\\*\0]+"|\[(0|[1-9][0-9]{0,8})\])*')
"""Quoted keys and array indices, as they are bound.

A * would give a list, which is no type here.
"""


def _path(arguments: tuple[Expression, ...]) -> bool:
    path = arguments[1]
    return (
        isinstance(path, Literal)
        and isinstance(path.value, str)
        and len(path.value) <= MAX_CHARACTERS
        and _PATH.fullmatch(path.value) is not None
    )


DOCUMENTS = (
    Function(
        "json_extract_string",
        texts(2, Varchar()),
        nullable,
        Totalization.TRY,
        "json_extract_string(text, '$.a[0]')",
        constants=frozenset({1}),
        accepts=_path,
    ),
)
