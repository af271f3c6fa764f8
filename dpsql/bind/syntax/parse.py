"""Text → one syntax tree, within limits that are measured before the parser runs."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.bind.expression.current_time import Clock, constant_now, utc
from dpsql.bind.syntax.pivot_statement import as_select
from dpsql.bind.syntax.placeholder import is_text, numbered
from dpsql.bind.syntax.typed_constant import in_brackets
from dpsql.errors import Refused, Span, SyntaxFault, TooComplex
from dpsql.near_name import near_name
from dpsql.sqltext.parser_log import without_warnings

MAX_CHARACTERS = 64 * 1024
MAX_TOKENS = 10_000
MAX_DEPTH = 60
MAX_OPERATORS = 400
MAX_DIGITS = 1_000

_DIALECT: Final = DuckDB()
"""Made once: it reads its settings each time, which takes as long as to split a short statement."""

OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}


def tokens(sql: str) -> list[Token]:
    """The tokens of `sql`; raises TooComplex if they are too many, or nested too deep."""
    if len(sql) > MAX_CHARACTERS:
        raise TooComplex(
            f"the statement has {len(sql):,} characters, and {MAX_CHARACTERS:,} are allowed",
            hint="send a shorter statement",
        )
    if not is_text(sql):
        raise SyntaxFault("the statement holds a NUL or half a surrogate pair")
    try:
        words = _DIALECT.tokenize(sql)
    except TokenError as error:
        raise SyntaxFault("the text can't be read: a quote or comment isn't closed") from error
    if len(words) > MAX_TOKENS:
        raise TooComplex(
            f"the statement has {len(words):,} words, and {MAX_TOKENS:,} are allowed",
            hint="send a shorter statement",
        )
    depth = 0
    for token in words:
        if token.token_type is TokenType.NUMBER and len(token.text) > MAX_DIGITS:
            raise TooComplex(
                f"a number has more than {MAX_DIGITS:,} digits",
                at=Span(token.start, token.end + 1),
                hint="write fewer: a DOUBLE has 17",
            )
        depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
        if depth > MAX_DEPTH:
            raise TooComplex(
                f"the statement nests deeper than {MAX_DEPTH} levels",
                at=Span(token.start, token.end + 1),
                hint="move inner parts into a WITH clause",
            )
    return words


def parse_query(sql: str, clock: Clock = utc, words: list[Token] | None = None) -> exp.Query:
    """The one query that `sql` is, parsed; its `?` are numbered, and places are in that text.

    now() and its like are constants that `clock` tells. `words` are the `tokens` of `sql`, if the
    caller has them. Raises SyntaxFault, TooComplex, or Refused for what isn't a query.
    """
    known = tokens(sql) if words is None else words
    text = numbered(sql, known)
    try:
        words_of_text = known if text == sql else _DIALECT.tokenize(text)
        with without_warnings():
            parsed = _DIALECT.parser().parse(in_brackets(words_of_text), text)
        trees = [tree for tree in parsed if tree is not None]
    except ParseError as error:
        raise _syntax_fault(text, error) from None
    except (SqlglotError, ValueError, AttributeError, TypeError, IndexError, KeyError) as error:
        # On odd input the parser fails in ways of its own; none of them is a statement.
        raise SyntaxFault("the text isn't SQL that can be read") from error
    trees = [tree for tree in trees if not isinstance(tree, exp.Semicolon)]
    if not trees:
        raise SyntaxFault("there is no statement", hint="write SELECT …")
    if len(trees) > 1:
        raise SyntaxFault(
            "several statements in one request", at=span(trees[1]), hint="send them one at a time"
        )
    _check_depth(trees[0])
    tree = as_select(trees[0])
    if not isinstance(tree, exp.Query):
        misspelt = _misspelt(text)
        if misspelt is not None:
            raise misspelt
        raise Refused(
            f"only queries are answered, not {_first_word(text)}",
            at=Span(0, len(text)),
            hint="write SELECT …",
            note="refused_statements",
        )
    return constant_now(tree, clock)


def _check_depth(tree: exp.Expr) -> None:
    """Refuse chains such as 1 + 1 + 1 …, which nest without parentheses; AND and OR are flat."""
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_OPERATORS:
            raise TooComplex(
                f"operators nest deeper than {MAX_OPERATORS} levels",
                at=span(node),
                hint="split the expression, or compute parts of it in a subquery",
            )
        flat = isinstance(node, exp.Connector | exp.SetOperation | exp.Paren)
        waiting += [(child, depth + (not flat)) for child in node.iter_expressions()]


def span(node: exp.Expr) -> Span | None:
    """Where `node` stands in the text, as far as its names and constants tell."""
    spans = [
        (part.meta["start"], part.meta["end"] + 1) for part in node.walk() if "start" in part.meta
    ]
    if not spans:
        return None
    return Span(min(start for start, _ in spans), max(end for _, end in spans))


def written_number(node: object) -> int | None:
    """The whole number that `node` is written as, in digits alone; None for anything else."""
    if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
        return int(node.this)
    return None


def _syntax_fault(sql: str, error: ParseError) -> SyntaxFault:
    if not error.errors:
        return SyntaxFault("the text isn't SQL that can be read")
    misspelt = _misspelt(sql)
    if misspelt is not None:
        return misspelt
    first = error.errors[0]
    line, column, word = first["line"], first["col"], first["highlight"] or ""
    lines = sql.split("\n")
    end = sum(len(text) + 1 for text in lines[: line - 1]) + column
    start = max(0, end - len(word))
    return SyntaxFault(f"syntax error at or near {word!r}", at=Span(start, max(end, start + 1)))


def _misspelt(sql: str) -> SyntaxFault | None:
    """The fault of a statement whose first word is nearly one that begins statements.

    The parser takes SELCT for a column's name, and finds the fault in what stands behind it.
    """
    word = _FIRST_WORD.match(sql)
    if word is None or word[1].lower() in _FIRST_WORDS:
        return None
    near = near_name(word[1], _FIRST_WORDS, 0.75).upper()
    if not near:
        return None
    return SyntaxFault(
        f"syntax error at or near {word[1]!r}",
        at=Span(*word.span(1)),
        hint=f"write {near}",
        fix=near,
    )


_FIRST_WORD: Final = re.compile(r"\s*([A-Za-z]+)\b")
_FIRST_WORDS: Final = ("select", "with", "from", "explain", "show", "describe", "summarize")


def _first_word(sql: str) -> str:
    words = _DIALECT.tokenize(sql)
    return words[0].text.upper()[:30] if words else "nothing"
