"""The settings that a connection begins with, and which of them can't be changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dpsql.pgwire.sql.transaction_statement import LEVELS

REPORTED: Final = {
    "server_version": "15.0 (dpsql)",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "application_name": "",
    "is_superuser": "off",
    "session_authorization": "",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "default_transaction_read_only": "on",
    "in_hot_standby": "off",
}
"""Settings that a ParameterStatus reports when a client connects, and when they change."""

_PLANNER: Final = """
array_nulls check_function_bodies enable_bitmapscan enable_hashagg enable_hashjoin
enable_indexonlyscan enable_indexscan enable_material enable_memoize enable_mergejoin
enable_nestloop enable_parallel_append enable_parallel_hash
enable_partition_pruning enable_seqscan enable_sort
escape_string_warning geqo parallel_leader_participation synchronize_seqscans track_activities
track_counts
"""
_WITHOUT_EFFECT: Final = {
    "client_connection_check_interval": "0",
    "cursor_tuple_fraction": "0.1",
    "default_statistics_target": "100",
    "default_table_access_method": "heap",
    "default_tablespace": "",
    "default_transaction_deferrable": "off",
    "effective_cache_size": "4GB",
    "effective_io_concurrency": "1",
    "from_collapse_limit": "8",
    "idle_session_timeout": "0",
    "jit_above_cost": "100000",
    "join_collapse_limit": "8",
    "lc_monetary": "C",
    "lc_numeric": "C",
    "lc_time": "C",
    "log_min_duration_statement": "-1",
    "log_statement": "none",
    "maintenance_work_mem": "64MB",
    "max_parallel_workers_per_gather": "2",
    "plan_cache_mode": "auto",
    "quote_all_identifiers": "off",
    "random_page_cost": "4",
    "seq_page_cost": "1",
    "session_replication_role": "origin",
    "tcp_keepalives_count": "0",
    "tcp_keepalives_idle": "0",
    "tcp_keepalives_interval": "0",
    "temp_buffers": "8MB",
    "temp_tablespaces": "",
    "transaction_deferrable": "off",
    "work_mem": "4MB",
    "xmlbinary": "base64",
    "xmloption": "content",
}
"""Settings of how PostgreSQL plans and logs: they are kept, and change no answer."""

OTHERS: Final = {
    "transaction_isolation": "read committed",
    "default_transaction_isolation": "read committed",
    "transaction_read_only": "on",
    "search_path": '"$user", public',
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "server_version_num": "150000",
    "lc_collate": "C",
    "lc_ctype": "C",
    "lc_messages": "C",
    "client_min_messages": "notice",
    "backslash_quote": "safe_encoding",
    "row_security": "on",
    "jit": "off",
    "ssl": "off",
    "wal_level": "replica",
    **dict.fromkeys(_PLANNER.split(), "on"),
    **_WITHOUT_EFFECT,
}
MODES: Final[Mapping[str, Mapping[str, str]]] = {
    "transaction_isolation": {level: level for level in LEVELS},
    "transaction_deferrable": {
        **dict.fromkeys(("on", "true", "yes", "1"), "on"),
        **dict.fromkeys(("off", "false", "no", "0"), "off"),
    },
}
"""Settings of one transaction, each with its values as they may be written.

Those of the transactions that follow are `default_` and its name.
"""

_UNCHANGED: Final = """
server_version server_encoding is_superuser session_authorization integer_datetimes
standard_conforming_strings in_hot_standby server_version_num max_identifier_length
max_index_keys lc_collate lc_ctype wal_level ssl transaction_read_only
default_transaction_read_only
"""
FIXED: Final = frozenset(_UNCHANGED.split())
"""Settings that can't be changed."""
