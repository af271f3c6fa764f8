"""PostgreSQL's dialect → the pipeline's: one statement's text in, another out.

The text that comes out is parsed and proved by the pipeline like any other, so nothing here is
trusted. What differs between the dialects is in grammar_notes/dialects.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from dpsql.bind.syntax.parse import tokens
from dpsql.errors import Error, Refused, Span
from dpsql.pgwire.sql.column_labels import labels
from dpsql.pgwire.sql.grammar import PostgresDialect, name_calls
from dpsql.pgwire.sql.semantics.passes import name_types, translate_semantics
from dpsql.pgwire.sql.types.output_types import output_kinds
from dpsql.pgwire.sql.types.pg_type import Kind
from dpsql.schema.model import Schema
from dpsql.session.compile.deep_recursion import with_deep_stack

_QUALIFIERS: Final = {"public"}


@dataclass(frozen=True, slots=True)
class Translated:
    """A statement in both dialects: `tree` is PostgreSQL's, None if it can't be read as such.

    `names` are the columns', None where only the pipeline knows them, and `kinds` their types.
    `query` is the tree of the query within a statement of dpsql's own. `blanks` are where `written`
    has some more than the client's text, of whose characters its places count. `refused` says why
    the statement has no answer that is PostgreSQL's; questions of the catalogue don't heed it.
    """

    written: str
    sql: str
    tree: exp.Expr | None
    names: tuple[str, ...] | None
    query: exp.Expr | None = None
    blanks: tuple[int, ...] = ()
    refused: Refused | None = None
    kinds: tuple[Kind | None, ...] | None = None

    @property
    def query_tree(self) -> exp.Expr | None:
        """Where the parameters stand."""
        return self.query if self.tree is None else self.tree

    def check(self) -> None:
        """Refuse what would be the answer to another question."""
        if self.refused is not None:
            raise self.refused

    def position(self, at: Span | None) -> Span | None:
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


def translated(written: str, schema: Schema, types: Sequence[int] = ()) -> Translated:
    """`written` for the pipeline; as it is where PostgreSQL's parser can't read it.

    `types` are the OIDs of parameters that the client declares.
    """
    words = tokens(written)  # refuses what is too long or too deep for any parser
    return with_deep_stack(lambda: _translated(written, words, schema, types))


def _translated(
    written: str, words: list[Token], schema: Schema, types: Sequence[int]
) -> Translated:
    tree, spoken = (_parsed(written, dialect) for dialect in ("postgres", PostgresDialect))
    if tree is None or spoken is None:
        return Translated(written, written, None, None)
    name_calls(spoken, written)
    names = labels(spoken)
    kinds = _untold(lambda: output_kinds(spoken, schema, types))
    name_types(tree, schema, types)
    _unqualify(spoken, schema)
    try:
        ours = translate_semantics(spoken, written, words, schema, types)
        return Translated(written, ours.sql(dialect="duckdb"), tree, names, kinds=kinds)
    except Refused as refusal:
        return Translated(written, written, tree, names, refused=refusal)
    except _UNREADABLE:
        unread = Refused("the statement can't be told as PostgreSQL means it", hint="split it")
        return Translated(written, written, tree, names, refused=unread)


_UNREADABLE: Final = (
    SqlglotError,
    ValueError,
    AttributeError,
    TypeError,
    IndexError,
    KeyError,
)
"""How the parser and its generator fail on odd input."""


def _untold(find: Callable[[], tuple[Kind | None, ...] | None]) -> tuple[Kind | None, ...] | None:
    try:
        return find()
    except _UNREADABLE:
        return None


def _parsed(written: str, dialect: str | type[PostgresDialect]) -> exp.Query | None:
    try:
        trees = [tree for tree in parse(written, dialect=dialect) if tree is not None]
    except _UNREADABLE:
        return None
    if len(trees) != 1:
        return None
    if isinstance(trees[0], exp.Values):
        alias = exp.TableAlias(this=exp.to_identifier("v"))
        trees[0].set("alias", alias)
        return exp.select("*").from_(trees[0])
    return trees[0] if isinstance(trees[0], exp.Query) else None


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
