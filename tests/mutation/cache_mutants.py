"""Seeded bugs of what is remembered: what decides its meaning is left out of a key, or ignored.

Each is found by the test of what it breaks.
"""

from __future__ import annotations

from functools import partial

from mutation.mutants import Mutant

_Cache = partial(Mutant, fails_by="AssertionError|assert |DID NOT RAISE|Failed:")

_SHAPES = "tests/pgwire/test_wire_shapes.py"
_READING = "tests/pgwire/test_wire_reading.py"
_SHARING = "tests/pgwire/test_wire_sharing.py"
_REPEATED = "tests/pgwire/test_wire_repeated.py"
_EDITIONS = "tests/session/test_editions.py"

CACHE_MUTANTS = (
    _Cache(
        "a translation stays what it was when a kept table is replaced",
        "pgwire/sql/query_reader.py",
        "return known.saved is None or known.saved == self._saved.entries()",
        "return known is not None",
        _READING,
        "kept",
    ),
    _Cache(
        "a kept table's columns give no type to a parameter",
        "pgwire/sql/query_reader.py",
        "is_fixed = not oids and self._names_declared(tree)",
        "is_fixed = self._names_declared(tree)",
        _READING,
        "parameter_its_type",
    ),
    _Cache(
        "the declared types of parameters are no part of a text",
        "pgwire/sql/translation_cache.py",
        "known = self._read.get((written, types))",
        "known = next((v for (w, _), v in self._read.items() if w == written), None)",
        _READING,
        "declared_types",
    ),
    _Cache(
        "a text with a blank at its end is none of its shape",
        "pgwire/sql/statement_shape.py",
        r"'[\w .:+/@-]* [\w.:+/@-]'",
        r"'[\w .:+/@-]*'",
        _SHAPES,
        "constant_changes",
    ),
    _Cache(
        "a shape is read as its constants aren't",
        "pgwire/sql/query_reader.py",
        "if alike.parsed is not None and outcome ==",
        "if alike.parsed is not None or outcome ==",
        _SHAPES,
        "constant_changes",
    ),
    _Cache(
        "a statement has the tree of another of its shape",
        "pgwire/sql/translate.py",
        "if self.is_of_shape:",
        "if self.is_of_shape and self.traits is None:",
        _SHAPES,
        "constant_changes",
    ),
    _Cache(
        "who waits for a text to be read reads it again",
        "pgwire/sql/query_reader.py",
        "return self._parsed(written, types, shape) if known is None else known",
        "return self._parsed(written, types, shape)",
        "tests/pgwire/test_wire_interpreter.py",
        "translated_once",
    ),
    _Cache(
        "a refusal is remembered",
        "pgwire/sql/translation_cache.py",
        "if read.query.refused is not None or len(written)",
        "if len(written)",
        _READING,
        "not_remembered",
    ),
    _Cache(
        "all uses of a text have one tree",
        "pgwire/sql/translate.py",
        "return parsed if parsed is None or self.traits is None else parsed.copy()",
        "return parsed",
        _READING,
        "tree_of_its_own",
    ),
    _Cache(
        "who is given a shared answer isn't asked for it",
        "session/answer/answer_cache.py",
        "if list(view(list(entry.stored))) != list(entry.stored.values()):",
        "if not view or not entry.stored:",
        _SHARING,
        "own_cap",
    ),
    _Cache(
        "what reads kept tables is bound once",
        "session/run/statement_cache.py",
        "return not (statement.reads_clock or is_whole or statement.names_release)",
        "return not (statement.reads_clock or is_whole)",
        _SHARING,
        "bound_each_time",
    ),
    _Cache(
        "a plan that reads no row of a kept table is that of all who name it",
        "bind/from_clause/table.py",
        "context.named_releases.append(table)",
        "context.named_releases.clear()",
        _EDITIONS,
        "of_no_rows",
    ),
    _Cache(
        "what reads the clock is bound once",
        "session/run/statement_cache.py",
        "return not (statement.reads_clock or is_whole",
        "return not (is_whole",
        _SHARING,
        "bound_each_time",
    ),
    _Cache(
        "a bound statement holds for any parameter",
        "session/run/statement_cache.py",
        "return sql, tuple(sorted(parameters.items()))",
        "return sql, tuple(sorted(parameters))",
        _SHARING,
        "bind_a_statement_once",
    ),
    _Cache(
        "digits are proved of no statement",
        "pgwire/query_service.py",
        "self._session.inspect = self._check_answer",
        "self._session.inspect = lambda _: None",
        _SHARING,
        "digit_too_many",
    ),
    _Cache(
        "a session forgets plans of a batch that it hasn't read",
        "session/context.py",
        "max(MAX_DASHBOARDS, len(dashboards))",
        "MAX_DASHBOARDS",
        "tests/session/test_batch_family.py",
        "forgotten",
    ),
    _Cache(
        "what an analyst was sent is sent to all others",
        "pgwire/query_service.py",
        "key = (self.analyst, self._options, id(query), manner)",
        "key = (self._options, id(query), manner)",
        _REPEATED,
        "another_analyst",
    ),
    _Cache(
        "what was sent at one setting is sent at all others",
        "pgwire/query_service.py",
        "key = (self.analyst, self._options, id(query), manner)",
        "key = (self.analyst, id(query), manner)",
        _REPEATED,
        "time_of_each_question",
    ),
    _Cache(
        "a setting whose name is quoted is another one",
        "pgwire/executor.py",
        "name = command.name.casefold()  #",
        "name = command.name  #",
        _REPEATED,
        "one_value",
    ),
    _Cache(
        "what was sent in one format is sent in all others",
        "pgwire/query_service.py",
        "key = (self.analyst, self._options, id(query), manner)",
        "key = (self.analyst, self._options, id(query))",
        _REPEATED,
        "columns_and_formats",
    ),
    _Cache(
        "an answer with numbered rows is finished by the text of one without",
        "session/run/finishing/finishing_text.py",
        "and _are_same(_plans(compiled), self._plans)",
        "and True",
        "tests/session/test_finishing_texts.py",
        "numbers",
    ),
    _Cache(
        "public tables are copied as all pairs of their rows",
        "session/run/finishing/public_tables.py",
        "and row_bound(part, lambda _: _EACH) <= _EACH",
        "and True",
        "tests/session/test_copied.py",
        "left_out",
    ),
    _Cache(
        "each row of an outer join meets one of the other side, whatever they are joined by",
        "session/run/finishing/row_bound.py",
        "return min(1, rows) if is_one else rows",
        "return min(1, rows)",
        "tests/session/test_row_bound.py",
        "no_plan_has",
    ),
    _Cache(
        "released rows stay on a cursor that waits for another statement",
        "engine/duckdb/statement.py",
        "cursor.empty()",
        "pass",
        "tests/engine/test_cursors.py",
        "let_go_of",
    ),
    _Cache(
        "long lists of as many keys are one",
        "plan/bounded_release/cell_list.py",
        "self.cells is other.cells",
        "len(self.cells) == len(other.cells)",
        "tests/release/test_long_lists.py",
        "list",
    ),
    _Cache(
        "of two who change users at once one is forgotten",
        "pgwire/login/users.py",
        'with alone(path.with_name(f".{path.name}.lock"), lambda: time.sleep(_WAIT_SECONDS)):',
        "if alone:",
        "tests/pgwire/test_users_file.py",
        "at_once",
    ),
)
