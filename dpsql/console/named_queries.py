"""Queries that are kept under names, for the next time: in a file that only their user may read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from dpsql.errors import BadParameter
from dpsql.report.terminal.sanitize import sanitize


class NamedQueries:
    """The queries in the file `path`, which is read anew each time: another console may write."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> Mapping[str, str]:
        """The queries by their names, in the order in which they were named; {} without a file."""
        try:
            queries = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(queries, dict):
            return {}
        return {str(name): str(query) for name, query in queries.items()}

    def query(self, name: str) -> str:
        """The query that is called `name`; BadParameter if none is."""
        known = self.all()
        if name not in known:
            raise BadParameter(f"no query is called {sanitize(name)}", hint=r"\n lists them")
        return known[name]

    def save(self, name: str, query: str) -> None:
        """Call `query` by `name`, in place of what had that name."""
        self._write({**self.all(), name: query})

    def delete(self, name: str) -> None:
        """Forget the query that is called `name`; BadParameter if none is."""
        self.query(name)
        self._write({known: query for known, query in self.all().items() if known != name})

    def _write(self, queries: Mapping[str, str]) -> None:
        draft = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(draft, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
                json.dump(queries, file, indent=1)
            draft.replace(self._path)
        except OSError:
            raise BadParameter(
                f"{sanitize(str(self._path))} can't be written", hint="see to its permissions"
            ) from None
