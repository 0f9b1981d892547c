"""What is written is read again, and a corpus can be told in figures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.eval.extraction.corpora.assembling import of_text, of_tokens
from cohortium.eval.extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan, SourceFile
from cohortium.eval.extraction.corpora.describing import describe
from cohortium.eval.extraction.corpora.reading import read_annotated
from cohortium.eval.extraction.corpora.writers import write_bio, write_json_lines
from cohortium.kb.errors import UsageError

TEXTS = st.text(st.sampled_from("abÄ1. \n,-"), min_size=1, max_size=40)


@st.composite
def documents(draw: st.DrawFn) -> AnnotatedDocument:
    """Any text with any spans that hold a letter of it, nested and crossing ones too."""
    text = draw(TEXTS.filter(str.strip))
    places = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text)))
    spans = [
        LabelledSpan(start, end, label)
        for start, end in draw(st.lists(places, max_size=4))
        if start < end and text[start:end].strip()
        for label in draw(st.lists(st.sampled_from(["D", "M-x"]), max_size=2))
    ]
    made = of_text("d", text, spans, group=draw(st.sampled_from(["", "P1"])))
    return replace(made, judged=draw(st.sampled_from([None, (), ((0, 1),)])))


@settings(max_examples=60, deadline=None)
@given(st.lists(documents(), min_size=1, max_size=4))
def test_json_lines_lose_nothing(tmp_path_factory: pytest.TempPathFactory, made: list[AnnotatedDocument]) -> None:
    """The documents that are read are those that were written, to the last break and span."""
    path = tmp_path_factory.mktemp("json") / "own.jsonl"
    corpus = AnnotatedCorpus("own", tuple(replace(one, id=f"d{n}") for n, one in enumerate(made)))
    write_json_lines(corpus, path)
    again = read_annotated(path)
    assert again.documents == corpus.documents
    assert not again.problems


@settings(max_examples=60, deadline=None)
@given(st.lists(documents().filter(lambda one: bool(one.words)), min_size=1, max_size=4))
def test_bio_keeps_words_breaks_and_flat_entities(
    tmp_path_factory: pytest.TempPathFactory, made: list[AnnotatedDocument]
) -> None:
    """In tokens and tags the text's own blanks are gone; words, sentences and entities are not."""
    path = tmp_path_factory.mktemp("bio") / "own.tsv"
    corpus = AnnotatedCorpus("own", tuple(replace(one, id=f"d{n}") for n, one in enumerate(made)))
    write_bio(corpus, path)
    again = read_annotated(path)
    assert [one.id for one in again.documents] == [one.id for one in corpus.documents]
    for one, other in zip(corpus.documents, again.documents, strict=True):
        assert [one.word(at) for at in range(len(one.words))] == [other.word(at) for at in range(len(other.words))]
        assert one.breaks == other.breaks
        assert one.entities() == other.entities()


def test_sentences_are_written_as_sentences(tmp_path: Path) -> None:
    """A corpus of sentences has no marks of documents, and is one of sentences again."""
    sentences = of_tokens("a", ["No", "rash"], ["O", "B-S"]), of_tokens("b", ["Pain"], ["B-S"])
    corpus = AnnotatedCorpus("toy", sentences, unit="sentence")
    write_bio(corpus, tmp_path / "x.tsv")
    assert (tmp_path / "x.tsv").read_text() == "No\tO\nrash\tB-S\n\nPain\tB-S\n\n"
    assert read_annotated(tmp_path / "x.tsv").unit == "sentence"


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    """A folder that is not there."""
    for write in (write_bio, write_json_lines):
        with pytest.raises(UsageError, match="cannot write"):
            write(AnnotatedCorpus("toy"), tmp_path / "none" / "x")


def test_a_corpus_is_described_by_hand_counted_figures(tmp_path: Path) -> None:
    """Documents, words, spans by label, those that overlap or cut a word, and the digest of the file."""
    path = tmp_path / "own.jsonl"
    rows = [
        {"id": "1", "text": "Stage IIb tumor", "spans": [[0, 9, "S"], [0, 5, "S"], [6, 15, "D"], [11, 15, "D"]]},
        {"id": "2", "text": "", "spans": []},
        {"id": "3", "text": "Pain", "spans": [[0, 9, "S"]]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    told = describe(read_annotated(path))
    assert json.loads(json.dumps(told)) == told
    assert (told["documents"], told["words"], told["spans"], told["overlapping"], told["unaligned"]) == (3, 4, 4, 2, 1)
    assert told["labels"] == {"D": 2, "S": 2}
    assert told["may_ship"] is None
    assert sum(told["problems"].values()) == 1
    assert set(told["sha256"]) == {"own.jsonl"}


def test_many_files_have_one_digest() -> None:
    """It is the same whatever order the files came in, and another for another file."""
    files = tuple(SourceFile(f"{n}.ann", f"{n:064x}") for n in range(20))
    corpus = AnnotatedCorpus("toy", files=files)
    told = describe(corpus)["sha256"]
    assert set(told) == {"20 files"}
    assert describe(replace(corpus, files=files[::-1]))["sha256"] == told
    assert describe(replace(corpus, files=(*files[1:], SourceFile("0.ann", "f" * 64))))["sha256"] != told
