"""An index beside the vectors that it is of: HNSW takes minutes to build, so a second run reads what the first made."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

from ....ingest.models.optional import versions
from ....kb.files.whole_files import write_private
from .encoders import Vectors
from .nearest import IndexSettings, VectorIndex

_FOLDER: Final = "index"
#: Raised when settings that are not given come to mean something else while building.
_FORM: Final = 1


def kept_index(folder: Path, vectors: Vectors, settings: IndexSettings | None = None) -> VectorIndex:
    """The index of ``vectors``, read from ``folder`` when one of the same vectors, settings and version of FAISS is
    there, built and written there otherwise (0600). Flat indexes are not written: building one is a copy."""
    settings = settings or IndexSettings()
    if settings.kind == "flat":
        return VectorIndex(vectors, settings)
    total = hashlib.sha256(json.dumps([_FORM, asdict(settings), versions("faiss-cpu", "faiss-gpu")]).encode())
    total.update(f"{vectors.shape}".encode())
    total.update(vectors.tobytes())
    home = Path(folder) / _FOLDER
    path, cost_file = home / f"{total.hexdigest()}.faiss", home / f"{total.hexdigest()}.json"
    if path.is_file() and cost_file.is_file():
        return VectorIndex(vectors, settings, built=(path.read_bytes(), json.loads(cost_file.read_bytes())["seconds"]))
    index = VectorIndex(vectors, settings)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(path, index.serialized())
    write_private(cost_file, json.dumps({"seconds": index.seconds}).encode())
    return index
