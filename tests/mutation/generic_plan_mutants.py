"""Seeded bugs of plans that several statements or analysts share, by which one is read as another.

Each is found by the test of what it breaks.
"""

from __future__ import annotations

from functools import partial

from mutation.mutants import Mutant

_Generic = partial(Mutant, fails_by="AssertionError|assert |DID NOT RAISE|Failed:")

_GENERIC = "tests/session/test_generic_plans.py"
_HOSTILE = "tests/session/test_hostile_constants.py"
_SHARED = "tests/session/test_shared_parts.py"
_EDITIONS = "tests/session/test_editions.py"
_PROOFS = "tests/session/test_release_proofs.py"
_KNOWN = "tests/pgwire/test_wire_known_shape.py"

GENERIC_PLAN_MUTANTS = (
    _Generic(
        "all constants of a parsed text are the first",
        "emit/dialect/duckdb/parameter.py",
        "return ParameterizedSql(self._sql, tuple(literals[n].value for n in self._numbers))",
        "return ParameterizedSql(self._sql, tuple(literals[0].value for n in self._numbers))",
        _GENERIC,
        "generated_statements",
        fails_by="ConversionException|AssertionError",
    ),
    _Generic(
        "a column that is also summed is compared with a parameter",
        "session/compile/generic/parameters.py",
        "if number is not None and read[number] == times",
        "if number is not None and read[number] >= times",
        _GENERIC,
        "reads_its_column",
    ),
    _Generic(
        "a shape of many words is taken for one that nests nowhere",
        "session/compile/generic/statement_shapes.py",
        "(self.generic, values), len(words) <= MAX_WORDS)",
        "(self.generic, values), True)",
        _KNOWN,
        "long_one",
    ),
    _Generic(
        "digits of a statement of a known shape are taken for proved",
        "pgwire/statement_errors/overflow.py",
        "self.check(generic)",
        "pass",
        _KNOWN,
        "whatever_its_constants",
    ),
    _Generic(
        "other words of a text aren't compared",
        "session/compile/generic/statement_shapes.py",
        "if known is not None and known != word.text:",
        "if False:",
        _GENERIC,
        "met_twice",
    ),
    _Generic(
        "a decimal's digits are any",
        "session/compile/generic/constant_words.py",
        "if self.digits is not None and self.digits != _digits(word.text):",
        "if False:",
        _GENERIC,
        "met_twice",
    ),
    _Generic(
        "a constant is read where a call computes another of it",
        "session/compile/generic/compared_words.py",
        "if index is not None and operand is not None and _is_conjunct(operand):",
        "if index is not None and operand is not None:",
        _HOSTILE,
    ),
    _Generic(
        "a day that is written has hours",
        "session/compile/generic/constant_words.py",
        "if named is not None and named != literal.type:",
        "if False:",
        _HOSTILE,
    ),
    _Generic(
        "whole numbers of more than 32 bits are read as those of 32",
        "session/compile/generic/constant_words.py",
        '_PARTS: Final = re.compile(rf"({_WHOLE.pattern})(?:',
        '_PARTS: Final = re.compile(rf"([0-9]{{1,12}})(?:',
        _HOSTILE,
    ),
    _Generic(
        "errors are where another text of the shape has them",
        "session/compile/generic/instantiation.py",
        "return lambda _, values: values.spans.get(value, value)",
        "return None",
        _HOSTILE,
    ),
    _Generic(
        "releases that ask for the same by chance are charged as two",
        "session/compile/generic/generic_plans.py",
        "if len({release.key for release in releases}) < len(releases):",
        "if False:",
        _HOSTILE,
    ),
    _Generic(
        "a union reads no column",
        "session/compile/generic/parameters.py",
        "read.update(column.id for column in _read_in_order(part))",
        "read.update(())",
        _HOSTILE,
    ),
    _Generic(
        "a sum of a column means the same whatever constant the column is made with",
        "session/digest/shared_parts.py",
        "known.value is value and known.columns == self._columns",
        "known.value is value",
        _SHARED,
    ),
    _Generic(
        "a scan is the leaf that it was in another release",
        "session/digest/shared_parts.py",
        "if self._plans == plans and type(value) not in _SCALARS:",
        "if type(value) not in _SCALARS:",
        _SHARED,
    ),
    _Generic(
        "an analyst's plan has the keys of the one that all share",
        "session/compile/generic/edition.py",
        "if compiled.version == edition:",
        "if compiled.version in {edition, compiled.version}:",
        _EDITIONS,
        "drawn_for_another",
    ),
    _Generic(
        "what is computed on an analyst's answers has the key of others'",
        "session/compile/generic/edition.py",
        "if releases_read(release.release):",
        "if releases_read(release.release) and not keys:",
        _EDITIONS,
        "another_edition",
    ),
    _Generic(
        "an analyst's plan is of an edition that nobody has",
        "session/compile/generic/edition.py",
        "        version=edition,\n",
        "        version=compiled.version,\n",
        _EDITIONS,
        "another_edition",
    ),
    _Generic(
        "levels that add up are those of another analyst",
        "session/compile/generic/edition.py",
        "consistency(releases, compiled.options.answer)",
        "compiled.consistency",
        _EDITIONS,
        "levels",
    ),
    _Generic(
        "a plan over a kept table is that of all who name it",
        "session/compile/plan_cache.py",
        "RememberedPlans(clock, size, names_no_saved_table)",
        "RememberedPlans(clock, size, bool)",
        _EDITIONS,
        "kept_table",
    ),
    _Generic(
        "a proof for one ε is that for all",
        "session/compile/compile.py",
        "context.plans.proved.get(key, proved), own",
        "context.plans.proved.get(sql, proved), own",
        _EDITIONS,
        "other_options",
    ),
    _Generic(
        "what is proved within some limits holds within all",
        "session/compile/release_compiler.py",
        "self.proofs.bounded((release, limits, shown, table_kind), bound)",
        "self.proofs.bounded((release, shown, table_kind), bound)",
        _PROOFS,
        "differs and limits",
    ),
    _Generic(
        "what is shown of few units is shown of all groups",
        "session/compile/release_compiler.py",
        "self.proofs.bounded((release, limits, shown, table_kind), bound)",
        "self.proofs.bounded((release, limits, table_kind), bound)",
        _PROOFS,
        "differs and shown",
    ),
    _Generic(
        "tables that are read are called as by the statement that was planned first",
        "session/compile/release_compiler.py",
        "read = tuple(self.names[other] for other in self._reads(release))",
        "read = ()",
        _PROOFS,
        "statement_calls_them",
    ),
    _Generic(
        "a plan is trimmed as the one was that was trimmed first",
        "session/compile/proofs/release_proofs.py",
        "known = self._derived.get(key)\n",
        "known = next((v for k, v in self._derived._values.items() if k[1] is derive), None)\n"
        "        part = part if known is None else known[0]\n",
        _PROOFS,
        "whatever_was_proved_before",
    ),
    _Generic(
        "what follows of a part of a plan is what followed of it and of other arguments",
        "session/compile/proofs/release_proofs.py",
        "key = id(part), derive, arguments",
        "key = id(part), derive",
        _PROOFS,
        "for_each_function",
    ),
    _Generic(
        "a key that rows choose is chosen by units at another loss",
        "release/calibration.py",
        "if error <= min(one.error(bounded, sensitivity) for one in candidates):",
        "if error > min(one.error(bounded, sensitivity) for one in candidates):",
        "tests/release/test_calibration.py",
        "least_of_all_candidates",
    ),
    _Generic(
        "rows of a kept table are in the proofs of who hasn't paid for them",
        "session/compile/release_compiler.py",
        "if self._saved_tables(release):\n            return bound()",
        "if not release:\n            return bound()",
        _PROOFS,
        "kept_table",
    ),
)
