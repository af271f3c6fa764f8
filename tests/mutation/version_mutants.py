"""Seeded bugs of what changes meanwhile: data, schemas and ledgers are taken for what they were.

Each is found by the test of what it breaks.
"""

from __future__ import annotations

from functools import partial

from mutation.mutants import Mutant

_Cache = partial(Mutant, fails_by="AssertionError|assert |DID NOT RAISE|Failed:")

_NEW_DATA = "tests/pgwire/test_wire_new_data.py"
_RELOAD = "tests/pgwire/test_wire_reload.py"
_CHANGED = "tests/session/test_changed_meanwhile.py"
_REPEATED = "tests/pgwire/test_wire_repeated.py"

VERSION_MUTANTS = (
    _Cache(
        "a statement that is bound again is asked of the schema that it was prepared under",
        "pgwire/message_handler.py",
        "self._running.renew()\n                statement",
        "statement",
        "tests/pgwire/test_wire_immediate.py",
        "bound_again",
    ),
    _Cache(
        "a transaction keeps the schema that it began with",
        "pgwire/prepared_queries.py",
        "self._service.reload()",
        'if self._settings.status == "I":\n            self._service.reload()',
        _RELOAD,
        "open_transaction",
    ),
    _Cache(
        "a portal keeps the schema that it was bound under",
        "pgwire/message_handler.py",
        "self._running.renew()  # it may",
        "pass  # it may",
        _RELOAD,
        "bound_before",
    ),
    _Cache(
        "a tightened schema that couldn't be read once is never read",
        "pgwire/shared_dataset.py",
        "time.monotonic() - at >= _RETRY_SECONDS",
        "at < 0",
        _RELOAD,
        "for_a_moment",
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
    _Cache(
        "public rows that answers are finished with are those of older files",
        "session/run/finishing/finishing_copies.py",
        "self._copies.get(sql) if before == self._files else None",
        "self._copies.get(sql)",
        "tests/session/test_finishing_copies.py",
        "files",
    ),
    _Cache(
        "public rows that were read while files changed are kept",
        "session/run/finishing/finishing_copies.py",
        "if files() == before:",
        "if before:",
        "tests/session/test_finishing_copies.py",
        "files_changed",
    ),
)
