"""Statements that name public tables and constants only, told from their words.

What follows from it is convenience alone: a statement that passes is run where there is nothing but
copies of the tables that are found here. So a name that is missed is a table that isn't there, and
nothing has to be parsed.
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

    None where it isn't a query, or a word is the name of another table that analysts see, or of
    what tells of the engine. Hidden tables are nobody's, and no word is one of theirs.
    """
    words = tokens(sql)
    if not words or words[0].text.upper() not in _BEGINNINGS:
        return None
    named = {w.text.casefold() for w in words if w.token_type not in _CONSTANTS}
    if any(map(is_introspection, named)) or _calls(words) & introspection_functions():
        return None
    found: list[Table] = []
    for name, table in schema.visible_tables.items():
        if bare(name).casefold() not in named:
            continue
        if not isinstance(table.ownership, Public) or _is_noisy(name, schema):
            return None
        found.append(table)
    return tuple(found)


def _calls(words: Sequence[Token]) -> set[str]:
    return {
        word.text.casefold()
        for word, following in pairwise(words)
        if following.token_type is TokenType.L_PAREN
    }


def _is_noisy(name: str, schema: Schema) -> bool:
    return name in schema.views and schema.views[name].is_release
