"""MACCROBAT's types as the tags of Real-MedNLP: every type decided, tests told from what they measure, modality."""

from __future__ import annotations

from pathlib import Path

import pytest

from cohortium.eval.extraction.mednlp.reports import tags
from cohortium.eval.training.few.medical_tags import modality_of, read_tagged, tag_map, tag_of
from cohortium.ingest.coral_schema.types import schema
from cohortium.kb.errors import UsageError
from tests.places import SHARED

TEXT = "No fever (fictional).\nBlood pressure was 120/80; CT of the chest, possibly a mass; aspirin daily.\n"


def put(folder: Path, name: str = "one", text: str = TEXT) -> None:
    """A fictional report with every case of the map."""
    places = [
        ("Sign_symptom", "fever"),
        ("Diagnostic_procedure", "Blood pressure"),
        ("Lab_value", "120/80"),
        ("Diagnostic_procedure", "CT"),
        ("Biological_structure", "chest"),
        ("Sign_symptom", "mass"),
        ("Medication", "aspirin"),
        ("Frequency", "daily"),
        ("History", "No fever"),
        ("Newly_invented", "was"),
    ]
    rows = []
    for number, (kind, words) in enumerate(places, 1):
        start = text.index(words)
        rows.append(f"T{number}\t{kind} {start} {start + len(words)}\t{words}")
        rows.append(f"E{number}\t{kind}:T{number} ")
    rows += ["A1\tPOLARITY E1 NEG", "A2\tPOLARITY E6 MAYBE_POS", "R1\tMODIFY Arg1:E3 Arg2:E2"]
    (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    (folder / f"{name}.ann").write_text("\n".join(rows) + "\n", encoding="utf-8")


def test_tags_of_a_report(tmp_path: Path) -> None:
    """A test with a value is a t-key, one without a t-test; what has no tag is left out, an unknown type counted."""
    put(tmp_path)
    read = read_tagged(tmp_path)
    (document,) = read.corpus.documents
    assert [(document.text[one.start : one.end], one.label) for one in document.spans] == [
        ("fever", "d"),
        ("Blood pressure", "t-key"),
        ("120/80", "t-val"),
        ("CT", "t-test"),
        ("chest", "a"),
        ("mass", "d"),
        ("aspirin", "m-key"),
        ("daily", "timex3"),
    ]
    assert read.unknown_types == {"Newly_invented": 1}
    assert [document.word(number) for number in document.breaks] == ["Blood"]


def test_modality_of_a_report(tmp_path: Path) -> None:
    """With modality the label is joined as ``eval mednlp`` reads it; a tag without modality stays as it is."""
    put(tmp_path)
    (document,) = read_tagged(tmp_path, modality=True).corpus.documents
    assert [one.label for one in document.spans] == [
        "d_negative",
        "t-key",
        "t-val",
        "t-test_executed",
        "a",
        "d_suspicious",
        "m-key_executed",
        "timex3_set",
    ]


def test_a_bad_file_is_told_and_the_rest_read(tmp_path: Path) -> None:
    """A malformed annotation file, and one without its text, are problems; no word of them is told."""
    put(tmp_path)
    (tmp_path / "bad.ann").write_text("T1\tSecret words\n", encoding="utf-8")
    (tmp_path / "lone.ann").write_text("", encoding="utf-8")
    corpus = read_tagged(tmp_path).corpus
    assert [one.id for one in corpus.documents] == ["one"]
    assert [one.place for one in corpus.problems] == ["bad.ann", "lone.ann"]
    assert not any("Secret" in one.reason for one in corpus.problems)


def test_nothing_to_read(tmp_path: Path) -> None:
    """A folder without annotated reports is an error that says what to give instead."""
    with pytest.raises(UsageError, match=r"\.ann"):
        read_tagged(tmp_path)


def test_an_empty_report(tmp_path: Path) -> None:
    """A report without text or entities is a document without words."""
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")
    (tmp_path / "empty.ann").write_text("", encoding="utf-8")
    (document,) = read_tagged(tmp_path).corpus.documents
    assert (document.text, document.words, document.spans, document.breaks) == ("", (), (), ())


def test_the_map_names_only_tags_and_labels_that_exist() -> None:
    """Each tag is one of MedTxt; modality stands where MedTxt has an attribute; our reader's labels are CORAL's."""
    known = tags()["attributes"]
    found = tag_map()
    named = {*found["labels"].values(), *found["reader"].values()}
    named |= {tag for one in found["modified_by"].values() for tag in one.values()}
    assert named <= set(known)
    assert all(known[tag] for tag in found["modality"])
    assert not set(found["labels"]) & set(found["left_out"])
    assert set(found["reader"]) <= set(schema().entities)


def test_unknown_polarity_and_untagged_types() -> None:
    """A polarity that the map does not know gives no modality; a type left out no tag, whatever modifies it."""
    assert modality_of("d", "Sign_symptom", "PERHAPS") == ""
    assert tag_of("History", {"Lab_value"}) == ""


@pytest.mark.shared
def test_the_whole_corpus() -> None:
    """No type of MACCROBAT is undecided, every file is read, every tag that is scored occurs."""
    place = SHARED / "data" / "maccrobat"
    if not place.exists():
        pytest.skip("no data/maccrobat in the shared folder; set COHORTIUM_SHARED to the folder that holds data/")
    read = read_tagged(place)
    assert not read.unknown_types
    assert not read.corpus.problems
    assert set(read.corpus.labels()) >= set(tags()["sets"]["CR"])
