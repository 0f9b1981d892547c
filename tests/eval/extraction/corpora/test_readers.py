"""Each form of an annotated corpus is read to the same type: exact offsets, every word, nothing dropped in silence."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cohortium.eval.extraction.corpora.corpus import AnnotatedCorpus
from cohortium.eval.extraction.corpora.reading import read_annotated
from cohortium.kb.errors import UsageError

Put = Callable[[str, str], Path]


def told(corpus: AnnotatedCorpus) -> list[list[tuple[str, str]]]:
    """Of each document the words and labels of its entities."""
    return [[(one.text[span.start : span.end], span.label) for span in one.spans] for one in corpus.documents]


# --- tokens with tags -------------------------------------------------------------------------------------------------


def test_each_sentence_of_a_bio_file_is_a_document(put: Put) -> None:
    """Without marks of documents a sentence is one; the text is its tokens joined by blanks."""
    corpus = read_annotated(put("toy/train.tsv", "Severe\tB-Sign\ncough\tI-Sign\n.\tO\n\nNo\tO\nfever\tB-Sign\n"))
    assert corpus.unit == "sentence"
    assert corpus.name == "toy/train"
    assert "guessed" in corpus.form
    assert [one.text for one in corpus.documents] == ["Severe cough .", "No fever"]
    assert corpus.documents[0].words == ((0, 6), (7, 12), (13, 14))
    assert told(corpus) == [[("Severe cough", "Sign")], [("fever", "Sign")]]
    assert not corpus.problems


@pytest.mark.parametrize(
    ("tags", "entities"),
    [
        (["I-X", "I-X", "O"], ["a b"]),  # IOB1
        (["I-X", "B-X", "O"], ["a", "b"]),  # IOB1, neighbours
        (["B-X", "I-Y", "I-Y"], ["a", "b c"]),  # a stray I of another type
        (["O", "I-X", "O"], ["b"]),  # a stray I
        (["S-X", "B-X", "E-X"], ["a", "b c"]),  # IOBES
        (["U-X", "B-X", "L-X"], ["a", "b c"]),  # BILOU
        (["B-X-Y", "I-X-Y", "O"], ["a b"]),  # a dash in the name
        (["O", "O", "O"], []),
    ],
)
def test_every_scheme_of_tags_marks_its_entities(put: Put, tags: list[str], entities: list[str]) -> None:
    """IOB1, BIO with a stray I, IOBES and BILOU each give the entities that they mean."""
    text = "\n".join(f"{token}\t{tag}" for token, tag in zip("abc", tags, strict=True))
    assert [words for words, _ in told(read_annotated(put("x.bio", text)))[0]] == entities


def test_marks_of_documents_join_their_sentences(put: Put) -> None:
    """Between two DOCSTART lines is one document, whose sentences are its breaks; further columns are passed over."""
    lines = "-DOCSTART- -X- O\n\nNo NN O\ncough NN B-S\n\nWell JJ O\n\n-DOCSTART- -X- O\n\nFever NN B-S\n"
    corpus = read_annotated(put("x.conll", lines))
    assert corpus.unit == "document"
    assert [one.text for one in corpus.documents] == ["No cough Well", "Fever"]
    assert corpus.documents[0].breaks == (2,)


def test_a_bad_line_is_told_and_the_rest_is_read(put: Put) -> None:
    """A line without a tag, or with what is none, is a word without entity, and named with its number."""
    corpus = read_annotated(put("x.tsv", "Cough\tB-S\nthen\nfever\tB-S\nand\tQ\nrash\tB-S\n.\tO\n"))
    assert told(corpus) == [[("Cough", "S"), ("fever", "S"), ("rash", "S")]]
    assert [one.place for one in corpus.problems] == ["x.tsv, line 2", "x.tsv, line 4"]


def test_lines_of_windows_are_lines(put: Put) -> None:
    """A carriage return is no part of a tag, and parts sentences as well."""
    assert told(read_annotated(put("x.tsv", "Cough\tB-S\r\n\r\nFever\tB-S\r\n"))) == [
        [("Cough", "S")],
        [("Fever", "S")],
    ]


def test_remarks_between_sentences_are_passed_over(put: Put) -> None:
    """A line that begins with # and is no token with its tag says nothing; the sign itself may be a token."""
    corpus = read_annotated(put("x.conll", "# id 7 domain=toy\n# O\n1 O\ncough B-S\n"))
    assert corpus.documents[0].text == "# 1 cough"
    assert not corpus.problems


# --- BRAT -------------------------------------------------------------------------------------------------------------

TEXT = "Invented case.\nThe granular (rare) cell tumor grew. Caution für alle."


def brat(put: Put, *lines: str) -> AnnotatedCorpus:
    put("case/one.txt", TEXT)
    return read_annotated(put("case/one.ann", "\n".join(lines) + "\n").parent)


def test_brat_entities_are_placed_nested_and_joined(put: Put) -> None:
    """Nested entities are all kept; one of several fragments is the stretch from its first letter to its last."""
    corpus = brat(
        put,
        "T1\tDisease 19 27;35 45\tgranular cell tumor",
        "T2\tSite 35 39\tcell",
        "T3\tMark 60 63\tfür",
        "E1\tDisease:T1",
        "R1\tMODIFY Arg1:T2 Arg2:T1",
        "A1\tPOLARITY E1 NEG",
    )
    assert told(corpus) == [[("granular (rare) cell tumor", "Disease"), ("cell", "Site"), ("für", "Mark")]]
    assert not corpus.problems
    assert corpus.name == "case"
    words = [corpus.documents[0].word(at) for at in corpus.documents[0].breaks]
    assert words == ["The", "Caution"]


def test_a_brat_annotation_that_fails_is_told(put: Put) -> None:
    """A wrong quote, a span outside of the text, one that is empty, and no numbers: four problems, one entity, and no
    word of the text in any of them."""
    corpus = brat(
        put,
        "T1\tDisease 40 45\ttumor",
        "T2\tDisease 41 46\ttumor",
        "T3\tDisease 40 4500\ttumor",
        "T4\tDisease 40 40\t",
        "T5\tDisease 40-45\ttumor",
        "T6 Disease 40 45 tumor",
    )
    assert told(corpus) == [[("tumor", "Disease")]]
    assert [one.place for one in corpus.problems] == [f"one.ann, line {number}" for number in (2, 3, 4, 5, 6)]
    assert not any("tumor" in one.reason for one in corpus.problems)


def test_line_ends_that_a_copy_changed_do_not_shift_places(put: Put) -> None:
    """Where the places count one sign for a line end and the text has two, the text is read with one; where they count
    two, as it is."""
    put("a/one.txt", TEXT.replace("\n", "\r\n"))
    for start in (40, 41):
        corpus = read_annotated(put("a/one.ann", f"T1\tDisease {start} {start + 5}\ttumor\n"))
        assert told(corpus) == [[("tumor", "Disease")]]
        assert not corpus.problems
        assert len(corpus.documents[0].text) == len(TEXT) + start - 40


def test_brat_files_without_partner_are_told(put: Put) -> None:
    """A text without annotations and annotations without a text are left out and told; an empty .ann has no entity."""
    put("case/alone.txt", "A text that nobody read.")
    put("case/lost.ann", "T1\tX 0 1\tA\n")
    put("case/plain.txt", "Nothing to be found here.")
    put("case/plain.ann", "")
    corpus = brat(put, "T1\tDisease 40 45\ttumor")
    assert [one.id for one in corpus.documents] == ["one", "plain"]
    assert {one.place: one.reason for one in corpus.problems} == {
        "alone": "no .ann file; left out",
        "lost": "no .txt file; left out",
    }
    assert not corpus.documents[1].spans


# --- rows -------------------------------------------------------------------------------------------------------------


def test_json_lines_of_tokens_have_exact_places(put: Put) -> None:
    """NeuroTrialNER's form: types are spelled out, a token of line ends is no word but a break."""
    row = {
        "nct_id": "NCT0",
        "tokens": ["Yoga", "for", "low", "back", "pain", ".", "\n\n", "Fictional", "."],
        "ner_tags": ["B-PHYS", "O", "B-COND", "I-COND", "I-COND", "O", "O", "O", "O"],
    }
    corpus = read_annotated(put("x.json", json.dumps(row) + "\n"))
    document = corpus.documents[0]
    assert document.id == "NCT0"
    assert document.text == "Yoga for low back pain .\n\nFictional ."
    assert told(corpus) == [[("Yoga", "PHYSICAL"), ("low back pain", "CONDITION")]]
    assert [document.word(at) for at in range(len(document.words))] == [t for t in row["tokens"] if t.strip()]
    assert document.breaks == (6,)


def test_an_entity_over_a_line_end_keeps_its_words(put: Put) -> None:
    """Blank tokens inside of an entity stand in its text; at its ends they do not; alone they are no entity."""
    row = {"id": "a", "tokens": ["\n", "low", "\n\n", "mood", "\n"], "ner_tags": ["B-X", "I-X", "I-X", "I-X", "B-X"]}
    assert told(read_annotated(put("x.json", json.dumps(row)))) == [[("low\n\nmood", "X")]]


def test_a_table_of_tuples_keeps_its_text(put: Put) -> None:
    """The text is the file's, the words its tokens where they stand, the entities its tuples, checked against it."""
    cell = "[(0, 7, 'DRUG', 'Aspirin'), (14, 22, 'COND', 'headache'), (0, 3, 'DRUG', 'Ibu'), ('x', 1, 'DRUG', 'A')]"
    table = (
        "tokens,ner_tags,nct_id,text,ner_manual_ct_target\n"
        f"\"['Aspirin', '(', 'for', ')', 'headache']\",,NCT1,Aspirin (for) headache,\"{cell}\"\n"
    )
    corpus = read_annotated(put("x.csv", table))
    document = corpus.documents[0]
    assert document.text == "Aspirin (for) headache"
    assert [document.word(at) for at in range(5)] == ["Aspirin", "(", "for", ")", "headache"]
    assert told(corpus) == [[("Aspirin", "DRUG"), ("headache", "CONDITION")]]
    assert [one.reason.partition(":")[0] for one in corpus.problems] == [
        "entity 3",
        "entity 4 is not (start, end, label); left out",
    ]


def test_text_with_spans_is_read_in_every_spelling(put: Put) -> None:
    """Spans as lists or as objects; without own words they are those of the recogniser."""
    rows = [
        {"id": "1", "text": "Stage IIb tumor", "spans": [[0, 9, "stage"], [10, 15, "diagnosis"]]},
        {"id": "2", "text": "Pain", "entities": [{"start": 0, "end": 4, "label": "symptom"}]},
    ]
    corpus = read_annotated(put("x.jsonl", "\n".join(map(json.dumps, rows))))
    assert told(corpus) == [[("Stage IIb", "stage"), ("tumor", "diagnosis")], [("Pain", "symptom")]]
    assert corpus.documents[0].words == ((0, 5), (6, 9), (10, 15))


def test_rows_that_say_nothing_are_told(put: Put) -> None:
    """A broken line, a row without entities' fields, one of other lengths, a second of one id: told, the rest read."""
    lines = [
        '{"id": "a", "tokens": ["x"], "ner_tags": ["O"]}',
        "{",
        '{"id": "b", "tokens": ["x", "y"], "ner_tags": ["O"]}',
        '{"id": "c", "title": "x"}',
        '{"id": "a", "tokens": ["z"], "ner_tags": ["O"]}',
        '{"id": "d", "tokens": ["x"], "ner_tags": ["cat"]}',
        '{"id": "e", "tokens": ["x"], "ner_tags": [1]}',
    ]
    corpus = read_annotated(put("x.jsonl", "\n".join(lines)))
    assert [one.id for one in corpus.documents] == ["a", "d"]
    assert [one.place for one in corpus.problems] == [f"x.jsonl, line {number}" for number in range(2, 8)]
    assert corpus.problems[-1].reason.startswith("its tags are numbers")


# --- the door ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("empty.tsv", ""),
        ("prose.txt", "A letter to a colleague.\nNothing is marked in it.\n"),
        ("other.json", '{"patient": "P1"}'),
        ("other.csv", "a,b\n1,2\n"),
        ("none.jsonl", '{"tokens": 1, "ner_tags": 2}'),
    ],
)
def test_what_is_no_corpus_is_refused(put: Put, name: str, text: str) -> None:
    """A file of another kind gives an error that names it and says what would be one."""
    path = put(name, text)
    with pytest.raises(UsageError, match=r"Hint: ") as caught:
        read_annotated(path)
    assert name in str(caught.value)


def test_a_wrong_path_form_or_encoding_is_refused(tmp_path: Path) -> None:
    """Nothing there, an empty folder, a form that does not exist, a file of another encoding or of bytes."""
    with pytest.raises(UsageError, match="nothing at"):
        read_annotated(tmp_path / "no.tsv")
    with pytest.raises(UsageError, match=r"no \.ann files"):
        read_annotated(tmp_path)
    latin = tmp_path / "x.tsv"
    latin.write_bytes("Fi\xe8vre\tB-S\n".encode("latin-1"))
    with pytest.raises(UsageError, match="not UTF-8"):
        read_annotated(latin)
    with pytest.raises(UsageError, match="no form 'spacy'"):
        read_annotated(latin, "spacy")


def test_a_form_that_is_named_is_taken(put: Put) -> None:
    """A named form is not guessed; where the file is of another, the error says what it should hold."""
    path = put("x.tsv", "Cough\tB-S\n")
    assert "as asked for" in read_annotated(path, "iob").form
    with pytest.raises(UsageError, match="Hint"):
        read_annotated(path, "json")


# --- the open corpora -------------------------------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "documents", "entities"),
    [
        ("neurotrialner/ct_neuro_train_data_787.json", 787, 7081),
        ("neurotrialner/ct_neuro_dev_merged_153.csv", 153, 1568),
        ("ner_iob/BC5CDR-IOB/train.tsv", 4560, 9385),
        ("ner_iob/NCBI-disease-IOB/devel.tsv", 923, 787),
        ("ner_iob/BioNLP13CG-IOB/devel.tsv", 1003, None),
        ("ner_iob/AnatEM-IOB/devel.tsv", 2118, 2139),
        ("maccrobat", 146, 18277),
    ],
)
def test_open_corpora_are_read_whole_and_fast(
    shared: Callable[[str], Path], name: str, documents: int, entities: int | None
) -> None:
    """Their counts are those of their sources, nothing is a problem, and each takes seconds at most."""
    path = shared(f"data/{name}")
    began = time.process_time()
    corpus = read_annotated(path)
    assert time.process_time() - began < 5
    assert len(corpus) == documents
    assert entities is None or sum(corpus.labels().values()) == entities
    assert not corpus.problems


@pytest.mark.shared
def test_both_forms_of_neurotrialner_hold_the_same_words_and_entities(shared: Callable[[str], Path]) -> None:
    """JSON and table differ in the blanks of the text, and in nothing else."""
    from_json = read_annotated(shared("data/neurotrialner/ct_neuro_dev_data_153.json"))
    from_table = read_annotated(shared("data/neurotrialner/ct_neuro_dev_merged_153.csv"))
    for one, other in zip(from_json.documents, from_table.documents, strict=True):
        assert [one.word(at) for at in range(len(one.words))] == [other.word(at) for at in range(len(other.words))]
        assert one.entities() == other.entities()
