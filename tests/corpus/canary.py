"""A tiny database of a schema with a unique text in every private text cell."""

from __future__ import annotations

import re
from itertools import count

from grammar.public_rows import PUBLIC
from grammar.worlds import Row, Rows

CANARY = re.compile("zq7cell")

ROWS = 12
