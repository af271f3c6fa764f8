"""PostgreSQL's dialect → the pipeline's: one statement's text in, another out.

The text that comes out is parsed and proved by the pipeline like any other, so nothing here is
trusted. What differs between the dialects is in grammar_notes/dialects.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from dpsql.bind.parse import tokens
from dpsql.errors import Error, Span
from dpsql.pgwire.sql.division import whole_divisions
from dpsql.pgwire.sql.label import labels
from dpsql.schema.model import Schema
from dpsql.session.deep import deeply

_QUALIFIERS: Final = {"public"}


@dataclass(frozen=True, slots=True)
class Translated:
    """A statement in both dialects: `tree` is PostgreSQL's, None if it can't be read as such.

    `names` are the columns', None where only the pipeline knows them. `query` is the tree of the
    query within a statement of dpsql's own. `blanks` are where `written` has some more than the
    client's text, of whose characters its places count.
    """

    written: str
    sql: str
    tree: exp.Expr | None
    names: tuple[str, ...] | None
    query: exp.Expr | None = None
    blanks: tuple[int, ...] = ()

    @property
    def asking(self) -> exp.Expr | None:
        """Where the parameters stand."""
        return self.query if self.tree is None else self.tree

    def place(self, at: Span | None) -> Span | None:
        """A place in the pipeline's text as one in the client's: the same word there."""
        found = self._written(at)
        if found is None or not self.blanks:
            return found
        more = [place + n for n, place in enumerate(self.blanks)]
        start, end = (p - sum(m < p for m in more) for p in (found.start, found.end))
        return Span(start, end)

    def _written(self, at: Span | None) -> Span | None:
        if at is None or self.sql == self.written:
            return at
        try:
            ours, theirs = _words(self.sql), _words(self.written)
        except Error:
            return None
        here = next((n for n, token in enumerate(ours) if token.end >= at.start), None)
        if here is None or (at.start == 0 and at.end >= len(self.sql)):
            return None
        word = ours[here].text.casefold()
        before = sum(token.text.casefold() == word for token in ours[:here])
        same = [token for token in theirs if token.text.casefold() == word]
        if before >= len(same):
            return None
        return Span(same[before].start, same[before].end + 1)


def translated(written: str, schema: Schema) -> Translated:
    """`written` for the pipeline; as it is where PostgreSQL's parser can't read it."""
    tokens(written)  # refuses what is too long or too deep for any parser
    return deeply(lambda: _translated(written, schema))


def _translated(written: str, schema: Schema) -> Translated:
    try:
        trees = [tree for tree in parse(written, dialect="postgres") if tree is not None]
    except (SqlglotError, ValueError, AttributeError, TypeError, IndexError, KeyError):
        trees = []
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        return Translated(written, written, None, None)
    tree = trees[0]
    sql = _ours(tree, schema)
    return Translated(written, written if sql is None else sql, tree, labels(tree))


def _ours(tree: exp.Expr, schema: Schema) -> str | None:
    """The pipeline's text; None if it can't be written."""
    ours = tree.copy()
    _unqualify(ours, schema)
    whole_divisions(ours, schema)
    try:
        return ours.sql(dialect="duckdb")
    except (SqlglotError, ValueError, AttributeError, TypeError, IndexError, KeyError):
        return None


def _unqualify(tree: exp.Expr, schema: Schema) -> None:
    """Clients write tables as they were listed to them: dataset.public.table."""
    for node in tree.find_all(exp.Table, exp.Column):
        if node.text("db").lower() in _QUALIFIERS:
            catalogue = node.text("catalog")
            if not catalogue or catalogue.casefold() == schema.dataset.casefold():
                node.set("db", None)
                node.set("catalog", None)


def _words(sql: str) -> list[Token]:
    return tokens(sql)
