"""Real mentions that the lexicon cannot read, from open corpora: how often the linker is right about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from ....ingest.recognizers.lexicon import Lexicon
from ....ingest.text.frame import Frame
from ....kb.model import Note
from ...extraction.corpora.reading import read_annotated
from .cases import Case, fraction

#: Labels of the corpora to kinds of spans; others are passed over.
KINDS: Final = {
    "Disease_disorder": "comorbidity",
    "Sign_symptom": "symptom",
    "Medication": "medication",
    "Therapeutic_procedure": "procedure",
    "Disease": "comorbidity",
    "Chemical": "medication",
    "Cancer": "diagnosis",
    "CONDITION": "comorbidity",
    "DRUG": "medication",
    "SURGICAL": "procedure",
}
#: How many mentions of a kind are judged by hand.
JUDGED: Final = {"comorbidity": 70, "symptom": 25, "medication": 40, "procedure": 20, "diagnosis": 25}
JUDGEMENTS: Final = Path(__file__).parent / "judgements.json"


def corpus_mentions(data: Path) -> Iterator[tuple[str, str]]:
    """(kind, text) of every mention in MACCROBAT, BC5CDR, NCBI, BioNLP13CG (cancers), NeuroTrialNER below ``data``."""
    folders = (data / "ner_iob" / name for name in ("BC5CDR-IOB", "NCBI-disease-IOB", "BioNLP13CG-IOB"))
    tables = (path for folder in folders for path in sorted(folder.glob("*.tsv")))
    trials = sorted((data / "neurotrialner").glob("ct_neuro_*_data_*.json"))
    for path in (data / "maccrobat", *tables, *trials):
        for document in read_annotated(path).documents if path.exists() else ():
            for span in document.spans:
                if span.label in KINDS:
                    yield KINDS[span.label], " ".join(document.text[span.start : span.end].split())


def unread(mentions: Iterable[tuple[str, str]], lexicon: Lexicon) -> list[tuple[str, str]]:
    """Those of which the lexicon finds nothing, not even a part, each once."""
    found: dict[tuple[str, str], None] = {}
    seen: set[tuple[str, str]] = set()
    for kind, text in mentions:
        key = kind, text.casefold()
        if key not in seen:
            seen.add(key)
            if not any(True for _ in lexicon.find(Frame(Note("corpus", "mention", text)))):
                found[kind, text] = None
    return list(found)


def sample(mentions: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The mentions to judge: of each kind as many as :data:`JUDGED` says, drawn by hash."""
    left = dict(JUDGED)
    drawn = []
    for kind, text in sorted(mentions, key=lambda one: fraction(f"judge {one}")):
        if left.get(kind, 0):
            left[kind] -= 1
            drawn.append((kind, text))
    return drawn


def key_of(kind: str, text: str) -> str:
    """What stands for a mention in the file of judgements, which holds no text of a corpus."""
    return hashlib.sha256(f"{kind}\t{text.casefold()}".encode()).hexdigest()[:16]


def judged_cases(mentions: Iterable[tuple[str, str]], path: Path = JUDGEMENTS) -> list[Case]:
    """The judged mentions as cases: each with the concepts that are right, or none."""
    rows = json.loads(path.read_text(encoding="utf-8"))["judgements"]
    cases = []
    for kind, text in mentions:
        held = rows.get(key_of(kind, text))
        if held is not None:
            cases.append(
                Case(text, kind, tuple(held["right"]), f"corpora {kind}", "judged", broader=tuple(held["broader"]))
            )
    return cases


def corrected(cases: Iterable[Case], path: Path = JUDGEMENTS) -> list[Case]:
    """The cases with what was judged by hand: terminologies divide things otherwise than the ontology, and what one of
    them keeps apart may be a name of the ontology all the same."""
    rows = json.loads(path.read_text(encoding="utf-8"))["terminologies"]
    found = []
    for case in cases:
        held = rows.get(key_of("terminology", case.text))
        if held is not None:
            right = tuple(dict.fromkeys((*case.concepts, *held["right"])))
            case = replace(case, concepts=right, broader=tuple(dict.fromkeys((*case.broader, *held["broader"]))))
        found.append(case)
    return found
