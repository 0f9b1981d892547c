"""Where the checkout, the sample notes and the open corpora beside the checkout lie, for all tests and benchmarks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = ROOT / "docs"
#: The shipped sample notes, and the abstractions that belong to them.
SAMPLES: Final = ROOT / "ingest" / "samples" / "notes.jsonl"
ABSTRACTIONS: Final = ROOT / "ingest" / "samples" / "abstraction.jsonl"
#: The invented notes with annotations in the form of CORAL.
CORAL_SAMPLES: Final = ROOT / "eval" / "samples" / "coral"
#: The folder with open corpora, which are no part of the checkout and may be absent.
SHARED: Final = Path(os.environ.get("COHORTIUM_SHARED") or ROOT.parent / "shared")
