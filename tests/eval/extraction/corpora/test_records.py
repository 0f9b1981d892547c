"""Abstractions become spans only where a fact's words stand in its evidence; all others are counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cohortium.eval.extraction.corpora.corpus import AnnotatedCorpus
from cohortium.eval.extraction.corpora.reading import read_annotated
from cohortium.kb.errors import UsageError

Put = Callable[[str, str], Path]

#: A fictional patient.
NOTE = (
    "ONCOLOGY CLINIC\nMrs. Example has a DCIS of the left breast (core biopsy 3/4/2019). HER-2 negative.\n"
    "Started Nolvadex 20 mg. pT1c pN0. ECOG PS 1. TP53 p.R175H detected.\n"
    "Considered docetaxel + cyclophosphamide. Growing lesion in segment 7."
)


def records(put: Put, *facts: dict[str, Any]) -> AnnotatedCorpus:
    """The corpus of the note and these facts."""
    put("r/notes.jsonl", json.dumps({"patient_id": "P1", "doc_id": "P1-1", "text": NOTE}) + "\n")
    rows = [{"value": None, "docs": ["P1-1"], **fact} for fact in facts]
    return read_annotated(put("r/facts.jsonl", json.dumps({"patient_id": "P1", "facts": rows}) + "\n").parent)


def fact(kind: str, concept: str, evidence: str, value: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "concept": concept, "evidence": evidence, "value": value}


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (fact("histology", "Ductal carcinoma in situ", "DCIS of the left breast"), [("DCIS", "histology")]),
        (fact("biomarker", "HER2 (core)", "HER-2 negative"), [("HER-2", "biomarker")]),
        (fact("medication", "tamoxifen", "Started Nolvadex 20 mg"), [("Nolvadex", "medication")]),
        (fact("tnm", "Pathologic TNM", "pT1c pN0.", "pT1c pN0"), [("pT1c pN0", "tnm")]),
        (fact("performance_status", "ECOG", "ECOG PS 1.", "1"), [("ECOG PS 1", "performance_status")]),
        (fact("genomic_variant", "TP53 R175H", "TP53 p.R175H"), [("TP53 p.R175H", "genomic_variant")]),
        (
            fact("regimen", "docetaxel + cyclophosphamide", "Considered docetaxel + cyclophosphamide."),
            [("docetaxel", "medication"), ("cyclophosphamide", "medication")],
        ),
    ],
)
def test_a_concept_is_found_in_its_own_words_or_in_those_of_the_ontology(
    put: Put, told: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    """Synonyms and brands count, hyphens and prefixes do not matter, and the place is exact."""
    document = records(put, told).documents[0]
    assert [(document.text[one.start : one.end], one.label) for one in document.spans] == found
    assert document.group == "P1"


def test_what_is_not_written_is_not_guessed(put: Put) -> None:
    """A concept that the evidence describes otherwise, a bare value, evidence of no note: problems, and no span."""
    corpus = records(
        put,
        fact("histology", "DCIS", "DCIS of the left breast"),
        fact("metastasis", "Liver metastasis", "Growing lesion in segment 7"),
        fact("performance_status", "ECOG", "segment 7", "7"),
        fact("medication", "cyclophosphamide + epirubicin", "Considered docetaxel + cyclophosphamide."),
        fact("diagnosis", "asthma", "asthma since childhood"),
    )
    assert corpus.labels() == {"histology": 1}
    assert [one.place for one in corpus.problems] == [f"facts.jsonl, line 1, fact {n}" for n in (2, 3, 4, 5)]
    assert not any("segment" in one.reason for one in corpus.problems)


def test_only_evidence_that_was_placed_is_judged(put: Put) -> None:
    """Of words outside of the quoted ones nothing is known, nor of those whose fact could not be placed."""
    corpus = records(
        put,
        fact("medication", "tamoxifen", "Started Nolvadex 20 mg"),
        fact("histology", "DCIS", "DCIS of the left breast"),
        fact("diagnosis", "breast cancer", "DCIS of the left breast"),
    )
    document = corpus.documents[0]
    judged = {document.word(at) for at in document.judged_words()}
    assert judged == {"Started", "Nolvadex", "20", "mg", "DCIS"}


def test_records_without_a_word_of_their_facts_are_refused(put: Put) -> None:
    """Notes of other patients, or broken files."""
    with pytest.raises(UsageError, match="no fact of"):
        records(put, fact("diagnosis", "asthma", "asthma since childhood"))
    put("b/notes.jsonl", "{\n")
    with pytest.raises(UsageError, match="no fact of"):
        read_annotated(put("b/facts.jsonl", "[1]\n").parent)


@pytest.mark.shared
def test_development_records_give_more_than_a_thousand_spans(shared: Callable[[str], Path]) -> None:
    """Every fact is either placed or a problem of its own, and every span holds a word of its fact's note."""
    folder = shared("acr/dev")
    corpus = read_annotated(folder)
    facts = [one for line in (folder / "facts.jsonl").open() for one in json.loads(line)["facts"]]
    unplaced = Counter(one.reason.partition(":")[0] for one in corpus.problems)
    assert unplaced.total() < 0.45 * len(facts)
    assert sum(corpus.labels().values()) > 1000
    assert unplaced["medication"] < 0.2 * sum(one["kind"] == "medication" for one in facts)
