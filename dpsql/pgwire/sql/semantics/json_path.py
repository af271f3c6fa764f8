"""JSON of constants, read as PostgreSQL reads it; JSON whose text would be DuckDB's is refused.

DuckDB writes JSON without the blanks and the order of keys that PostgreSQL's json and jsonb have.
A path into a text, `text ->> '$.a'`, is dpsql's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import Enum, auto
from typing import Final

from sqlglot import exp

from dpsql.bind.syntax.parse import span
from dpsql.errors import DataError, Refused
from dpsql.pgwire.codec.array import items
from dpsql.pgwire.sql.tree_search import find_all

Edit = tuple[exp.Expr, Callable[[], exp.Expr]]

_T = exp.DataType.Type
_KINDS: Final = frozenset({_T.JSON, _T.JSONB})
_EXTRACTS: Final = (
    exp.JSONExtract,
    exp.JSONExtractScalar,
    exp.JSONBExtract,
    exp.JSONBExtractScalar,
)
_TEXTS: Final = (exp.JSONExtractScalar, exp.JSONBExtractScalar)
_AGGREGATES: Final = (exp.JSONArrayAgg, exp.JSONObjectAgg, exp.JSONBObjectAgg)
_CALLS: Final = re.compile(r"jsonb?_\w+|(?:to|row_to|array_to)_jsonb?")
_ANSWERED: Final = frozenset({"json_array_length", "json_extract_string"})


class BadJson(DataError):
    """A text isn't JSON."""

    sqlstate = "22P02"


class _Number(str):
    """A number as JSON writes it."""

    __slots__ = ()


class _Nothing(Enum):
    """What a path leads to where a document has no such part."""

    PART = auto()


def json_edits(tree: exp.Expr) -> list[Edit]:
    """Replacements of paths into JSON constants; raises `Refused` for other JSON."""
    edits: list[Edit] = []
    for node in find_all(tree, *_EXTRACTS, *_AGGREGATES, exp.Cast, exp.Anonymous):
        match node:
            case exp.Cast():
                if node.to.this is _T.JSONB and not isinstance(_outer(node), _EXTRACTS):
                    raise _no_rule(node)
            case exp.Anonymous():
                name = node.name.lower()
                if _CALLS.fullmatch(name) and name not in _ANSWERED:
                    raise _no_rule(node)
            case _ if isinstance(node, _AGGREGATES):
                raise _no_rule(node)
            case _ if isinstance(_outer(node), _EXTRACTS):
                pass  # a step of the path around it
            case _:
                edits += _path(node)
    return edits


def _outer(node: exp.Expr) -> exp.Expr | None:
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    return parent


def _path(node: exp.Expr) -> list[Edit]:
    steps, base = list(_steps(node)), node
    while isinstance(base, _EXTRACTS):
        base = base.this.unnest()
    kind = base.to.this if isinstance(base, exp.Cast) and base.to.this in _KINDS else None
    is_json = kind is not None
    constant = base.this.unnest() if is_json else base
    if not constant.is_string:
        if is_json or len(steps) > 1 or not isinstance(node, exp.JSONExtractScalar):
            raise _no_rule(node)
        return []
    document = _document(constant.name, node)
    for step in steps:
        document = _part(document, step)
    if not isinstance(node, _TEXTS) and "\\" in constant.name:
        raise _no_rule(node)  # JSON keeps the escapes of its text.
    written = _written(node, document, is_binary=kind is _T.JSONB)
    return [(node, lambda: written)]


def _steps(node: exp.Expr) -> Iterator[str | int]:
    """The keys and places of a path, from the outermost value on."""
    if not isinstance(node, _EXTRACTS):
        return
    yield from _steps(node.this.unnest())
    path = node.expression
    if isinstance(path, exp.JSONPath):
        for part in path.expressions:
            match part:
                case exp.JSONPathRoot():
                    pass
                case exp.JSONPathKey(this=str() as key):
                    yield key
                case exp.JSONPathSubscript(this=int() as number):
                    yield number
                case _:
                    raise _no_rule(node)
    elif (
        isinstance(path, exp.Literal) and path.is_string and (keys := items(path.this)) is not None
    ):
        for step in keys:
            if step is None:
                raise _no_rule(node)
            yield _Number(step) if re.fullmatch(r"-?\d{1,9}", step) else step
    else:
        raise _no_rule(node)


def _document(text: str, node: exp.Expr) -> object:
    def refused(_: str) -> object:
        raise ValueError

    try:
        return json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=refused)
    except ValueError:
        raise BadJson("invalid input syntax for type json", at=span(node)) from None


def _part(document: object, step: str | int) -> object:
    """The part of a document; `#>` takes a `_Number` as a key or as a place."""
    match document, step:
        case dict(), str():
            return document.get(str(step), _Nothing.PART)
        case list(), int() | _Number() if -len(document) <= int(step) < len(document):
            return document[int(step)]
        case _:
            return _Nothing.PART


def _written(node: exp.Expr, document: object, *, is_binary: bool) -> exp.Expr:
    is_text = isinstance(node, _TEXTS)
    match document:
        case _Nothing.PART:
            return exp.cast(exp.null(), "VARCHAR" if is_text else "JSON")
        case None:
            text = None if is_text else "null"
        case _Number():
            text = f"{Decimal(document):f}" if is_binary else str(document)
        case str():
            text = document if is_text else json.dumps(document, ensure_ascii=False)
        case bool():
            text = "true" if document else "false"
        case _:
            raise _no_rule(node)
    value = exp.null() if text is None else exp.Literal.string(text)
    return exp.cast(value, "VARCHAR" if is_text else "JSON")


def _no_rule(node: exp.Expr) -> Refused:
    return Refused(
        "JSON is written otherwise here than in PostgreSQL, and has no rule",
        at=span(node),
        hint="select the columns themselves, or read a text's part: text ->> '$.a'",
    )
