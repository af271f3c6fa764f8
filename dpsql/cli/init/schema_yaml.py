"""A draft as YAML, with comments on what its owner has to decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import yaml

from dpsql.cli.init.draft import TEXT, Draft, DraftColumn, DraftTable, Origin
from dpsql.engine.source import PLAIN_CSV
from dpsql.schema.load.identifiers import is_table_name, visible_names
from dpsql.schema.qualified_name import bare
from dpsql.schema.source_types import reading

_HEAD = """\
# Made by `dpsql init` from {origin}: names, types and declared keys. {read}
# What only the owner of the data can know is left to decide. `dpsql check` says what is missing.
#
# - Whose rows each table has: remove the # before one of the lines under "decide".
# - Bounds of what is summed, values of what is grouped by: what can be, by knowledge of the matter.
#   Never copy them from the data: analysts see them.
# - What exists: tables and columns that are removed here can't be asked for.
# - What may be spent, on all queries of all analysts together.

dataset: {dataset}  # the budget's identity: the same name is the same budget
source: {source}  # {form}
"""
_FORMS = {
    Origin.FILES: "a DuckDB file, or a folder of TABLE.parquet or TABLE.csv",
    Origin.POSTGRES: "a PostgreSQL database; passwords: see docs/postgres.md",
    Origin.SPARK: "Spark Connect; tokens: see docs/spark.md",
}
_VERSION = """\
version: 1  # decide: another one whenever the data change, as the number or day of a load
"""
_FOOT = """\
budget: {epsilon: 1, delta: 1.0e-6}  # decide: smaller is more private
per_query: {epsilon: 0.1}  # what a query spends unless it says otherwise
# analysts: {NAME: {epsilon: 0.5}}  # caps of their own, on all that one of them sees
# releases: 20  # how many releases and synopses each analyst may keep
# neighbors: change_one  # hides what a unit's rows are, and not how many units there are
# group_size: 3  # hides so many units together, at up to so many times the noise
# views:  # queries that analysts see as tables, with bounds and values of their own
#   NAME: {query: "SELECT …"}
#
# A table may say, too:
#   visible: false  # only views read it
#   rows: 500  # with change_one and unit: row, that so many are no secret
# and a column:
#   max_length: 200  # characters of a text, which bound sums of length(column)
#   randomized_response: {epsilon: 1}  # its answers were randomised before they came
#   local_noise: {epsilon: 1, bounds: [0, 100]}  # people added Laplace noise before they sent it
"""
_NONE_READ = "No row was read."
_SAMPLED = (
    "\n# Types of CSV columns are those of the first {:,} rows: other values are read as NULL."
)
_NUMBERS = frozenset(
    {"decimal", "double", "float"}
    | {sign + size for sign in ("", "u") for size in ("tinyint", "smallint", "integer", "bigint")}
)
_TIMES = ("date", "timestamp")


def skeleton(draft: Draft) -> str:
    """The text of a schema file that is refused until its owner has decided."""
    head = _HEAD.format(
        origin=draft.origin,
        read=_NONE_READ if draft.sample is None else _SAMPLED.format(draft.sample),
        dataset=_name(draft.dataset),
        source=_name(draft.source),
        form=_FORMS[draft.kind],
    )
    if draft.kind is not Origin.FILES:
        head += _VERSION
    lines = [
        *_units(draft),
        "",
        "tables:",
        *(line for table in draft.tables for line in _table(table, draft)),
    ]
    return head + "\n".join(lines) + "\n\n" + _FOOT


def _units(draft: Draft) -> Iterator[str]:
    if draft.units:
        yield "units:  # whose presence is hidden"
        for kind, table, key in draft.units:
            yield f"  {_name(kind)}: {{table: {_name(table)}, key: {_name(key)}}}"
        return
    listings = [table for table in draft.tables if _lists_entities(table)]
    yield "# units:  # decide: whose presence is hidden"
    for units in listings:
        assert units.key is not None
        yield f"#   {_kind(units)}: {{table: {_name(units.name)}, key: {_name(units.key[0])}}}"
    if not listings:
        yield "#   person: {table: TABLE, key: COLUMN}"


def _table(table: DraftTable, draft: Draft) -> Iterator[str]:
    identities = {column for _, _, column in draft.units} | set(table.key or ())
    if not is_table_name(table.name):
        yield f"  # {_one_line(table.name)}: not a plain name; rename it to offer it"
        return
    yield f"  {_name(table.name)}:"
    if table.comment:
        yield f"    comment: {_quoted(table.comment)}"
    names = visible_names(column.name for column in table.columns)
    if table.csv != PLAIN_CSV:
        form = f"{{delimiter: {_quoted(table.csv.delimiter)}, encoding: {table.csv.encoding}}}"
        yield f"    csv: {form}  # as its first lines look"
    if table.key is not None:
        keys = [_name(names.get(column, column)) for column in table.key]
        key = keys[0] if len(keys) == 1 else f"[{', '.join(keys)}]"
        yield f"    key: {key}  # unique, as `dpsql check` verifies"
    if table.is_public:
        yield "    public: true"
    elif table.unit is not None:
        yield f"    unit: {table.unit if table.unit.startswith('{') else _name(table.unit)}"
    else:
        yield from _choices(table, draft, names)
    if table.is_calibrated:
        yield "    limits: calibrated  # chosen for each query by ladders, see dpsql calibrate"
    elif table.max_rows is not None:
        rows = table.max_rows
        yield f"    limits: {{groups: {rows}, rows_per_group: {rows}, rows: {rows}}}"
    elif table.unit is None:
        yield "    # limits: {groups: 8, rows_per_group: 8, rows: 64}  # what one unit may add"
    yield "    columns:"
    for column in table.columns:
        name = names.get(column.name)
        yield f"      {_column(column, name, identifies=column.name in identities)}"


def _choices(table: DraftTable, draft: Draft, offered: Mapping[str, str]) -> Iterator[str]:
    """Commented lines that declare whose rows a table has, the most likely ones first."""
    yield "    # decide: whose rows are these?"
    names = {other.name for other in draft.tables}
    leading = [c for c in table.columns if c.references and c.name in offered]
    paths = [c for c in leading if (c.references or "").rpartition(".")[0] in names]
    for column in paths:
        path = f"{{column: {_name(offered[column.name])}, references: {column.references}}}"
        yield f"    # unit: {path}  # of those it references"
    if _lists_entities(table):
        yield f"    # unit: {_kind(table)}  # each row is one of those declared under units"
    elif not paths:
        yield "    # unit: KIND  # of those declared under units, found by their key"
        yield "    # unit: {column: COLUMN, references: TABLE.KEY}  # of those it references"
    yield "    # unit: row  # each row is a unit of its own"
    yield "    # public: true  # nobody's: answered exactly, and free"


def _column(column: DraftColumn, name: str | None, *, identifies: bool) -> str:
    if name is None:
        return f"# {_one_line(column.name)}: not a plain name; rename it to offer it"
    if column.type is None:
        why = reading(column.source_type).why
        unread = f"{_one_line(column.source_type):.60}, which is not read: {why}"
        return f"# {_name(column.name)}: {unread}"
    parts = [f"type: {_quoted(column.type) if ',' in column.type else column.type}"]
    if name != column.name:
        parts.append(f"source_name: {_quoted(column.name)}")
    if column.references is not None:
        parts.append(f"references: {column.references}")
    if column.bounds is not None:
        parts.append(f"bounds: [{', '.join(column.bounds)}]")
    if not column.nullable:
        parts.append("nullable: false")
    if column.comment:
        parts.append(f"comment: {_quoted(column.comment)}")
    text = f"{_name(name)}: {{{', '.join(parts)}}}"
    advice = _advice(column, identifies=identifies)
    return f"{text}  # {advice}" if advice else text


def _advice(column: DraftColumn, *, identifies: bool) -> str:
    kind = (column.type or "").partition("(")[0]
    if column.source_type == TEXT:
        return "decide: the type; a CSV file has none"
    if identifies or column.references is not None or column.bounds is not None:
        return ""
    if kind in _NUMBERS:
        return "to sum or average: bounds: [LOWEST, HIGHEST]"
    if kind in _TIMES:
        return "to group by: bounds: [FIRST, LAST]"
    return "to group by: values: [A, B]" if kind == "varchar" else ""


def _lists_entities(table: DraftTable) -> bool:
    return table.key is not None and len(table.key) == 1 and is_table_name(table.name)


def _kind(table: DraftTable) -> str:
    """A name for the units that a table lists: the table's name, without its schema."""
    return _name(bare(table.name))


def _name(text: str) -> str:
    """A text in YAML, in quotes where YAML would read something else than this text."""
    return text if yaml.safe_load(text) == text and ": " not in text else _quoted(text)


def _quoted(text: str) -> str:
    quoted: str = yaml.safe_dump(text, default_style='"', width=10**6, allow_unicode=True)
    return quoted.strip()


def _one_line(text: str) -> str:
    return " ".join(text.split()).encode("unicode_escape").decode()
