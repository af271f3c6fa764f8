from __future__ import annotations

from pathlib import Path

import pytest
from ledger.ledger_world import Place, place_in


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return place_in(tmp_path)
