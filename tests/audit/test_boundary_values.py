"""The values of an audit's databases are values of their column's type, whatever is declared of it.

What isn't would end the audit of a statement that has an answer.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from data.database import attached

from dpsql.audit.databases.boundary_values import declared, distinct
from dpsql.audit.databases.search_space import Size
from dpsql.audit.sensitivity.exhaustive_audit import audit_sensitivity
from dpsql.emit.dialect.duckdb.literal import emit_literal
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema

DATES = "bounds: ['0001-01-01', '9999-12-31']"
MOMENTS = "bounds: ['0001-01-01 00:00:00', '9999-12-31 23:59:59.999999']"
DECLARED = [
    ("tinyint", "bounds: [-128, 127]"),
    ("bigint", "bounds: [9223372036854775807, 9223372036854775807]"),
    ("ubigint", "values: [18446744073709551615, 0]"),
    ("uhugeint", ""),
    ("uhugeint", f"bounds: [0, {2**128 - 1}]"),
    ("uhugeint", f"values: [{2**128 - 1}, 1]"),
    ("decimal(1,0)", "bounds: [-9, 9]"),
    ("decimal(4,1)", "values: [0.5, -0.5, 999.9]"),
    ("decimal(38,0)", f"bounds: [-{10**38 - 1}, {10**38 - 1}]"),
    ("decimal(38,38)", ""),
    ("decimal(9,9)", "bounds: [0.1, 0.1]"),
    ("float", "bounds: [-3.0e+38, 3.0e+38]"),
    ("float", "bounds: [0.1, 0.1]"),
    ("float", "values: [0, 0.5]"),
    ("double", "bounds: [0.3, 0.3]"),
    ("double", "values: [0, 1.5]"),
    ("date", DATES),
    ("date", "bounds: [2024-02-29, 2024-02-29]"),
    ("timestamp", MOMENTS),
]


def schema_with(kind: str, domain: str, folder: Path) -> Schema:
    """A table with the rows of which one column is as declared."""
    said = f'type: "{kind}"' + f", {domain}" * bool(domain)
    (folder / "schema.yaml").write_text(
        "dataset: ends\nsource: ends.duckdb\ntables:\n  rows:\n    unit: row\n"
        f"    columns:\n      x: {{{said}}}\nbudget: {{epsilon: 1}}\n"
    )
    return load_schema(folder / "schema.yaml")


@pytest.mark.parametrize(("kind", "domain"), DECLARED)
def test_every_value_is_of_its_columns_type(kind: str, domain: str, tmp_path: Path) -> None:
    column = schema_with(kind, domain, tmp_path).tables["rows"].columns["x"]
    with attached() as connection:
        connection.execute(f"CREATE TABLE rows (x {kind})")
        connection.execute("INSERT INTO rows SELECT unnest(?)", [distinct(column)])
        connection.execute("INSERT INTO rows SELECT unnest(?)", [declared(column, 50)])


@pytest.mark.parametrize(("kind", "domain"), [c for c in DECLARED if c[1].startswith("bounds")])
def test_declared_values_lie_within_their_bounds(kind: str, domain: str, tmp_path: Path) -> None:
    column = schema_with(kind, domain, tmp_path).tables["rows"].columns["x"]
    with attached() as connection:
        connection.execute(f"CREATE TABLE rows (x {kind})")
        connection.execute("INSERT INTO rows SELECT unnest(?)", [declared(column, 50)])
        low, high = (rendered(emit_literal(end, column.type)) for end in column.bounds or ())
        beyond = f"SELECT count(*) FROM rows WHERE x NOT BETWEEN {low} AND {high}"
        assert connection.execute(beyond).fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("kind", "domain"),
    [("uhugeint", ""), ("decimal(1,0)", "bounds: [-9, 9]"), ("double", "values: [0, 1.5]")],
)
def test_what_has_an_answer_is_audited(kind: str, domain: str, tmp_path: Path) -> None:
    schema = schema_with(kind, domain, tmp_path)
    found = audit_sensitivity("SELECT count(x) FROM rows", schema, size=Size(max_units=2))
    assert found.findings
    assert not found.violations
