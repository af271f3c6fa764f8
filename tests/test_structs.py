"""Immutable values stay what their class lets through, copies as well."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from msgspec import Struct
from rich.pretty import pretty_repr

from dpsql.plan.aggregate import AggregateCall
from dpsql.plan.expression import Column
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.schema.model import Hop
from dpsql.structs import field_names, has_fields, not_compared, not_hashed, not_shown, replace

LOSS = PrivacyLoss(Accounting.PURE, Fraction(1))
HOP = Hop(("a",), "t", ("b",))


@not_shown("key")
@not_hashed("listed", "place")
@not_compared("place")
class Part(Struct, frozen=True):
    """A value some of whose fields aren't shown, compared or hashed."""

    name: str
    key: str = "s"
    listed: tuple[object, ...] = ()
    place: list[int] | None = None


class Whole(Struct, frozen=True, cache_hash=True):
    """A value that has another in it."""

    part: Part


def test_a_copy_is_checked_like_the_first() -> None:
    # msgspec before 0.21 doesn't.
    with pytest.raises(ValueError, match="a loss is at least 0"):
        replace(LOSS, amount=Fraction(-1))


def test_a_copy_has_other_fields() -> None:
    assert replace(LOSS, amount=Fraction(2)) == PrivacyLoss(Accounting.PURE, Fraction(2))
    assert replace(HOP, table="u").table == "u"


@pytest.mark.parametrize("value", [LOSS, HOP])
def test_a_field_that_is_not_there_is_refused(value: PrivacyLoss | Hop) -> None:
    with pytest.raises(TypeError):
        replace(value, no_such_field=1)  # type: ignore[call-arg]


def test_a_field_that_is_not_shown_is_in_no_text() -> None:
    part = Part("a", place=[1])
    shown = "Part(name='a', listed=(), place=[1])"
    assert repr(part) == str(part) == f"{part}" == pretty_repr(part) == shown
    assert repr(Whole(part)) == pretty_repr(Whole(part)) == f"Whole(part={shown})"


def test_values_that_differ_in_a_field_that_is_not_compared_are_equal() -> None:
    one, other = Part("a", place=[1]), Part("a", place=[2])
    assert one == other
    assert not one != other  # noqa: SIM202 - it is another method
    assert hash(one) == hash(other)
    assert Whole(one) == Whole(other)
    assert hash(Whole(one)) == hash(Whole(other))
    assert replace(one, place=[3]).place == [3]


@pytest.mark.parametrize("other", [Part("b"), Part("a", "b"), Part("a", listed=(1,)), "a", None])
def test_values_that_differ_in_another_field_are_not(other: object) -> None:
    assert Part("a") != other
    assert not Part("a") == other  # noqa: SIM201 - it is another method
    assert Whole(Part("a")) != other


def test_a_field_that_is_not_hashed_is_compared() -> None:
    one, other = Part("a", listed=([1],)), Part("a", listed=([2],))
    assert hash(one) == hash(other)
    assert one != other


@pytest.mark.parametrize("leave_out", [not_shown, not_compared, not_hashed])
@pytest.mark.parametrize("names", [(), ("kye",), ("key", "kye")])
def test_only_a_field_can_be_left_out(
    leave_out: Callable[..., Callable[[type[Part]], type[Part]]], names: tuple[str, ...]
) -> None:
    with pytest.raises(TypeError):
        leave_out(*names)(Part)


@pytest.mark.parametrize("value", [LOSS, HOP])
def test_no_field_is_set(value: PrivacyLoss | Hop) -> None:
    with pytest.raises(AttributeError):
        setattr(value, field_names(type(value))[0], 1)


def test_fields_are_named_in_their_order() -> None:
    assert field_names(PrivacyLoss) == ("accounting", "amount", "delta")
    assert field_names(Hop)[:3] == ("columns", "table", "key")
    assert has_fields(AggregateCall)
    assert has_fields(Column)
    assert not has_fields(Fraction)
    with pytest.raises(TypeError):
        field_names(Fraction)
