"""The index against the rows: made again from the tables, and compared byte by byte."""

from __future__ import annotations

import filecmp
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..index.build import build_index
from ..ontology.stored_ontology import concepts_from
from ..storage.layout import INDEX
from .looked_at import LookedAt
from .rules import REPAIR, Faults, Rule


def index_rules() -> tuple[Rule, ...]:
    """The one rule."""
    return (
        Rule("index", "index", "files of the index that differ from what the tables make", _index, REPAIR, slow=True),
    )


def _index(looked_at: LookedAt) -> Iterator[Faults]:
    held = looked_at.folder / INDEX
    # Whom it lists is nobody else's to know: a folder of the owner alone, gone afterwards.
    with tempfile.TemporaryDirectory(prefix="cohortium-check-") as name:
        made = Path(name) / INDEX
        made.mkdir()
        build_index(looked_at.database, made, concepts_from(looked_at.rows))
        for file in sorted(_files(made) | _files(held)):
            if not _same(held / file, made / file):
                yield Faults(1, f"{INDEX}/{file}")


def _same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
