"""PostgreSQL's dialect → the pipeline's: one statement's text in, another out.

The pipeline parses and proves the translated text like any other, so that privacy doesn't depend on
this translation. Differences between the dialects are in grammar_notes/dialects.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from dpsql.bind.syntax.parse import tokens
from dpsql.errors import Error, Refused, Span
from dpsql.pgwire.sql.column_labels import labels
from dpsql.pgwire.sql.grammar import (
    check_lists,
    name_calls,
    parse_calls,
    parse_written,
    reads_alike,
)
from dpsql.pgwire.sql.semantics.passes import name_types, translate_semantics
from dpsql.pgwire.sql.tree_search import find_all
from dpsql.pgwire.sql.types.constant_parameters import (
    NO_USES,
    Insertion,
    Use,
    before_insertions,
)
from dpsql.pgwire.sql.types.output_types import output_kinds
from dpsql.pgwire.sql.types.pg_type import Kind
from dpsql.schema.model import Schema
from dpsql.session.compile.deep_recursion import with_deep_stack
from dpsql.sqltext.parser_log import without_warnings
from dpsql.structs import replace

_QUALIFIERS: Final = {"public"}


_COMPUTED: Final = (exp.Add, exp.Sub, exp.Mul)
"""The parser's nodes of operators whose values may have more digits than their operands."""


def computes(tree: exp.Expr | None) -> bool:
    """Whether `tree` has an operator whose values may have more digits than its operands."""
    return tree is not None and tree.find(*_COMPUTED) is not None


class Traits(Struct, frozen=True):
    """What a statement is asked each time it runs, and its tree alone decides.

    `reads_catalog`: it reads the catalogue, not the data; `computes`: as `computes` says.
    """

    reads_catalog: bool
    computes: bool


class Translated(Struct, frozen=True):
    """A statement in PostgreSQL's dialect (`written`) and in the pipeline's (`sql`).

    `parsed` is the tree of `written`, None if PostgreSQL's parser can't read it; `query` that of
    the query within a statement of dpsql's own. `names` are the columns', None where only the
    pipeline knows them, and `kinds` their types, where None is unknown. `blanks` are the positions
    in the client's text where `written` has one blank more. `refused` is why the statement has no
    answer that would be PostgreSQL's; queries of the catalogue ignore it. `traits` are what was
    found of the tree once; where there are any, several connections share the tree, and each use
    gets a copy. `is_of_shape`: `parsed` is the tree of another statement that has other constants.
    `declared` are the OIDs that the client declares of parameters, `uses` those parameters that
    have to be constants, and `insertions` where such constants stand in `written`.
    """

    written: str
    sql: str
    parsed: exp.Expr | None
    names: tuple[str, ...] | None
    query: exp.Expr | None = None
    blanks: tuple[int, ...] = ()
    refused: Refused | None = None
    kinds: tuple[Kind | None, ...] | None = None
    traits: Traits | None = None
    is_of_shape: bool = False
    declared: tuple[int, ...] = ()
    uses: Mapping[str, Use] = NO_USES
    insertions: tuple[Insertion, ...] = ()

    @property
    def tree(self) -> exp.Expr | None:
        """The tree of `written`, None if PostgreSQL's parser can't read it."""
        if self.is_of_shape:
            return with_deep_stack(lambda: _parsed(lambda: parse_written(self.written)))
        parsed = self.parsed
        return parsed if parsed is None or self.traits is None else parsed.copy()

    @property
    def query_tree(self) -> exp.Expr | None:
        """The tree that has the parameters."""
        return self.query if self.parsed is None else self.tree

    def shared(self, traits: Traits) -> Translated:
        """The same for several connections, whose tree nobody changes."""
        return replace(self, traits=traits)

    def check(self) -> None:
        """Raise `refused`, if the pipeline's answer would be one to another question."""
        if self.refused is not None:
            raise self.refused

    def position(self, at: Span | None) -> Span | None:
        """The span of the client's text that has the same word as `at`, of the pipeline's text."""
        return self.in_client_text(self._written(at))

    def in_client_text(self, own: Span | None) -> Span | None:
        """The span of the client's text that has the same words as `own`, of `written`."""
        if own is None:
            return own
        if self.insertions:
            start, end = (before_insertions(p, self.insertions) for p in (own.start, own.end))
            own = Span(start, max(start, end))
        if not self.blanks:
            return own
        more = [blank + n for n, blank in enumerate(self.blanks)]
        start, end = (p - sum(m < p for m in more) for p in (own.start, own.end))
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
    """`written` for the pipeline; unchanged where PostgreSQL's parser can't read it.

    `types` are the OIDs of parameters that the client declares.
    """
    words = tokens(written)  # raises if the text is too long or too deep for any parser
    check_lists(words)
    return with_deep_stack(lambda: _translated(written, words, schema, types))


@without_warnings()
def _translated(
    written: str, words: list[Token], schema: Schema, types: Sequence[int]
) -> Translated:
    tree = _parsed(lambda: parse_written(written))
    spoken = _parsed_calls(written, tree)
    if tree is None or spoken is None:
        return Translated(written, written, None, None)
    name_calls(spoken, written)
    names = labels(spoken)
    kinds = _untold(lambda: output_kinds(spoken, schema, types))
    name_types(tree, schema, types)
    _unqualify(spoken, schema)
    try:
        ours = translate_semantics(spoken, written, words, schema, types)
        # Not of a copy: nobody looks at this tree again.
        sql = ours.sql(dialect="duckdb", copy=False)
        return Translated(written, sql, tree, names, kinds=kinds)
    except Refused as refusal:
        return Translated(written, written, tree, names, refused=refusal)
    except UNREADABLE:
        unread = Refused("the statement can't be told as PostgreSQL means it", hint="split it")
        return Translated(written, written, tree, names, refused=unread)


UNREADABLE: Final = (
    SqlglotError,
    ValueError,
    AttributeError,
    TypeError,
    IndexError,
    KeyError,
)
"""Exceptions of sqlglot's parser and generator on unusual input."""


def calls_of(written: str, schema: Schema) -> exp.Query | None:
    """The tree of `written` with its calls as they are written; None if it can't be read."""
    tree = _parsed(lambda: parse_calls(written))
    if tree is not None:
        name_calls(tree, written)
        _unqualify(tree, schema)
    return tree


def _untold(find: Callable[[], tuple[Kind | None, ...] | None]) -> tuple[Kind | None, ...] | None:
    try:
        return find()
    except UNREADABLE:
        return None


def _parsed(parsing: Callable[[], Sequence[exp.Expr | None]]) -> exp.Query | None:
    try:
        trees = [tree for tree in parsing() if tree is not None]
    except UNREADABLE:
        return None
    if len(trees) != 1:
        return None
    if isinstance(trees[0], exp.Values):
        alias = exp.TableAlias(this=exp.to_identifier("v"))
        trees[0].set("alias", alias)
        return exp.select("*").from_(trees[0])
    return trees[0] if isinstance(trees[0], exp.Query) else None


def _parsed_calls(written: str, tree: exp.Query | None) -> exp.Query | None:
    """What `parse_calls` makes of `written`, whose `tree` is known: most words are read alike."""
    if tree is not None and reads_alike(written):
        return tree.copy()
    return _parsed(lambda: parse_calls(written))


def _unqualify(tree: exp.Expr, schema: Schema) -> None:
    """Remove qualifiers like dataset.public, with which the catalogue lists tables, in place."""
    for node in find_all(tree, exp.Table, exp.Column):
        if node.text("db").lower() in _QUALIFIERS:
            catalogue = node.text("catalog")
            if not catalogue or catalogue.casefold() == schema.dataset.casefold():
                node.set("db", None)
                node.set("catalog", None)


def _words(sql: str) -> list[Token]:
    return tokens(sql)
