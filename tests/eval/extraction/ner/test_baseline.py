"""Look-up in lists as a baseline, and how labels become those of the corpus (``benchmarks.reading.ner_baseline``)."""

from __future__ import annotations

import ast
import csv
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.reading.ner_baseline import LABELS, read_by_reader
from cohortium.eval.extraction.ner.baselines.dictionary import look_up
from cohortium.eval.extraction.ner.documents import Document, read_corpus
from cohortium.eval.extraction.ner.terminology import Terminology, find_folder, read_terminology
from cohortium.eval.extraction.ner.types import vocabulary
from cohortium.ingest.coral_schema.types import schema

LISTS = Terminology(
    {
        "CONDITION": {"gout": frozenset({"gout"}), "restless legs": frozenset({"restless legs"})},
        "DRUG": {"mg": frozenset({"magnesium"}), "larkadol": frozenset({"larkadol"})},
    }
)


def document(*tokens: str) -> Document:
    return Document("1", tokens, ("O",) * len(tokens), " ".join(tokens))


def test_words_and_pairs_of_words_are_looked_up() -> None:
    """A word goes before a pair, a pair never reaches over the end, and the unit mg is no drug."""
    tokens = ("Larkadol", "10", "mg", "for", "Gout", "and", "Restless", "Legs", "restless")
    assert look_up(document(*tokens), LISTS) == ["B-DRUG", "O", "O", "O", "B-COND", "O", "B-COND", "I-COND", "O"]


def test_labels_are_those_of_the_schema() -> None:
    """Every label in the map is one that the reader gives, and every type one of the corpus."""
    table = tomllib.loads(LABELS.read_text(encoding="utf-8"))
    assert set(table) <= set(vocabulary().types)
    assert {label for labels in table.values() for label in labels} <= set(schema().entities)


def test_the_reader_answers_with_tuples() -> None:
    """A drug and a condition of an invented trial are found at their places."""
    assert read_by_reader(document("Aspirin", "after", "stroke", "in", "adults")) == [
        (0, 7, "DRUG", "Aspirin"),
        (14, 20, "CONDITION", "stroke"),
    ]


@pytest.mark.shared
def test_look_up_is_that_of_the_authors(authors: Callable[[str], Path]) -> None:
    """On the rows of their dictionary's output that lie with the corpus, each token has the same tag."""
    path = authors("predictions_format/ct_neuro_test_annotated_regex_20240529_3rows.csv")
    folder = find_folder(path)
    assert folder is not None
    corpus, lists = read_corpus(path).documents, read_terminology(folder)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            assert look_up(corpus[row["nct_id"]], lists) == ast.literal_eval(row["ner_prediction_regex_normalized"])
