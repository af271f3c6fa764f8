"""LIKE, SIMILAR TO and PostgreSQL's regular expressions, rewritten for DuckDB."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Final

from sqlglot import exp

from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.pgwire.sql.tree_search import find_all
from dpsql.pgwire.sql.types.return_types import PART_BY_PATTERN

Edit = tuple[exp.Expr, Callable[[], exp.Expr]]

_CLASSES: Final = {
    "alpha": r"\p{L}",
    "upper": r"\p{Lu}",
    "lower": r"\p{Ll}",
    "digit": "0-9",
    "alnum": r"\p{L}\p{N}",
    "space": r"\s\v",
    "xdigit": "0-9A-Fa-f",
}
_ESCAPES: Final = {"w": r"\p{L}\p{N}_", "d": "0-9", "s": r"\s\v"}
_MATCHES: Final[tuple[type[exp.Expr], ...]] = (
    exp.Like,
    exp.ILike,
    exp.SimilarTo,
    exp.RegexpLike,
    exp.RegexpILike,
    exp.RegexpReplace,
    exp.RegexpCount,
    exp.RegexpInstr,
)
_ARRAYS: Final = frozenset({"regexp_match", "regexp_matches"})
_ESCAPED_OR_CLASS: Final = re.compile(r"\\.|\[\^?\]?[^\]]*\]")
_QUANTIFIER: Final = re.compile(r"(?:[*+?]|\{[\d,]*\})(\??)")
_GROUP: Final = re.compile(r"\((?!\?)")
_REPEATED_GROUP: Final = re.compile(r"\)[*+?{]")
_CHARACTER: Final = frozenset("nrtfv")


def pattern_edits(tree: exp.Expr) -> list[Edit]:
    """Replacements of LIKE, SIMILAR TO and regular expressions in `tree`."""
    edits: list[Edit] = [(node, partial(_written, node)) for node in find_all(tree, *_MATCHES)]
    for node in find_all(tree, exp.Anonymous, exp.Substring, exp.RegexpSubstr):
        own = _part_operands(node)
        if own is not None:
            edits.append((node, partial(_part, node, own[0], of_group=own[1])))
        elif node.name.lower() in _ARRAYS:
            raise Refused(
                "matches of a pattern are an array in PostgreSQL, which has no rule",
                at=span(node),
                hint="write x ~ 'pattern', or (regexp_match(x, 'a(.)'))[1]",
            )
    splits = (n for n in find_all(tree, exp.Anonymous) if n.name.lower() == "regexp_split_to_array")
    edits += [(node, partial(_split, node)) for node in splits]
    return edits


def _part_operands(node: exp.Expr) -> tuple[exp.Expr, bool] | None:
    """The pattern of a call whose value is a part of a text, and whether its group is that part."""
    match node:
        case exp.Substring(args={"start": exp.Literal(is_string=True) as pattern}):
            return pattern, True
        case exp.Anonymous(expressions=[_, pattern]) if node.name == PART_BY_PATTERN:
            return pattern, True
        case exp.RegexpSubstr():
            return node.expression, False
        case _:
            return None


def _part(node: exp.Expr, pattern: exp.Expr, *, of_group: bool) -> exp.Expr:
    """NULL where nothing matches, else the part that the group matches, or all of the pattern."""
    groups = _GROUP.findall(_ESCAPED_OR_CLASS.sub("x", pattern.name))
    further = any(node.args.get(name) for name in ("length", "position"))
    if not pattern.is_string or further or len(groups) > 1:
        raise Refused(
            "a part of a text is found by a constant pattern with one group at most here",
            at=span(node),
            hint="write substring(x FROM 'a(.)b')",
        )
    _check_extent(pattern.name, node)
    text = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
    written = exp.Literal.string(_advanced(pattern.name, node))
    group = exp.Literal.number(1 if groups and of_group else 0)
    matches = exp.Anonymous(this="regexp_matches", expressions=[text.copy(), written])
    part = exp.Anonymous(this="regexp_extract", expressions=[text.copy(), written.copy(), group])
    return exp.Case(ifs=[exp.If(this=matches, true=part)])


def _split(node: exp.Anonymous) -> exp.Expr:
    match node.expressions:
        case [text, exp.Literal(is_string=True) as pattern]:
            written = exp.Literal.string(_advanced(pattern.this, node))
            return exp.Anonymous(this=node.this, expressions=[text, written])
        case _:
            return node


def _written(node: exp.Expr) -> exp.Expr:
    match node:
        case exp.Like() | exp.ILike():
            return _like(node)
        case exp.SimilarTo():
            return _similar(node)
        case exp.RegexpReplace() if node.args.get("position") or node.args.get("occurrence"):
            raise Refused(
                "regexp_replace() takes no position or number here",
                at=span(node),
                hint="write regexp_replace(text, pattern, replacement, 'g')",
            )
        case exp.RegexpCount() | exp.RegexpInstr() if node.args.get("position"):
            raise Refused(
                "a pattern is searched from the first character here",
                at=span(node),
                hint="write regexp_count(substring(x, 3), 'abc')",
            )
        case exp.RegexpReplace() | exp.RegexpCount():
            if isinstance(node.expression, exp.Literal):
                _check_extent(node.expression.this, node)
            return _expression(node)
        case _:
            return _expression(node)


def _check_extent(pattern: str, node: exp.Expr) -> None:
    """Refuse a pattern whose match may end elsewhere than in PostgreSQL.

    Of all matches from one character on PostgreSQL takes the longest, DuckDB the first that it
    tries: of 'foo|foobar' in 'foobar', the first three letters. They are the same where nothing is
    chosen but how often a character comes, and where no word begins with another.
    """
    words = sorted(pattern.removeprefix("(").removesuffix(")").split("|"))
    # In order, a word stands right before those that begin with it.
    begin_alike = any(longer.startswith(word) for word, longer in pairwise(words))
    if all(map(str.isalnum, words)) and not begin_alike:
        return
    plain = _ESCAPED_OR_CLASS.sub("x", pattern)
    is_lazy = {bool(lazy) for lazy in _QUANTIFIER.findall(plain)}
    if "|" in plain or _REPEATED_GROUP.search(plain) or len(is_lazy) > 1:
        raise Refused(
            "this pattern may match longer or shorter here than in PostgreSQL",
            at=span(node),
            hint="write a call for each alternative, and quantifiers behind characters alone",
        )


def _like(node: exp.Expr) -> exp.Expr:
    """LIKE with a backslash for ESCAPE, PostgreSQL's default, unless it has another ESCAPE."""
    if isinstance(node.parent, exp.Escape) or isinstance(node.expression, exp.Any | exp.All):
        return node
    pattern = node.expression
    if isinstance(pattern, exp.Literal) and "\\" not in pattern.this:
        return node
    return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))


def _similar(node: exp.Expr) -> exp.Expr:
    """SIMILAR TO as a regular expression, with LIKE's wildcards % and _ rewritten."""
    pattern = node.expression
    if (
        not isinstance(pattern, exp.Literal)
        or isinstance(node.parent, exp.Escape)
        or re.search(r'[\\"\[]', pattern.this)
    ):
        raise Refused(
            "SIMILAR TO takes constant patterns of % _ | * + ? {} () here",
            at=span(node),
            hint="write text ~ '^(a|b).*$', or text LIKE 'a%'",
        )
    wild = {"%": ".*", "_": "."}
    plain = "".join(wild.get(c, "\\" + c if c in ".^$" else c) for c in pattern.this)
    whole = exp.Literal.string(f"(?s:{plain})")
    return exp.SimilarTo(this=node.this, expression=whole)


def _expression(node: exp.Expr) -> exp.Expr:
    pattern = node.expression
    flag = node.args.get("flag")
    if isinstance(pattern, exp.Literal) and flag is None:
        node.set("expression", exp.Literal.string(_advanced(pattern.this, node)))
    return node


def _advanced(pattern: str, node: exp.Expr) -> str:
    """A PostgreSQL regular expression as DuckDB's.

    PostgreSQL's dot matches newlines, and its classes match the letters of all scripts.
    """
    parts: list[str] = []
    at, inside = 0, False
    while at < len(pattern):
        c = pattern[at]
        if c == "\\":
            escaped = pattern[at + 1 : at + 2]
            parts.append(_escape(escaped, node, inside=inside))
            at += 2
        elif inside and (named := re.match(r"\[:(\w+):\]", pattern[at:])):
            if named[1] not in _CLASSES:
                raise _no_rule(node)
            parts.append(_CLASSES[named[1]])
            at += named.end()
        elif inside and c == "[":
            raise _no_rule(node)
        else:
            opens = c == "[" and not inside
            end = 1
            if opens:
                inside = True
                # ] stands for itself at the beginning.
                end = len(re.match(r"\[\^?\]?", pattern[at:])[0])  # type: ignore[index]  # matches
            elif c == "]":
                inside = False
            parts.append(pattern[at : at + end].replace("[]", r"[\]").replace("[^]", r"[^\]"))
            at += end
    expression = "".join(parts)
    if pattern.startswith("***") or re.match(r"\(\?[a-z]", pattern):
        raise _no_rule(node)
    return f"(?s){expression}" if "." in pattern else expression


def _escape(character: str, node: exp.Expr, *, inside: bool) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character] if inside else f"[{_ESCAPES[character]}]"
    if character.lower() in _ESCAPES and not inside:
        return f"[^{_ESCAPES[character.lower()]}]"
    if character in _CHARACTER or (character and not character.isalnum()):
        return "\\" + character
    if character in {"m", "M", "y", "Y", "A", "Z"} and not inside:
        return {"A": r"\A", "Z": r"\z", "y": r"\b", "Y": r"\B"}.get(character) or _raise(node)
    return _raise(node)


def _raise(node: exp.Expr) -> str:
    raise _no_rule(node)


def _no_rule(node: exp.Expr) -> Refused:
    return Refused(
        "this regular expression has a part that is read differently here",
        at=span(node),
        hint=r"write classes as [a-z] or \w, and groups without options or references",
    )
