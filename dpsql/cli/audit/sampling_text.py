"""Print a sampled sensitivity, of a query or of two groups of people, and what it doesn't cover."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist

from msgspec import Struct

from dpsql.audit.databases.unit_law import MAX_ROWS
from dpsql.audit.empirical.clopper_pearson import low_end
from dpsql.audit.empirical.neighbor_sampling import NeighborLaw, SampledColumn, sample_neighbors
from dpsql.audit.empirical.sensitivity_sampling import (
    WARNING,
    Mixture,
    Plan,
    plan,
    plan_of_pairs,
    sample,
)
from dpsql.cli.audit.output_format import OutputFormat, show
from dpsql.cli.audit.public_rows import public_rows
from dpsql.cli.exit_codes import reporting_errors
from dpsql.report.terminal.sanitize import sanitize
from dpsql.report.terminal.table import listing
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Neighbors

_ALPHA = 0.05
"""How often the lower bound of what is covered may be wrong."""


class Law(Struct, frozen=True):
    """The options that say how databases are drawn; `table` is a public one."""

    neighbors: str | None
    units: int
    table: str | None


def plan_of(gamma: float, pairs: int | None) -> Plan:
    """The pairs for `gamma`, or the γ of so many `pairs`; what is neither ends in an error."""
    with reporting_errors():
        return plan(gamma) if pairs is None else plan_of_pairs(pairs)


def sampled_query(
    path: Path, sql: str, law: Law, size: Plan, seed: int, form: OutputFormat
) -> None:
    """Draw pairs of databases by `law`, and print what the answer of `sql` changes by."""
    with reporting_errors(sql):
        schema = load_schema(path)
        model = None if law.table is None else public_rows(schema, law.table)
        relation = schema.neighbors if law.neighbors is None else Neighbors(law.neighbors)
        drawn_by = NeighborLaw(relation, law.units, model)
        columns = sample_neighbors(sql, schema, drawn_by, size, seed)
    text = [WARNING, "", sanitize(sql), *_law_text(drawn_by), "", *_plan_text(size), ""]
    text.append(_table(columns, size))
    document = {"sql": sql, "neighbors": relation.value, "units": law.units, "like": law.table}
    show(form, "\n".join(text), {**_plan_document(size), **document, "columns": _rows(columns)})


def sampled(
    size: Plan, seed: int, one: tuple[float, float], other: tuple[float, float], form: OutputFormat
) -> None:
    """Draw pairs from a mixture of two normal laws, and print how many pairs a change covers.

    `one` and `other` are mean and standard deviation of the laws.
    """
    law = Mixture(NormalDist(*one), NormalDist(*other))
    sampling = sample(size, lambda random: abs(law.draw(random) - law.draw(random)), seed)
    names = ("expected change", "plus 1 deviation", "plus 2 deviations")
    levels = [law.expected_change + steps * law.stdev for steps in range(len(names))]
    text = [
        f"{WARNING}\n",
        *_plan_text(size),
        f"sampled sensitivity: {sampling.sensitivity:.2f}, mean change {sampling.mean:.2f}",
        f"  it covers {100 * law.covered(sampling.sensitivity):.1f} % of pairs",
        *(
            f"{name}: {level:.2f}, covers {100 * law.covered(level):.1f} % of pairs"
            for name, level in zip(names, levels, strict=True)
        ),
        "the worst case: without bounds, there is none; declare bounds instead",
    ]
    document = {
        **_plan_document(size),
        "sensitivity": sampling.sensitivity,
        "mean": sampling.mean,
        "covered": law.covered(sampling.sensitivity),
        "levels": [{"level": level, "covered": law.covered(level)} for level in levels],
    }
    show(form, "\n".join(text), document)


def _law_text(law: NeighborLaw) -> list[str]:
    size = f"{law.units} unit{'s' * (law.units != 1)}"
    return [
        f"databases of {size}, neighbours by {law.neighbors.value}",
        "  values are uniform over the declared domains, NULL in one of ten where they can be",
        f"  an entity has up to {MAX_ROWS} rows in a table, or to its limit of rows",
        *([] if law.model is None else [f"  columns of {law.model.table} are as in its rows"]),
    ]


def _plan_text(size: Plan) -> list[str]:
    return [
        f"pairs drawn: {size.pairs} (m); the {size.rank}th smallest change counts (k)",
        f"  all but {100 * size.gamma:.3g} % of pairs change by no more (gamma),",
        f"  but for a draw that is too low, with probability {100 * size.rho:.2g} % (rho)",
    ]


def _table(columns: Sequence[SampledColumn], size: Plan) -> str:
    heads = ("what changes", "sampled", "mean change", f"covers of {size.pairs} others", "at least")
    rows = [
        [
            column.name,
            f"{column.sampled.sensitivity:.5g}",
            f"{column.sampled.mean:.5g}",
            f"{100 * column.covered / size.pairs:.1f} %",
            f"{100 * low_end(column.covered, size.pairs, _ALPHA):.1f} %",
        ]
        for column in columns
    ]
    return listing(heads, rows)


def _rows(columns: Sequence[SampledColumn]) -> list[dict[str, object]]:
    return [
        {
            "name": column.name,
            "sensitivity": column.sampled.sensitivity,
            "mean": column.sampled.mean,
            "covered": column.covered,
        }
        for column in columns
    ]


def _plan_document(size: Plan) -> dict[str, object]:
    return {
        "warning": WARNING,
        "pairs": size.pairs,
        "rank": size.rank,
        "rho": size.rho,
        "gamma": size.gamma,
    }
