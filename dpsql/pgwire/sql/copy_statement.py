"""COPY … TO STDOUT: its query and its options, in PostgreSQL's old and new syntax."""

from __future__ import annotations

import re
from typing import Final

from dpsql.errors import BadParameter, NotSupportedError, Refused, Span, SyntaxFault
from dpsql.pgwire.codec.copy import CopyOptions
from dpsql.sqltext.tokens import Word, words
from dpsql.structs import replace

_HINT: Final = "write COPY (SELECT …) TO STDOUT (FORMAT csv, HEADER)"
_QUERIES: Final = frozenset({"select", "with", "values", "from", "("})
_TRUE: Final = frozenset({"", "true", "on", "1"})


def read_copy(sql: str) -> tuple[str, int, CopyOptions]:
    """The query of a COPY statement, the character at which the query begins, and the options."""
    tokens = list(words(sql))
    if len(tokens) > 1 and tokens[1].text != "(":
        return _table(sql, tokens)
    closing = _closing(tokens)
    if tokens[2].folded not in _QUERIES:
        raise SyntaxFault("COPY takes a query", at=Span(tokens[2].start, tokens[2].end), hint=_HINT)
    query = sql[tokens[1].end : tokens[closing].start]
    return query, tokens[1].end, _options(tokens[closing + 1 :])


def _table(sql: str, words: list[Word]) -> tuple[str, int, CopyOptions]:
    """COPY table (columns) TO STDOUT is a query for the table's rows."""
    directions = [n for n, word in enumerate(words) if word.folded in {"to", "from"}]
    if not directions or words[directions[0]].folded == "from":
        raise NotSupportedError("nothing is copied into dpsql", hint=_HINT)
    target = sql[words[1].start : words[directions[0]].start]
    name, _, columns = target.partition("(")
    listed = columns.rpartition(")")[0] or "*"
    return f"SELECT {listed} FROM {name}", 0, _options(words[directions[0] :])  # noqa: S608 - proved next


def _closing(words: list[Word]) -> int:
    depth = 0
    for n, word in enumerate(words):
        depth += (word.text == "(") - (word.text == ")")
        if n and not depth:
            return n
    raise SyntaxFault("COPY isn't written so", hint=_HINT)


def _options(words: list[Word]) -> CopyOptions:
    rest = [word for word in words if word.text not in {"(", ")", ",", ";", "="}]
    match [word.folded for word in rest[:2]]:
        case ["to", "stdout"]:
            pass
        case ["to", *_]:
            raise Refused("answers are copied to the client only", hint=_HINT)
        case _:
            raise SyntaxFault("COPY isn't written so", hint=_HINT)
    options: dict[str, str] = {}
    names = [*rest[2:]]
    while names:
        word = names.pop(0)
        match word.folded:
            case "with" | "as":
                pass
            case "csv" | "binary" | "text":
                options["format"] = word.folded
            case "force" if names:
                names.pop(0)
                options["force_quote"] = names.pop(0).value if names else "*"
            case "header":
                follows = names[0].folded if names else ""
                is_value = follows in {"true", "false", "on", "off", "1", "0"}
                options["header"] = names.pop(0).folded if is_value else ""
            case "format" | "delimiter" | "null" | "quote" | "escape" | "encoding" | "force_quote":
                if names and names[0].folded == "as":  # the old syntax: DELIMITER AS '|'
                    names.pop(0)
                if not names:
                    raise SyntaxFault("COPY isn't written so", hint=_HINT)
                options[word.folded] = names.pop(0).value
            case _:
                raise BadParameter(
                    f"COPY has no option {word.text[:40]}",
                    at=Span(word.start, word.end),
                    hint=_HINT,
                )
    return _written(options)


def _written(value: dict[str, str]) -> CopyOptions:
    form = value.get("format", "text").lower()
    if form not in {"text", "csv", "binary"}:
        raise BadParameter("COPY writes text, csv or binary", hint=_HINT)
    if re.sub(r"[^a-z0-9]", "", value.get("encoding", "utf8").lower()) != "utf8":
        raise BadParameter("COPY writes UTF-8", hint=_HINT)
    usual = CopyOptions("csv", delimiter=",", null="") if form == "csv" else CopyOptions(form)  # type: ignore[arg-type]
    quote = value.get("quote", usual.quote)
    options = replace(
        usual,
        header=value.get("header", "off") in _TRUE,
        delimiter=value.get("delimiter", usual.delimiter),
        null=value.get("null", usual.null),
        quote=quote,
        escape=value.get("escape", quote),
        force_quote="force_quote" in value,
    )
    if len(options.delimiter) != 1 or len(options.quote) != 1 or len(options.escape) != 1:
        raise BadParameter("delimiter, quote and escape are one character each", hint=_HINT)
    return options
