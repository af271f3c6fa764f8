"""A server that several tests share: they may spend, not break."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pgwire.shop import Served, served


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("shop")) as found:
        yield found
