"""Seeded bugs of CALIBRATE, and of the limits that are chosen by its ladders."""

from __future__ import annotations

from mutation.mutants import Mutant

_LADDERS = "tests/session/test_ladders.py"
_BIAS = "tests/session/test_ladder_bias.py"
_KEY_CAPS = "tests/session/test_key_caps.py"
_OVER = "tests/session/test_ladder_over_groups.py"

LADDER_MUTANTS = (
    Mutant(
        "the schema's limits leave units' rows out of ladders",
        "bind/statements/calibrate.py",
        "limits = Limits(MAX_CONTRIBUTION, MAX_CONTRIBUTION, MAX_CONTRIBUTION)",
        "limits = plan.table.limits",
        _LADDERS,
        "whatever_limits",
        "AssertionError",
    ),
    Mutant(
        "what a unit has in each of its groups is taken for one row of a unit",
        "bind/statements/calibrate.py",
        "BoundQuery(Aggregate(rows.plan, keys, tuple(outputs)), shown)",
        "BoundQuery(Aggregate(Aggregate(rows.plan, keys, tuple(outputs)), keys[:0],"
        " tuple(outputs)), shown)",
        _LADDERS,
        "most_units",
        "Error",
    ),
    Mutant(
        "all groups of a unit count in a ladder, whatever the ladder of groups says",
        "session/ladders/draw_ladders.py",
        "allowed = 1 if request.part is LadderPart.KEYS else number",
        "allowed = 1 if request.part is LadderPart.KEYS else 2**20",
        _LADDERS,
        "most_units",
        "AssertionError",
    ),
    Mutant(
        "a rung of integers ends above its end",
        "bind/statements/rung_search.py",
        "min(floor(end / step), high) if closed",
        "min(ceil(end / step), high) if closed",
        "tests/emit/test_rungs.py",
        "duckdb and HUGEINT",
        "AssertionError",
    ),
    Mutant(
        "texts of any length are joined on servers",
        "emit/dialect/text_length.py",
        "return length is not None and length <= _JOINED",
        "return True",
        "tests/emit/test_text_length.py",
        "",
        "AssertionError|DID NOT RAISE",
    ),
    Mutant(
        "parts of ladders are charged though others are refused",
        "session/ladders/draw_ladders.py",
        "for request in _drawable(context, spec, source, options):",
        "for request in ladder_parts(source):",
        "tests/engine/test_server_ladders.py",
        "refused_before",
        "AssertionError",
    ),
    Mutant(
        "limits are set that are looser than the declared ones",
        "bounding/options.py",
        "return declared if requested is None else min(declared, requested)",
        "return declared if requested is None else requested",
        _LADDERS,
        "no_looser_than",
        "AssertionError",
    ),
    Mutant(
        "a ladder undoes what is set",
        "session/ladders/limit_choice.py",
        "return chosen if requested is None else min(requested, chosen)",
        "return chosen",
        _LADDERS,
        "stays_tighter",
        "AssertionError",
    ),
    Mutant(
        "ladders of other keys say what a unit has in a group",
        "session/ladders/release_ladders.py",
        "if set(each.about.keys) - fixed == keys - fixed",
        "if set(each.about.keys) or keys",
        _LADDERS,
        "other_keys",
        "AssertionError",
    ),
    Mutant(
        "ladders of another measure cap a sum",
        "session/ladders/release_ladders.py",
        "if each.about.measure == measure",
        "if (each.about.measure is None) == (measure is None)",
        _LADDERS,
        "whatever_it_is_called",
        "Failed|AssertionError",
    ),
    Mutant(
        "ladders of another table say what units contribute to this one",
        "session/ladders/release_ladders.py",
        "if each.about.table == self.table.name and each.stands_out]",
        "if each.stands_out]",
        _LADDERS,
        "another_table",
        "AssertionError",
    ),
    Mutant(
        "each part of a statement spends the loss of all",
        "session/compile/request.py",
        "return PrivacyLoss(loss.accounting, loss.amount * share, loss.delta * share)",
        "return loss",
        _LADDERS,
        "cost_what_they_are_asked_for",
        "AssertionError|BudgetSpent",
    ),
    Mutant(
        "anybody draws ladders",
        "session/ladders/draw_ladders.py",
        "if allowed is not None and analyst not in allowed:",
        "if allowed is not None and not allowed:",
        _LADDERS,
        "only_whom_the_owner_names",
        "DID NOT RAISE",
    ),
    Mutant(
        "who has a cap of their own sees ladders for nothing",
        "session/saved/saved_releases.py",
        "if pays or one not in unpaid]",
        "]",
        _LADDERS,
        "cap_of_their_own",
        "NotPaid",
    ),
    Mutant(
        "ladders of noise alone choose limits",
        "session/ladders/stored_ladders.py",
        "all(ladder.top() > 0 for",
        "all(ladder.top() >= 0 for",
        _LADDERS,
        "that_are_noise",
        "AssertionError|DID NOT RAISE",
    ),
    Mutant(
        "ladders are kept with the exact counts, though noisy ones were paid for",
        "session/ladders/draw_ladders.py",
        "    return answer, independent_noise(release.step.measurement.noise[0])",
        "    from dpsql.release.calibration import exact_measurement\n"
        "    accounting = release.step.measurement.loss.accounting\n"
        "    exact = exact_measurement(release.step.bounded, accounting)\n"
        "    step = replace(release.step, measurement=exact)\n"
        "    table = context.execution.run((step,), context.randomness, {})[step.name]\n"
        "    table = table.select(range(answer.table.num_columns))\n"
        "    answer = replace(answer, table=table.rename_columns(answer.table.column_names))\n"
        "    return answer, independent_noise(release.step.measurement.noise[0])",
        _LADDERS,
        "nobody_is_in_have_noise",
        "AssertionError",
    ),
    Mutant(
        "limits are chosen from ladders that are scaled to the exact number of rows",
        "session/compile/compile.py",
        "    return DataEdition(version, context.saved.ladders(sql, context.execution.version,"
        " pays=pays))",
        "    def scaled(one):\n"
        "        counting = f'SELECT count(*) FROM {one.about.table}'\n"
        "        rows = context.execution.source().execute(counting).table.column(0)[0].as_py()\n"
        "        return replace(one, ladders={part: replace(ladder, counts=tuple(\n"
        "            count * rows // max(1, sum(ladder.counts)) for count in ladder.counts))\n"
        "            for part, ladder in one.ladders.items()})\n"
        "    kept = context.saved.ladders(sql, context.execution.version, pays=pays)\n"
        "    return DataEdition(version, tuple(map(scaled, kept)))",
        _LADDERS,
        "no_row_is_read",
        "AssertionError",
    ),
    Mutant(
        "a bias is that of the limits that were chosen, whatever lower ones hold",
        "session/ladders/limit_choice.py",
        "groups = min(limits.groups or _MANY, self._table.limits.groups)",
        "groups = best.chosen.groups",
        _BIAS,
        "limits_that_hold",
        "AssertionError",
    ),
    Mutant(
        "what a sum of stored groups lacks is told to be what one of them does",
        "session/answer/rollup.py",
        "column.bias.times(self.cells)",
        "column.bias",
        _BIAS,
        "sum_of_stored_groups",
        "AssertionError",
    ),
    Mutant(
        "a bias is that of drawn units, though they are scaled",
        "session/ladders/limit_choice.py",
        "bias = expected_bias(best.groups, rows, groups, cap, way, order)",
        "bias = expected_bias(best.groups, rows, groups, cap)",
        _OVER,
        "way_that_is_done",
        "AssertionError",
    ),
    Mutant(
        "ladders choose what becomes of units in too many groups, whatever was said",
        "session/ladders/limit_choice.py",
        "Ways(every if ordered is None else (ordered,), requested.norm_order or 2)",
        "Ways(every, requested.norm_order or 2)",
        _OVER,
        "says_is_done",
        "AssertionError",
    ),
    Mutant(
        "limits for scaled units hold where units can't be scaled",
        "session/compile/release_compiler.py",
        "return under(self.options.limits.sampled())",
        "return bounded, choice",
        _OVER,
        "units_are_counted_too",
        "AssertionError",
    ),
    Mutant(
        "limits that are chosen are no part of a plan's key",
        "session/compile/compile.py",
        "request, edition.version, facts, ladders)",
        "request, edition.version, facts)",
        _LADDERS,
        "part_of_an_answers_key",
        "AssertionError",
    ),
    Mutant(
        "a key that is NULL has the factor of keys that nobody listed",
        "bounding/statistics/factored_sum.py",
        "tests.append(IsNull(key))",
        "tests.append(Literal(False, Boolean()))",
        _KEY_CAPS,
        "caps_of_their_own_keys",
        "AssertionError",
    ),
    Mutant(
        "a sum is divided by the factor of another key",
        "plan/bounded_release/key_factors.py",
        "return [known.get(key, self.otherwise) for key in keys]",
        "return [known.get(key, self.otherwise) for key in [*keys][::-1]]",
        _KEY_CAPS,
        "caps_of_their_own_keys",
        "AssertionError",
    ),
    Mutant(
        "every group's error is that of the highest cap",
        "release/columns/value_errors.py",
        "linear_error(divided.estimator, spreads)[1]) / factors)",
        "linear_error(divided.farthest, spreads)[1]) + 0 * factors)",
        _KEY_CAPS,
        "caps_of_their_own_keys",
        "AssertionError",
    ),
    Mutant(
        "before it is asked, the error of all groups is told to be that of the lowest cap",
        "plan/bounded_release/estimator.py",
        "return self.of_factor(self.factors.smallest)",
        "return self.of_factor(self.factors.largest)",
        _KEY_CAPS,
        "highest_cap",
        "AssertionError",
    ),
    Mutant(
        "what sums are divided by isn't part of what a release means",
        "session/digest/tags.py",
        'Tagged("divided", ("estimator", "factors"))',
        'Tagged("divided", ("estimator",), {"factors": "none"})',
        _KEY_CAPS,
        "what_a_release_means",
        "AssertionError",
    ),
)
