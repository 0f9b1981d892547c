"""Overlap of two corpora is found and told: copies, sentences, mentions that were seen before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cohortium.eval.extraction.corpora.assembling import of_text, of_tokens
from cohortium.eval.extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan
from cohortium.eval.extraction.corpora.likeness import alike, clusters, plain_words, shingles
from cohortium.eval.extraction.corpora.overlap import Seen, overlap
from cohortium.eval.extraction.corpora.reading import read_annotated

LONG = "The invented patient had a cough for three weeks. He was given nothing at all and went home after two days."


def of(name: str, **texts: str) -> AnnotatedCorpus:
    return AnnotatedCorpus(name, tuple(of_text(id, text, ()) for id, text in texts.items()))


def test_a_hand_worked_pair_shares_what_it_shares() -> None:
    """Eleven words have seven runs of five; six of them stand in a text whose last word differs."""
    words = "a b c d e f g h i j k"
    assert len(shingles(plain_words(words))) == 7
    (pair,) = alike([words, words[:-1] + "x", "quite another text of words that are not in it at all"])
    assert (pair.first, pair.second, pair.equal) == (0, 1, False)
    assert pair.share == pytest.approx(6 / 7)
    assert not list(alike([words, words[:-1] + "x"], nearly=0.9))


def test_equal_texts_are_links_and_texts_without_words_are_like_none() -> None:
    """Case and signs do not matter; three equal texts are two links."""
    pairs = list(alike(["No fever.", "", "NO  FEVER", "...", "no fever!"]))
    assert [(one.first, one.second, one.equal) for one in pairs] == [(0, 2, True), (0, 4, True)]
    assert clusters(5, iter([(0, 2), (2, 4), (1, 3)])) == [0, 1, 0, 1, 0]
    assert clusters(0, iter(())) == []


def test_many_copies_of_one_form_are_one_cluster() -> None:
    """Three hundred letters that differ in a name are alike, though every run of theirs is everybody's."""
    letters = [f"Dear {'abcdefghij'[n % 10]}{n} , {LONG}" for n in range(300)]
    pairs = alike([*letters, "A letter that says something else altogether about nobody whom we know."])
    assert clusters(301, ((one.first, one.second) for one in pairs)) == [0] * 300 + [300]


def test_copies_are_told_by_both_ids() -> None:
    """The same id, the same text under another id, and a text that holds another with words around it."""
    first = of("train", a=LONG, b="Something else was written here about nobody in particular, and long ago.", c="X")
    second = of("test", a="A text of its own.", d=LONG.upper(), e=f"Copied forward: {LONG} Seen again today.")
    found = overlap(first, second)
    assert found.same_ids == ("a",)
    assert found.same_texts == (("a", "d"),)
    assert [(one, other) for one, other, _ in found.near_texts] == [("a", "e")]
    assert not found.clean
    assert (found.sentences, found.same_sentences) == (4, 3)
    assert "a ~ e" in found.table()


def mention(id: str, text: str, *spans: tuple[str, str]) -> AnnotatedDocument:
    placed = [LabelledSpan(text.index(words), text.index(words) + len(words), label) for words, label in spans]
    return of_text(id, text, placed)


def test_seen_mentions_are_counted_by_hand() -> None:
    """Two of four mentions were seen; one in another case, the third under another label."""
    first = AnnotatedCorpus("train", (mention("a", "Asthma and aspirin.", ("Asthma", "D"), ("aspirin", "M")),))
    second = AnnotatedCorpus(
        "test",
        (
            mention("b", "asthma, pain", ("asthma", "D"), ("pain", "D")),
            mention("c", "ASTHMA on aspirin", ("ASTHMA", "D"), ("aspirin", "D")),
        ),
    )
    found = overlap(first, second)
    assert found.by_label == {"D": Seen(mentions=4, seen=2, forms=3, seen_forms=1)}
    assert found.mentions.share == 0.5
    told = found.to_json()
    assert json.loads(json.dumps(told)) == told
    assert told["by_label"]["D"] == {"mentions": 4, "seen": 2, "forms": 3, "seen_forms": 1, "share": 0.5}
    assert found.clean


def test_empty_corpora_share_nothing() -> None:
    """No documents: no share, and a table all the same."""
    found = overlap(AnnotatedCorpus("a"), AnnotatedCorpus("b"))
    assert found.clean
    assert found.mentions.share is None
    assert "all" in found.table()


def test_headings_of_sentence_corpora_are_no_copies() -> None:
    """Where documents are sentences, a short one that both have is not told."""

    def sentences(name: str, *texts: str) -> AnnotatedCorpus:
        made = [of_tokens(f"{name}-{n}", text.split(), ["O"] * len(text.split())) for n, text in enumerate(texts)]
        return AnnotatedCorpus(name, tuple(made), unit="sentence")

    copied = "He was given nothing at all today ."
    found = overlap(sentences("train", "METHODS :", copied), sentences("devel", "METHODS :", copied))
    assert found.same_texts == (("train-1", "devel-1"),)


@pytest.mark.shared
def test_the_splits_of_neurotrialner_share_no_trial(shared: Callable[[str], Path]) -> None:
    """Train and dev have no document in common; two in five mentions of dev were seen."""
    folder = shared("data/neurotrialner")
    parts = [read_annotated(folder / f"ct_neuro_{name}.json") for name in ("train_data_787", "dev_data_153")]
    found = overlap(*parts)
    assert found.clean
    assert found.mentions.share == pytest.approx(0.41, abs=0.01)
