"""Seeded bugs of a sidecar that is updated: it wouldn't be the one that is made afresh."""

from __future__ import annotations

from mutation.mutants import Mutant

_TESTS = "tests/session/test_sidecar_update.py"

UPDATE_MUTANTS = (
    Mutant(
        "units that left stay in a sidecar",
        "engine/sidecar/unit_digests.py",
        "AS o FULL JOIN",
        "AS o RIGHT JOIN",
        _TESTS,
        "after_changes",
        "AssertionError",
    ),
    Mutant(
        "units with other rows, as many as before, stay in a sidecar",
        "engine/sidecar/unit_digests.py",
        "in (ROW_COUNT, DIGEST)",
        "in (ROW_COUNT,)",
        _TESTS,
        "after_changes",
        "AssertionError",
    ),
    Mutant(
        "a negative zero isn't told from zero",
        "session/sidecar.py",
        "if isinstance(column.type, Double):",
        "if not column:",
        _TESTS,
        "after_changes",
        "AssertionError",
    ),
    Mutant(
        "how much has changed decides which groups of a unit count",
        "engine/sidecar/file.py",
        "salt = origin.salt if previous is None else previous.salt",
        "salt = origin.salt",
        _TESTS,
        "same_salt",
        "AssertionError",
    ),
    Mutant(
        "rows that stay don't hear of values beyond bounds",
        "engine/sidecar/update.py",
        "if not stays_empty and known != of_whole_table(connection, table):",
        "if not stays_empty and known is None:",
        _TESTS,
        "something_else_is_said",
        "AssertionError",
    ),
    Mutant(
        "sums within other bounds are updated",
        "session/sidecar.py",
        'names, _stamp(schema, ""))',
        "names)",
        _TESTS,
        "other_bounds",
        "AssertionError",
    ),
    Mutant(
        "values of one unit whose hashes are equal count as one",
        "engine/sidecar/ordering/value_counts.py",
        "if same(order[again - 1], order[again]).all():",
        "if same is not None:",
        "tests/session/test_counted_rows.py",
        fails_by="AssertionError",
    ),
    Mutant(
        "values with one hash count in all places at once",
        "engine/sidecar/ordering/row_hashes.py",
        "ORDER BY hash, value)",
        "ORDER BY hash)",
        "tests/session/test_counted_rows.py",
        fails_by="AssertionError",
    ),
    Mutant(
        "rows of all units are taken for those of the first one",
        "engine/sidecar/ordering/value_counts.py",
        "order += self.starts",
        "order += 0",
        "tests/session/test_counted_rows.py",
        "few_units",
        "AssertionError",
    ),
    Mutant(
        "rows of units of one size are sorted across them",
        "engine/sidecar/ordering/value_counts.py",
        ".sort(axis=1)",
        ".sort(axis=0)",
        "tests/session/test_counted_rows.py",
        fails_by="AssertionError",
    ),
    Mutant(
        "rows that wait are in the file of another part",
        "engine/sidecar/row_parts.py",
        'np.arange(len(files)), side="right"',
        'np.arange(len(files)), side="left"',
        "tests/session/test_counted_rows.py",
        "waited",
        "AssertionError",
    ),
)
