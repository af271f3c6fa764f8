"""The settings that shut the host out and fix the meaning of SQL, each set before the lock.

Always SET GLOBAL: a plain SET of a semantic setting doesn't reach the cursors that run statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import duckdb
from sqlglot import exp

from dpsql.errors import OperationalError

SECURITY_SETTINGS: Final = {
    "python_enable_replacements": "false",  # a variable of the caller is not a table
    "python_scan_all_frames": "false",
    "autoinstall_known_extensions": "false",  # an extension is native code
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_extension_repositories": "'forbidden'",
    "extension_directories": "[]",
    "allow_persistent_secrets": "false",
    "secret_directory": "''",
    "file_search_path": "''",
    "log_query_path": "''",
    "enable_logging": "false",
}

NO_SPILLING: Final[Mapping[str, str]] = {
    "temp_directory": "''",  # what is spilled to disk is raw private rows
    "max_temp_directory_size": "'0KB'",
}

STATISTICS: Final = "statistics_propagation"
SHARING: Final = "common_subexpressions"
EVALUATING: Final = (STATISTICS, SHARING)
"""Optimizers that evaluate outside of TRY, where what raises is an error.

STATISTICS calls functions on the least and greatest value of a column: `TRY(epoch_ns(day))` failed
if one row of a table was 9999-12-31. The SQL that dpsql emits hides statistics from functions that
may raise (`unknown` in `emit.dialect.duckdb`), so it is off only where statistics are claims of a
file, which nothing enforces: Parquet's leave out NaN and text that isn't UTF-8. SHARING evaluates
once, outside of TRY, an expression that two others share.
"""

SEMANTIC_SETTINGS: Final = {
    "error_on_division_by_zero": "false",  # x // 0 is NULL; an error would be a bit about x
    "ieee_floating_point_ops": "true",
    "integer_division": "false",
    "scalar_subquery_error_on_multiple_rows": "true",
    "default_null_order": "'NULLS_LAST'",
    "default_order": "'ASCENDING'",
    "default_collation": "''",
    "preserve_identifier_case": "'preserve_case'",
    "regex_match_operator_semantics": "'partial'",
    "dialect_compatibility_mode": "'NONE'",
    "legacy_disable_null_type": "false",
    "order_by_non_integer_literal": "false",
    "binary_as_string": "false",
    "arrow_lossless_conversion": "false",  # HUGEINT must come out as decimal128
    "arrow_large_buffer_size": "false",
    "arrow_output_version": "'1.0'",
    "disabled_optimizers": f"'{','.join(EVALUATING)}'",
    "TimeZone": "'UTC'",
    "Calendar": "'gregorian'",
}


OWN_STATISTICS: Final = {"disabled_optimizers": f"'{SHARING}'"}
"""The setting that differs where all tables are DuckDB's own, whose statistics are right."""


def configure(
    connection: duckdb.DuckDBPyConnection,
    *,
    own_statistics: bool = False,
    spilling: Mapping[str, str] = NO_SPILLING,
) -> None:
    """Forbid extensions, and fix the meaning of SQL and of spilling, before the source is opened.

    `own_statistics`: all tables of the source are in a DuckDB file. `spilling`: the settings by
    which memory that is full is written to disk.
    """
    # Where Python has no file to run, as in a worker, DuckDB would draw the progress bar on
    # standard output. The setting is for one connection alone; its cursors have no progress bar.
    connection.execute("SET enable_progress_bar = false")
    _set(
        connection,
        {
            **SECURITY_SETTINGS,
            **SEMANTIC_SETTINGS,
            **(OWN_STATISTICS if own_statistics else {}),
            **spilling,
        },
    )


def lock(connection: duckdb.DuckDBPyConnection, readable: Iterable[str]) -> None:
    """Forbid access to all files but `readable`, and any change of settings, from here on.

    The exception is for exact paths: `allowed_directories` would let COPY write beside the source.
    """
    paths = ", ".join(exp.Literal.string(path).sql("duckdb") for path in readable)
    _set(
        connection,
        {
            "allowed_paths": f"[{paths}]",
            "enable_external_access": "false",
            "lock_configuration": "true",  # last: it locks itself
        },
    )


def _set(connection: duckdb.DuckDBPyConnection, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        try:
            connection.execute(f"SET GLOBAL {name} = {value}")
        except duckdb.Error:
            # A setting that is gone may have become a new default: nothing runs half locked.
            raise OperationalError(
                f"DuckDB {duckdb.__version__} does not take the setting {name}",
                hint="install a release of DuckDB that dpsql was tested with",
            ) from None
