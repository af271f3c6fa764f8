"""Syntax trees that are searched, and copied, sooner than sqlglot does: they are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import is_

import pytest
from notes.blocks import claims
from sqlglot import exp

from dpsql.pgwire.sql.grammar import (
    _may_have_calls,
    _words,
    _words_of_calls,
    parse_calls,
    parse_written,
    reads_alike,
)
from dpsql.pgwire.sql.translate import UNREADABLE
from dpsql.pgwire.sql.tree_search import find_all

SEARCHED = [
    (exp.Expr,),
    (exp.Column,),
    (exp.Table, exp.Column),
    (exp.Func,),
    (exp.Anonymous, exp.Identifier),
    (exp.Add, exp.Sub, exp.Mul),
    (exp.Distinct,),
]
CALLS = [
    "SELECT mod(a, 2), to_char(b, 'x') FROM t AS mod(a, b)",
    "SELECT pg_catalog.upper(x), substr(y, 2) FROM t",
    "SELECT like(a, 'b%') FROM t",
    "SELECT count(*) AS select, avg(pay) FROM people WHERE age > 3 GROUP BY dept",
    "VALUES (1, 2), (3, 4)",
]


def statements() -> list[str]:
    return sorted({claim.sql for claim in claims()} | set(CALLS))


def parsed(sql: str) -> list[exp.Expr]:
    try:
        return [tree for tree in parse_written(sql) if tree is not None]
    except UNREADABLE:
        return []


def positions(tree: exp.Expr) -> list[tuple[type, dict[str, object]]]:
    return [(type(node), dict(node.meta)) for node in tree.walk()]


def test_a_search_finds_what_sqlglots_finds_in_its_order() -> None:
    trees = [tree for sql in statements() for tree in parsed(sql)]
    assert len(trees) > 500
    for tree in trees:
        for kinds in SEARCHED:
            ours, theirs = list(find_all(tree, *kinds)), list(tree.find_all(*kinds))
            assert list(map(id, ours)) == list(map(id, theirs))


Search = Callable[..., Iterator[exp.Expr]]


def test_a_search_sees_what_is_changed_below_a_node_while_it_is_looked_at() -> None:
    def seen(search: Search) -> list[str]:
        (tree,) = parsed("SELECT a + b, f(c) FROM t")
        found = []
        for node in search(tree, exp.Add, exp.Column):
            found.append(node.sql())
            if isinstance(node, exp.Add):
                node.set("expression", exp.column("d"))
        return found

    ours = seen(find_all)
    assert ours == seen(lambda tree, *kinds: tree.find_all(*kinds))
    assert sorted(ours) == ["a", "a + b", "c", "d"]


def test_where_words_are_read_alike_both_trees_are_the_same() -> None:
    alike = [sql for sql in statements() if parsed(sql) and reads_alike(sql)]
    assert 500 < len(alike) < len(statements())
    for sql in alike:
        trees = parsed(sql)
        calls = [tree for tree in parse_calls(sql) if tree is not None]
        assert [tree.copy() for tree in trees] == calls
        assert [positions(tree.copy()) for tree in trees] == [positions(tree) for tree in calls]


@pytest.mark.parametrize("sql", CALLS[:3])
def test_calls_that_lose_their_names_are_read_twice(sql: str) -> None:
    assert not reads_alike(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a ~~* b FROM t",
        'SELECT "PG_CATALOG" . upper (x) FROM t',
        'SELECT "mod"(a, b) FROM t',
        "SELECT \u017fubstr(a, 1) FROM t",
        "SELECT E'm\\x6fd'(a) FROM t",
        "SELECT like(a, b) FROM t",
    ],
)
def test_words_that_are_read_differently_are_found_by_the_text_alone(sql: str) -> None:
    words = _words(sql)
    assert not reads_alike(sql) or _words_of_calls(list(words)) == words


def test_no_word_is_read_differently_where_the_text_has_none() -> None:
    texts = [sql for sql in statements() if parsed(sql) and not _may_have_calls(sql)]
    assert len(texts) > 500
    for sql in texts:
        words = _words(sql)
        calls = _words_of_calls(list(words))
        assert len(calls) == len(words)
        assert all(map(is_, calls, words))
