"""Every class that a digest may have is listed with the fields that count; names are in none."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, make_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from dpsql.engine.digest import ATOMS
from dpsql.engine.source import DuckDBSource, PostgresSource, SparkSource
from dpsql.plan.aggregate import AggregateCall, AggregateFunction, OpenFunction, OutputKind
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.estimator import Estimator, Mean
from dpsql.plan.bounded_release.statistic import Discretized, Term
from dpsql.plan.expression import Column, Expression, Literal
from dpsql.plan.operator import Plan, WindowCall
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.release.calibration import Measurement
from dpsql.schema.model import Hop, Ownership
from dpsql.schema.sql_type import BIGINT, SqlType
from dpsql.session.digest import codec
from dpsql.session.digest.codec import digested, layout
from dpsql.session.digest.tag import Tagged
from dpsql.session.digest.tags import CLASSES, ENUMS, EXCLUDED
from dpsql.structs import field_names, has_fields

UNIONS = (Plan, Expression, Estimator, Term, Ownership, SqlType)

ROOTS = (
    BoundedRelease,
    AggregateCall,
    WindowCall,
    Measurement,
    DuckDBSource,
    PostgresSource,
    SparkSource,
)


def parts(hint: Any) -> Iterator[type]:
    """The classes that a value of that type is made of."""
    if get_origin(hint) in (Union, types.UnionType, tuple, frozenset):
        for inside in get_args(hint):
            if inside is not Ellipsis:
                yield from parts(inside)
    else:
        assert isinstance(hint, type), hint
        yield hint


def reached() -> dict[type, None]:
    """Every class that a digest may have, but atoms."""
    waiting = [*ROOTS, *(kind for union in UNIONS for kind in parts(union))]
    found: dict[type, None] = {}
    while waiting:
        kind = waiting.pop()
        if kind in found or kind in ATOMS:
            continue
        found[kind] = None
        if kind in CLASSES:
            hints = get_type_hints(kind)
            waiting += [part for name in CLASSES[kind].fields for part in parts(hints[name])]
    return found


REACHED = list(reached())
LISTED = {type(member) for members in ENUMS.values() for member in members}


@pytest.mark.parametrize("kind", REACHED, ids=lambda kind: kind.__qualname__)
def test_a_class_that_a_digest_may_have_is_listed(kind: type) -> None:
    if issubclass(kind, Enum):
        assert kind in LISTED
    else:
        assert has_fields(kind)
        assert (kind in CLASSES) != (kind in EXCLUDED)


def compared_fields(kind: Any) -> set[str]:
    """The fields by which two values are told apart: all, unless their class says otherwise."""
    if is_dataclass(kind):
        return {field.name for field in fields(kind) if field.compare}
    return set(getattr(kind, "__compared_fields__", field_names(kind)))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__qualname__)
def test_each_field_counts_or_is_left_out_for_a_reason(kind: Any) -> None:
    listed = CLASSES[kind]
    compared = compared_fields(kind)
    assert compared == {*listed.fields, *listed.excluded}
    assert len(compared) == len(listed.fields) + len(listed.excluded)
    assert all(listed.excluded.values())


def test_nothing_is_listed_that_no_digest_has() -> None:
    # A hop is met in a stamp; of a release, what is counted tells of it.
    assert {*CLASSES, *EXCLUDED, *LISTED} == set(REACHED)


def test_no_two_classes_have_one_tag() -> None:
    assert len({listed.tag for listed in CLASSES.values()}) == len(CLASSES)


@pytest.mark.parametrize("tag", ENUMS)
def test_each_member_has_a_word_of_its_own(tag: str) -> None:
    members = ENUMS[tag]
    (kind,) = {type(member) for member in members}
    assert set(members) == set(kind)
    assert len(set(members.values())) == len(members)
    assert all(type(word) is str for word in members.values())
    assert ":" not in tag


def test_members_of_one_value_are_told_apart() -> None:
    members = [member for each in ENUMS.values() for member in each]
    assert len({digested(member) for member in members}) == len(members)


MEASURED = Discretized(Literal(1, BIGINT), Fraction(1, 2), 0, 9, 4)


def test_the_names_of_a_class_and_of_its_fields_are_in_no_digest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("of", "worth", "least", "most", "middle")
    renamed = make_dataclass("Gauged", names, frozen=True, slots=True)
    listed = Tagged(CLASSES[Discretized].tag, names)
    monkeypatch.setitem(codec.LAYOUTS, renamed, layout(listed))
    assert digested(renamed(MEASURED.argument, Fraction(1, 2), 0, 9, 4)) == digested(MEASURED)


def test_the_order_in_which_a_class_has_its_fields_is_in_no_digest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = CLASSES[Discretized].fields
    turned = make_dataclass("Measured", names[::-1], frozen=True, slots=True)
    monkeypatch.setitem(codec.LAYOUTS, turned, layout(CLASSES[Discretized]))
    assert digested(turned(4, 9, 0, Fraction(1, 2), MEASURED.argument)) == digested(MEASURED)


def test_values_that_change_places_have_another_digest() -> None:
    mean = Mean(0, 1, 2, Fraction(1), Fraction(0), Fraction(9))
    assert digested(mean) != digested(Mean(1, 0, 2, Fraction(1), Fraction(0), Fraction(9)))


def test_classes_with_the_same_fields_are_told_apart() -> None:
    plain = [kind() for kind, listed in CLASSES.items() if not listed.fields]
    assert len(plain) > 10
    assert len({digested(value) for value in plain}) == len(plain)


def test_what_is_left_out_changes_nothing() -> None:
    hop = Hop(("a",), "t", ("b",))
    assert digested(hop) == digested(Hop(("a",), "t", ("b",), hidden=True, same_unit=("a",)))
    assert digested(hop) != digested(Hop(("a",), "t", ("c",)))


@dataclass(frozen=True)
class Unheard:
    value: int


class Loss(PrivacyLoss, frozen=True):
    pass


class Word(Enum):
    A = "a"


@pytest.mark.parametrize(
    "value",
    [
        Unheard(1),
        (1, Unheard(1)),
        Word.A,
        Loss(Accounting.PURE, Fraction(1)),
        Column(1, "a", BIGINT),
    ],
    ids=["a class", "a part", "a word", "a subclass", "one that is apart"],
)
def test_what_is_not_listed_has_no_digest(value: object) -> None:
    with pytest.raises(TypeError, match="has no tag"):
        digested(value)


def test_a_word_of_one_kind_is_none_of_another() -> None:
    assert digested(AggregateFunction.COUNT) != digested(OpenFunction.PRODUCT)
    assert digested(OutputKind.VALUE) != digested("value")
