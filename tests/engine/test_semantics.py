from __future__ import annotations

import duckdb
import pytest

import dpsql.engine.duckdb.semantics as module
from dpsql.engine.duckdb.postprocessing import postprocessing_engine
from dpsql.engine.duckdb.semantics import OF_GROUPS, OF_ROWS, SemanticsCheck
from dpsql.errors import OperationalError


@pytest.mark.parametrize(
    ("claims", "expression", "expected", "message"),
    [
        ("OF_ROWS", "seven", 8, "it breaks the claim: a test of the test"),
        ("OF_ROWS", "seven", 7.0, "it breaks the claim: a test of the test"),
        ("OF_ROWS", "no_such_function(seven)", 7, "every expression of the test is known"),
        ("OF_ROWS", "most + seven", 7, "every expression of the test is known"),
        ("OF_GROUPS", "max(seven)", 8, "it breaks the claim: a test of the test"),
        ("OF_GROUPS", "no_such_aggregate(seven)", 7, "every expression of the test is known"),
    ],
)
def test_an_engine_that_breaks_a_claim_is_refused(
    monkeypatch: pytest.MonkeyPatch, claims: str, expression: str, expected: object, message: str
) -> None:
    monkeypatch.setattr(
        module, claims, (SemanticsCheck("a test of the test", expression, expected),)
    )
    with pytest.raises(OperationalError, match=message):
        postprocessing_engine()


@pytest.mark.parametrize("version", ["1.5.6", "3.0.0", "20.0.0"])
def test_an_unknown_version_is_refused(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(duckdb, "__version__", version)
    with pytest.raises(OperationalError, match=rf"DuckDB {version} is refused"):
        postprocessing_engine()


@pytest.mark.parametrize(
    ("setting", "about"),
    [
        ("error_on_division_by_zero = true", "every expression of the test"),
        ("ieee_floating_point_ops = false", "division by zero is infinite"),
        ("integer_division = true", "integers divide to a double"),
        ("default_collation = 'nocase'", "text is compared as bytes"),
    ],
)
def test_the_claims_notice_other_settings(setting: str, about: str) -> None:
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET GLOBAL error_on_division_by_zero = false")
        connection.execute("SET GLOBAL disabled_optimizers = 'common_subexpressions'")
        connection.execute(f"SET GLOBAL {setting}")
        with pytest.raises(OperationalError, match=about):
            module.check_semantics(connection.cursor())


def test_claims_are_named_once() -> None:
    names = [claim.about for claim in OF_ROWS + OF_GROUPS]
    assert len(set(names)) == len(names)
