"""The digests that answers and sidecars are stored under, whatever the code calls its parts."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from session.pinned import PINNED, STATEMENTS, found, keys_of

from dpsql.plan.aggregate import OutputKind
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.plan.bounded_release.estimator import LinearEstimator
from dpsql.plan.bounded_release.statistic import Sum
from dpsql.plan.expression import Compare, Literal
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.release.calibration import Measurement
from dpsql.schema.sql_type import Decimal
from dpsql.session.digest import codec
from dpsql.session.digest.tags import CLASSES, ENUMS

WORDS = {
    "arithmetic": "+ - * /",
    "comparison": "= <> < <= > >= IS DISTINCT FROM IS NOT DISTINCT FROM",
    "aggregate": (
        "count sum avg min max var_pop var_samp stddev_pop stddev_samp covar_pop covar_samp corr "
        "regr_slope regr_intercept regr_r2 quantile_cont quantile_disc mode arg_max arg_min "
        "weighted_majority above_threshold"
    ),
    "open aggregate": (
        "bool_or bool_and any_value first last string_agg product kurtosis kurtosis_pop skewness "
        "entropy mad bit_and bit_or bit_xor"
    ),
    "frame": "ROWS GROUPS RANGE",
    "excluded": "CURRENT ROW GROUP TIES",
    "set": "INTERSECT EXCEPT",
    "accounting": "pure approx zcdp gdp",
    "outer": "left full public",
    "part": "value low high stddev clipped over",
}

RENAMED = (
    Literal,
    Compare,
    Decimal,
    Contributions,
    Sum,
    LinearEstimator,
    OutputKind,
    Measurement,
    DiscreteGaussian,
)
"""Classes that the digests of a sum under conditions are made of."""

ABOUT = ("conditions", "listed keys", "a window as it is written")


@cache
def pinned() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(PINNED.read_text(encoding="utf-8"))
    return kept


@cache
def computed() -> dict[str, Any]:
    return found()


@pytest.mark.parametrize("about", pinned())
def test_a_digest_is_what_it_was(about: str) -> None:
    assert computed()[about] == pinned()[about], (
        "all who asked this are charged again: if that is meant, say so in the changelog, and run "
        "PYTHONPATH=tests python -m session.pinned"
    )


def test_all_that_is_computed_is_pinned() -> None:
    assert pinned().keys() == computed().keys()


def test_no_two_statements_have_one_key() -> None:
    keys = [key for each in pinned().values() if isinstance(each, dict) for key in each["key"]]
    assert len(keys) >= 40
    assert len(set(keys)) == len(keys)


def test_every_word_of_an_enum_is_what_it_was() -> None:
    assert {tag: " ".join(words.values()) for tag, words in ENUMS.items()} == WORDS


class Met(dict[Any, Any]):
    """The layouts that were asked for."""

    def __init__(self, layouts: dict[type, codec.Layout]) -> None:
        super().__init__(layouts)
        self.kinds: set[type] = set()

    def get(self, kind: type, default: object = None) -> Any:
        self.kinds.add(kind)
        return super().get(kind, default)


def test_every_listed_class_is_in_a_pinned_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    met = Met(codec.LAYOUTS)
    monkeypatch.setattr(codec, "LAYOUTS", met)
    found()
    assert set(CLASSES) <= met.kinds


@pytest.mark.parametrize("kind", RENAMED, ids=lambda kind: kind.__qualname__)
def test_a_digest_outlives_the_name_of_a_class(kind: type) -> None:
    before = kind.__name__, kind.__qualname__
    try:
        kind.__name__ = kind.__qualname__ = "Another"
        digests = {about: keys_of(*STATEMENTS[about]) for about in ABOUT}
    finally:
        kind.__name__, kind.__qualname__ = before
    assert digests == {about: pinned()[about] for about in ABOUT}
