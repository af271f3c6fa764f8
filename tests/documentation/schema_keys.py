"""The reference of the schema file: its sections as the loader reads them, and their keys."""

from __future__ import annotations

from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from dpsql.schema.load import file_format

SECTIONS: Final[dict[str, tuple[type[file_format.Section], dict[str, str]]]] = {
    "The file": (
        file_format.SchemaSection,
        {
            "dataset": "the budget's identity: the same name is the same budget",
            "source": "a DuckDB file, a folder of TABLE.parquet or .csv, `postgresql://…` or `sc://…`",
            "budget": "what may be spent: [budget](#budget)",
            "tables": "the tables by name: [a table](#a-table)",
            "views": "the owner's queries by name: [a view](#a-view)",
            "units": "kinds of privacy units by name: [a unit](#a-unit)",
            "neighbors": "what no answer tells apart: a database without a unit, or with another",
            "group_size": "how many units together are hidden",
            "per_query": "what a query spends: [per query](#per-query)",
            "analysts": "analysts with caps of their own, by name: [an analyst](#an-analyst)",
            "ledger": "a file or `postgresql://…`; left out, in the user's state folder",
            "store": "who is given an answer again: all, or who paid for it",
            "releases": "how many releases and synopses each analyst may keep",
            "version": "the version of the data, as the number of a load; a server has to have one",
            "push_down": "of a server: whether [it computes](postgres.md#where-it-is-computed)",
            "spill": "lets what memory doesn't hold be written to disk: [how](#what-is-spilled)",
        },
    ),
    "A unit": (
        file_format.UnitSection,
        {"table": "the table with a row for each unit", "key": "its column that names the unit"},
    ),
    "A table": (
        file_format.TableSection,
        {
            "unit": "a unit's name, `row`, or a [path to the unit](#a-path-to-a-unit)",
            "public": "nobody's secret: exact and free",
            "key": "the column, or columns, that no two rows share",
            "same_unit": "rows that agree on it are of one unit",
            "limits": "what one unit may contribute: [limits](#limits)",
            "columns": "by name: [a column](#a-column); of public tables all are read",
            "comment": "shown to analysts",
            "time": "the column that says when a row is from, where the budget is refreshed",
            "rows": "the number of rows, made public, under `neighbors: change_one`",
            "at_least": "a number of rows that the table has at least: [sizes](#sizes-of-tables)",
            "resize": "a public number of rows that it is made to have: [sizes](#sizes-of-tables)",
            "norm": "bounds several columns of a row together: [norm](#a-norm)",
            "visible": "analysts may name it; otherwise views alone read it",
            "csv": "how its CSV file is written, if not as UTF-8 with commas: [how](#a-csv-file)",
        },
    ),
    "A norm": (
        file_format.NormSection,
        {
            "columns": "the numbers that are bounded together; they have no bounds of their own",
            "l1": "how much their absolute values add up to, at most",
            "l2": "how long the row is as a vector, at most",
        },
    ),
    "What is spilled": (
        file_format.SpillSection,
        {
            "gigabytes": "the disk that one process takes at most",
            "folder": "where, from the schema's own folder; left out, beside the ledger",
        },
    ),
    "A CSV file": (
        file_format.CsvSection,
        {
            "delimiter": "what parts the fields: one ASCII character",
            "encoding": "utf-8, utf-16, latin-1, windows-1252, or what else Python has",
        },
    ),
    "A path to a unit": (
        file_format.UnitPath,
        {
            "column": "the column, or columns, that lead to the unit",
            "references": "TABLE.COLUMN that they name, of each one",
        },
    ),
    "Limits": (
        file_format.LimitsSection,
        {
            "groups": "in how many groups of an answer a unit's rows count",
            "rows_per_group": "how many of them count in each",
            "rows": "how many count in all groups together",
            "calibrated": "lower ones are chosen by [ladders](statements.md#calibrate)",
            "over_groups": "a unit in more groups counts in some (`sample`), or less in all"
            " (`scale`): [which](../grammar_notes/over_groups.md); left out, `sample`, and what"
            " ladders choose where limits are `calibrated`",
        },
    ),
    "A column": (
        file_format.ColumnSection,
        {
            "type": "its SQL type; left out, the source's (not of CSV)",
            "bounds": "its least and greatest value; values beyond are clamped",
            "values": "all that it can be; other values are in no group",
            "max_length": "bounds the length of a text",
            "nullable": "it may be NULL",
            "references": "TABLE.COLUMN that it leads to",
            "comment": "shown to analysts",
            "randomized_response": "its answers were randomised: [how](#randomised-answers)",
            "local_noise": "people added noise to its numbers: [how](#local-noise)",
            "source_name": "what the source calls it, where that is no plain name",
        },
    ),
    "Randomised answers": (
        file_format.ResponseSection,
        {"epsilon": "the ε that they were randomised with"},
    ),
    "Local noise": (
        file_format.LocalNoiseSection,
        {
            "epsilon": "the ε of the noise on each number",
            "bounds": "what each number lay in before noise was added",
        },
    ),
    "A view": (
        file_format.ViewSection,
        {
            "query": "a SELECT in DuckDB's dialect",
            "columns": "what replaces derived domains, by name: [a view's column](#a-views-column)",
            "limits": "stand for its tables' [limits](#limits)",
            "comment": "shown to analysts",
            "visible": "analysts may name it; otherwise other views alone read it",
        },
    ),
    "A view's column": (
        file_format.ViewColumnSection,
        {
            "bounds": "its least and greatest value; values beyond are clamped",
            "values": "all that it can be; other values are in no group",
            "nullable": "it may be NULL",
            "comment": "shown to analysts",
        },
    ),
    "Budget": (
        file_format.BudgetSection,
        {
            "epsilon": "what all queries of all analysts may spend, ever",
            "delta": "the δ beside it; 0 under `pure`",
            "accounting": "how losses add up; left out, `pure` without `delta`, else `zcdp`",
            "refresh": "gives each period's rows a budget of their own",
            "allow_large_epsilon": "lets ε be beyond 64, up to 500",
            "sample": "the part of the units that [all answers are of](#a-secret-sample)",
            "calibrators": "who may [CALIBRATE](statements.md#calibrate); left out, all",
        },
    ),
    "Per query": (
        file_format.PerQuerySection,
        {
            "epsilon": "what a query spends if nothing is said; left out, a tenth of the budget",
            "max_epsilon": "the most that one may ask for; left out, all of it",
            "delta": "the δ of each query; left out, as large a part of it as the loss is of ε",
            "max_rows": "the most rows of an answer, and of a release that it is made of",
            "max_megabytes": "their most bytes, in millions",
        },
    ),
    "An analyst": (
        file_format.AnalystSection,
        {"epsilon": "the cap on all that this analyst sees"},
    ),
}

_NAMES: Final = {str: "text", int: "whole number", bool: "true or false", Fraction: "number"}


def reference() -> str:
    """A table for each section, as Markdown."""
    return "".join(_section(title, *SECTIONS[title]) for title in SECTIONS) + "\n"


def _section(title: str, form: type[file_format.Section], meanings: dict[str, str]) -> str:
    hints = get_type_hints(form)
    lines = [f"\n### {title}\n\n| key | takes | default | |\n| --- | --- | --- | --- |\n"]
    for field in msgspec.structs.fields(form):
        takes = _kind(hints[field.name])
        lines.append(f"| `{field.name}` | {takes} | {_default(field)} | {meanings[field.name]} |\n")
    return "".join(lines)


def _kind(kind: Any) -> str:
    if kind is object:
        return "any value"
    if get_origin(kind) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(kind))
    if get_origin(kind) is dict:
        return "mapping"
    if get_origin(kind) is list:
        (inner,) = get_args(kind)
        return "list" if inner is object else f"list of {_kind(inner)}s"
    if isinstance(kind, UnionType) or get_origin(kind) is not None:
        return " or ".join(_kind(each) for each in get_args(kind) if each is not NoneType)
    return _NAMES[kind]


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "**required**"
    match field.default:
        case bool() as truth:
            return str(truth).lower()
        case msgspec.NODEFAULT | None | "":
            return ""
        case other:
            return f"`{other}`"
