"""Single-line mutations of the analyses and of what they emit: each is a privacy bug.

`old` occurs once in the file; where it is replaced by `new`, the neighbour search has to fail, or
answers do, where a limit that is enforced holds the bound and drops rows for it. What two rules
refuse is not here, since either does alone: LIMIT of private rows, joins of different kinds of
units, public rows that ask about private ones.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One seeded bug."""

    name: str
    file: str
    old: str
    new: str
    tests: str = "tests/neighbor_search/test_bounds_hold.py"
    about: str = ""
    """What the names of the notes have that fail; all notes may, if it is empty."""

    fails_by: str = ""
    """What the failing test says, where it isn't a bound that is passed; a pattern."""


MUTANTS = (
    Mutant(
        "the number of rows is left out of the bound of a unit's sum",
        "analysis/sensitivity.py",
        "bounds = tuple(partial_bound(s, release.limited) for s in statistics)",
        "bounds = tuple(s.magnitude for s in statistics)",
    ),
    Mutant(
        "the smaller end of an interval is taken for its magnitude",
        "plan/bounded_release/statistic.py",
        "return max(abs(low), abs(high))",
        "return min(abs(low), abs(high)) or 1",
    ),
    Mutant(
        "a unit is counted in one group however many it is in",
        "analysis/stability.py",
        "return PerGroup(unit_group_stability(clamped, units).count, _groups(limit))",
        "return PerGroup(unit_group_stability(clamped, units).count, 1)",
    ),
    Mutant(
        "the units of joined tables aren't equated",
        "emit/relation/scan_and_join.py",
        "for other in roots[1:]",
        "for other in roots[:0]",
    ),
    Mutant(
        "rows without a unit are kept",
        "emit/relation/scan_and_join.py",
        "return select.select(*items, as_column(owner, plan.unit), copy=False).where(",
        "return select.select(*items, as_column(owner, plan.unit), copy=False) or select.where(",
    ),
    Mutant(
        "declared keys are believed",
        "analysis/lineage/functional_dependency.py",
        "return not hops and scan.table.key == (column,) and trusted(scan.table)",
        "return not hops and scan.table.key == (column,)",
    ),
    Mutant(
        "a public join partner is taken for unique",
        "analysis/lineage/functional_dependency.py",
        "if not attached:\n            return False",
        "if not attached:\n            return True",
    ),
    Mutant(
        "partial sums are neither scaled nor clamped",
        "emit/release/limited_sums.py",
        "    bounded = select_from(\n",
        "    free = [with_alias(column_ref(total_name(n) if s.needs_sum else ROW_COUNT) if s.is_row_sum else integer(1), total_name(n)) for n, s in numbered]\n    clamped = [column_ref(total_name(n)) for n, _ in numbered]\n    scaled = free\n    bounded = select_from(\n",
    ),
    Mutant(
        "all of a unit's rows in a group are counted",
        "emit/release/limited_sums.py",
        "return counted_rows(rows)",
        "return column_ref(ROW_COUNT)",
    ),
    Mutant(
        "a declared key tells that a unit's sums meet one row",
        "physical/strategy/aggregate_below_join.py",
        "is_n_to_one(read_above, others, join.on, facts.verified)",
        "is_n_to_one(read_above, others, join.on, lambda _: True)",
    ),
    Mutant(
        "sums that meet several rows are limited for each",
        "physical/strategy/aggregate_below_join.py",
        "if self.is_n_to_one:",
        "if terms.source:",
    ),
    Mutant(
        "rows in all groups aren't limited",
        "emit/release/limited_sums.py",
        "sums_of_units = limited_rows(sums_of_units, names, limited, max_rows)",
        "sums_of_units = select_from(sums_of_units, [*groups, *(column_ref(total_name(n)) for n, _ in numbered)])",
    ),
    Mutant(
        "of rows in all groups, one group's worth too many are kept",
        "emit/dialect/scaled_units.py",
        "limit=integer(row_limit)",
        "limit=integer(2 * row_limit)",
    ),
    Mutant(
        "of rows in all groups, each group's share is rounded by itself",
        "emit/release/total_row_limit.py",
        """        this=_nearest_share(column_ref(RUNNING_TOTAL), rows),
        expression=_nearest_share(
            exp.Paren(this=exp.Sub(this=column_ref(RUNNING_TOTAL), expression=own.copy())), rows
        ),""",
        """        this=_nearest_share(own.copy(), rows),
        expression=integer(0),""",
    ),
    Mutant(
        "sums are of more rows than count in all groups",
        "emit/release/total_row_limit.py",
        "share(total, left, whole, largest)",
        "share(total, exp.Add(this=left, expression=integer(1)), whole, largest)",
    ),
    Mutant(
        "units of too many rows in all groups are added to what they were",
        "emit/dialect/scaled_units.py",
        "return exp.Sub(this=item.this, expression=total)",
        "return item.this",
    ),
    Mutant(
        "a part of a group that rows fill is none",
        "analysis/sensitivity.py",
        "return min(groups, -(-rows // rows_per_group(limited)))",
        "return min(groups, max(1, rows // rows_per_group(limited)))",
    ),
    Mutant(
        "units are there in as few groups as rows fill",
        "analysis/sensitivity.py",
        "    if not statistic.is_row_sum:\n        return groups\n",
        "    if not statistic.is_row_sum:\n        return groups_at_row_limit(limited, groups)\n",
    ),
    Mutant(
        "values are clamped by their upper end only",
        "emit/dialect/clamp.py",
        "case.when(exp.LT(this=column.copy(), expression=low), low.copy(), copy=False)\n        .when(",
        "case.when(",
    ),
    Mutant(
        "groups beyond the limit are kept",
        "emit/release/group_limit.py",
        "exp.LTE(this=column, expression=integer(groups)), copy=False",
        "exp.GTE(this=column, expression=integer(0)), copy=False",
    ),
    Mutant(
        "which groups are kept depends on other units' ids",
        "emit/release/group_limit.py",
        "partition_by=[column_ref(UNIT), *(w.copy() for w in partition)],",
        "partition_by=[*(w.copy() for w in partition)],",
    ),
    Mutant(
        "an outer join with a public table counts as public",
        "analysis/stability.py",
        "return Units(max(stability(left, units).count, stability(right, units).count))",
        "return Units(min(stability(left, units).count, stability(right, units).count))",
    ),
    Mutant(
        "a row that is asked about public rows counts as public",
        "analysis/stability.py",
        "return Units(max(stability(source, units).count, stability(relation, units).count))",
        "return Units(min(stability(source, units).count, stability(relation, units).count))",
    ),
    Mutant(
        "a scanned unit changes nothing",
        "analysis/stability.py",
        "return Units(units)  # rows without",
        "return Units(0)  # rows without",
    ),
    Mutant(
        "one row is no row",
        "analysis/stability.py",
        "return PerGroup(contribution_stability(terms, units).count, 1)",
        "return PerGroup(0, 1)",
    ),
    Mutant(
        "a limit by the domain counts as one group",
        "analysis/stability.py",
        "            | ByDomain(groups=groups)\n        ):\n            return groups",
        "            | ByDomain(groups=groups)\n        ):\n            return min(groups, 1)",
    ),
    Mutant(
        "groups are forgotten in the norms",
        "analysis/sensitivity.py",
        "    return groups_at_row_limit(limited, groups)\n",
        "    return 1\n",
    ),
    Mutant(
        "a unit's presence is free",
        "analysis/unit_contribution.py",
        "return 1  # a unit is there, ",
        "return 0  # a unit is there, ",
    ),
    Mutant(
        "limits hold by declared keys",
        "bounding/contribution_limit.py",
        "if rows and one_row_per_unit(contributions.source, _of_public(facts)):",
        "if one_row_per_unit(contributions.source, declared):",
    ),
    Mutant(
        "keys of a unit hold by declared keys",
        "bounding/group_choice.py",
        "if contributions.keys and not unit_independent_keys(contributions, facts.verified):",
        "if contributions.keys and not unit_independent_keys(contributions, lambda _: True):",
    ),
    Mutant(
        "the domain's size is forgotten",
        "bounding/group_choice.py",
        "return ByDomain(cells)",
        "return ByDomain(1)",
    ),
    Mutant(
        "a union has one row per unit",
        "analysis/lineage/functional_dependency.py",
        "case OuterJoin() | Union() | Sort() | Limit() | Release() | Values() | PublicStatement():\n            return False",
        "case OuterJoin() | Union() | Sort() | Limit() | Release() | Values() | PublicStatement():\n            return True",
        "tests/differential/test_differential.py",
        fails_by="DuckDB has",
    ),
    Mutant(
        "a join has one row if one side has",
        "analysis/lineage/functional_dependency.py",
        "if len(single) < sum(1 for s in sources if visibility(s) is Visibility.PRIVATE) or not single:",
        "if not single:",
        "tests/differential/test_differential.py",
        fails_by="DuckDB has",
    ),
    Mutant(
        "every aggregate has one row per unit",
        "analysis/lineage/functional_dependency.py",
        "return all(is_determined(key.expression, below) for key in keys)",
        "return True",
        "tests/differential/test_differential.py",
        fails_by="DuckDB has",
    ),
    Mutant(
        "a unit determines all columns of its rows",
        "analysis/lineage/functional_dependency.py",
        "return unit_columns(plan)",
        "return frozenset(plan.columns)",
    ),
    Mutant(
        "any equality fixes a public key",
        "analysis/lineage/functional_dependency.py",
        "return fixed >= key",
        "return bool(fixed)",
    ),
    Mutant(
        "an outer join's partners are not counted",
        "analysis/lineage/functional_dependency.py",
        "return one_row_per_unit(left, trusted) and _one_partner(left, right, on, trusted)",
        "return one_row_per_unit(left, trusted)",
        "tests/differential/test_differential.py",
        fails_by="DuckDB has",
    ),
    Mutant(
        "a private partner is taken for the only one",
        "analysis/lineage/functional_dependency.py",
        "return one_row_per_unit(right, trusted)\n    return is_key_fixed",
        "return True\n    return is_key_fixed",
        "tests/differential/test_differential.py",
        fails_by="DuckDB has",
    ),
    Mutant(
        "keys of a union are determined",
        "analysis/lineage/functional_dependency.py",
        "return frozenset()  # a unit's rows of different arms have values of their own",
        "return frozenset(output_columns(plan))",
    ),
    Mutant(
        "the units of an outer join's sides aren't equated",
        "emit/relation/scan_and_join.py",
        "conditions = [scalar(p) for p in join.on] + _same_unit(ours, theirs)",
        "conditions = [scalar(p) for p in join.on]",
    ),
    Mutant(
        "EXISTS searches rows of all units",
        "emit/relation/scan_and_join.py",
        "conditions += _same_unit(unit(plan.source), unit(plan.relation))",
        "conditions += _same_unit(None, unit(plan.relation))",
        about="subqueries",
    ),
    Mutant(
        "a full join takes the left unit only",
        "emit/relation/scan_and_join.py",
        "if join.kind is OuterKind.FULL and theirs is not None:",
        "if join.kind is OuterKind.LEFT and theirs is not None:",
    ),
    Mutant(
        "a row's own reference is taken for its unit",
        "emit/relation/scan_and_join.py",
        "column_ref(schema_name(column), table=alias), plan.unit.type",
        'column_ref(schema_name(hops[0].columns[0] if hops else column), table="t"), plan.unit.type',
    ),
    Mutant(
        "windows hold rows of several units",
        "emit/dialect/duckdb/aggregate.py",
        "partition.append(reference(own))",
        "pass",
    ),
    Mutant(
        "ties in a window fall as rows lie",
        "emit/dialect/duckdb/aggregate.py",
        "exp.Ordered(this=reference(c), nulls_first=False) for c in output_columns(source)",
        "exp.Ordered(this=reference(c), nulls_first=False) for c in ()",
        "tests/neighbor_search/test_same_bag.py",
    ),
    Mutant(
        "a clamped partial sum counts twice",
        "emit/release/limited_sums.py",
        "clamped = [with_alias(_clamped_partial(s, n, limited)",
        "clamped = [with_alias(exp.Mul(this=_clamped_partial(s, n, limited), expression=integer(2))",
    ),
    Mutant(
        "a unit is present once for each of the rows it may have",
        "emit/release/limited_sums.py",
        "return integer(bound)",
        "return integer(rows_per_group(limited))",
    ),
    Mutant(
        "a row's value isn't clamped",
        "emit/release/contribution.py",
        "clamped = _clamp_to_bounds(value, column, kind)\n    if value",
        "clamped = column\n    if value",
    ),
    Mutant(
        "joins are allowed on any column",
        "bind/proof/join_ownership.py",
        "linked = [s for s in waiting if any(_share_unit(equal, s, c) for c in connected)]",
        "linked = list(waiting)",
    ),
    Mutant(
        "public rows are kept for want of a private partner",
        "bind/proof/join_ownership.py",
        "if not sound:",
        "if sound is None:",
    ),
    Mutant(
        "any private subquery is asked",
        "bind/proof/join_ownership.py",
        "return proved and kinds == {unit_kind(relation)}",
        "return kinds == {unit_kind(relation)}",
    ),
    Mutant(
        "windows over several units are allowed",
        "bind/window/window.py",
        "if not determines_unit(plan, call.partition) or has_row_units(plan):",
        "if has_row_units(plan):",
    ),
    Mutant(
        "listing single units is allowed",
        "bind/statement.py",
        "if visibility(selected.plan) is Visibility.PRIVATE:",
        "if visibility(selected.plan) is None:",
    ),
)
