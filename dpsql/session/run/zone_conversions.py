"""Conversions between time zones in a statement that runs as it is written, which DuckDB lacks."""

from __future__ import annotations

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from dpsql.emit.dialect.duckdb.time_zone import converted
from dpsql.plan.time_zone.conversion import CONVERSION, shift_named
from dpsql.sqltext.parser_log import without_warnings


def conversions_written_out(sql: str) -> str:
    """`sql` with each conversion by constant zones as a sum; unchanged where it has none."""
    if CONVERSION not in sql.casefold():
        return sql
    try:
        with without_warnings():
            tree = parse_one(sql, dialect="duckdb")
            # Inner ones first: an outer one's moment is what replaced them.
            for node in reversed(list(tree.find_all(exp.ConvertTimezone))):
                zones = (node.args.get("source_tz"), node.args["target_tz"])
                shift = shift_named(*(_constant(zone) for zone in zones))
                if shift is None:
                    return sql
                moment = exp.cast(node.args["timestamp"].copy(), "TIMESTAMP")
                node.replace(exp.paren(converted(moment, shift)))
            return tree.sql(dialect="duckdb")
    except (SqlglotError, ValueError, AttributeError, TypeError, IndexError, KeyError):
        return sql


def _constant(zone: object) -> str | None:
    return zone.name if isinstance(zone, exp.Literal) and zone.is_string else None
