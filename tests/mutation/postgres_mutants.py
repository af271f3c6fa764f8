"""Seeded bugs of PostgreSQL's dialect; DPSQL_POSTGRES names the server that finds them."""

from __future__ import annotations

from typing import Final

from mutation.mutants import Mutant

_NOTES: Final = "tests/emit/test_postgres_notes.py"
_NODES: Final = "tests/emit/test_postgres_nodes.py"
_VALUES: Final = "tests/emit/test_postgres_totality.py"
_COMPUTED: Final = "tests/engine/test_postgres_computed.py"
_FAILURES: Final = "tests/engine/test_postgres_push_failures.py"
_SIDECAR: Final = "tests/emit/test_postgres_sidecar.py"
_PREPARED: Final = "tests/engine/test_postgres_prepared.py"
_FAILS: Final = "psycopg.errors|AssertionError"
_ENDS: Final = "AssertionError|SourceFault|ExecutionFailed"
"""What an engine raises where a statement isn't total."""

POSTGRES_MUTANTS = (
    Mutant(
        "what was stored for one unit is joined with what is another's now",
        "emit/relation/scan_and_join.py",
        "if source.unit is None or source.sidecar is SidecarAccess.ON_SERVER:",
        "if source.unit is None:",
        _SIDECAR,
        "stored_for_one",
        _FAILS,
    ),
    Mutant(
        "EXISTS looks for what is another unit's now",
        "emit/relation/relation.py",
        "if any(scan.sidecar is SidecarAccess.ON_SERVER for scan in scans) or not",
        "if not",
        _SIDECAR,
        "neighbor",
        _FAILS,
    ),
    Mutant(
        "a sidecar that was made anew by another is read",
        "engine/postgres/sidecar/reading.py",
        "if stored is None or (stored.number, stored.file) != (own.number, own.file):",
        "if stored is None:",
        _PREPARED,
        "altered",
        _FAILS,
    ),
    Mutant(
        "a sidecar that others may write to is read",
        "engine/postgres/sidecar/record.py",
        "SELECT FROM aclexplode(c.relacl) AS g WHERE g.privilege_type <> 'SELECT')",
        "SELECT FROM aclexplode(c.relacl) AS g WHERE false)",
        _PREPARED,
        "altered",
        _FAILS,
    ),
    Mutant(
        "a sidecar of another version is read",
        "engine/postgres/sidecar/record.py",
        "is_ours = all(recorded == sealed for recorded, *_ in rows)",
        "is_ours = True",
        _PREPARED,
        "altered",
        _FAILS,
    ),
    Mutant(
        "a stored table's key needn't be kept",
        "engine/postgres/sidecar/reading.py",
        "has_index = not key or any(unique <= {*key} for unique in relation.unique)",
        "has_index = True",
        _PREPARED,
        "altered",
        _FAILS,
    ),
    Mutant(
        "a unit's sums are scaled in 32 bits",
        "emit/dialect/postgres/lower.py",
        "return operator(this=guard.exact(this), expression=expression)",
        'return operator(this=guard.cast(this, "INTEGER"), expression=expression)',
        _NODES,
        "wide",
        _FAILS,
    ),
    Mutant(
        "sums aren't widened",
        "emit/dialect/postgres/lower.py",
        'return guard.call("SUM", guard.exact(term))',
        'return guard.cast(guard.call("SUM", term), "INTEGER")',
        _NODES,
        "wide",
        _FAILS,
    ),
    Mutant(
        "all groups are kept on the server",
        "emit/dialect/postgres/lower.py",
        "few = exp.LTE(this=exp.Column",
        "few = exp.GTE(this=exp.Column",
        _NOTES,
        "neighbor",
        _FAILS,
    ),
    Mutant(
        "texts are compared as a column's collation has it",
        "emit/dialect/postgres/lower.py",
        "        case Varchar():\n            return byte_order(column)",
        "        case Varchar():\n            return column",
        _NOTES,
        "collation",
        _FAILS,
    ),
    Mutant(
        "NaN is a decimal",
        "engine/postgres/pushed_columns.py",
        "return \"NULLIF({0}, CAST('NaN' AS NUMERIC))\"",
        'return "{0}"',
        _COMPUTED,
        "pulled",
        _ENDS,
    ),
    Mutant(
        "hashes are of digits, not of values",
        "emit/dialect/postgres/lower.py",
        'hashed = guard.call("HASH_RECORD_EXTENDED", record, hashed)',
        'hashed = guard.call("HASHTEXTEXTENDED", byte_order(guard.cast(item, "TEXT")), hashed)',
        _NODES,
        "equal",
        _FAILS,
    ),
    Mutant(
        "a column of 64 bits is computed with in 32",
        "engine/postgres/pushed_columns.py",
        "needed = max(high.bit_length() + 1, 32)",
        "needed = 32",
        _COMPUTED,
        "pulled",
        _ENDS,
    ),
    Mutant(
        "moments that DuckDB doesn't have are computed with",
        "engine/postgres/pushed_columns.py",
        'return _DUCKDB_MOMENT.replace("{0}", moment)',
        "return moment",
        _COMPUTED,
        "pulled",
        _ENDS,
    ),
    Mutant(
        "sums are computed on the server where their cells' counts can't be",
        "engine/postgres/snapshot.py",
        "return None not in texts",
        "return texts[0] is not None",
        _COMPUTED,
        "another_type",
        _FAILS,
    ),
    Mutant(
        "claims aren't asked for",
        "engine/postgres/snapshot.py",
        "if not (tables or prepared) or not is_proved(server):",
        "if not (tables or prepared):",
        _COMPUTED,
        "claim",
        "AssertionError|DID NOT RAISE",
    ),
    Mutant(
        "a role has = NULL for IS NULL",
        "engine/postgres/connection.py",
        '"transform_null_equals": "off"',
        '"transform_null_equals": "on"',
        _COMPUTED,
        "role_sets",
        _FAILS,
    ),
    Mutant(
        "tables that are computed with aren't locked",
        "engine/postgres/snapshot.py",
        "            server.lock([table.location for table in tables])\n        catalog",
        "            pass\n        catalog",
        _FAILURES,
        "locked",
        _FAILS,
    ),
    Mutant(
        "a charge is made for a server that is gone",
        "session/run/execution.py",
        "self.source().ping()",
        "self.source()",
        _FAILURES,
        "noticed",
        "ExecutionStopped|ExecutionFailed",
    ),
    Mutant(
        "a quotient wraps around at 64 bits",
        "emit/dialect/postgres/function.py",
        "return guard.in_range(whole, call.type)",
        'return guard.cast(whole, "BIGINT")',
        _VALUES,
        "True",
        _FAILS,
    ),
    Mutant(
        "what a cast doesn't hold is cast",
        "emit/dialect/postgres/guard.py",
        "return _open_range(value, double(-limit), double(limit))",
        "return value",
        _VALUES,
        "True",
        _FAILS,
    ),
    Mutant(
        "products of doubles next to 0 are computed",
        "emit/dialect/postgres/guard.py",
        "low, high = double(1 / _LARGEST_FACTOR), double(_LARGEST_FACTOR)",
        "low, high = double(0), double(_LARGEST_FACTOR)",
        _VALUES,
        "True",
        _FAILS,
    ),
)
