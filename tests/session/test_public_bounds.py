"""Bounds that rows of public tables give to columns of which the schema declares none."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached
from schema.file_source import file_source

from dpsql.errors import Refused
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.session import Session

SCHEMA = """
dataset: shop
source: {source}
tables:
  orders:
    unit: row
    columns:
      item: {{type: integer}}
  items:
    public: true
    columns:
      item: {{type: integer}}
      price: {{type: double}}
      sold: {{type: date}}
      many: {{type: "decimal(9,2)"}}
      nothing: {{type: integer}}
budget: {{epsilon: 60, delta: 1.0e-6, accounting: approx}}
"""

PRICES = "(1, '1.5'), (2, '-2.25'), (3, 'nan'), (4, 'inf'), (5, '-inf'), (6, NULL)"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    source = tmp_path / "data.duckdb"
    _write(source, PRICES)
    file = tmp_path / "schema.yaml"
    file.write_text(SCHEMA.format(source=source))
    return Session(file)


def _write(source: Path, prices: str) -> None:
    with attached(source) as connection:
        connection.execute("CREATE OR REPLACE TABLE orders (item INTEGER)")
        connection.execute(
            "CREATE OR REPLACE TABLE items AS SELECT i::INTEGER AS item, price::DOUBLE AS price,"
            " DATE '2024-01-01' + i::INTEGER AS sold, NULL::INTEGER AS nothing,"
            " (n / 100)::DECIMAL(9,2) AS many"
            f" FROM (VALUES {prices}) AS v(i, price), range(-500, 1001) AS r(n)"
        )


def _compiled(session: Session, aggregate: str) -> CompiledRelease:
    explained = session.compile(f"SELECT {aggregate} FROM orders JOIN items AS i USING (item)")
    (release,) = explained.releases
    return release


def _ends(release: CompiledRelease) -> tuple[Fraction, Fraction]:
    """What each row is clamped to."""
    terms = release.step.bounded.contributions
    assert not terms.cell_choices
    (statistic,) = terms.statistics
    low, high = statistic.interval
    return low * statistic.step, high * statistic.step


def test_nan_and_infinities_are_no_bounds(session: Session) -> None:
    assert _ends(_compiled(session, "sum(i.price)")) == (Fraction("-2.25"), Fraction("1.5"))


def test_a_column_of_many_values_has_bounds(session: Session) -> None:
    assert _ends(_compiled(session, "sum(i.many)")) == (Fraction(-5), Fraction(10))


def test_a_column_without_values_has_none(session: Session) -> None:
    with pytest.raises(Refused, match="nothing needs bounds"):
        _compiled(session, "sum(i.nothing)")


def test_days_are_chosen_between_the_first_and_the_last(session: Session) -> None:
    terms = _compiled(session, "median(i.sold)").step.bounded.contributions
    assert not terms.statistics
    (choice,) = terms.cell_choices
    assert choice.cells.count == 6


def test_other_public_rows_are_other_bounds_and_another_answer(session: Session) -> None:
    before = _compiled(session, "sum(i.price)")
    session.close()
    _write(file_source(session.schema).path, PRICES.replace("'1.5'", "'7.5'"))
    after = _compiled(Session(session.schema.path), "sum(i.price)")
    _, high = _ends(after)
    assert high == 7.5
    assert after.key != before.key
