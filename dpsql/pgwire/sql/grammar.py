"""PostgreSQL's grammar, with function calls as written where sqlglot's parser loses their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, zip_longest
from operator import is_not
from typing import Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.bind.syntax.parse import span
from dpsql.bind.syntax.typed_constant import in_brackets
from dpsql.errors import Refused, Span, SyntaxFault
from dpsql.pgwire.sql.interval_literal import spread, typed
from dpsql.pgwire.sql.tree_search import find_all

_CALLED_BY_NAME: Final = frozenset(
    {"TO_CHAR", "DIV", "DATE_PART", "SUBSTR", "MOD", "BTRIM", "TO_HEX"}
)
_DIALECT: Final = Dialect.get_or_raise("postgres")
_RESERVED: Final = frozenset(
    (
        *("select", "from", "where", "having", "union", "join", "on", "using", "when", "then"),
        *("else", "and", "or", "not", "in", "into", "with", "distinct", "limit", "create"),
    )
)
_LIKES: Final = frozenset({TokenType.LIKE, TokenType.ILIKE})
_WRITTEN_LIKES: Final = tuple(
    written for written, kind in _DIALECT.tokenizer_class.KEYWORDS.items() if kind in _LIKES
)
_BEFORE_CALLS: Final = frozenset(
    {
        *(TokenType.SELECT, TokenType.COMMA, TokenType.L_PAREN, TokenType.WHERE, TokenType.AND),
        *(TokenType.OR, TokenType.WHEN, TokenType.THEN, TokenType.ELSE, TokenType.ON),
    }
)
_BEHIND_NAMES: Final = frozenset({"", ",", ")", ";", "from"})
_SCHEMA: Final = "pg_catalog"
"""The schema of PostgreSQL's own functions."""
_NUMBERS: Final = frozenset({"int2", "int4", "int8", "float4", "float8", "numeric", "bool"})
_OBJECTS: Final = frozenset({"oid", "regclass", "regtype", "regproc", "regprocedure"})
_TYPES: Final = (
    _NUMBERS | _OBJECTS | {"date", "time", "timestamp", "timestamptz", "interval", "uuid"}
)
"""Types that the parser knows by their own names."""
_REAL_BITS: Final = 24
_DOUBLE_BITS: Final = 53
_AFTER_LISTS: Final = frozenset(
    {
        *(TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.SEMICOLON, TokenType.FROM),
        *(TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.WINDOW),
        *(TokenType.ORDER_BY, TokenType.LIMIT, TokenType.OFFSET, TokenType.FETCH),
        *(TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.SELECT),
    }
)
"""Words that begin no item of a list: names that are equal to them are quoted."""
_EMPTY: Final = [TokenType.L_PAREN, TokenType.R_PAREN]
_MARK: Final = "\0"
"""A character that no statement on the wire has."""
_NUMBERED: Final = re.compile(r"\\[xuU0-7]")


def parse_written(written: str) -> list[exp.Expr | None]:
    """The statements of `written`, by PostgreSQL's grammar."""
    return _DIALECT.parser().parse(_words(written), written)


def check_lists(words: Sequence[Token]) -> None:
    """Refuse a list that ends with a comma, and `IN ()`, both of which DuckDB reads.

    `FROM a, WHERE …` has most likely lost a table's name, and `IN ()` its values.
    """
    for n, word in enumerate(words, 1):
        behind = words[n : n + 2]
        match word.token_type:
            case TokenType.COMMA if not behind or behind[0].token_type in _AFTER_LISTS:
                raise _unexpected(behind[0] if behind else None)
            case TokenType.IN if [b.token_type for b in behind] == _EMPTY:
                raise _unexpected(behind[1])


def _unexpected(word: Token | None) -> SyntaxFault:
    if word is None:
        return SyntaxFault("syntax error at end of input")
    return SyntaxFault(
        f'syntax error at or near "{word.text.split()[0]}"', at=Span(word.start, word.end + 1)
    )


def parse_calls(written: str) -> list[exp.Expr | None]:
    """The statements of `written`; calls of `_CALLED_BY_NAME` are parsed as `exp.Anonymous`.

    The functions are renamed among the tokens, and back in the trees: a subclass of the parser that
    leaves them out can't be made where sqlglot is compiled (sqlglot[c]).
    """
    trees = _DIALECT.parser().parse(_words_of_calls(_words(written)), written)
    # Names of tables with columns, as in AS mod(a, b), look like calls and were marked, too.
    for tree in trees:
        for node in () if tree is None else find_all(tree, exp.Anonymous, exp.Identifier):
            if isinstance(node.this, str):
                node.set("this", node.this.removeprefix(_MARK))
    return trees


def reads_alike(written: str) -> bool:
    """Whether `parse_written` and `parse_calls` read the same words, and so make the same trees."""
    if not _may_have_calls(written):
        return True
    words = _words(written)
    calls = _words_of_calls(list(words))
    return len(calls) == len(words) and not any(map(is_not, calls, words))


def _may_have_calls(written: str) -> bool:
    """Whether a word of `written` may be one that `_words_of_calls` changes.

    A word's text is a part of `written`, unless something in it is escaped by a backslash.
    """
    upper = written.upper()
    return (
        "\\" in written
        or _SCHEMA in written.lower()
        or any(name in upper for name in _WRITTEN_LIKES)
        or any(name in upper for name in _CALLED_BY_NAME)
    )


def _words_of_calls(words: list[Token]) -> list[Token]:
    """`words`, which are changed, with those marked that are calls of `_CALLED_BY_NAME`."""
    words = _without_schema(words)
    neighbors = zip_longest([None, *words[:-1]], words, words[1:])
    return [_marked(*three) for three in neighbors]


def _without_schema(words: list[Token]) -> list[Token]:
    """`words` without the schema in calls such as `pg_catalog.upper(x)`."""
    calls: list[Token] = []
    for n, word in enumerate(words):
        behind = words[n + 1 : n + 4]
        if (
            [b.token_type for b in (*behind[:1], *behind[2:])] == [TokenType.DOT, TokenType.L_PAREN]
            and word.text.lower() == _SCHEMA
            and (n == 0 or words[n - 1].token_type is not TokenType.DOT)
        ):
            del words[n + 1]
        else:
            calls.append(word)
    return calls


def _words(written: str) -> list[Token]:
    """The tokens of `written`; a keyword that is a column's name behind AS is quoted.

    PostgreSQL takes any word there: `count(*) AS select`.
    """
    words = in_brackets(_plain_types(spread(typed(_DIALECT.tokenize(written)))))
    words = _oid_arrays(_sized_floats(words))
    for n, (before, word) in enumerate(list(pairwise(words)), 1):
        if before.token_type is TokenType.ALIAS and word.text.lower() in _RESERVED:
            behind = words[n + 1].text.lower() if n + 1 < len(words) else ""
            if behind in _BEHIND_NAMES:
                words[n] = _token(word, TokenType.IDENTIFIER, word.text.lower())
    return words


def _plain_types(words: list[Token]) -> list[Token]:
    """`words`, where `x::pg_catalog.int8` is `x::int8`, which is a type of the parser's."""
    plain = list(words)
    for n in reversed(range(len(words) - 3)):
        cast, schema, dot, kind = words[n : n + 4]
        if (
            (cast.token_type, dot.token_type) == (TokenType.DCOLON, TokenType.DOT)
            and schema.text.lower() == _SCHEMA
            and kind.text in _TYPES
        ):
            (bare,) = _DIALECT.tokenize(kind.text)
            plain[n + 1 : n + 4] = [_token(kind, bare.token_type, kind.text)]
    return plain


def _oid_arrays(words: list[Token]) -> list[Token]:
    """`words`, where x::oid[], which the parser does not know, is x::_oid, its type's own name."""
    arrays = list(words)
    for n in reversed(range(len(words) - 2)):
        kind, *brackets = words[n : n + 3]
        is_array = [bracket.text for bracket in brackets] == ["[", "]"]
        if kind.token_type is TokenType.OBJECT_IDENTIFIER and is_array:
            arrays[n : n + 3] = [_token(kind, TokenType.VAR, f"_{kind.text.lower()}")]
    return arrays


def _sized_floats(words: list[Token]) -> list[Token]:
    """`words`, where `float(n)` is the type that has n bits: SQLAlchemy casts to `float(53)`."""
    sized = list(words)
    for n in reversed(range(len(words) - 3)):
        kind, opening, bits, closing = words[n : n + 4]
        if (
            kind.text.lower() == "float"
            and kind.token_type is not TokenType.IDENTIFIER
            and (opening.token_type, closing.token_type) == (TokenType.L_PAREN, TokenType.R_PAREN)
            and bits.token_type is TokenType.NUMBER
            and bits.text.isdigit()
            and 1 <= int(bits.text) <= _DOUBLE_BITS
        ):
            is_real = int(bits.text) <= _REAL_BITS
            sized[n : n + 4] = [_token(kind, TokenType.FLOAT, "real") if is_real else kind]
    return sized


def _token(word: Token, kind: TokenType, text: str) -> Token:
    """A token of another kind and text in the place of `word`."""
    position = {"line": word.line, "col": word.col, "start": word.start, "end": word.end}
    return Token(kind, text, comments=word.comments, **position)


def _marked(before: Token | None, word: Token, following: Token | None) -> Token:
    is_call = following is not None and following.token_type is TokenType.L_PAREN
    # like(a, b), whose arguments the parser takes in SQLite's order, has no operand before it.
    is_like = word.token_type in _LIKES and (before is None or before.token_type in _BEFORE_CALLS)
    if not is_call or not (is_like or word.text.upper() in _CALLED_BY_NAME):
        return word
    return _token(word, TokenType.VAR, _MARK + word.text)


def name_calls(tree: exp.Expr, written: str) -> None:
    """Store each function's name in `written`, which the parser drops, in its node's meta."""
    for node in find_all(tree, exp.Func):
        start, end = node.meta.get("start"), node.meta.get("end")
        name = written[start : end + 1] if start is not None and end is not None else ""
        if name.isidentifier():
            node.meta["name"] = name.lower()


def restore(tree: exp.Expr, written: str) -> None:
    """Rewrite, in place, functions and texts that DuckDB writes differently from PostgreSQL."""
    for node in list(find_all(tree, exp.Anonymous, exp.ByteString)):
        match node:
            case exp.ByteString():
                node.replace(exp.Literal.string(_text(node, written)))
            case _:
                node.replace(_known(node))


def _known(node: exp.Expr) -> exp.Expr:
    arguments = node.expressions
    match node.name.lower(), arguments:
        case "date_part", [exp.Literal(is_string=True) as unit, moment]:
            return exp.Extract(this=exp.var(unit.name), expression=moment)
        case "substr", [text, start, *rest]:
            return exp.Substring(this=text, start=start, length=rest[0] if rest else None)
        case "btrim", [text, *rest]:
            return exp.Trim(this=text, expression=rest[0] if rest else None)
        case ("num_nulls" | "num_nonnulls") as name, [_, *_]:
            return _counted(arguments, nulls=name == "num_nulls")
        case "octet_length", [text]:
            return exp.Anonymous(this="strlen", expressions=[text])
        case _:
            return node


def _counted(arguments: list[exp.Expr], *, nulls: bool) -> exp.Expr:
    """How many of `arguments` are NULL, or aren't."""
    one, other = (exp.Literal.number(1 if nulls else 0), exp.Literal.number(0 if nulls else 1))
    terms: list[exp.Expr] = []
    for argument in arguments:
        is_null = exp.Is(this=exp.paren(argument, copy=False), expression=exp.null())
        terms.append(exp.Case(ifs=[exp.If(this=is_null, true=one.copy())], default=other.copy()))
    total = terms[0]
    for term in terms[1:]:
        total = exp.Add(this=total, expression=term)
    return exp.paren(total, copy=False)


def _text(node: exp.Expr, written: str) -> str:
    raw = written[node.meta.get("start", 0) : node.meta.get("end", len(written)) + 1]
    if _NUMBERED.search(raw):
        raise Refused(
            "E'…' has characters by their numbers", at=span(node), hint="write the characters"
        )
    return node.name


def keep_order(node: exp.WithinGroup) -> None:
    """Write WITHIN GROUP as in the statement, in place, where DuckDB's generator changes it."""
    call, order = node.this, node.expression
    name = {
        exp.PercentileCont: "percentile_cont",
        exp.PercentileDisc: "percentile_disc",
        exp.Mode: "mode",
    }.get(type(call))
    if name is None or not isinstance(order, exp.Order):
        return
    for term in order.expressions:
        term.set("nulls_first", False)
    fraction = call.this.sql("duckdb") if call.this else ""
    node.replace(exp.Var(this=f"{name}({fraction}) WITHIN GROUP ({order.sql('duckdb').strip()})"))
