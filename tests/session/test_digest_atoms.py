"""Two values have one text only if they are the same: from its text each can be read again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.engine.digest import ATOMS, _joined_texts, digest_of, encoded
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.session.digest.cell_digest import digest_of_cells
from dpsql.session.digest.codec import digested

TEXTS = st.one_of(
    st.text(alphabet="0123:,(){}SINTFQ/'\\\0 ", max_size=8),
    st.text(st.characters(exclude_categories=()), max_size=8),
)
"""Separators and letters of the encoding, and anything else, halves of surrogate pairs, too."""

LEAVES = st.one_of(
    *(st.none(), st.booleans(), st.integers(), TEXTS, st.binary(max_size=8)),
    *(st.floats(), st.fractions()),
    *(
        st.decimals().filter(lambda value: not value.is_snan()),
        st.dates(),
        st.datetimes(),
        st.times(),
        st.timedeltas(),
    ),
)

ATOM = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(tuple), st.frozensets(inner, max_size=4)
    ),
    max_leaves=8,
)

ALIKE: tuple[object, ...] = (
    *(None, False, True, 0, 1, -1, 255, "", "1", "1.0", "True", "None", "N", "T", "I1", "S", b"1"),
    *(0.0, -0.0, 1.0, float("inf"), float("nan"), Fraction(1), Fraction(1, 2), Fraction(-1, 2)),
    *(Decimal(1), Decimal("1.0"), Decimal("-0"), Decimal("nan"), Decimal("1E+1"), Decimal(10)),
    *(dt.date(2024, 1, 1), dt.datetime(2024, 1, 1), dt.time(0), dt.timedelta(0)),  # noqa: DTZ001
    dt.datetime(2024, 1, 1, fold=1),  # noqa: DTZ001
    *(dt.timedelta(1), dt.timedelta(seconds=1), dt.timedelta(microseconds=1), "2024-01-01"),
    *((), ((),), ("",), ("", ""), (1,), ("1",), ("a", "b"), ("ab",), ("a:1", "b"), ("1:a", "b")),
    *(((1,), 2), (1, (2,)), (1, 2), frozenset(), frozenset({1, 2}), frozenset({(1, 2)})),
    *("I1I2", "2:I1", "(2:I1", "{2:I1", 10**5000, b"", "\0", "\\0", "\ud800", "x" * 64, "a" * 64),
)
"""Each is told apart from all others."""


@given(ATOM)
def test_a_value_is_read_again_from_its_text(value: object) -> None:
    assert identity(read(encoded(value))) == identity(value)


@given(st.lists(TEXTS))
def test_texts_in_a_row_are_told_apart_again(texts: list[str]) -> None:
    assert list(split(_joined_texts(texts))) == texts


@given(ATOM)
def test_no_atom_looks_like_a_digest(value: object) -> None:
    assert encoded(value)[0] not in "0123456789abcdef"


def test_what_looks_alike_has_texts_and_digests_of_its_own() -> None:
    for one, other in combinations(ALIKE, 2):
        assert encoded(one) != encoded(other), (one, other)
        assert digested((one,)) != digested((other,)), (one, other)
        assert digest_of_cells(((one,),)) != digest_of_cells(((other,),)), (one, other)  # type: ignore[arg-type]


def test_a_set_has_one_text_in_whatever_order_it_was_filled() -> None:
    words = [f"word {number}" for number in range(100)]
    assert encoded(frozenset(words)) == encoded(frozenset(reversed(words)))


def test_kinds_and_parts_run_into_nothing() -> None:
    made = [("a",), ("a", ""), ("a", "", ""), ("ab",), ("a", "b"), ("a", "b", ""), ("", "ab")]
    assert len({digest_of(*parts) for parts in made}) == len(made)


class Color(IntEnum):
    RED = 1


class Odd(str):
    __slots__ = ()


NO_ATOMS = {
    "a word": Color.RED,
    "a text of another class": Odd("a"),
    "a list": [1],
    "a mapping": {},
    "a complex number": 1j,
    "a moment of a zone": dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
}


@pytest.mark.parametrize("value", NO_ATOMS.values(), ids=NO_ATOMS)
def test_what_has_no_text_of_its_own_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        encoded(value)


def test_the_cells_of_a_short_list_are_in_any_order_and_all_there() -> None:
    cells = ((1, "a"), (2, None), (None, "a"), (2, "b"))
    assert digest_of_cells(cells) == digest_of_cells(cells[::-1])
    others: list[tuple[Cell, ...]] = [cells[1:], (*cells, (3, "a")), ()]
    others += [((1, None), (2, "a"), (None, "a"), (2, "b")), tuple(cell[::-1] for cell in cells)]
    others += [((),), ((), ())]
    assert len({digest_of_cells(each) for each in (cells, *others)}) == 1 + len(others)


def test_values_of_neighbouring_cells_run_into_nothing() -> None:
    assert digest_of_cells((("a", "bS"), ("c", "d"))) != digest_of_cells((("aS", "b"), ("c", "d")))
    assert digest_of_cells((("a",), ("bSc",))) != digest_of_cells((("aSb",), ("c",)))


def test_a_long_list_is_told_from_one_with_another_value() -> None:
    long = tuple((number, str(number)) for number in range(20_000))
    assert digest_of_cells(long) == digest_of_cells(tuple((n, str(n)) for n in range(20_000)))
    assert digest_of_cells(long) != digest_of_cells((*long[:-1], (19_999, "x")))


def test_cells_of_several_widths_have_no_digest() -> None:
    with pytest.raises(ValueError, match="as many values each"):
        digest_of_cells(((1,), (1, 2)))


def identity(value: object) -> object:
    """What tells `value` from every other value; == takes 1, 1.0 and True for one."""
    match value:
        case float():
            return float, value.hex()
        case Decimal():
            return Decimal, value.as_tuple()
        case dt.datetime() | dt.time():
            return type(value), value, value.fold
        case tuple():
            return tuple, tuple(map(identity, value))
        case frozenset():
            return frozenset, frozenset(map(identity, value))
        case _:
            return type(value), value


def split(joined: str) -> Iterator[str]:
    while joined:
        length, _, rest = joined.partition(":")
        yield rest[: int(length)]
        joined = rest[int(length) :]


def read(text: str) -> object:
    """The inverse of `encoded`."""
    rest = text[1:]
    readers: dict[str, Callable[[], object]] = {
        "N": lambda: None,
        "T": lambda: True,
        "F": lambda: False,
        "I": lambda: int(rest, 16),
        "S": lambda: rest,
        "B": lambda: bytes.fromhex(rest),
        "Q": lambda: Fraction(*(int(part, 16) for part in rest.split("/"))),
        "R": lambda: float.fromhex(rest),
        "X": lambda: _decimal(*rest.split(":")),
        "Y": lambda: dt.date.fromisoformat(rest),
        "M": lambda: _local(dt.datetime, rest),
        "H": lambda: _local(dt.time, rest),
        "L": lambda: dt.timedelta(*(int(part, 16) for part in rest.split(":"))),
        "(": lambda: tuple(map(read, split(rest))),
        "{": lambda: frozenset(map(read, split(rest))),
    }
    assert len(readers) == len(ATOMS) + 1  # TRUE and FALSE
    return readers[text[0]]()


def _decimal(sign: str, digits: str, exponent: str) -> Decimal:
    power = exponent if exponent in ("F", "n", "N") else int(exponent)
    return Decimal((int(sign), tuple(map(int, digits)), power))  # type: ignore[arg-type]


def _local(kind: type[dt.datetime | dt.time], text: str) -> object:
    return kind.fromisoformat(text.removesuffix(" again")).replace(fold=text.endswith(" again"))
