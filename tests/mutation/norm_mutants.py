"""Seeded bugs of units that are scaled to a norm, and of noise on parts of integers."""

from __future__ import annotations

from functools import partial

from mutation.mutants import Mutant

_Scaled = partial(Mutant, about="over_groups")
_Session = partial(
    Mutant, tests="tests/session/test_over_groups.py", fails_by="AssertionError|assert "
)
_Noise = partial(
    Mutant, tests="tests/privacy/test_rounded_noise.py", fails_by="AssertionError|assert "
)

NORM_MUTANTS = (
    _Scaled(
        "a unit over the norm counts whole",
        "emit/release/norm_limit.py",
        "parts = parts.when(are_few, integer(weight), copy=False)",
        "parts = parts.when(are_few, integer(limit.parts), copy=False)",
    ),
    _Scaled(
        "rows are summed for the norm, and not squared",
        "emit/release/norm_limit.py",
        "if limit.order == 2:",
        "if limit.order == 3:",
    ),
    _Scaled(
        "weights are those of the squares, without a root",
        "plan/bounded_release/bounded_release.py",
        "pairs.append((powers, largest if self.order == 1 else isqrt(largest)))",
        "pairs.append((powers, min(self.parts, largest)))",
    ),
    _Scaled(
        "a group fewer is filled than the norm allows",
        "analysis/sensitivity.py",
        "return full if squared else",
        "return max(1, full - 1) if squared else",
    ),
    _Session(
        "an L1 norm is as many groups as an L2 norm",
        "analysis/sensitivity.py",
        "isqrt(cells * full - 1) + 1",
        "full",
        about="no_more_than_derived",
    ),
    _Session(
        "pure noise is measured for units of an L2 norm",
        "session/compile/compiled.py",
        "order = 2 if has_gaussian_noise(query_loss) else 1",
        "order = 2",
        about="by_which_noise",
    ),
    _Session(
        "an L2 norm is taken for an L1 norm",
        "analysis/sensitivity.py",
        "case LimitGroups(limit=ByNorm(order=1, groups=full)):",
        "case LimitGroups(limit=ByNorm(groups=full)):",
        about="no_more_than_derived",
    ),
    _Session(
        "replaced units whose ends differ never fill groups to different parts",
        "analysis/sensitivity.py",
        "bound = _root_up(low**2 + high**2, 1)",
        "pass",
        about="differ_most",
    ),
    _Session(
        "few large moves are taken for the worst of what has a norm",
        "release/noise_choice/noise_candidate.py",
        "sensitivity.per_group and integer_parts(bounded.limited) == 1:",
        "sensitivity.per_group:",
        about="laplace",
    ),
    _Session(
        "noise is that of integers, where parts of them are counted",
        "privacy/mechanisms/noise/rounded.py",
        "return cls(DiscreteGaussian(variance * parts**2), parts)",
        "return cls(DiscreteGaussian(variance * parts), parts)",
        about="as_many_groups",
        fails_by="passed its grant",
    ),
    _Session(
        "units are parts of one where they are counted",
        "bounding/group_choice.py",
        "or not is_sum_only(contributions):",
        "or not is_sum_only(contributions, of_units=True):",
        about="no_parts",
    ),
    _Session(
        "units with unlisted keys are in all of their groups",
        "emit/release/group_limit.py",
        "            if not limited.contributions.unlisted_keys:\n                return None",
        "            return None",
        about="unlisted",
    ),
    _Session(
        "a group of one unit's rows is hidden as if it had one",
        "release/key_threshold.py",
        "return [(sensitivity.groups * units, sensitivity.per_group[index])]",
        "return [(sensitivity.groups * units, units)]",
        about="unlisted",
    ),
    _Session(
        "units with unlisted keys are in as many groups as they fill",
        "analysis/stability.py",
        "        case ByNorm(cells=cells):\n            return cells",
        "        case ByNorm(groups=cells):\n            return cells",
        about="unlisted",
    ),
    _Session(
        "a sum with a cap is scaled by a norm of its rows",
        "bounding/group_choice.py",
        "if any(isinstance(s.term, CappedSum) for s in contributions.statistics):",
        "if not contributions.keys:",
        about="with_a_cap_are_drawn",
    ),
    _Session(
        "a cap is in as few groups as a norm of rows has",
        "analysis/capped_sums.py",
        "may reach the cap in each.\n            return groups",
        "may reach the cap in each.\n            return getattr(limited.limit, 'groups', groups)",
        about="bound_a_sum_with_a_cap",
    ),
    _Session(
        "noise that is drawn together for integers is added to parts of them",
        "release/joint_noise.py",
        "        return  # moves are of integers, and the engine's are parts of them",
        "        pass",
        about="by_itself",
    ),
    _Session(
        "noise with a shared part for integers is added to parts of them",
        "release/joint_noise.py",
        "        return False  # intervals are of integers, and the engine's are parts of them",
        "        pass",
        about="by_itself",
    ),
    _Noise(
        "what is rounded has tails as if it weren't",
        "privacy/mechanisms/noise/rounded.py",
        "math.ceil(Fraction((2 * whole - 1) * self.parts, 2))",
        "whole * self.parts",
        about="tails",
    ),
    Mutant(
        "a unit within limits counts for a part of it where rows are summed without units",
        "emit/release/limited_sums.py",
        "whole = whole_in_parts(terms.statistics, limited.limit)",
        "whole = [column_ref(total_name(n)) for n, _ in enumerate(terms.statistics)]",
        tests="tests/neighbor_search/test_sidecar_bounds_hold.py",
        about="fit_the_norm",
    ),
    Mutant(
        "units of many rows in all groups are within the norm",
        "physical/sidecar_rows.py",
        "in_all = self.limited.limit.groups * rows",
        "in_all = None",
        tests="tests/neighbor_search/test_sidecar_bounds_hold.py",
        about="fit_the_norm",
    ),
)
