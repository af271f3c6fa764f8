"""Statements of the corpora, mutated: tokens dropped, swapped, likened and spliced, odd text in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from random import Random

from differential.statement import analytic, noted, tpch, written
from fuzz.odd import IDENTIFIERS, LITERALS, MARKS, WORDS
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType


@cache
def corpus() -> tuple[tuple[str, str], ...]:
    """Schema and text of every statement, answered or not."""
    found = [*noted(), *written(), *tpch().values(), *analytic().values()]
    return tuple((s.schema, s.sql) for s in found)


def mutant(random: Random) -> tuple[str, str]:
    """A schema, and a statement that is a few mutations from one about it."""
    schema, sql = random.choice(corpus())
    parts = pieces(sql)
    for _ in range(random.choice([1, 1, 1, 1, 2, 3, 5])):
        # Most mutants ought to be close to what is answered, or only the parser is tried.
        change = _likened(schema) if random.random() < 0.75 else random.choice(_MUTATIONS)
        parts = change(random, parts)
    return schema, "".join(parts)


def pieces(sql: str) -> list[str]:
    """The tokens of a statement, each with the space after it."""
    return [text for text, _ in _tokens(sql)]


@lru_cache(maxsize=4096)
def _tokens(sql: str) -> tuple[tuple[str, str], ...]:
    """Each token with the space after it, and its kind."""
    try:
        tokens = DuckDB().tokenize(sql)
    except TokenError:
        return tuple((word + " ", "") for word in sql.split(" "))
    if not tokens:
        return ((sql, ""),)
    starts = [token.start for token in tokens]
    ends = [*starts[1:], len(sql)]
    return tuple(
        (sql[start:end], _KINDS.get(token.token_type, ""))
        for token, start, end in zip(tokens, starts, ends, strict=True)
    )


_OPERATORS = (
    TokenType.EQ,
    TokenType.NEQ,
    TokenType.LT,
    TokenType.LTE,
    TokenType.GT,
    TokenType.GTE,
    TokenType.PLUS,
    TokenType.DASH,
    TokenType.STAR,
    TokenType.SLASH,
    TokenType.MOD,
    TokenType.DPIPE,
    TokenType.AND,
    TokenType.OR,
    TokenType.LIKE,
)
_KINDS = {
    TokenType.VAR: "name",
    TokenType.IDENTIFIER: "name",
    TokenType.STRING: "text",
    TokenType.NUMBER: "number",
    **dict.fromkeys(_OPERATORS, "operator"),
}


@cache
def _pool(schema: str, kind: str) -> tuple[str, ...]:
    """All tokens of a kind in statements about a schema."""
    statements = (sql for name, sql in corpus() if name == schema)
    return tuple(sorted({t for sql in statements for t, found in _tokens(sql) if found == kind}))


@cache
def _likened(schema: str) -> Callable[[Random, list[str]], list[str]]:
    """A name, constant or operator becomes another of the same schema's statements."""

    def liken(random: Random, parts: list[str]) -> list[str]:
        tokens = _tokens("".join(parts))
        kinds = sorted({kind for _, kind in tokens if kind})
        if not kinds:
            return parts
        kind = random.choice(kinds)
        own = [(place, text) for place, (text, found) in enumerate(tokens) if found == kind]
        chosen, _ = random.choice(own)
        near = random.random() < (0.2 if kind == "operator" else 0.7)
        among = [text for _, text in own] if near else _pool(schema, kind) or [parts[0]]
        other = random.choice(among)
        texts = [text for text, _ in tokens]
        return [*texts[:chosen], other, *texts[chosen + 1 :]]

    return liken


def _delete(random: Random, parts: list[str]) -> list[str]:
    place = random.randrange(len(parts)) if parts else 0
    return parts[:place] + parts[place + random.choice([1, 1, 1, 2, 5]) :]


def _double(random: Random, parts: list[str]) -> list[str]:
    start, end = _range(random, parts)
    return [*parts[:end], " ", *parts[start:end], " ", *parts[end:]]


def _swap(random: Random, parts: list[str]) -> list[str]:
    if len(parts) < 2:
        return parts
    a, b = random.sample(range(len(parts)), 2)
    swapped = list(parts)
    swapped[a], swapped[b] = parts[b], parts[a]
    return swapped


def _splice(random: Random, parts: list[str]) -> list[str]:
    """A stretch of another statement in the place of one of this."""
    other = pieces(random.choice(corpus())[1])
    start, end = _range(random, parts)
    begin, until = _range(random, other)
    return [*parts[:start], " ", *other[begin:until], " ", *parts[end:]]


def _insert(choices: tuple[str, ...]) -> Callable[[Random, list[str]], list[str]]:
    def insert(random: Random, parts: list[str]) -> list[str]:
        place = random.randint(0, len(parts))
        return [*parts[:place], f" {random.choice(choices)} ", *parts[place:]]

    return insert


def _replace(choices: tuple[str, ...]) -> Callable[[Random, list[str]], list[str]]:
    def replace(random: Random, parts: list[str]) -> list[str]:
        if not parts:
            return parts
        place = random.randrange(len(parts))
        return [*parts[:place], f" {random.choice(choices)} ", *parts[place + 1 :]]

    return replace


def _nest(random: Random, parts: list[str]) -> list[str]:
    """The statement, or a stretch of it, within something else."""
    start, end = _range(random, parts)
    inner = "".join(parts[start:end])
    roll = random.choice(
        [
            f" ({inner}) ",
            f" abs({inner}) ",
            f" NOT ({inner}) ",
            f" CASE WHEN {inner} THEN {inner} END ",
            f" coalesce({inner}, {inner}) ",
            f" (SELECT {inner}) ",
            f" {inner} BETWEEN {inner} AND {inner} ",
            f" CAST({inner} AS VARCHAR) ",
        ]
    )
    whole = "".join(parts)
    if random.random() < 0.3:
        return pieces(
            random.choice(
                [
                    f"SELECT * FROM ({whole}) AS t",
                    f"SELECT count(*) FROM ({whole}) AS t",
                    f"WITH t AS ({whole}) SELECT * FROM t, t AS u",
                    f"({whole}) UNION ALL ({whole})",
                    f"SELECT ({whole})",
                    f"SELECT count(*) FROM patients WHERE patient_id IN ({whole})",
                    f"EXPLAIN {whole}",
                ]
            )
        )
    return [*parts[:start], roll, *parts[end:]]


def _characters(random: Random, parts: list[str]) -> list[str]:
    """Single characters dropped, doubled, or of another case."""
    text = "".join(parts)
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(text) + 1)
        change = random.choice(
            ["", text[place : place + 1] * 2, text[place : place + 1].swapcase()]
        )
        text = text[:place] + change + text[place + 1 :]
    return [text]


def _range(random: Random, parts: list[str]) -> tuple[int, int]:
    start = random.randint(0, len(parts))
    return start, min(len(parts), start + random.choice([1, 1, 2, 3, 5, 8, 20]))


_MUTATIONS: tuple[Callable[[Random, list[str]], list[str]], ...] = (
    _delete,
    _double,
    _swap,
    _splice,
    _splice,
    _nest,
    _nest,
    _characters,
    _insert(WORDS),
    _insert(MARKS),
    _insert(LITERALS),
    _replace(LITERALS),
    _replace(IDENTIFIERS),
    _replace(WORDS),
    _replace(LITERALS),
)
