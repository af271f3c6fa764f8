"""Immutable values stay what their class lets through, copies as well."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.plan.aggregate import AggregateCall
from dpsql.plan.expression import Column
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.schema.model import Hop
from dpsql.structs import field_names, has_fields, replace

LOSS = PrivacyLoss(Accounting.PURE, Fraction(1))
HOP = Hop(("a",), "t", ("b",))


def test_a_copy_is_checked_like_the_first() -> None:
    # msgspec before 0.21 doesn't.
    with pytest.raises(ValueError, match="a loss is at least 0"):
        replace(LOSS, amount=Fraction(-1))


def test_a_copy_of_a_struct_or_of_a_dataclass_has_other_fields() -> None:
    assert replace(LOSS, amount=Fraction(2)) == PrivacyLoss(Accounting.PURE, Fraction(2))
    assert replace(HOP, table="u").table == "u"


@pytest.mark.parametrize("value", [LOSS, HOP])
def test_a_field_that_is_not_there_is_refused(value: PrivacyLoss | Hop) -> None:
    with pytest.raises(TypeError):
        replace(value, no_such_field=1)  # type: ignore[call-arg]


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
