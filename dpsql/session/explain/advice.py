"""What would make a statement cheaper, or its noise smaller, without loss of privacy."""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.analysis.limit_text import describe_summed
from dpsql.analysis.lineage.functional_dependency import declared, one_row_per_unit
from dpsql.analysis.lineage.lineage import private_scans
from dpsql.bounding.contribution_limit import highest_fanout_table
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    Contributions,
    OneRowPerUnit,
)
from dpsql.plan.bounded_release.statistic import CappedSum, Sum
from dpsql.plan.traversal import columns
from dpsql.release.alert import named_conditions
from dpsql.release.decision import experts_of
from dpsql.schema.model import EntityUnit, Schema, Table
from dpsql.schema.source_location import ServerSource
from dpsql.session.answer.default_limits import default_limits
from dpsql.session.compile.compiled_release import CompiledRelease


def advice(release: CompiledRelease, schema: Schema) -> tuple[str, ...]:
    """Changes of the schema that only its owner can make, then those of the query."""
    if release.opaque is not None:
        return ()
    bounded = release.step.bounded
    terms = bounded.contributions
    return tuple(
        dict.fromkeys(
            [
                *_keys(bounded, schema),
                *_limits(bounded),
                *_domains(terms),
                *_bounds(terms),
                *_units(terms),
                *_of_noise(bounded),
            ]
        )
    )


def _keys(bounded: BoundedRelease, schema: Schema) -> Iterator[str]:
    if isinstance(bounded.limited, OneRowPerUnit):
        return
    terms = bounded.contributions
    if one_row_per_unit(terms.source, lambda _: False):
        return  # by GROUP BY, whatever the keys are
    if one_row_per_unit(terms.source, declared):
        # No check makes a key hold of rows that change under a stated version.
        if not isinstance(schema.source, ServerSource):
            yield "run dpsql check: keys that are verified need not be enforced, which takes time"
        return
    table = highest_fanout_table(terms)
    if table.key is None and _lists_units(table, schema) and not table.hidden_behind:
        assert isinstance(table.ownership, EntityUnit)
        column = table.ownership.column
        yield f"declare key: {column} of {table.name}, if it is unique: a unit then has one row"


def _lists_units(table: Table, schema: Schema) -> bool:
    return any(kind.table == table.name for kind in schema.units.values())


def _limits(bounded: BoundedRelease) -> Iterator[str]:
    """Limits that nobody chose; those that the schema states are taken as meant."""
    table = highest_fanout_table(bounded.contributions)
    whose = table.limits.view or table.display_name
    for name, value in default_limits(bounded).items():
        yield (
            f"declare limits: {{{name}: …}} of {whose}: {value} is the default, and noise grows"
            " with it"
        )


def _domains(terms: Contributions) -> Iterator[str]:
    for key in terms.unlisted_keys:
        for column in sorted(columns(key.expression), key=lambda c: c.id):
            yield (
                f"declare values, or bounds, of {column.name}: all its groups then appear, and"
                " none has to be chosen by noisy counts"
            )


def _bounds(terms: Contributions) -> Iterator[str]:
    for statistic in terms.statistics:
        match statistic.term:
            case Sum(value=value) if (value.low, value.high) != (0, 1):
                for column in sorted(columns(value.argument), key=lambda c: c.id):
                    yield (
                        f"narrow {column.name} by WHERE, or its declared bounds: noise follows them"
                    )
            case CappedSum(value=value):
                yield (
                    f"lower the cap on sums of {describe_summed(value)}: noise follows it, and"
                    " what a unit has above it is lost"
                )
            case _:
                # Counts have no bounds, nor have sums of ones and zeros narrower ones. Of what else
                # is summed columns are named above.
                pass


def _units(terms: Contributions) -> Iterator[str]:
    """Rows that belong to nobody are left out, which an analyst can't see."""
    for table in dict.fromkeys(scan.table for scan in private_scans(terms.source)):
        own = table.ownership
        if isinstance(own, EntityUnit) and own.hops and not table.hidden_behind:
            yield (
                f"rows of {table.display_name} that lead to no unit count nowhere: "
                "dpsql check tells how many there are"
            )


def _of_noise(bounded: BoundedRelease) -> Iterator[str]:
    if named_conditions(bounded) is not None:
        return  # of how many groups and conditions there are, little depends
    yield from _shares(bounded) if experts_of(bounded) is None else _rounds()


def _rounds() -> Iterator[str]:
    yield "decide BY longer rounds, such as months: fewer choices share the epsilon"


def _shares(bounded: BoundedRelease) -> Iterator[str]:
    count = len(bounded.contributions.statistics)
    if count > 1:
        yield f"leave out aggregates that aren't needed: {count} statistics share the epsilon"
