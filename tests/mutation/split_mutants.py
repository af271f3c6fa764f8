"""Seeded bugs of rows or units that are summed in parts, and of what a sidecar has beside rows."""

from __future__ import annotations

from functools import partial

from mutation.mutants import Mutant

_Split = partial(Mutant, tests="tests/neighbor_search/test_sidecar_bounds_hold.py")
_Parts = partial(Mutant, tests="tests/physical/test_batches_of_notes.py")
_Cached = partial(Mutant, tests="tests/physical/test_cached_sums.py", about="have_the_bounds")
_Engine = partial(
    Mutant, tests="tests/engine/test_cached_sums.py", fails_by="AssertionError|assert "
)
_Numbered = partial(
    Mutant, tests="tests/physical/test_numbered_rows.py", fails_by="AssertionError|assert "
)
_Counted = partial(
    Mutant, tests="tests/session/test_counted_rows.py", fails_by="AssertionError|assert "
)

_Prepared = partial(
    Mutant, tests="tests/physical/test_prepared_keys.py", fails_by="AssertionError|assert "
)

_Grouped = partial(Mutant, tests="tests/physical/test_split_in_group_by.py", about="no_more_than")

_Below = partial(
    Mutant, tests="tests/physical/test_counts_below_join.py", fails_by="AssertionError|assert "
)

_Late = partial(
    Mutant, tests="tests/physical/test_late_key_joins.py", fails_by="AssertionError|assert "
)

SPLIT_MUTANTS = (
    _Late(
        "sums whose key is in no cell are joined to none, and stay",
        "emit/release/contributions.py",
        "        select = _join_domain(select, domain, number, keys)\n",
        "        select = _join_domain(select, domain, number, keys, outer=True)\n",
        about="same_cells",
    ),
    _Grouped(
        "a unit of a row more than the limit is summed in none",
        "physical/strategy/split_in_group_by.py",
        "expression=integer(limit))",
        "expression=integer(limit + 1))",
    ),
    _Grouped(
        "a unit is summed in none that one of several limits doesn't bind",
        "physical/strategy/split_in_group_by.py",
        "unit_unless(exp.and_(*conditions, copy=False))",
        "unit_unless(exp.or_(*conditions, copy=False))",
    ),
    _Grouped(
        "units over limits count for all of their rows where none is taken to be there",
        "physical/strategy/split_in_group_by.py",
        "[at_most(*each) for each in counts]",
        "()",
    ),
    Mutant(
        "no unit is taken to be over a limit that none is looked for",
        "release/job.py",
        "not engine.has_rows_for_planning(step.unlimited.limited_rows)",
        "step.unlimited.limited_rows",
        tests="tests/session/test_unlimited_query.py",
        about="only_where",
        fails_by="AssertionError|assert ",
    ),
    _Grouped(
        "sums by unit are summed in no unit, too",
        "physical/strategy/bound_units.py",
        "wanted = exp.Not(this=of_none) if are_limited else of_none",
        "wanted = exp.Not(this=of_none) if are_limited else exp.true()",
    ),
    _Prepared(
        "a unit of two rows in a group has each counted as one",
        "physical/strategy/count_units_first.py",
        "_is_up_to(self.value_rows, 1)",
        "_is_up_to(self.value_rows, 2)",
        about="lone",
    ),
    _Prepared(
        "a unit of one row too many in a month isn't counted",
        "physical/strategy/month_span.py",
        "return max_rows // self.months",
        "return max_rows // self.months + 1",
        about="two_months",
    ),
    _Split(
        "rows of a unit that isn't its only one stand for it",
        "physical/strategy/count_units_first.py",
        "exp.and_(is_few, _is_up_to(self.value_rows, 1), copy=False)",
        "exp.and_(is_few, exp.true(), copy=False)",
        about="stand_for",
    ),
    _Below(
        "of rows that are counted before a join nothing is asked",
        "emit/relation/counts_below_join.py",
        "        if self.tests:\n",
        "        if not self.join.on:\n",
        about="joined_rows",
    ),
    _Below(
        "rows that were counted before a join meet those of another unit",
        "emit/relation/counts_below_join.py",
        "exp.EQ(this=reference(ours), expression=reference(theirs))",
        "exp.EQ(this=reference(ours), expression=reference(ours))",
        about="no_key",
    ),
    _Below(
        "rows are counted before a condition that tells them apart",
        "emit/relation/counts_below_join.py",
        "            or not all(columns(each) <= right for each in tests)\n",
        "            or not tests\n",
        about="pairs_of_rows",
    ),
    _Below(
        "rows that are there twice meet what was counted once",
        "emit/relation/counts_below_join.py",
        "exp.Coalesce(this=wide_sum(reference(count)), expressions=[integer(0)])",
        "exp.Coalesce(this=exp.Max(this=reference(count)), expressions=[integer(0)])",
        about="no_key",
    ),
    _Cached(
        "of cached sums a group more than count is read",
        "emit/release/cached_sums.py",
        "expression=integer(self.groups))",
        "expression=integer(self.groups + 1))",
    ),
    _Cached(
        "cached sums of nine times the rows that count are taken for few",
        "emit/release/cached_sums.py",
        "kind(this=column_ref(UNIT_ROWS), expression=integer(max_rows))",
        "kind(this=column_ref(UNIT_ROWS), expression=integer(9 * max_rows))",
    ),
    _Cached(
        "cached sums of as many rows as count are read twice",
        "emit/release/cached_sums.py",
        "for kind in (exp.LTE, exp.GT)",
        "for kind in (exp.LTE, exp.GTE)",
    ),
    _Engine(
        "sums that another salt ranked are read",
        "engine/table_cache.py",
        "(self.table.sql, self.table.parameters) == (table.sql, table.parameters)",
        "self.table.sql == table.sql",
        about="another_salt",
    ),
    _Engine(
        "what is too much to be kept has a fresh salt",
        "release/job.py",
        "cache, salt = engine, cache_salt",
        "cache = engine",
        about="integers_of_the_rows",
    ),
    _Split(
        "a row more than the limit is light",
        "physical/strategy/split_by_contribution.py",
        "*(at_most(column, limit) for column, limit in counts)",
        "*(at_most(column, limit + 1) for column, limit in counts)",
    ),
    _Split(
        "light rows are in the rest, too",
        "physical/sidecar_rows.py",
        "Compare(Comparison.GREATER, c, Literal(n, c.type))",
        "Compare(Comparison.GREATER, c, Literal(n - 1, c.type))",
    ),
    _Split(
        "sums are read of units of one row more than the limit",
        "physical/strategy/stored_unit_sums.py",
        "Filter(scan, at_most(row_count, max_rows))",
        "Filter(scan, at_most(row_count, max_rows + 1))",
    ),
    _Split(
        "a unit of more rows than count has one more where its rows are counted by what is stored",
        "physical/strategy/stored_unit_sums.py",
        "rows, limit = reference(self.row_count), integer(self.max_rows)",
        "rows, limit = reference(self.row_count), integer(self.max_rows + 1)",
        about="counted_by_what_is_stored",
    ),
    _Split(
        "stored sums of units over the limit are read whole",
        "physical/strategy/stored_unit_sums.py",
        "isinstance(s.term, RowCount) or",
        "isinstance(s.term, RowCount | Sum) or",
    ),
    _Split(
        "with a table that leads to the unit, all conditions of its join are left out",
        "physical/modifier/owner_join_elimination.py",
        "on=tuple(c for c in join.on if c not in met)",
        "on=()",
    ),
    _Split(
        "sums that stand ready are of values beyond their bounds",
        "session/sidecar.py",
        "term = clamp(amount, terms)",
        "term = terms[0]",
    ),
    _Split(
        "groups are limited in each part apart",
        "physical/sidecar_rows.py",
        "case ByHash(groups=groups) | ByRank(groups=groups):\n                pass",
        "case ByHash(groups=groups) | ByRank(groups=groups):\n                return ()",
    ),
    _Split(
        "a unit may have as many values of each key as groups",
        "physical/sidecar_rows.py",
        "0 < prod(limits.values()) <= groups",
        "0 < max(limits.values()) <= groups",
    ),
    _Split(
        "the place of a value is taken for the number of the unit's values",
        "physical/sidecar_rows.py",
        "return tuple((distinct_count_column(name), number)",
        "return tuple((group_rank_column(name), number)",
    ),
    _Split(
        "units of too many values are in both parts of the rest",
        "physical/strategy/split_by_contribution.py",
        "rows.over(limited_scan, (*few_values, *rows.exceeds(of_rows)), added)",
        "rows.over(limited_scan, rows.exceeds(of_rows), added)",
    ),
    Mutant(
        "a share of what 64 bits don't hold is lost",
        "emit/dialect/duckdb/lower.py",
        "return exp.Coalesce(this=narrow, expressions=[whole_quotient])",
        "return exp.Coalesce(this=narrow, expressions=[nodes.integer(0)])",
        "tests/emit/test_share.py",
        fails_by="AssertionError",
    ),
    _Split(
        "a row too many is drawn where rows are drawn one by one",
        "emit/release/histogram.py",
        "exp.LT(this=left, expression=max_rows.copy())",
        "exp.LTE(this=left, expression=max_rows.copy())",
    ),
    _Split(
        "all of a unit's values are kept",
        "physical/sidecar_rows.py",
        "return Column(number, group_rank_column(column), COUNT_TYPE), groups",
        "return Column(number, group_rank_column(column), COUNT_TYPE), COUNT_CAP - 1",
    ),
    _Prepared(
        "rows are counted by their day in place of its month",
        "session/sidecar.py",
        'exp.Literal.string("month")',
        'exp.Literal.string("day")',
    ),
    _Prepared(
        "a unit's places are those of quarters where it is asked for months",
        "session/sidecar.py",
        'exp.Literal.string("month")',
        'exp.Literal.string("quarter")',
    ),
    _Split(
        "a value's place is taken for its number of rows",
        "physical/sidecar_rows.py",
        "limits = [(UNIT_ROW_COUNT if column is None else value_count_column(column), rows)]",
        "limits = [(UNIT_ROW_COUNT if column is None else group_rank_column(column), rows)]",
    ),
    _Split(
        "light units may have more rows in all than the limit",
        "physical/sidecar_rows.py",
        "limits = [(UNIT_ROW_COUNT, in_all), *(limits if rows < in_all else [])]",
        "limits = limits if rows < in_all else [(UNIT_ROW_COUNT, in_all)]",
    ),
    _Split(
        "light rows needn't stem from rows of their own",
        "analysis/lineage/row_source.py",
        "if rows is not None and is_n_to_one(joined, others, on, trusted):",
        "if rows is not None:",
    ),
    _Split(
        "a window sees a part of a unit's rows",
        "analysis/lineage/row_source.py",
        "counts anew from 1.\n            return None",
        "counts anew from 1.\n            return row_source(plan.source, trusted)",
    ),
    Mutant(
        "a table is read in parts where rows are asked of it, too",
        "analysis/lineage/row_source.py",
        "if below is None or below.scan in operators(relation):",
        "if below is None:",
        tests="tests/analysis/test_row_source.py",
        fails_by="AssertionError|assert ",
    ),
    _Split(
        "values' places depend on other units'",
        "engine/sidecar/ordering/packed_counts.py",
        "of_unit = _placed(self.values, 2) - _placed(self.first_values, 1)",
        "of_unit = _placed(self.values, 2)",
    ),
    _Split(
        "a centre is taken from a group's sum once",
        "emit/release/centered_sum.py",
        "expression=exp.Mul(this=count, expression=integer(center))",
        "expression=integer(center)",
    ),
    _Split(
        "what is told of a table is believed of its rows",
        "physical/modifier/clamp_elimination.py",
        "return exp.and_(*of_table, *_tests(condition, statistics), copy=False)",
        "return exp.and_(*of_table, copy=False)",
    ),
    _Split(
        "rows beyond bounds are summed as they are, too",
        "physical/modifier/clamp_elimination.py",
        "return exp.Between(this=value, low=low, high=high)",
        "return exp.GTE(this=value, expression=low)",
    ),
    _Split(
        "rows within bounds are summed twice",
        "physical/strategy/unlimited_sums.py",
        "out_of_range = rows.where(are_out_of_range(condition, contributions.statistics)",
        "out_of_range = rows.where(exp.true()",
    ),
    _Prepared(
        "values beyond their bounds are summed by unit as they are",
        "physical/strategy/clamped_rows.py",
        "((in_range, values), (out_of_range, clamped))",
        "((in_range, values), (out_of_range, values))",
    ),
    _Prepared(
        "a row without a value has less than its centre taken from a unit's sum",
        "physical/strategy/clamped_rows.py",
        "term if center is None else exp.Coalesce(this=term, expressions=[center])",
        "term",
    ),
    _Prepared(
        "rows within bounds are summed twice by unit",
        "physical/strategy/clamped_rows.py",
        "out_of_range = rows.where(are_out_of_range(condition, statistics)",
        "out_of_range = rows.where(exp.true()",
    ),
    _Split(
        "rows are not asked of what is not clamped",
        "physical/strategy/unlimited_sums.py",
        "unclamped=unclamped.get(number))",
        "unclamped=unclamped.get(number, column_ref(f'r{number}') if unclamped else None))",
    ),
    _Prepared(
        "values that a filter leaves out are computed where no clamp is",
        "physical/modifier/clamp_elimination.py",
        "is_tried = statistics[index].filter is not None or is_wide(value.argument)",
        "is_tried = is_wide(value.argument)",
    ),
    _Prepared(
        "a unit is counted by each of its rows beside the sums",
        "physical/strategy/unlimited_sums.py",
        "each = grouped(units, [column_ref(UNIT), *groups], [])",
        "each = units",
    ),
    _Prepared(
        "units that a limit binds are counted among the others",
        "physical/strategy/split_by_contribution.py",
        "without_terms = replace(terms, ",
        "without_terms = replace(self.limited.contributions, ",
    ),
    _Split(
        "a row too many is drawn by its stored number",
        "physical/numbered_rows.py",
        "[*chosen, at_most(order, max_rows)]",
        "[*chosen, at_most(order, max_rows + 1)]",
    ),
    _Split(
        "a row too many is counted by its stored number",
        "physical/strategy/split_by_contribution.py",
        "stored = [(numbers, max_number), ",
        "stored = [(numbers, max_number + 1), ",
    ),
    _Numbered(
        "a row that a stored number drew counts again where others have no value",
        "emit/release/numbered_histogram.py",
        "exp.GT(this=column_ref(order)",
        "exp.GTE(this=column_ref(order)",
    ),
    _Numbered(
        "a unit of few rows with a value in many has none that moves up",
        "physical/numbered_rows.py",
        "are_more = [_more(count, max_rows), _more(some, 0)]",
        "are_more = [_more(count, 2 * max_rows), _more(some, 0)]",
    ),
    _Numbered(
        "a unit's rows are counted by integers that are no keys",
        "schema/sidecar_columns.py",
        " or column.type in _WIDE:",
        ":",
    ),
    _Counted(
        "rows are numbered as they lie",
        "engine/sidecar/ordering/value_counts.py",
        "piece.rows[:] = piece.rows[order]",
        "piece.rows[:] = piece.rows",
    ),
    _Counted(
        "rows of one hash are taken to be alike",
        "engine/sidecar/ordering/row_order.py",
        "if not all(_same(column, one, other).all() for column in columns.values()):",
        "if len(one) > len(unit_numbers):",
    ),
    Mutant(
        "one drawn group too many is kept",
        "physical/strategy/cell_window.py",
        ".when(many, integer(groups), copy=False)",
        ".when(many, integer(groups + 1), copy=False)",
    ),
    Mutant(
        "of a unit that keeps one group the next one counts, too",
        "physical/strategy/cell_window.py",
        "span: exp.Expr = integer(0)",
        "span: exp.Expr = integer(1)",
        "tests/physical/test_choose_groups_first.py",
        fails_by="AssertionError|assert ",
    ),
    Mutant(
        "far cells are taken for those between a unit's first and last one",
        "bounding/group_choice.py",
        "computed = ByRank(groups, MAX_RANKS)",
        "computed = ByRank(groups, 1)",
    ),
    Mutant(
        "a unit of one row too many in a group is light",
        "physical/strategy/choose_groups_first.py",
        "in_one = exp.LT(",
        "in_one = exp.LTE(",
    ),
    Mutant(
        "a unit's rows in all groups don't matter if they are drawn",
        "physical/strategy/choose_groups_first.py",
        "if limited.rows is None:",
        "if limited.rows is None or limited.rows:",
    ),
    Mutant(
        "units are drawn from the cells of the first key alone",
        "emit/release/group_limit.py",
        "number = exp.Add(this=rows, expression=column_ref(group_name(index)))",
        "number = number if index else rows",
    ),
    Mutant(
        "a unit of one row too many is one of few rows",
        "physical/strategy/count_units_first.py",
        "expression=integer(self.max_rows)",
        "expression=integer(self.max_rows + 1)",
        about="contribution_limits",
    ),
    Mutant(
        "units of many rows are summed as they are, too",
        "physical/strategy/count_units_first.py",
        "is_few = exp.Not(this=is_limited)",
        "is_few = exp.true()",
        about="contribution_limits",
    ),
    Mutant(
        "a unit of few rows may have too many in a group",
        "physical/strategy/count_units_first.py",
        "min(limited.limit.groups, rows_per_group(limited), *in_all)",
        "min([limited.limit.groups, *in_all])",
        about="contribution_limits",
    ),
    Mutant(
        "a unit of few rows may have too many groups",
        "physical/strategy/count_units_first.py",
        "min(limited.limit.groups, rows_per_group(limited), *in_all)",
        "min([rows_per_group(limited), *in_all])",
        about="contribution_limits",
    ),
    Mutant(
        "a unit of few rows is counted in a group by each of them",
        "physical/strategy/unlimited_sums.py",
        "units = exp.Distinct(expressions=[column_ref(UNIT)])",
        "units = column_ref(UNIT)",
        about="contribution_limits",
    ),
    _Prepared(
        "a unit that has a bit is counted by its rows, too",
        "physical/strategy/unlimited_sums.py",
        "units = units.where(bits.has_none(), copy=False)",
        "pass",
    ),
    _Prepared(
        "a unit without a bit isn't counted",
        "physical/strategy/unit_bits.py",
        "exp.Not(this=condition) for condition in _has_number()",
        "exp.false() for condition in _has_number()",
    ),
    _Prepared(
        "a unit with rows within bounds and beyond is two",
        "physical/strategy/unit_bits.py",
        "return exp.Coalesce(this=count, expressions=[integer(0)])",
        'return exp.Anonymous(this="sum", expressions=[exp.Anonymous(this="bit_count",'
        " expressions=[column_ref(UNIT_BITS)])])",
    ),
    _Prepared(
        "texts that are one integer are one unit",
        "physical/strategy/unit_bits.py",
        "return [is_integer, exp.Between(",
        "return [exp.Between(",
    ),
    _Parts(
        "units of one part are in the later ones, too",
        "release/batch_count.py",
        "return HASH_SPACE * batch // batches, ",
        "return 0, ",
    ),
    _Parts(
        "values that units share are counted in each of their parts",
        "physical/modifier/unit_batches.py",
        "PairwiseDeviations() | BoundedMean():\n            return False",
        "PairwiseDeviations() | BoundedMean():\n            return True",
    ),
    _Parts(
        "which part a row is in is drawn anew for each",
        "physical/modifier/unit_batches.py",
        "expressions=[column_ref(UNIT), _parameter(SALT_PARAMETER)]",
        'expressions=[exp.Anonymous(this="random"), _parameter(SALT_PARAMETER)]',
    ),
    Mutant(
        "a table's key is one of a scan over hops whose keys repeat",
        "analysis/lineage/functional_dependency.py",
        "return all(map(trusted, hops))",
        "return True",
        "tests/session/test_keys_over_hops.py",
        fails_by="AssertionError",
    ),
)
