"""The folder of the recogniser that ships with Cohortium; it holds data, and imports nothing."""

from __future__ import annotations

from pathlib import Path

#: A model directory, as ``cohortium.ingest.models.tagging.model_directory`` reads one.
SHIPPED = Path(__file__).parent / "shipped"
