"""The engine as Apache Superset knows it: time grains, and errors with their hints."""

from __future__ import annotations

from typing import Any, Final

from superset.constants import TimeGrain
from superset.db_engine_specs.base import BaseEngineSpec

_GRAINS: Final = {
    TimeGrain.SECOND: "second",
    TimeGrain.MINUTE: "minute",
    TimeGrain.HOUR: "hour",
    TimeGrain.DAY: "day",
    TimeGrain.WEEK: "week",
    TimeGrain.MONTH: "month",
    TimeGrain.QUARTER: "quarter",
    TimeGrain.YEAR: "year",
}


class DpsqlEngineSpec(BaseEngineSpec):  # type: ignore[misc]
    """dpsql by its SQLAlchemy dialect: it reads, and never lists individual rows."""

    engine = "dpsql"
    engine_name = "dpsql"
    sqlalchemy_uri_placeholder = "dpsql:////path/to/schema.yaml?analyst=superset"

    allows_sql_comments = True
    allows_cte_in_subquery = True
    supports_file_upload = False
    supports_dynamic_schema = False
    # Superset may ask once more to learn the columns of a query; LIMIT 0 is free here.
    allow_limit_clause = True
    max_column_name_length = 63

    _time_grain_expressions: Final = {None: "{col}"} | {
        grain: f"DATE_TRUNC('{unit}', {{col}})" for grain, unit in _GRAINS.items()
    }

    @classmethod
    def epoch_to_dttm(cls) -> str:
        """The SQL that makes a timestamp of seconds since 1970."""
        return "to_timestamp({col})"

    @classmethod
    def convert_dttm(
        cls,
        target_type: str,
        dttm: Any,
        db_extra: dict[str, Any] | None = None,  # noqa: ARG003
    ) -> str | None:
        """`dttm` as an SQL constant of a column's type, None for types without one."""
        if target_type.upper().startswith("DATE") and target_type.upper() != "DATETIME":
            return f"DATE '{dttm.date().isoformat()}'"
        if target_type.upper().startswith(("TIMESTAMP", "DATETIME")):
            return f"TIMESTAMP '{dttm.isoformat(sep=' ', timespec='microseconds')}'"
        return None

    @classmethod
    def _extract_error_message(cls, ex: Exception) -> str:
        """The message of dpsql's error, with its hint."""
        return str(getattr(ex, "orig", None) or ex)
