"""A small corpus of invented notes, the tests' own."""

from __future__ import annotations

import datetime

from cohortium.eval.baselines.systems.corpus import Corpus
from cohortium.kb.model import Note

#: Patient to notes. Everyone here is fictional.
NOTES = {
    "A": ["left breast carcinoma estrogen receptor positive", "tamoxifen begun after lumpectomy"],
    "B": ["lung adenocarcinoma with EGFR exon 19 deletion", "osimertinib begun in spring", "lung scan unchanged"],
    "C": ["colon carcinoma resected", "no further therapy"],
    "D": ["breast carcinoma triple negative", "breast carcinoma triple negative"],
    "E": [" \n "],
}


def corpus(notes: dict[str, list[str]] | None = None) -> Corpus:
    """The notes of the patients in the order of a corpus."""
    return Corpus(
        tuple(
            Note(patient, f"{patient}-{number}", text, datetime.date(2020, 1, 1 + number))
            for patient, texts in sorted((NOTES if notes is None else notes).items())
            for number, text in enumerate(texts)
        )
    )
