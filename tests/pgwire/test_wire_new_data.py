"""Data that take the place of others while a statement waits, runs or is kept."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from data.database import attached
from pgwire.shop import make

import dpsql.session.compile.compile as compiling
from dpsql.engine.opening import open_engine
from dpsql.errors import ExecutionStopped, SourceFault
from dpsql.ledger.chain.entry import Charged
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.shared_dataset import Dataset
from dpsql.plan.bounded_release.bounded_release import ByUnit, LimitGroups
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.verify import verify_keys
from dpsql.session.answer.answer_construction import build_answer


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dataset]:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    path = make(tmp_path, customers=20, orders=20)
    with closing(Dataset(path, Limits(workers=1))) as found:
        yield found


def charges(dataset: Dataset) -> int:
    history = dataset.snapshot()._ledger.history()
    return sum(isinstance(entry.event, Charged) for entry in history)


def replace_data(folder: Path, change: str) -> None:
    """Other data take the place of those that workers hold open."""
    other = shutil.copy(folder / "shop.duckdb", folder / "next.duckdb")
    with attached(other) as data:
        data.execute(change)
    Path(other).replace(folder / "shop.duckdb")


def test_a_dashboard_of_data_that_changed_while_it_was_made_is_none_of_the_data_since(
    shop: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    chart = "SELECT region, count(*) FROM customers GROUP BY region"

    def answered(*given: Any) -> object:
        replace_data(shop._path.parent, "DELETE FROM customers WHERE region = 'north'")
        return build_answer(*given)

    with closing(QueryService(shop, "alice")) as alice:
        with monkeypatch.context() as patched:
            patched.setattr("dpsql.session.session.build_answer", answered)
            alice.execute(f"CREATE DASHBOARD by_region AS ({chart}) WITH (epsilon = 1)")
        assert charges(shop) == 1
        alice.query(alice.translate(chart), {})
        assert charges(shop) == 2


def test_a_dashboard_of_data_that_came_while_it_was_read_is_none_of_the_data_before(
    shop: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shop._path.parent
    before = shutil.copy(folder / "shop.duckdb", folder / "before.duckdb")
    chart = "SELECT region, count(*) FROM customers GROUP BY region"
    made = f"CREATE DASHBOARD by_region AS ({chart}) WITH (epsilon = 1)"

    def late(*given: Any) -> object:
        replace_data(shop._path.parent, "DELETE FROM customers WHERE region = 'north'")
        return compiling.compile_statement(*given)

    with closing(QueryService(shop, "alice")) as alice:
        with monkeypatch.context() as patched:
            patched.setattr("dpsql.session.session.compile_statement", late)
            alice.execute(made)
        assert charges(shop) == 1
        alice.query(alice.translate(chart), {})  # of the data since, of which the dashboard is
        assert charges(shop) == 1
        Path(before).replace(folder / "shop.duckdb")
        alice.query(alice.translate(chart), {})
        assert charges(shop) == 2


def test_an_answer_is_stored_under_the_version_of_the_data_that_it_is_of(
    shop: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shop._path.parent
    before = shutil.copy(folder / "shop.duckdb", folder / "before.duckdb")

    def changed(*given: Any, **options: Any) -> object:
        of_before = edition_of(*given, **options)
        replace_data(folder, "DELETE FROM customers WHERE region = 'north'")
        return of_before

    edition_of = compiling.edition_of
    with closing(QueryService(shop, "alice")) as alice:
        asked = alice.translate("SELECT count(*) FROM customers")
        with monkeypatch.context() as patched:
            patched.setattr(compiling, "edition_of", changed)
            with pytest.raises(SourceFault, match="nothing was charged"):
                alice.query(asked, {})
        alice.query(asked, {})
        assert charges(shop) == 1
        # The data of before are there again, of which nothing was answered.
        Path(before).replace(folder / "shop.duckdb")
        alice.query(asked, {})
        assert charges(shop) == 2


def test_no_version_is_remembered_of_files_that_were_others_when_it_was_found(
    shop: Dataset,
) -> None:
    folder, held = shop._path.parent, shop._path.parent / "before.duckdb"
    with closing(QueryService(shop, "alice")) as alice:
        engine = alice._session._context.execution.source()
        of_before = engine.fingerprint()
    edition = shop.snapshot()

    def found_late() -> str:
        (folder / "shop.duckdb").rename(held)
        shutil.copy(held, folder / "shop.duckdb")
        replace_data(folder, "DELETE FROM customers WHERE region = 'north'")
        found = edition._engine().fingerprint()
        held.replace(folder / "shop.duckdb")
        return found

    (folder / "shop.duckdb").touch()
    assert edition._fingerprint(found_late) != of_before
    assert edition._engine().fingerprint() == of_before


BY_REGION = (
    "SELECT c.region, count(*) FROM orders o JOIN customers c ON o.customer_id = c.id GROUP BY 1"
)


def test_data_that_change_while_a_statement_waits_are_not_read_by_keys_of_the_data_before(
    shop: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A customer has one region, by a key that was verified: no more are looked for.

    Of data that came since, one is in all four, and would count in each of them.
    """
    schema, folder = shop.snapshot().schema, shop._path.parent
    with open_engine(engine_source(schema)) as engine:
        assert verify_keys(schema, engine)["customers"]

    def swap(*_: object) -> None:
        replace_data(
            folder,
            "INSERT INTO customers SELECT id, r, age, joined FROM customers,"
            " (VALUES ('north'), ('south'), ('east'), ('west')) t(r) WHERE region <> r",
        )

    with closing(QueryService(shop, "alice")) as alice:
        monkeypatch.setattr(alice._session, "inspect", swap)
        with pytest.raises(SourceFault, match="nothing was charged"):
            alice.query(alice.translate(BY_REGION), {})
        assert charges(shop) == 0
        ((_, compiled),) = alice._session._context.plans._compiled.values()
        steps = tuple(release.step for release in compiled.releases)
        assert isinstance(steps[0].bounded.limited, LimitGroups)
        assert isinstance(steps[0].bounded.limited.limit, ByUnit)
        # Whatever is charged, no worker runs it over other files either.
        with pytest.raises(ExecutionStopped):
            alice._session._context.execution.run(steps, SystemRandomness(), {})
        monkeypatch.setattr(alice._session, "inspect", lambda _: None)
        assert len(alice.query(alice.translate(BY_REGION), {}).rows) == 5
        assert charges(shop) == 1
