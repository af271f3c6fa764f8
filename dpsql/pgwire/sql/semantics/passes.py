"""A statement as PostgreSQL means it, in the pipeline's dialect: one pass for each construct.

A construct that has no equivalent there is refused: an answer to another question is worse than
none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.tokenizer_core import Token

from dpsql.bind.syntax.parse import span, written_number
from dpsql.errors import Refused, SyntaxFault
from dpsql.pgwire.sql.grammar import keep_order, restore
from dpsql.pgwire.sql.semantics.array_operators import (
    array_lengths,
    check_subscripts,
    list_constants,
    spread_patterns,
)
from dpsql.pgwire.sql.semantics.column_names import name_columns
from dpsql.pgwire.sql.semantics.date_time import (
    check_arguments,
    check_lengths,
    moment_edits,
    name_moments,
)
from dpsql.pgwire.sql.semantics.integer_division import whole_divisions
from dpsql.pgwire.sql.semantics.json_path import json_edits
from dpsql.pgwire.sql.semantics.numeric import (
    between_edits,
    correlation_edits,
    number_edits,
    wide_edits,
)
from dpsql.pgwire.sql.semantics.pattern_match import pattern_edits
from dpsql.pgwire.sql.semantics.row_comparison import compare_parts
from dpsql.pgwire.sql.semantics.text import check_texts, text_edits
from dpsql.pgwire.sql.semantics.time_zone import zone_edits
from dpsql.pgwire.sql.semantics.to_char_number import number_text_edits
from dpsql.pgwire.sql.tree_search import find_all
from dpsql.pgwire.sql.types.column_source import Missing
from dpsql.pgwire.sql.types.expression_types import Held, Typing
from dpsql.schema.model import Public, Schema

_KEYWORDS: Final = frozenset(DuckDB.Tokenizer.KEYWORDS)


def translate_semantics(
    tree: exp.Query, written: str, words: list[Token], schema: Schema, types: Sequence[int]
) -> exp.Query:
    """`tree`, changed in place, so that the pipeline computes what PostgreSQL would.

    `written` is the statement's text, `words` its tokens, and `types` the OIDs of the parameters.
    Raises `Refused` for a construct that the pipeline has no equivalent for.
    """
    check_lengths(words)
    _check_distinct(tree)
    name_columns(tree)
    name_moments(tree)
    list_constants(tree)
    spread_patterns(tree)
    check_subscripts(tree)
    check_arguments(tree)
    name_types(tree, schema, types)
    array_lengths(tree)
    for node in find_all(tree, exp.Anonymous):
        if node.name.lower() == "pg_typeof":
            raise Refused("the type of this can't be told", at=span(node), hint="leave it out")
    restore(tree, written)
    compare_parts(tree)
    _edit(lambda: moment_edits(tree, Typing(schema, types)))
    is_public = _is_public(tree, schema)
    if is_public:
        _edits_of(lambda: check_texts(tree, Typing(schema, types)))
    _edit(lambda: text_edits(tree, Typing(schema, types), Held(schema, types)))
    _edit(lambda: pattern_edits(tree))
    _edit(lambda: json_edits(tree))
    typing = Typing(schema, types)
    held = Held(schema, types)
    numbers = _edits_of(
        lambda: (
            number_edits(tree, typing, held, is_public=is_public)
            + number_text_edits(tree, typing, held)
        )
    )
    if is_public:
        # Over private rows, percentile_cont() gives one of the values, and interpolates nothing.
        numbers += _edits_of(
            lambda: (
                between_edits(tree, typing)
                + correlation_edits(tree)
                + wide_edits(tree, typing, held)
            )
        )
    whole_divisions(tree, typing)
    _apply(numbers)
    _edit(lambda: zone_edits(tree, Typing(schema, types)))
    for ordered in list(find_all(tree, exp.WithinGroup)):
        if isinstance(ordered.this, exp.PercentileDisc) and _descends(ordered):
            raise Refused(
                "percentile_disc() from the largest value down has no rule",
                at=span(ordered),
                hint="write percentile_disc(0.25) WITHIN GROUP (ORDER BY x), from the smallest up",
            )
        keep_order(ordered)
    for alias in find_all(tree, exp.Alias, exp.TableAlias):
        name = alias.args.get("alias") if isinstance(alias, exp.Alias) else alias.this
        if isinstance(name, exp.Identifier) and name.name.upper() in _KEYWORDS:
            name.set("quoted", True)
    return tree


def _is_public(tree: exp.Expr, schema: Schema) -> bool:
    """Whether no table of `tree` is private."""
    named = (schema.resolve(*(part.name for part in t.parts)) for t in find_all(tree, exp.Table))
    return all(table is None or isinstance(table.ownership, Public) for table in named)


def _descends(ordered: exp.WithinGroup) -> bool:
    return any(term.args.get("desc") for term in find_all(ordered, exp.Ordered))


Edits = list[tuple[exp.Expr, Callable[[], exp.Expr]]]


def _edit(find: Callable[[], Edits]) -> None:
    _apply(_edits_of(find))


def _edits_of(find: Callable[[], Edits]) -> Edits:
    try:
        return find()
    except Missing as missing:
        # Whoever reports the refusal shows the column that doesn't exist.
        raise Refused(f'column "{missing}" does not exist') from None


def _apply(edits: Edits) -> None:
    """Replace nodes from the inside out: an outer node's edit sees the inner ones replaced."""
    for node, edit in sorted(edits, key=lambda edit: -_depth(edit[0])):
        new = edit()
        if new is not node:
            node.replace(new)


def _depth(node: exp.Expr) -> int:
    depth, at = 0, node.parent
    while at is not None:
        depth, at = depth + 1, at.parent
    return depth


def _check_distinct(tree: exp.Expr) -> None:
    """Refuse DISTINCT ON that PostgreSQL refuses: its rows come in the order of its keys."""
    for distinct in find_all(tree, exp.Distinct):
        on, select = distinct.args.get("on"), distinct.parent
        if on is None or not isinstance(select, exp.Select):
            continue
        order = select.args.get("order")
        if order is None:
            continue
        written = on.expressions if isinstance(on, exp.Tuple) else [on.unnest()]
        keys = {_item(key, select) for key in written}
        if {_item(term.this, select) for term in order.expressions[: len(keys)]} != keys:
            raise SyntaxFault(
                "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
                at=span(distinct),
                hint="order by these expressions first, and then by what tells which row is taken",
            )


def _item(key: exp.Expr, select: exp.Expr) -> exp.Expr:
    """The item that `key` names by its number or its alias, or else `key` itself.

    Where one table is read, a column is the same with its name and without.
    """
    items, number = select.expressions, written_number(key) or 0
    named = (i for i in items if isinstance(i, exp.Alias) and exp.column(i.alias) == key)
    at = items[number - 1] if 0 < number <= len(items) else next(named, key)
    item = at.unalias().unnest()
    if isinstance(item, exp.Column) and not select.args.get("joins"):
        return exp.column(item.this.copy())
    return item


def name_types(tree: exp.Expr, schema: Schema, types: Sequence[int]) -> None:
    """Replace each pg_typeof(x), where the type of x can be derived, by its name, in place."""
    typing = Typing(schema, types)
    for node in list(find_all(tree, exp.Anonymous)):
        if node.name.lower() == "pg_typeof" and len(node.expressions) == 1:
            if node.find(exp.AggFunc):
                continue
            try:
                kind = typing.of(node.expressions[0])
            except Missing:
                continue
            if kind is not None:
                name = exp.Literal.string(kind.value)
                is_column = isinstance(node.parent, exp.Select)
                node.replace(exp.alias_(name, "pg_typeof") if is_column else name)
