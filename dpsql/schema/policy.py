"""The policy of a schema: all that a ledger holds its owner to, as canonical text and its hash.

Left out: comments, the order of tables and columns, paths (the same dataset elsewhere is the same
dataset), `version` and how CSV files are written (which is a part of it), what is spilled (which
no answer tells), and public columns that are only in the catalogue (nobody's secret). Views are in
the policy, since they may show tables that are hidden otherwise.
"""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, assert_never

from dpsql.engine.read_limit import LARGEST_ANSWER
from dpsql.privacy.mechanisms.local_noise import LocalNoise
from dpsql.schema.model import (
    Column,
    EntityUnit,
    Hop,
    Limits,
    Ownership,
    Public,
    RowUnit,
    Schema,
    Table,
    Value,
    View,
    ViewColumn,
)

_LONGEST_LIST: Final = 1 << 20
"""Characters. Version 0.1 refused longer policies, so no ledger has such a list spelled out."""


def policy_hash(policy: str) -> str:
    """The sha256, in hexadecimal, of a policy as `policy_text` renders it."""
    return hashlib.sha256(policy.encode()).hexdigest()


def policy_text(schema: Schema) -> str:
    """Render `schema` canonically as JSON: equal for equal policies, however written."""
    rendering: dict[str, object] = {
        "dataset": schema.dataset,
        "neighbors": schema.neighbors.value,
        "units": {name: [kind.table, kind.key] for name, kind in schema.units.items()},
        "budget": [
            _value(schema.budget.epsilon),
            _value(schema.budget.delta),
            schema.budget.accounting.value,
        ],
        "per_query": [
            _value(schema.per_query.epsilon),
            _value(schema.per_query.max_epsilon),
            _value(schema.per_query.delta),
        ],
        "analysts": {name: _value(cap) for name, cap in schema.analysts.items()},
    }
    # Only if there are any: a policy that was recorded before the format had views stays equal.
    if schema.views:
        rendering["views"] = {name: _view(view) for name, view in schema.views.items()}
    largest = schema.per_query.largest
    if largest != LARGEST_ANSWER:
        rendering["largest_answer"] = [_value(largest.rows), _value(largest.bytes)]
    if schema.group_size != 1:
        rendering["group_size"] = schema.group_size
    if (sample := schema.budget.sample) is not None:
        of_all = (sample.law.rate, sample.epsilon, sample.delta)
        rendering["sample"] = [_value(number) for number in of_all]
    if schema.period is not None:
        rendering["refresh"] = schema.period.interval.value
    # Table by table: of a hundred thousand columns, the objects take more than the text.
    tables = (
        f"{_text(name)}:{_text(_table(schema.tables[name]))}" for name in sorted(schema.tables)
    )
    parts = {name: _text(section) for name, section in rendering.items()}
    parts["tables"] = "{" + ",".join(tables) + "}"
    return "{" + ",".join(f"{_text(name)}:{parts[name]}" for name in sorted(parts)) + "}"


def _text(policy: object) -> str:
    return json.dumps(policy, sort_keys=True, separators=(",", ":"))


def _table(table: Table) -> dict[str, object]:
    rendering: dict[str, object] = {
        "key": table.key,
        "owner": _owner(table.ownership),
        "limits": _limits(table.limits),
        "columns": {name: _column(column) for name, column in table.columns.items()},
    }
    if not table.visible:
        rendering["visible"] = False
    optional = {
        "time": table.time,
        "rows": table.rows,
        "at_least": table.min_rows,
        "resize": table.resized,
        "same_unit": table.same_unit or None,
    }
    rendering |= {name: value for name, value in optional.items() if value is not None}
    if table.norm is None:
        return rendering
    norm = table.norm
    return rendering | {"norm": [sorted(norm.columns), norm.order, _value(norm.radius)]}


def _limits(limits: Limits) -> list[int]:
    return [limits.groups, limits.rows_per_group, limits.rows]


def _view(view: View) -> dict[str, object]:
    rendering: dict[str, object] = {
        "query": view.query,
        "limits": None if view.limits is None else _limits(view.limits),
        "columns": {name: _view_column(column) for name, column in view.columns.items()},
    }
    return rendering if view.visible else rendering | {"visible": False}


def _view_column(column: ViewColumn) -> dict[str, object]:
    return {
        "bounds": None if column.bounds is None else list(map(_written, column.bounds)),
        "values": None if column.values is None else sorted(map(_written, column.values)),
        "nullable": column.nullable,
    }


def _written(value: object) -> str:
    """Spell a value as a view's section has it; binding the view refuses what is no value."""
    if isinstance(value, decimal.Decimal):
        return _value(Fraction(value)) if value.is_finite() else f"other {value}"
    return _value(value) if isinstance(value, Value) else f"other {value}"


def _owner(ownership: Ownership) -> object:
    match ownership:
        case Public():
            return "public"
        case RowUnit():
            return "row"
        case EntityUnit(kind, hops, column):
            return [kind, [_step(hop) for hop in hops], column]
        case missing:
            assert_never(missing)


def _step(hop: Hop) -> list[object]:
    """A hop over one column is rendered as it was before hops could have several columns."""
    if len(hop.columns) == 1:
        return [*hop.columns, hop.table, *hop.key]
    return [list(hop.columns), hop.table, list(hop.key)]


def _column(column: Column) -> dict[str, object]:
    to = column.references
    # Only if declared: a policy that was recorded before the format had these keys stays equal.
    later = {
        "randomized_response": None if column.response is None else _value(column.response),
        "local_noise": None if column.local_noise is None else _local_noise(column.local_noise),
        "max_length": column.max_length,
        "source_name": column.source_name,
    }
    return {name: value for name, value in later.items() if value is not None} | {
        "type": str(column.type),
        "bounds": None if column.bounds is None else [_value(bound) for bound in column.bounds],
        # A set: its order is how answers are listed, not what they may be.
        "values": None if column.values is None else _values(column.values),
        "nullable": column.nullable,
        "references": None if to is None else [to.table, to.column],
    }


def _local_noise(noise: LocalNoise) -> list[str]:
    return [_value(noise.epsilon), _value(noise.low), _value(noise.high)]


def _values(values: Sequence[Value]) -> list[str] | str:
    """All values, or their number and a hash if they are longer than _LONGEST_LIST together.

    Of two hashed lists it isn't known whether one contains the other, so any other list needs the
    owner's consent.
    """
    spelled = sorted(map(_value, values))
    if sum(map(len, spelled)) <= _LONGEST_LIST:
        return spelled
    digest = hashlib.sha256()
    for text in spelled:
        each = text.encode(errors="surrogatepass")
        digest.update(len(each).to_bytes(8) + each)
    return f"{len(spelled)} values with sha256 {digest.hexdigest()}"


def _value(value: Value) -> str:
    """Spell a value so that no two of any type are spelled the same."""
    if type(value) is str:
        return f"text {value}"
    match value:
        case bool():
            return f"bool {value}"
        case int() | Fraction():
            return f"number {value}"
        case str():
            return f"text {value}"
        case dt.datetime():
            return f"timestamp {value.isoformat()}"
        case dt.date():
            return f"date {value.isoformat()}"
        case missing:
            assert_never(missing)
