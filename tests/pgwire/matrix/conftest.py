"""The two servers, which the folder's tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pgwire.matrix.two_servers import Servers, both


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with both(tmp_path_factory.mktemp("matrix")) as running:
        yield running
