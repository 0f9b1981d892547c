"""Makes the strategies of this folder and the generators of the benchmarks importable, and says how much is tried."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

_ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(_ROOT / "tests" / "spec"), str(_ROOT / "benchmarks")]

#: ``COHORTIUM_EXAMPLES=5000 pytest tests/generative`` is a long run.
settings.register_profile(
    "cohortium",
    max_examples=int(os.environ.get("COHORTIUM_EXAMPLES", "40")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("cohortium")
