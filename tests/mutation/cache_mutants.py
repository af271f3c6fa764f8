"""Seeded bugs of what is remembered: what decides its meaning is left out of a key, or ignored.

Each is found by the test of what it breaks.
"""

from __future__ import annotations

from functools import partial

from mutation.mutants import Mutant

_Cache = partial(Mutant, fails_by="AssertionError|assert |DID NOT RAISE|Failed:")

_SHAPES = "tests/pgwire/test_wire_shapes.py"
_READING = "tests/pgwire/test_wire_reading.py"
_NEW_DATA = "tests/pgwire/test_wire_new_data.py"
_CHANGED = "tests/session/test_changed_meanwhile.py"
_SHARING = "tests/pgwire/test_wire_sharing.py"
_REPEATED = "tests/pgwire/test_wire_repeated.py"

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
        "return not (statement.reads_clock or is_whole or saved_tables(plan))",
        "return not (statement.reads_clock or is_whole)",
        _SHARING,
        "bound_each_time",
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
        "a statement that is bound again is asked of the schema that it was prepared under",
        "pgwire/message_handler.py",
        "self._running.renew()\n                statement",
        "statement",
        "tests/pgwire/test_wire_immediate.py",
        "bound_again",
    ),
    _Cache(
        "a statement that waited is run over whatever files there are then",
        "pgwire/workers/remote_engine.py",
        "return files <= {None, identity(self._source)}",
        "return bool(files)",
        _NEW_DATA,
        "data_that_change",
    ),
    _Cache(
        "a worker runs a statement that was compiled for other files",
        "pgwire/workers/worker.py",
        "if any(step.files not in {None, files} for",
        "if any(step.files not in {None, files, step.files} for",
        _NEW_DATA,
        "data_that_change",
    ),
    _Cache(
        "an answer is stored under the version of the data before those that it was compiled for",
        "session/compile/compile.py",
        "if compiler.edition.files != source.files:",
        "if not compiler.sql:",
        _NEW_DATA,
        "stored_under_the_version",
    ),
    _Cache(
        "beside a new sidecar, a session opens whatever data there are",
        "session/run/execution.py",
        "before.ping()",
        "pass",
        _CHANGED,
        "although_a_file",
    ),
    _Cache(
        "an engine has a sidecar of the data before",
        "session/sidecar.py",
        "if identity(source) != before:",
        "if not before:",
        _CHANGED,
        "no_engine_has",
    ),
    _Cache(
        "a file whose writer says that it is old hasn't changed",
        "engine/fingerprint.py",
        "status.st_ctime_ns",
        "0",
        "tests/engine/test_fingerprint.py",
        "an_engine_refuses",
    ),
    _Cache(
        "a kept table is of the data that there are once it was made",
        "session/session.py",
        "about = metadata(wanted, answer, self.schema, version, law=law)",
        "about = metadata(wanted, answer, self.schema, self.version, law=law)",
        _NEW_DATA,
        "dashboard_of_data",
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
        "what was sent stays what it was when the ledger has other charges",
        "pgwire/shared_dataset.py",
        "return minute, data, self._watch.version()",
        "return minute, data, 0",
        _REPEATED,
        "whoever_commits",
    ),
    _Cache(
        "what was sent stays what it was when the data change",
        "pgwire/shared_dataset.py",
        "return minute, data, self._watch.version()",
        "return minute, None, self._watch.version()",
        _REPEATED,
        "other_data",
    ),
    _Cache(
        "what was sent stays what it was when the minute is over",
        "pgwire/shared_dataset.py",
        "minute = int(time.time()) // 60",
        "minute = 0",
        _REPEATED,
        "minute",
    ),
)
