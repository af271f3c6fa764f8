"""Patterns: LIKE and regular expressions, whose patterns are constants that the engine reads."""

from __future__ import annotations

import re

from dpsql.plan.expression import Expression, Literal
from dpsql.plan.functions.domain_rules import boolean, top
from dpsql.plan.functions.function import Function, Rule, Totalization
from dpsql.plan.functions.text import MAX_CHARACTERS, MAX_GROWTH, growth
from dpsql.plan.functions.type_rules import first, fixed, texts
from dpsql.schema.sql_type import Boolean, Integer, SqlType, Varchar

_TEXT = Varchar()
_GROUP = Integer(32)


def _short(arguments: tuple[Expression, ...]) -> bool:
    """Every argument after the text is a constant, short enough to be compiled at once."""
    return all(
        isinstance(a, Literal) and len(str(a.value)) <= MAX_CHARACTERS for a in arguments[1:]
    )


def _like(name: str, operator: str, *aliases: str) -> Function:
    return Function(
        name,
        texts(2, Boolean()),
        boolean,
        Totalization.PLAIN,
        f"text {name.upper()} 'a%'",
        aliases,
        constants=frozenset({1}),
        accepts=_short,
        engine=lambda _: (operator, 0, 1),
    )


def _escaped(name: str, operator: str) -> Function:
    return Function(
        name,
        texts(3, Boolean()),
        boolean,
        Totalization.TRY,
        f"text {operator} 'a!%' ESCAPE '!'",
        constants=frozenset({1, 2}),
        accepts=_readable,
    )


def _readable(arguments: tuple[Expression, ...]) -> bool:
    """The escape is one character, which the pattern doesn't end with: that raises in matching."""
    _, pattern, escape = arguments
    if not (_short(arguments) and isinstance(pattern, Literal) and isinstance(escape, Literal)):
        return False
    if pattern.value is None or escape.value is None:
        return True
    text, mark = str(pattern.value), str(escape.value)
    if len(mark) != 1:
        return not mark
    return not text.replace(mark * 2, "").endswith(mark)


def _expression(name: str, gives: SqlType, rule: Rule, usage: str, *aliases: str) -> Function:
    """A function of a text, a regular expression, and perhaps options."""
    return Function(
        name,
        first(texts(2, gives), texts(3, gives)),
        rule,
        Totalization.TRY,
        usage,
        aliases,
        constants=frozenset({1, 2}),
        accepts=_short,
        probed=True,
    )


def _no_reference(arguments: tuple[Expression, ...]) -> bool:
    """The replacement is literal, or refers to the whole match or to a group."""
    replacement = arguments[2]
    return (
        _short(arguments)
        and growth(arguments) <= MAX_GROWTH
        and isinstance(replacement, Literal)
        and isinstance(replacement.value, str)
        and re.fullmatch(r"([^\\]|\\[0-9\\])*", replacement.value) is not None
    )


PATTERN = (
    _like("like", "~~"),
    _like("ilike", "~~*"),
    _like("glob", "~~~"),
    _escaped("like_escape", "LIKE"),
    _escaped("ilike_escape", "ILIKE"),
    _expression("regexp_matches", Boolean(), boolean, "regexp_matches(text, 'a+b')", "regexp_like"),
    _expression("regexp_full_match", Boolean(), boolean, "regexp_full_match(text, 'a+b')"),
    Function(
        "regexp_extract",
        first(
            texts(2, _TEXT),
            fixed(_TEXT, _TEXT, _GROUP, gives=_TEXT),
            fixed(_TEXT, _TEXT, _GROUP, _TEXT, gives=_TEXT),
        ),
        top,
        Totalization.TRY,
        "regexp_extract(text, '(a+)b', 1)",
        constants=frozenset({1, 2, 3}),
        accepts=_short,
        probed=True,
    ),
    Function(
        "regexp_replace",
        first(texts(3, _TEXT), texts(4, _TEXT)),
        top,
        Totalization.TRY,
        "regexp_replace(text, 'a+', 'b', 'g')",
        constants=frozenset({1, 2, 3}),
        accepts=_no_reference,
        probed=True,
    ),
)
