"""Documents become windows with the tags that each word may have, and windows become batches."""

from __future__ import annotations

import numpy
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan
from cohortium.eval.training.examples import (
    TrainingPart,
    batches_of,
    chance_of,
    examples_of,
    outside_of,
    possible_tags,
    with_hidden,
)
from cohortium.ingest.models.tagging.features import Featurizer
from cohortium.ingest.models.tagging.labels import LabelSet
from cohortium.ingest.models.tagging.words import word_spans

LABELS = LabelSet(("drug", "illness"))
WORDS = Featurizer(("word_mask", "shapes", "chars"), None, 40)


def document(text: str, *spans: tuple[str, str], id: str = "one") -> AnnotatedDocument:
    """A text in which words are labelled."""
    placed = tuple(LabelledSpan(text.index(words), text.index(words) + len(words), label) for words, label in spans)
    return AnnotatedDocument(id, text, tuple(word_spans(text)), placed)


def test_a_word_outside_may_be_of_a_type_that_its_corpus_does_not_annotate() -> None:
    """Of a corpus of drugs alone, a word that is no drug may still be an illness."""
    assert outside_of(LABELS, frozenset({"drug"})).tolist() == [True, False, False, True, True]
    assert outside_of(LABELS, frozenset({"drug", "illness"})).tolist() == [True, False, False, False, False]
    corpus = AnnotatedCorpus("drugs", (document("Larkadol for gout", ("Larkadol", "drug")),))
    batch = examples_of([TrainingPart(corpus, frozenset({"drug"}))], LABELS, WORDS, 0.0)
    possible = possible_tags(batch, 4)
    assert possible[0, 0].tolist() == [False, True, False, False, False]
    assert possible[0, 1].tolist() == possible[0, 2].tolist() == [True, False, False, True, True]
    assert possible[0, 3].all(), "padding may be anything"


def test_an_entity_over_the_edge_of_a_window_is_begun_anew_in_the_next() -> None:
    """Windows share words; in each the entity has its first tag at the first word that the window shows."""
    text = " ".join(f"w{chr(97 + at % 26)}" for at in range(60))
    words = tuple(word_spans(text))
    whole = LabelledSpan(words[10][0], words[50][1], "illness")
    corpus = AnnotatedCorpus("long", (AnnotatedDocument("a", text, words, (whole,)),))
    made = examples_of([TrainingPart(corpus, frozenset(LABELS.types))], LABELS, WORDS, 0.0)
    assert len(made) > 1
    for one in made:
        inside = numpy.flatnonzero(one.tags)
        assert one.tags[inside[0]] == 3
        assert set(one.tags[inside[1:]]) == {4}


def test_windows_of_rare_types_are_drawn_more_often_and_the_mean_stays() -> None:
    """A type with a hundredth of the entities weighs more; the weights have the mean one."""
    common = [document("Larkadol daily", ("Larkadol", "drug"), id=str(at)) for at in range(99)]
    corpus = AnnotatedCorpus("skewed", (*common, document("gout again", ("gout", "illness"), id="rare")))
    made = examples_of([TrainingPart(corpus, frozenset(LABELS.types))], LABELS, WORDS, 0.3)
    assert made[-1].weight > 2 * made[0].weight
    assert sum(one.weight for one in made) / len(made) == 1.0 or abs(sum(o.weight for o in made) / 100 - 1) < 1e-9
    drawn = [one for batch in batches_of(made, 50, seed=1, epoch=0) for one in batch]
    assert sum("gout" in one.words for one in drawn) >= 2


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(1, 60), st.integers(0, 3))
def test_every_example_is_in_one_batch_and_a_batch_keeps_its_bound(sizes: list[int], bound: int, epoch: int) -> None:
    """All alike in weight, each is drawn once; a batch is larger than its bound only where one example is."""
    corpus = AnnotatedCorpus("any", tuple(document("w " * size, id=str(at)) for at, size in enumerate(sizes)))
    made = examples_of([TrainingPart(corpus, frozenset(LABELS.types))], LABELS, WORDS, 0.0)
    batches = list(batches_of(made, bound, seed=0, epoch=epoch))
    assert sorted(len(one.words) for batch in batches for one in batch) == sorted(sizes)
    assert all(len(batch) == 1 or len(batch) * max(len(one.words) for one in batch) <= bound for batch in batches)
    again = list(batches_of(made, bound, seed=0, epoch=epoch))
    assert [[one.words for one in batch] for batch in batches] == [[one.words for one in batch] for batch in again]


def test_documents_without_words_or_spans_are_no_trouble() -> None:
    """An empty document gives no window; one without entities gives a window of nothing but outside."""
    corpus = AnnotatedCorpus("thin", (document(""), document("nothing here", id="two")))
    made = examples_of([TrainingPart(corpus, frozenset({"drug"}))], LABELS, WORDS, 0.2)
    assert [one.tags.tolist() for one in made] == [[0, 0]]
    assert list(batches_of([], 10, 0, 0)) == []


def test_a_share_of_words_is_hidden_the_same_way_each_time() -> None:
    """None at 0, about as many as asked for else; equal for equal numbers."""
    words = ["word"] * 1000
    assert with_hidden(words, 0.0, chance_of(1, 2)) == words
    hidden = with_hidden(words, 0.2, chance_of(1, 2))
    assert 150 < hidden.count("[MASK]") < 250
    assert hidden == with_hidden(words, 0.2, chance_of(1, 2))
    assert hidden != with_hidden(words, 0.2, chance_of(1, 3))
