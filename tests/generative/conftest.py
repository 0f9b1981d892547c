"""Makes the strategy files of this folder importable, and sets how many examples are tried."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "spec")]

#: ``COHORTIUM_EXAMPLES=5000 pytest tests/generative`` is a long run.
settings.register_profile(
    "cohortium",
    max_examples=int(os.environ.get("COHORTIUM_EXAMPLES", "40")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("cohortium")
