"""Seeded bugs of what is around a release: records of keys, the catalogue, memory, costs, telling.

None of them passes a bound. Each is found by the test of what it breaks.
"""

from __future__ import annotations

from functools import partial

from mutation.mutants import Mutant

_WRONG = "AssertionError|assert |DID NOT RAISE|BudgetSpent|OverTarget|CatalogException"

_Service = partial(Mutant, fails_by=_WRONG)

SERVICE_MUTANTS = (
    _Service(
        "a key is verified whatever its columns' types are",
        "schema/verify.py",
        '(table.columns[name])} {table.columns[name].type}" for name in key]',
        '(table.columns[name])}" for name in key]',
        "tests/schema/test_keys.py",
    ),
    _Service(
        "questions of the catalogue may write",
        "pgwire/catalog/allowlist.py",
        '"Select From Where Join',
        '"Update Insert Delete Returning Schema Select From Where Join',
        "tests/pgwire/test_wire_catalogue_limits.py",
        "list_has_no_writes",
    ),
    _Service(
        "the catalogue's transactions may write",
        "engine/sandbox/database.py",
        'cursor.execute("BEGIN TRANSACTION READ ONLY")',
        'cursor.execute("BEGIN TRANSACTION")',
        "tests/pgwire/test_wire_catalogue_limits.py",
        "write_nothing_either",
    ),
    _Service(
        "answers of the catalogue are fetched whole",
        "engine/sandbox/database.py",
        "if rows < 0 or size < 0:",
        "if rows < 0 and size > 2**60:",
        "tests/pgwire/test_wire_catalogue_limits.py",
        "rows_and_bytes",
    ),
    _Service(
        "a statement runs as it is written whatever tables it names",
        "bind/statements/public_statement.py",
        "_is_noisy(name, schema):\n            return None",
        "_is_noisy(name, schema):\n            continue",
        "tests/session/test_public_statements.py",
        "names_anything_else",
    ),
    _Service(
        "what analysts wrote may call what tells of the host",
        "bind/statements/public_statement.py",
        "if any(map(is_introspection, named)) or _calls(words) & introspection_functions():",
        "if any(map(is_introspection, named)) and _calls(words) & introspection_functions():",
        "tests/session/test_public_attacks.py",
        "nothing_of_the_host",
    ),
    _Service(
        "copies lie beside files that can be read",
        "engine/sandbox/database.py",
        "lock(connection, ())",
        'lock(connection, ("/etc/passwd",))',
        "tests/session/test_public_attacks.py",
        "refuses_them_itself",
    ),
    _Service(
        "what analysts wrote runs in the environment of the owner",
        "engine/sandbox/process.py",
        'env={"PYTHONPATH": paths}',
        'env={**os.environ, "PYTHONPATH": paths}',
        "tests/session/test_public_attacks.py",
        "parents_environment",
    ),
    _Service(
        "what analysts wrote takes any time",
        "engine/sandbox/process.py",
        "deadline = time.monotonic() + seconds",
        "deadline = time.monotonic() + seconds * 10",
        "tests/session/test_public_attacks.py",
        "takes_too_long",
    ),
    _Service(
        "a copy of what reads the clock is kept",
        "session/run/public_table_copies.py",
        "is not Visibility.PUBLIC or statement.reads_clock:",
        "is not Visibility.PUBLIC:",
        "tests/session/test_public_statements.py",
        "names_anything_else",
    ),
    _Service(
        "public rows are read whatever they are",
        "engine/read_limit.py",
        "if rows > self.rows or size > self.bytes:",
        "if rows > self.rows and size > 2**60:",
        "tests/session/test_public_size.py",
    ),
    _Service(
        "public rows are remembered for ever",
        "session/compile/source_facts.py",
        "while self.values > MAX_VALUES and",
        "while self.values > 2**60 and",
        "tests/session/test_public_size.py",
    ),
    _Service(
        "a grant of all of a budget is rounded up",
        "session/compile/loss_conversion.py",
        "return min(amount, _cap(schema.budget).amount) if",
        "return amount if",
        "tests/session/test_refused_cost.py",
    ),
    _Service(
        "kept rows are paid for by what is refused for its cost",
        "session/compile/compile.py",
        "pays = pays and meets_cost_cap(options.price, epsilon, context.schema)",
        "pays = bool(pays)",
        "tests/session/test_refused_cost.py",
    ),
    _Service(
        "what is logged acts on the terminal",
        "cli/log.py",
        "return sanitize_lines(super().format(record))",
        "return super().format(record)",
        "tests/pgwire/test_wire_log.py",
    ),
    _Service(
        "a variance of few rows is certain",
        "release/columns/moment_interval.py",
        "max_moves[index] = max(max_moves[index], abs(above - below) / (2 * _STEP))",
        "above, below = max(above, 0), max(below, 0)\n"
        "            max_moves[index] += abs(above - below) / (2 * _STEP) * (near == point)",
        "tests/release/test_moment_intervals.py",
    ),
    _Service(
        "what was planned with a sidecar needs it",
        "release/job.py",
        "if fallback is not None and not fallback.tables <= engine.sidecar_tables:",
        "if fallback is not None and not fallback.tables:",
        "tests/session/test_sidecar_gone.py",
    ),
    _Service(
        "a release below a view is described as if it were the reader's own",
        "session/explain/plan_visibility.py",
        "if not view:\n        return None",
        "if not view or release:\n        return None",
        "tests/session/test_hidden_canaries.py",
    ),
    _Service(
        "sums of stored cells are as noisy as they may be",
        "session/answer/column_errors.py",
        "if max_error is None or _error(way) <= max_error\n    }",
        "if max_error is None or max_error}",
        "tests/session/test_rollup.py",
    ),
    _Service(
        "bounds are suggested of answers that are randomised",
        "bind/statements/suggest_bounds.py",
        "return not randomized.isdisjoint(seen)",
        "return randomized is seen",
        "tests/session/test_randomised_views.py",
    ),
    _Service(
        "a bound is suggested where nothing but noise is",
        "bind/statements/suggest_bounds.py",
        "{certain} * (units - interval_low + 1)",
        "{certain} * (units - interval_low)",
        "tests/session/test_suggested_bounds.py",
        "no_rows",
    ),
    _Service(
        "bounds are suggested that a hundred units are beyond",
        "bind/statements/suggest_bounds.py",
        "code >= top AND interval_low > 0",
        "code >= top AND interval_low > 100",
        "tests/session/test_suggested_bounds.py",
        "skewed",
    ),
    _Service(
        "values below both bounds are cut off by the wrong side",
        "session/clipped_values.py",
        "cut += signed - count * high if magnitude.side > 0 else count * low - signed",
        "cut += signed - count * high if magnitude.side > 0 else count * high - signed",
        "tests/cli/test_cli_cuts.py",
        "by_hand",
    ),
    _Service(
        "a unit's groups count that a limit leaves out",
        "session/limited_rows.py",
        "counted, remainder = divmod(rows * min(size, value), size)",
        "counted, remainder = divmod(rows * min(size, value + 1), size)",
        "tests/cli/test_cli_cuts.py",
        "by_hand",
    ),
    _Service(
        "whoever lends out a session has no say in what a statement costs",
        "session/compile/cost_cap.py",
        "if ceiling is not None and cost > ceiling:",
        "if ceiling is not None and cost > 100 * ceiling:",
        "tests/mcp/test_mcp_limits.py",
        "costs_more_than_the_server_allows",
    ),
    _Service(
        "each statement of an assistant's may cost as much as all of them",
        "mcp/spending_limit.py",
        "return min(self._max_cost, self._left())",
        "return self._max_cost",
        "tests/mcp/test_mcp_limits.py",
        "all_statements_together",
    ),
    _Service(
        "what an assistant has spent isn't counted",
        "mcp/spending_limit.py",
        "self._spent += loss",
        "self._spent += 0 * loss",
        "tests/mcp/test_mcp_limits.py",
        "all_statements_together",
    ),
    _Service(
        "a human's yes holds for any cost",
        "mcp/spending_limit.py",
        "return min(self.ceiling(), self._ask_above if agreed is None else agreed * _ROUNDED)",
        "return self.ceiling()",
        "tests/mcp/test_mcp_limits.py",
        "nobody_was_asked_about",
    ),
)
