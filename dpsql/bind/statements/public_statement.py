"""Statements that name public tables and constants only, as their words tell.

No privacy rests on this: such a statement is run where there is nothing but copies of the public
tables that are listed here. So a name that is missed is a table that isn't there, and nothing has
to be parsed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from dpsql.bind.syntax.parse import tokens
from dpsql.engine.sandbox.introspection_functions import introspection_functions, is_introspection
from dpsql.schema.model import Public, Schema, Table
from dpsql.schema.qualified_name import bare

_BEGINNINGS: Final = {"SELECT", "WITH", "FROM", "VALUES", "PIVOT", "UNPIVOT", "("}
_CONSTANTS: Final = {TokenType.STRING, TokenType.HEREDOC_STRING, TokenType.NUMBER}


def public_tables(sql: str, schema: Schema) -> tuple[Table, ...] | None:
    """The public tables whose names are among the words of `sql`.

    None if `sql` isn't a query, or if a word is the name of a visible table that isn't public, or
    of a table or function that tells of the engine. Names of hidden tables are words like others.
    """
    words = tokens(sql)
    if not words or words[0].text.upper() not in _BEGINNINGS:
        return None
    named = {w.text.casefold() for w in words if w.token_type not in _CONSTANTS}
    if any(map(is_introspection, named)) or _calls(words) & introspection_functions():
        return None
    tables: list[Table] = []
    for name, table in schema.visible_tables.items():
        if bare(name).casefold() not in named:
            continue
        if not isinstance(table.ownership, Public) or _is_noisy(name, schema):
            return None
        tables.append(table)
    return tuple(tables)


def _calls(words: Sequence[Token]) -> set[str]:
    return {
        word.text.casefold()
        for word, following in pairwise(words)
        if following.token_type is TokenType.L_PAREN
    }


def _is_noisy(name: str, schema: Schema) -> bool:
    return name in schema.views and schema.views[name].is_release
