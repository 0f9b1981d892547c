"""Training documents multiplied: what is put in comes from the stock, and every span still names what it named."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.eval.extraction.corpora.corpus import AnnotatedDocument, LabelledSpan
from cohortium.eval.training.few.augment import (
    AUGMENTATIONS,
    STEPS,
    Augmentation,
    Stock,
    augmented,
    multiplied,
    word_synonyms,
)
from cohortium.eval.training.few.rewriting import Edit, cut, rewritten, sentences
from cohortium.ingest.models.tagging.words import word_spans
from cohortium.kb.errors import UsageError
from cohortium.kb.ontology.concepts import shipped_concepts
from tests.amounts import examples

PIECES = "fever|no|CT|(MRI)|5mg|1.5|mass,|showed|post-ablation|α2|«x»|_|day 3.|Patient".split("|")


def document_of(text: str, spans: list[tuple[int, int, str]], id: str = "one") -> AnnotatedDocument:
    """A document with the words of ``word_spans``; a sentence begins behind each line end."""
    words = tuple(word_spans(text))
    breaks = tuple(number for number in range(1, len(words)) if "\n" in text[words[number - 1][1] : words[number][0]])
    return AnnotatedDocument(id, text, words, tuple(LabelledSpan(*one) for one in sorted(spans)), breaks)


@st.composite
def documents(draw: st.DrawFn) -> AnnotatedDocument:
    """Made-up documents: any blanks and line ends, spans that may overlap, and may begin within a word."""
    parts = draw(
        st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from([" ", "  ", "\n", "", " \n "])), max_size=12)
    )
    text = "".join(piece + blank for piece, blank in parts)
    spans = []
    for _ in range(draw(st.integers(0, 5)) if text.strip() else 0):
        start = draw(st.integers(0, len(text) - 1))
        end = draw(st.integers(start + 1, len(text)))
        if text[start:end].strip():
            spans.append((start, end, draw(st.sampled_from("dat"))))
    return document_of(text, spans, f"n{draw(st.integers(0, 3))}")


AUGMENTATION = st.builds(
    Augmentation,
    st.just("any"),
    st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=3).map(tuple),
    st.sampled_from([0.2, 0.7, 1.0]),
)


def check(document: AnnotatedDocument) -> None:
    """Words in order that cover the text, sentences that begin at words, spans in the text that do not overlap."""
    at = 0
    for start, end in document.words:
        assert at <= start < end <= len(document.text)
        assert not document.text[at:start].strip()
        at = end
    assert not document.text[at:].strip()
    assert all(0 < number < len(document.words) for number in document.breaks)
    assert list(document.breaks) == sorted(set(document.breaks))
    behind = 0
    for span in document.spans:
        assert behind <= span.start < span.end <= len(document.text)
        behind = span.end


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(documents(), min_size=1, max_size=3), AUGMENTATION, st.integers(0, 5))
def test_copies_keep_their_form(corpus: list[AnnotatedDocument], augmentation: Augmentation, seed: int) -> None:
    """A copy has the labels of its document in their order, its words cover the text as words are read, its mentions
    are of the stock; the document itself is as it was; the same seed gives the same copy."""
    stock = Stock.from_documents(corpus)
    for document in corpus:
        before = repr(document)
        copy = augmented(document, augmentation, stock, seed)
        check(copy)
        assert list(copy.words) == word_spans(copy.text)
        assert [one.label for one in copy.spans] == [one.label for one in document.flat().spans]
        assert len(copy.entities()) <= len(copy.spans)
        assert repr(document) == before
        assert augmented(document, augmentation, stock, seed) == copy
        if augmentation.steps == ("mentions",):
            assert all(copy.text[one.start : one.end] in stock.mentions[one.label] for one in copy.spans)
        if set(augmentation.steps) == {"segments"}:
            assert sorted(copy.text) == sorted(document.text)
            for one, other in zip(copy.spans, document.flat().spans, strict=True):
                assert sorted(copy.text[one.start : one.end]) == sorted(document.text[other.start : other.end])


@settings(max_examples=examples(60), deadline=None)
@given(documents(), st.data())
def test_edits_move_what_stands_behind_them(document: AnnotatedDocument, data: st.DataObject) -> None:
    """Outside of the edits each letter stays; a span that holds no edit names the same letters as before."""
    flat = document.flat()
    chosen = [one for one in flat.spans if data.draw(st.booleans())]
    made = rewritten(flat, [Edit(one.start, one.end, "new words") for one in chosen])
    check(made)
    for one, other in zip(made.spans, flat.spans, strict=True):
        assert one.label == other.label
        expected = "new words" if other in chosen else flat.text[other.start : other.end]
        assert made.text[one.start : one.end] == expected
    assert rewritten(flat, ()) == flat


def test_an_edit_by_hand() -> None:
    """Worked by hand: words, sentence and the later span move by the two letters that were added."""
    document = document_of("No fever today.\nCT: mass.", [(3, 8, "d"), (16, 18, "t"), (20, 24, "d")])
    made = rewritten(document, [Edit(3, 8, "dyspnea")], "copy")
    assert made == document_of("No dyspnea today.\nCT: mass.", [(3, 10, "d"), (18, 20, "t"), (22, 26, "d")], "copy")
    assert made.breaks == (4,)


def test_an_edit_in_a_longer_span_lets_it_grow() -> None:
    """A span grows with what is put into it, and a word that is cut keeps its rest."""
    document = document_of("acute fever", [(0, 11, "d")])
    made = rewritten(document, [Edit(0, 3, "chron")])
    assert made.text == "chronte fever"
    assert made.spans == (LabelledSpan(0, 13, "d"),)
    assert made.words == ((0, 5), (5, 7), (8, 13))


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(0, 0, "x")],
        [Edit(0, 3, " ")],
        [Edit(0, 3, "x"), Edit(2, 4, "y")],
        [Edit(9, 40, "x")],
        [Edit(0, 5, "x")],
    ],
)
def test_edits_that_mean_nothing_are_refused(edits: list[Edit]) -> None:
    """Nothing replaced, nothing put in, two in one place, beyond the text, or across the end of a span."""
    with pytest.raises(ValueError, match="edit"):
        rewritten(document_of("no fever now", [(3, 8, "d")]), edits)


def test_a_mention_becomes_another_of_its_label() -> None:
    """With probability 1 each mention is replaced, by one of the same label, never by itself."""
    one = document_of("CT showed fever", [(0, 2, "t-test"), (10, 15, "d")], "a")
    other = document_of("MRI showed ascites", [(0, 3, "t-test"), (11, 18, "d")], "b")
    stock = Stock.from_documents([one, other])
    copy = augmented(one, Augmentation("r", ("mentions",), 1.0), stock, 0)
    assert copy.text == "MRI showed ascites"
    assert copy.id == "a#r-1"


def test_synonyms_come_from_the_ontology_and_the_list() -> None:
    """A mention that names one concept becomes another of its names; a word outside becomes one of its group, with its
    capital; a word inside a mention stays."""
    document = document_of("Showed dyspnea", [(7, 14, "d")])
    concepts = shipped_concepts()
    stock = Stock.from_documents([document], concepts)
    copy = augmented(document, Augmentation("r", ("synonyms",), 1.0), stock, 1)
    first, _, rest = copy.text.partition(" ")
    assert first in {"Revealed", "Demonstrated", "Disclosed", "Displayed"}
    names = {name.casefold() for name in concepts.names(concepts.lookup("dyspnea")[0])}
    assert rest.casefold() in names - {"dyspnea"}
    other = Stock.from_documents([document], concepts, {"d": ["drug"]})
    assert augmented(document, Augmentation("r", ("synonyms",), 1.0), other, 1).text.endswith(" dyspnea")
    inside = document_of("showed", [(0, 6, "d")])
    assert augmented(inside, Augmentation("r", ("synonyms",), 1.0), Stock.from_documents([inside]), 1).text == "showed"


def test_without_an_ontology_mentions_have_no_synonyms() -> None:
    """The stock of documents alone has no names."""
    assert Stock.from_documents([document_of("dyspnea", [(0, 7, "d")])]).names == {}


def test_tokens_keep_their_place_in_a_mention() -> None:
    """A mention's first word is replaced by a first word of its label, a later one by a later one."""
    corpus = [
        document_of("heart failure worse", [(0, 13, "d")], "a"),
        document_of("renal disease better", [(0, 13, "d")], "b"),
    ]
    copy = augmented(corpus[0], Augmentation("r", ("tokens",), 1.0), Stock.from_documents(corpus), 3)
    first, second, third = copy.text.split()
    assert first in {"heart", "renal"}
    assert second in {"failure", "disease"}
    assert third in {"worse", "better"}


def test_shuffling_keeps_words_in_their_segment_and_sentence() -> None:
    """Words of two sentences never change places, nor those before and behind a mention."""
    text = "a b c MASS d e f\ng h i"
    document = document_of(text, [(6, 10, "d")])
    seen = set()
    for seed in range(12):
        copy = augmented(document, Augmentation("r", ("segments",), 1.0), Stock(), seed)
        seen.add(copy.text)
        line, other = copy.text.split("\n")
        before, behind = line.split(" MASS ")
        assert (sorted(before.split()), sorted(behind.split())) == (["a", "b", "c"], ["d", "e", "f"])
        assert sorted(other.split()) == ["g", "h", "i"]
    assert len(seen) > 6


def test_empty_documents_and_no_mentions() -> None:
    """A document without words, and one without mentions, go through every step."""
    empty, plain = document_of("", []), document_of("nothing of note", [])
    stock = Stock.from_documents([empty, plain])
    for augmentation in [one for augmentations in AUGMENTATIONS.values() for one in augmentations]:
        assert augmented(empty, augmentation, stock, 0).text == ""
        check(augmented(plain, augmentation, stock, 0))
    assert Stock.from_documents([]) == Stock(words=word_synonyms())


def test_multiplied_keeps_the_documents_in_front() -> None:
    """The documents come first and unchanged; a copy that changed nothing is not added; ids differ."""
    one = document_of("CT showed fever", [(0, 2, "t-test"), (10, 15, "d")], "a")
    other = document_of("MRI showed ascites", [(0, 3, "t-test"), (11, 18, "d")], "b")
    lone = document_of("...", [], "c")
    made = multiplied(
        [one, other, lone], [Augmentation("r", ("mentions",), 1.0, copies=2)], Stock.from_documents([one, other, lone])
    )
    assert made[:3] == (one, other, lone)
    assert len({document.id for document in made}) == len(made)
    assert all(document.id.startswith(("a#", "b#")) for document in made[3:])


@pytest.mark.parametrize(
    ("steps", "probability", "copies"),
    [(("nosuch",), 0.3, 1), ((), 0.3, 1), (("mentions",), 0.0, 1), (("mentions",), 1.5, 1), (("mentions",), 0.3, 0)],
)
def test_recipes_that_mean_nothing_are_refused(steps: tuple[str, ...], probability: float, copies: int) -> None:
    """An unknown step, none at all, a probability that is none, no copy: a clear error."""
    with pytest.raises(UsageError, match="augmentation"):
        Augmentation("r", steps, probability, copies)


def test_word_groups_are_symmetric_and_of_single_words() -> None:
    """Each word of the list is one word in small letters, and stands for those that stand for it."""
    words = word_synonyms()
    assert words
    for word, others in words.items():
        assert word == word.casefold()
        assert len(word_spans(word)) == 1
        assert word not in others
        assert all(word in words[other] for other in others)


def test_cut_and_sentences() -> None:
    """A sentence as a document of its own: its spans move, those that reach beyond it are left out."""
    document = document_of("fever now.\nCT done.\n", [(0, 5, "d"), (6, 14, "x"), (11, 13, "t")])
    assert sentences(document) == [(0, 3), (3, 6)]
    assert cut(document, 3, 6, "s") == document_of("CT done.", [(0, 2, "t")], "s")
    assert sentences(document_of("", [])) == []
    with pytest.raises(ValueError, match="no part"):
        cut(document, 2, 2, "s")


def test_chance_is_not_shared() -> None:
    """Augmentation draws from generators of its own: the program's own stays where it was."""
    random.seed(5)
    expected = random.random()
    random.seed(5)
    one = document_of("CT showed fever and fever", [(0, 2, "t"), (10, 15, "d"), (20, 25, "d")])
    augmented(one, Augmentation("r", tuple(STEPS), 1.0), Stock.from_documents([one]), 0)
    assert random.random() == expected


def test_two_edits_side_by_side_do_not_grow_together() -> None:
    """Each would stand apart from the old word beside it, but not from the new one."""
    document = document_of("post-ablation", [(0, 4, "d"), (4, 5, "t"), (5, 13, "d")])
    stock = Stock({"d": ("5mg",), "t": ("§ 7",)})
    for seed in range(20):
        copy = augmented(document, Augmentation("mentions", ("mentions",), 1.0), stock, seed)
        assert list(copy.words) == word_spans(copy.text)
