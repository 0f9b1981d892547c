"""How much is tried: a part of it in ``make test``, all of it in ``make test-all`` (``COHORTIUM_TESTS=all``)."""

from __future__ import annotations

import os
from typing import Final

ALL: Final = os.environ.get("COHORTIUM_TESTS") == "all"
#: Fewer than these tell too little.
LEAST: Final = 10


def examples(number: int, share: int = 4) -> int:
    """This number, or one ``share`` of it where not all is tried. ``COHORTIUM_EXAMPLES=5000`` makes a long run."""
    if asked := os.environ.get("COHORTIUM_EXAMPLES"):
        return int(asked)
    return number if ALL else min(number, max(LEAST, number // share))
