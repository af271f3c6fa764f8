"""Superset's REST interface, as far as it is used here."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Self


class Failed(Exception):
    """Superset answered with an error."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"{status}: {body[:2000]}")
        self.status = status
        self.body = body


@dataclass(frozen=True, slots=True)
class Superset:
    """A Superset that one has logged in to."""

    url: str
    token: str = field(default="", repr=False)

    def log_in(self, user: str, password: str) -> Self:
        given = {"username": user, "password": password, "provider": "db", "refresh": False}
        return type(self)(self.url, self.post("security/login", given)["access_token"])

    def get(self, path: str) -> Any:
        return self._ask("GET", path, None)

    def post(self, path: str, body: Any) -> Any:
        return self._ask("POST", path, body)

    def put(self, path: str, body: Any) -> Any:
        return self._ask("PUT", path, body)

    def delete(self, path: str) -> None:
        self._ask("DELETE", path, None)

    def remove_all(self, kind: str) -> None:
        """Delete all charts, dashboards, datasets or databases of a run before."""
        for one in self.get(f"{kind}/?q=(page_size:100)")["result"]:
            self.delete(f"{kind}/{one['id']}")

    def _ask(self, method: str, path: str, body: Any) -> Any:
        request = urllib.request.Request(  # noqa: S310 - an address of ours
            f"{self.url}/api/v1/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as found:  # noqa: S310 - see above
                return json.load(found)
        except urllib.error.HTTPError as error:
            raise Failed(error.code, error.read().decode()) from None
