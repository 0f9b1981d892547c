"""Guideline learning: examples of each tag, labels by a dictionary or our reader, never by what was annotated."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.eval.extraction.corpora.corpus import AnnotatedDocument, LabelledSpan
from cohortium.eval.training.few.guideline import (
    LONGEST_EXAMPLE,
    Dictionary,
    examples,
    first_of,
    our_reader,
    silver,
)
from cohortium.ingest.models.tagging.words import word_spans
from cohortium.kb.errors import UsageError


def document_of(text: str, spans: list[tuple[str, str]], id: str = "one") -> AnnotatedDocument:
    """A document of lines; each span is the first place of its words."""
    words = tuple(word_spans(text))
    breaks = tuple(n for n in range(1, len(words)) if "\n" in text[words[n - 1][1] : words[n][0]])
    placed = [LabelledSpan(text.index(one), text.index(one) + len(one), label) for one, label in spans]
    return AnnotatedDocument(id, text, words, tuple(sorted(placed)), breaks)


CORPUS = [
    document_of("No fever today.\nCT showed a mass.\n", [("fever", "d"), ("CT", "t-test"), ("mass", "d")], "a"),
    document_of("Pain in the chest.\nNothing else.\nAspirin daily.", [("Pain", "d"), ("chest", "a")], "b"),
]


def test_each_label_has_its_examples() -> None:
    """Every label is shown, a label with too few sentences by all it has; sentences without a label are no examples."""
    chosen = examples(CORPUS, ["d", "a", "t-test", "m-key"], 3)
    assert sorted(one.text for one in chosen) == ["CT showed a mass.", "No fever today.", "Pain in the chest."]
    shown = [span.label for one in chosen for span in one.spans]
    assert sorted(shown) == ["a", "d", "d", "d", "t-test"]
    assert all(one.id.startswith(("a:", "b:")) for one in chosen)


def test_a_sentence_counts_for_all_its_labels() -> None:
    """Where the sentences of the rare labels show the common one often enough, no more are taken."""
    chosen = examples(CORPUS, ["d", "a", "t-test"], 1)
    assert sorted(one.text for one in chosen) == ["CT showed a mass.", "Pain in the chest."]


def test_long_sentences_come_last() -> None:
    """A short sentence is preferred whatever its hash; a long one is taken where there is no other."""
    long = document_of("word " * LONGEST_EXAMPLE + "fever", [("fever", "d")], "long")
    short = document_of("A fever.", [("fever", "d")], "short")
    for seed in range(5):
        (chosen,) = examples([long, short], ["d"], 1, seed)
        assert chosen.text == "A fever."
    assert len(examples([long], ["d"], 1)) == 1


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(0, 9), st.permutations(CORPUS))
def test_examples_do_not_depend_on_the_order(per_label: int, seed: int, order: list[AnnotatedDocument]) -> None:
    """The same seed gives the same sentences in any order of the documents; more a label never means fewer."""
    chosen = examples(order, ["d", "a", "t-test"], per_label, seed)
    assert chosen == examples(CORPUS, ["d", "a", "t-test"], per_label, seed)
    assert len(chosen) <= len(examples(order, ["d", "a", "t-test"], per_label + 1, seed))


@pytest.mark.parametrize(("labels", "per_label"), [(["d"], 0), ([], 5)])
def test_a_guideline_without_examples_is_refused(labels: list[str], per_label: int) -> None:
    """No example, or no tag: a clear error."""
    with pytest.raises(UsageError, match="example"):
        examples(CORPUS, labels, per_label)


def test_the_dictionary_takes_the_longest_and_the_commonest() -> None:
    """The longest entry wins, case does not matter, and of two labels the commoner."""
    seen = [
        document_of("chest pain", [("chest pain", "d")]),
        document_of("chest", [("chest", "a")]),
        document_of("cold", [("cold", "d")]),
        document_of("cold", [("cold", "d")]),
        document_of("cold", [("cold", "f")]),
    ]
    text = document_of("Chest pain, cold;\nchest\npain", [])
    found = Dictionary.from_documents(seen)(text)
    assert [(text.text[one.start : one.end], one.label) for one in found] == [
        ("Chest pain", "d"),
        ("cold", "d"),
        ("chest", "a"),
    ]
    assert Dictionary.from_documents([])(text) == ()
    assert Dictionary.from_documents(seen)(document_of("", [])) == ()


def test_our_reader_by_its_map() -> None:
    """Our reader's mentions bear the tags of the map; tags that are not wanted are left out."""
    document = document_of("She was treated with cisplatin for lung cancer.", [])
    tags = {"MedicationName": "m-key", "MedicationRegimen": "m-key", "Site": "a"}
    found = our_reader(tags, ["m-key"])(document)
    assert [(document.text[one.start : one.end], one.label) for one in found] == [("cisplatin", "m-key")]
    assert our_reader(tags, [])(document) == ()


def test_a_later_labeller_adds_what_is_free() -> None:
    """What the first has found stands; the second adds only where nothing is."""
    document = document_of("chest pain and fever", [])
    first = Dictionary({("chest", "pain"): "d"})
    second = Dictionary({("chest",): "a", ("fever",): "d"})
    found = first_of([first, second])(document)
    assert [(document.text[one.start : one.end], one.label) for one in found] == [("chest pain", "d"), ("fever", "d")]


def test_silver_labels_do_not_look_at_the_gold() -> None:
    """The labeller is given the text alone; the documents themselves are unchanged."""
    seen: list[tuple[LabelledSpan, ...]] = []

    def nothing(document: AnnotatedDocument) -> tuple[LabelledSpan, ...]:
        seen.append(document.spans)
        return ()

    made = silver(CORPUS, nothing)
    assert seen == [(), ()]
    assert [(one.text, one.spans) for one in made] == [(one.text, ()) for one in CORPUS]
    assert all(one.id.endswith("#silver") for one in made)
