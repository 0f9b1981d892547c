"""Clinical abstractions as a corpus: a fact's concept, found in the words that were quoted as its evidence.

A folder holds ``notes.jsonl`` and ``facts.jsonl``. A fact quotes its ``evidence`` from a note that it cites; where the
evidence says the concept in its own words, in words that the ontology has for it, or writes the fact's value, those
words become a span, and the fact's kind its label. Nothing is guessed: a fact whose words cannot be found becomes a
problem, counted with its kind. Notes are only searched where evidence was quoted (``judged``): elsewhere in a note
there may be more of everything. And a quotation was searched for the concept of its fact alone: what another fact says
of it, or none does, stands in it unmarked, so that its other words are not known to be no entity.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from ....kb.errors import UsageError
from ....kb.ontology.concepts import ConceptTable, shipped_concepts
from ....kb.ontology.normal_forms import normal_form, squashed
from .assembling import of_text
from .corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan, Unread
from .sources import content_of, json_rows

NOTES: Final = "notes.jsonl"
FACTS: Final = "facts.jsonl"
#: Kinds of fact of which the value is what a text writes, with the name before it or without.
_OF_VALUE: Final = frozenset({"tnm", "stage_group", "performance_status", "grade"})
#: A name of so few letters is one only as it is spelled; a value without a figure or of one sign is none by itself.
_SHORT_NAME: Final = 3
_NEAR: Final = 4
_WORD: Final = re.compile(r"\w+")
_PROTEIN: Final = re.compile(r"(?<!\w)p\.")
_VARIANT: Final = "genomic_variant"
_DRUG: Final = "medication"
_OF_DRUGS: Final = ("regimen", _DRUG)
_REMARK: Final = re.compile(r"\s*\([^()]*\)")
_PARTS: Final = re.compile(r"\s*(?:\+|/|,|;|\band\b|\bwith\b)\s*")

Place = tuple[int, int]


def looks_like(folder: Path) -> bool:
    """Whether a folder holds notes and an abstraction of them."""
    return all((folder / name).is_file() for name in (NOTES, FACTS))


def read(path: Path, form: str = "") -> AnnotatedCorpus:
    """The corpus of a folder (or of one of its two files): a document a note, a group a patient.

    The label of a span is the fact's kind, but drugs that are written one by one are each ``medication``.
    UsageError when one of the files cannot be read, or no fact has its words in a note.
    """
    folder = path if path.is_dir() else path.parent
    notes, facts = content_of(folder / NOTES), content_of(folder / FACTS)
    problems: list[Unread] = []
    texts: dict[tuple[str, str], str] = {}
    for place, row in json_rows(notes.text, folder / NOTES):
        if row is None or not all(isinstance(row.get(key), str) for key in ("patient_id", "doc_id", "text")):
            problems.append(Unread(f"{NOTES}, {place}", "no patient_id, doc_id and text; left out"))
            continue
        texts.setdefault((row["patient_id"], row["doc_id"]), row["text"])
    finder = _Finder(shipped_concepts())
    spans: dict[tuple[str, str], set[LabelledSpan]] = defaultdict(set)
    judged: dict[tuple[str, str], set[Place]] = defaultdict(set)
    unplaced: dict[tuple[str, str], set[Place]] = defaultdict(set)
    for place, fact, patient in _facts(facts.text, folder / FACTS, problems):
        where = f"{FACTS}, {place}"
        evidence = fact.get("evidence")
        cited = [(patient, str(one)) for one in fact.get("docs") or ()]
        held = [(key, at) for key in cited for at in _places(texts.get(key, ""), evidence)]
        if not held or not isinstance(evidence, str):
            problems.append(Unread(where, "its evidence is in none of the notes that it cites; left out"))
            continue
        found = finder.find(fact, evidence)
        if not found:
            problems.append(Unread(where, "its concept's words are not in its evidence; left out"))
        for key, at in held:
            (judged if found else unplaced)[key].add((at, at + len(evidence)))
            spans[key].update(LabelledSpan(at + start, at + end, label) for start, end, label in found)
    documents = [
        _document(key, text, spans[key], judged[key] - unplaced[key], unplaced[key]) for key, text in texts.items()
    ]
    if not any(one.spans for one in documents):
        raise UsageError(f"no fact of '{folder / FACTS}' has its words in a note. Hint: {NOTES} of the same patients")
    return AnnotatedCorpus(
        folder.resolve().name,
        tuple(documents),
        source=str(path),
        problems=tuple(problems),
        form=form,
        files=(notes.file, facts.file),
    )


def _document(
    key: tuple[str, str], text: str, spans: Iterable[LabelledSpan], judged: Iterable[Place], unplaced: Iterable[Place]
) -> AnnotatedDocument:
    """A note. What one fact could not place is not judged, even where another fact quotes the same words."""
    doubtful = sorted(unplaced)
    kept = [one for one in sorted(judged) if all(one[1] <= start or end <= one[0] for start, end in doubtful)]
    patient, document = key
    made = of_text(document if document.startswith(patient) else f"{patient}/{document}", text, spans, group=patient)
    return AnnotatedDocument(made.id, made.text, made.words, made.spans, made.breaks, patient, tuple(kept))


def _facts(text: str, path: Path, problems: list[Unread]) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    for place, row in json_rows(text, path):
        listed = row.get("facts") if row else None
        if row is None or not isinstance(row.get("patient_id"), str) or not isinstance(listed, list):
            problems.append(Unread(f"{path.name}, {place}", "no patient_id with facts; left out"))
            continue
        for number, fact in enumerate(listed, 1):
            if isinstance(fact, Mapping) and all(isinstance(fact.get(key), str) for key in ("kind", "concept")):
                yield f"{place}, fact {number}", fact, row["patient_id"]
            else:
                problems.append(Unread(f"{path.name}, {place}, fact {number}", "no kind and concept; left out"))


def _places(text: str, evidence: object) -> Iterator[int]:
    """Where a quotation stands in a text."""
    if not isinstance(evidence, str) or not evidence.strip():
        return
    at = text.find(evidence)
    while at >= 0:
        yield at
        at = text.find(evidence, at + len(evidence))


class _Finder:
    """Finds a fact's words in its evidence."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._names: dict[str, tuple[str, ...]] = {}

    def find(self, fact: Mapping[str, Any], evidence: str) -> list[tuple[int, int, str]]:
        """(start, end, label) in the evidence; the fullest wording that is found at all counts, wherever it stands."""
        kind, concept = str(fact["kind"]), str(fact["concept"])
        # "p.I655V" and "I655V" are one change; blanks in its place leave every offset as it is.
        words = _Words(_PROTEIN.sub("  ", evidence) if kind == _VARIANT else evidence)
        value = fact.get("value")
        if kind in _OF_VALUE and isinstance(value, str):
            return [(*place, kind) for place in self._with_value(concept, value, words)]
        bare = _REMARK.sub("", concept).strip()
        parts = [part for part in _PARTS.split(bare) if part] if kind in _OF_DRUGS else []
        if len(parts) > 1:
            each = [self._places_of(part, words) for part in parts]
            # A part that is not found leaves a drug unmarked: then none of them is certain.
            if all(each):
                return sorted({(*place, _DRUG) for places in each for place in places})
        for wording in dict.fromkeys((concept, bare)):
            if places := self._places_of(wording, words):
                return [(*place, kind) for place in places]
        return []

    def _places_of(self, wording: str, words: _Words) -> list[Place]:
        return _longest(place for name in self._names_of(wording) for place in words.places(name))

    def _names_of(self, wording: str) -> tuple[str, ...]:
        """A wording itself, and what the ontology calls the one concept that it names."""
        known = self._names.get(wording)
        if known is None:
            ids = self._concepts.lookup(wording)
            named = self._concepts.names(ids[0]) if len(ids) == 1 else ()
            self._names[wording] = known = tuple(dict.fromkeys((wording, *named)))
        return known

    def _with_value(self, concept: str, value: str, words: _Words) -> list[Place]:
        """A value where it is written, with the name that stands right before it ("ECOG PS 1", "stage IIIA")."""
        values = words.places(value)
        names = [place for name in (*self._names_of(concept), *concept.split()) for place in words.places(name) if name]
        joined = [
            (start, end_of_value)
            for start, end in names
            for start_of_value, end_of_value in values
            if end <= start_of_value and words.between(end, start_of_value) < _NEAR
        ]
        if joined:
            return _longest(joined)
        distinct = len(value) > 1 and any(sign.isdigit() for sign in value)
        return _longest(values) if distinct else []


class _Words:
    """A text's words with their places, to look names up in whatever way they are spaced and hyphened."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._places = [match.span() for match in _WORD.finditer(text)]
        self._keys = [_key(text[start:end]) for start, end in self._places]

    def places(self, name: str) -> list[Place]:
        """Where a name stands as whole words; one of three letters or fewer as it is spelled alone."""
        wanted = "".join(_key(word) for word in _WORD.findall(name))
        found = []
        for first in range(len(self._keys)) if wanted else ():
            so_far, last = "", first
            while last < len(self._keys) and len(so_far) < len(wanted) and wanted.startswith(so_far):
                so_far += self._keys[last]
                last += 1
            if so_far == wanted:
                place = _with_bracket(self.text, self._places[first][0], self._places[last - 1][1])
                if len(wanted) > _SHORT_NAME or self.text[slice(*place)] == name:
                    found.append(place)
        return found

    def between(self, start: int, end: int) -> int:
        """How many words stand between two places."""
        return sum(start <= one and other <= end for one, other in self._places)


def _with_bracket(text: str, start: int, end: int) -> Place:
    """A place with the bracket that closes right behind it, where it opens within."""
    held = text[start:end]
    return start, end + (held.count("(") > held.count(")") and text.startswith(")", end))


@lru_cache(maxsize=1 << 16)
def _key(word: str) -> str:
    return squashed(normal_form(word))


def _longest(places: Iterable[Place]) -> list[Place]:
    """The places that lie in no other."""
    distinct = sorted(set(places), key=lambda one: (one[0], -one[1]))
    kept: list[Place] = []
    for one in distinct:
        if not kept or one[1] > kept[-1][1]:
            kept.append(one)
    return kept
