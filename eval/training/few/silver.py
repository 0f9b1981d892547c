"""Silver labels: the mentions of our own reader of notes, as a corpus that annotates nothing throughout.

What the reader finds is mostly right; what it does not find may still be there. So each of its mentions is an entity to
learn from, and of every other word nothing is said.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from ....ingest.note.read import read_text
from ....kb.errors import UsageError
from ...extraction.corpora.assembling import of_text
from ...extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan
from ...extraction.corpora.label_maps import kinds
from ...extraction.corpora.sources import content_of
from ..examples import TrainingPart

#: A kind of mention that several types may become is the type named first here.
_FIRST: Final = ("disease", "medication", "procedure", "symptom")


def types_of_kinds() -> dict[str, str]:
    """Kind of mention to type, as ``kinds.toml`` says it the other way round."""
    found: dict[str, str] = {}
    for name in _FIRST:
        for kind in kinds()["kinds"][name]["becomes"]:
            found.setdefault(kind, name)
    return found


def silver_part(path: Path) -> TrainingPart:
    """Notes (JSON lines with ``text``, and ``patient_id``, ``doc_id`` where there are) with our reader's mentions.

    UsageError when the file cannot be read or holds no text.
    """
    content = content_of(path)
    types = types_of_kinds()
    documents: list[AnnotatedDocument] = []
    for number, line in enumerate(content.text.splitlines(), 1):
        try:
            row = json.loads(line) if line.strip() else {}
        except ValueError as error:
            raise UsageError(f"line {number} of '{path}' is no JSON. Hint: notes as 'ingest' takes them") from error
        text = row.get("text") if isinstance(row, dict) else None
        if not isinstance(text, str):
            continue
        spans = {
            LabelledSpan(one.start, one.end, types[one.kind])
            for one in read_text(text, type=str(row.get("type") or ""), title=str(row.get("title") or "")).mentions
            if one.kind in types
        }
        patient = str(row.get("patient_id") or "")
        id = f"{patient}/{row.get('doc_id') or number}"
        documents.append(of_text(id, text, sorted(spans), group=patient))
    if not documents:
        raise UsageError(f"no texts in '{path}'. Hint: JSON lines with a key 'text'")
    corpus = AnnotatedCorpus(f"{path.stem}, silver", tuple(documents), source=str(path), files=(content.file,))
    return TrainingPart(corpus, frozenset())
