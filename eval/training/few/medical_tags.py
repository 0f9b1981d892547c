"""Case reports of MACCROBAT with the tags of Real-MedNLP, by the map ``corpora/maps/maccrobat_mednlp.toml``.

The map needs more than an entity's type: whether a test has a value (a relation), and the polarity of an entity (an
attribute). So the annotation files are read here, and not by the reader of entities alone.
"""

from __future__ import annotations

import bisect
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from ....ingest.coral_schema.standoff import Event, Standoff, load
from ....ingest.models.tagging.words import word_spans
from ....kb.errors import CohortiumError, UsageError
from ...extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan, Unread

_MAP: Final = Path(__file__).parents[2] / "extraction" / "corpora" / "maps" / "maccrobat_mednlp.toml"
_MODIFIES: Final = "MODIFY"
_POLARITY: Final = "POLARITY"
_TIME: Final = "timex3"
#: Between tag and modality, as in the BIO tags that ``eval mednlp`` reads.
JOINT: Final = "_"


@cache
def tag_map() -> Mapping[str, Any]:
    """``labels``: type → tag; ``modified_by``: type → modifying type → tag; ``modality``: tag → polarity → modality;
    ``kinds``: type → modality of a timex3; ``reader``: label of our own reader → tag; ``left_out``: type → reason."""
    return tomllib.loads(_MAP.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class TaggedReports:
    """The reports, and the types that the map does not know, counted (nobody has decided what they are)."""

    corpus: AnnotatedCorpus
    unknown_types: Counter[str] = field(default_factory=Counter)


def read_tagged(folder: Path, *, modality: bool = False) -> TaggedReports:
    """The reports of a folder of ``.txt`` and ``.ann`` files, labelled by tag: ``d``, or with modality ``d_negative``.

    An entity of several fragments becomes one span, from its first letter to its last. A file that cannot be read is
    left out and told. UsageError when there is none that can.
    """
    documents: list[AnnotatedDocument] = []
    problems: list[Unread] = []
    unknown: Counter[str] = Counter()
    for place in sorted(folder.glob("*.ann")):
        try:
            annotations = load(place)
        except CohortiumError as error:
            problems.append(Unread(place.name, str(error).rpartition(": ")[2]))
            continue
        if annotations.text is None:
            problems.append(Unread(place.name, "no text beside it"))
            continue
        documents.append(_document(place.stem, annotations, modality, unknown))
    if not documents:
        shown = f" ({problems[0].place}: {problems[0].reason})" if problems else ""
        raise UsageError(f"no annotated report in '{folder}'{shown}. Hint: a folder of .txt and .ann files")
    corpus = AnnotatedCorpus("MACCROBAT", tuple(documents), str(folder), "CC BY 4.0", tuple(problems))
    return TaggedReports(corpus, unknown)


def _document(id: str, annotations: Standoff, modality: bool, unknown: Counter[str]) -> AnnotatedDocument:
    text = annotations.text or ""
    triggers = {event.id: event.trigger for event in annotations.lines_of(Event)}
    types = {entity.id: entity.type for entity in annotations.entities}
    modifiers: dict[str, set[str]] = defaultdict(set)
    for relation in annotations.relations:
        if relation.type == _MODIFIES and len(relation.arguments) == 2:
            one, other = (triggers.get(id, id) for _, id in relation.arguments)
            modifiers[other].add(types.get(one, ""))
    polarity = {
        triggers.get(one.target, one.target): one.value for one in annotations.attributes if one.name == _POLARITY
    }
    spans = set()
    for entity in annotations.entities:
        if entity.type not in tag_map()["labels"] and entity.type not in tag_map()["left_out"]:
            unknown[entity.type] += 1
        label = tag_of(entity.type, modifiers[entity.id])
        if label and modality:
            label = _joint(label, modality_of(label, entity.type, polarity.get(entity.id, "")))
        if label and text[entity.start : entity.end].strip():
            spans.add(LabelledSpan(entity.start, entity.end, label))
    words = tuple(word_spans(text))
    starts = [start for start, _ in words]
    lines = {bisect.bisect_left(starts, at + 1) for at, letter in enumerate(text) if letter == "\n"}
    breaks = tuple(sorted(number for number in lines if 0 < number < len(words)))
    return AnnotatedDocument(id, text, words, tuple(sorted(spans)), breaks)


def tag_of(type: str, modified_by: set[str]) -> str:
    """The tag of an entity, given the types of what modifies it; empty for one that has none."""
    for modifier, tag in tag_map()["modified_by"].get(type, {}).items():
        if modifier in modified_by:
            return str(tag)
    return str(tag_map()["labels"].get(type, ""))


def modality_of(tag: str, type: str, polarity: str) -> str:
    """The modality of an entity of a tag; empty for a tag that has none, or a polarity that the map does not know."""
    if tag == _TIME:
        return str(tag_map()["kinds"].get(type, ""))
    return str(tag_map()["modality"].get(tag, {}).get(polarity, ""))


def _joint(tag: str, modality: str) -> str:
    return f"{tag}{JOINT}{modality}" if modality else tag
