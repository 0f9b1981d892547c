"""How much is tried of what is generated."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

#: ``COHORTIUM_EXAMPLES=5000 pytest tests/generated`` is a long run.
settings.register_profile(
    "cohortium",
    max_examples=int(os.environ.get("COHORTIUM_EXAMPLES", "40")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("cohortium")
