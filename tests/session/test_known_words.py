"""Words that are made of another text's are those that the text has."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from sqlglot.tokenizer_core import Token

from dpsql.bind.syntax.parse import tokens
from dpsql.errors import Error
from dpsql.session.compile.generic.known_words import MAX_WORDS, KnownWords

PLAIN = (
    "SELECT dept, count(*) FROM people WHERE age > {} GROUP BY dept",
    "SELECT count(*) FROM t WHERE a>={} AND b BETWEEN {} AND {}\n  AND c = {} OR d <> {}",
    "select sum(x) from t where day < date {} and\n\nname in ({}, {}) limit {}",
)
HOSTILE = (
    'SELECT "{}" FROM t WHERE a = {}',
    "SELECT '{}' FROM t WHERE a = {}",
    "SELECT a -- {}\n FROM t WHERE a = {}",
    "SELECT a /* {} */ FROM t WHERE a = {}",
    "SELECT a FROM t WHERE a = E{} AND b = X{} AND c = n{} AND d = r{}",
    "SELECT a FROM t WHERE a = {}{} AND b = {}.{} AND c = {}e{} AND d = .{}",
    "SELECT $${}$$, $a${}$a$ FROM t WHERE a = ${}",
    "SELECT a{}, a.{}, {}a, 0x{}, {}::int, -{}, :{}, ?{}, @{}, #{}",
    "SHOW {}",
    "EXPLAIN {}",
    "CALL f({}); SELECT {}",
    "SELECT '\\{}' FROM t WHERE a = {} AND b = '{}",
    "SELECT {} '{}' \"{}\"",
    "SELECT a FROM t WHERE a >={}AND b ={}OR c",
    "{}",
)
NUMBERS = ("0", "7", "41", "007", "123456789012345678", "1.5", "10.25")
NAMES = ("'a'", "'b c'", "''", "'7'")
CONSTANTS = (*NUMBERS, *NAMES)
PIECES = (
    *CONSTANTS,
    *"'\"$.\\-/*;:?@#()[]{}eExX0aé",
    *("--", "/*", "*/", "$$", "\n", " AND ", "SELECT ", "SHOW ", "CALL ", "GROUP BY "),
    *(" ", "(", ", ", "= ", "<", ")") * 5,
)

ROUNDS = 4_000


def told(words: Sequence[Token]) -> list[tuple[object, ...]]:
    return [(w.token_type, w.text, w.line, w.col, w.start, w.end, w.comments) for w in words]


def split(sql: str) -> list[Token] | None:
    try:
        return tokens(sql)
    except Error:
        return None


def is_told_right(learned: str, sql: str) -> bool:
    """Whether the words of `sql` are known from those of `learned`; fails if they are others."""
    known, words = KnownWords(1), split(learned)
    if words is None:
        return False
    known.learn(learned, words)
    found = known.words(sql)
    if found is None:
        return False
    expected = split(sql)
    assert expected is not None, (learned, sql)
    assert told(found) == told(expected), (learned, sql)
    return True


def filled(random: Random, text: str) -> str:
    return text.format(*(random.choice(CONSTANTS) for _ in range(text.count("{}"))))


@pytest.mark.parametrize("text", PLAIN)
def test_texts_that_differ_in_constants_alone_are_not_split_again(text: str) -> None:
    random = Random(text)
    slots = text.count("{}")
    for kinds in (NUMBERS, NAMES):
        for _ in range(50):
            first, second = (
                text.format(*(random.choice(kinds) for _ in range(slots))) for _ in range(2)
            )
            assert is_told_right(first, second)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_only_looks_like_a_constant_is_split(text: str) -> None:
    random = Random(text)
    for _ in range(300):
        is_told_right(filled(random, text), filled(random, text))


def test_random_texts_have_their_own_words() -> None:
    random, known = Random("words"), 0
    for _ in range(ROUNDS):
        pieces = [random.choice(PIECES) for _ in range(random.randrange(1, 10))]
        others = [
            random.choice(CONSTANTS) if p in CONSTANTS and random.random() < 0.7 else p
            for p in pieces
        ]
        known += is_told_right("".join(pieces), "".join(others))
    assert known > ROUNDS // 50


def test_a_text_of_very_many_words_is_split_each_time() -> None:
    few, many = (f"SELECT {'- ' * n}1" for n in (MAX_WORDS - 2, MAX_WORDS - 1))
    assert is_told_right(few, few)
    assert not is_told_right(many, many)
