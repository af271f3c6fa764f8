from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pytest

import dpsql.engine.duckdb.semantics as module
from dpsql.engine.duckdb.lockdown import configure, lock
from dpsql.engine.duckdb.postprocessing import postprocessing_engine
from dpsql.engine.duckdb.semantics import OF_GROUPS, OF_LOCKS, OF_ROWS, SemanticsCheck
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
    postprocessing_engine().close()  # under whose settings they hold from here on
    with duckdb.connect(":memory:") as connection:
        configure(connection, own_statistics=True)
        connection.execute(f"SET GLOBAL {setting}")
        lock(connection, ())
        with pytest.raises(OperationalError, match=about):
            module.check_semantics(connection.cursor())


def test_claims_are_named_once() -> None:
    names = [claim.about for claim in OF_ROWS + OF_GROUPS + OF_LOCKS]
    assert len(set(names)) == len(names)


def test_claims_are_computed_once_under_the_same_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[tuple[str, ...]] = []
    values = module._values

    def counted(cursor: duckdb.DuckDBPyConnection, expressions: Sequence[str]) -> Sequence[object]:
        computed.append(tuple(expressions))
        return values(cursor, expressions)

    monkeypatch.setattr(module, "_held", set())
    monkeypatch.setattr(module, "_values", counted)
    for own_statistics, statements in ((True, 3), (True, 1), (False, 3), (True, 1)):
        computed.clear()
        with duckdb.connect(":memory:") as connection:
            configure(connection, own_statistics=own_statistics)
            lock(connection, ())
            module.check_semantics(connection.cursor())
        assert len(computed) == statements


@pytest.mark.parametrize(
    ("settings", "about"),
    [
        (["enable_external_access = false"], "nothing can be set"),
        (["lock_configuration = true"], "nothing outside is read"),
        (
            [
                "temp_directory = 'here'",
                "enable_external_access = false",
                "lock_configuration = true",
            ],
            "nothing is spilled in clear",
        ),
    ],
)
def test_what_is_not_locked_is_refused_though_its_claims_are_known(
    settings: list[str], about: str
) -> None:
    postprocessing_engine().close()
    with duckdb.connect(":memory:") as connection:
        configure(connection, own_statistics=True)
        for setting in settings:
            connection.execute(f"SET GLOBAL {setting}")
        with pytest.raises(OperationalError, match=about):
            module.check_semantics(connection.cursor())
