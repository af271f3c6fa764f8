"""What the engine can't bind above the releases fails before the charge, of tables without rows."""

from __future__ import annotations

import shutil

import pytest
from data.database import attached
from neighbor_search.public_rows import PUBLIC, create_tables
from notes.compiler import FIXTURES, prepared, schema_of

from dpsql.errors import ExecutionFailed
from dpsql.plan.operator import Limit
from dpsql.schema.load.load import load_schema
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.run.execution import Execution
from dpsql.structs import replace

SCHEMA = schema_of("clinic")
ANSWERED = [
    "SELECT ward, count(*) FROM visits GROUP BY ward",
    "SELECT ward, count(*) AS n, avg(cost) FROM visits GROUP BY ward HAVING n > 3 ORDER BY n",
    "SELECT DISTINCT NULL AS nothing, insured FROM patients WHERE insured",
    (
        "SELECT specialty, count(*) AS n FROM visits JOIN doctors USING (doctor_id) "
        "GROUP BY specialty HAVING n > (SELECT max(doctor_id) FROM doctors)"
    ),
    "SELECT sum(n) OVER () FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) t",
]


def ready(sql: str) -> CompiledStatement:
    return prepared(sql, "clinic", frozenset())


@pytest.fixture(scope="module")
def execution(tmp_path_factory: pytest.TempPathFactory) -> Execution:
    """Over a source that is there: that it is, is asked first."""
    folder = tmp_path_factory.mktemp("clinic")
    shutil.copy(FIXTURES / "clinic" / "schema.yaml", folder)
    with attached(folder / "clinic.duckdb") as connection:
        create_tables(connection, SCHEMA, PUBLIC["clinic"])
    return Execution(load_schema(folder / "schema.yaml"), lambda _: None)


@pytest.mark.parametrize("sql", ANSWERED)
def test_what_is_answered_can_be_computed_of_no_rows(execution: Execution, sql: str) -> None:
    execution.check(ready(sql))


def test_what_the_engine_cannot_bind_fails_before_the_charge(execution: Execution) -> None:
    compiled = ready("SELECT ward, count(*) AS n FROM visits GROUP BY ward HAVING n > 3")
    # The binder refuses such an OFFSET; had it not, this is who would notice.
    unbound = replace(compiled, plan=Limit(compiled.plan, None, -1))
    for _ in range(2):
        with pytest.raises(ExecutionFailed, match="nothing was charged"):
            execution.check(unbound)
