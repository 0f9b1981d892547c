"""The tagger: exact places, windows over long texts, the same answer in any batch, and texts of every strange kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.ingest.models.tagging.tagger import TaggedEntity, Tagger, Words
from cohortium.kb.errors import BadModel
from tests.amounts import examples

from .conftest import Shapes

Make = Callable[..., Tagger]


def told(text: str, entities: list[TaggedEntity]) -> list[tuple[str, str]]:
    return [(text[one.start : one.end], one.type) for one in entities]


def test_entities_have_exact_places_and_whole_words(by_shapes: Make) -> None:
    """Places are characters of the text as it is given, with its blanks; names of several words are one entity."""
    text = "given  Larkadol 20 mg\nfor Restless  Legs-again"
    entities = by_shapes().tag(text)
    assert told(text, entities) == [("Larkadol", "DRUG"), ("Restless  Legs", "DISEASE")]
    assert [(one.first_word, one.last_word) for one in entities] == [(1, 2), (5, 7)]
    assert all(0.5 < one.confidence < 1 for one in entities)


def test_several_texts_are_answered_in_their_order(by_shapes: Make) -> None:
    """Empty texts among them are answered with nothing."""
    texts = ["no one", "Gout", "", "Larkadol 5 and Gout", " \n\t "]
    found = by_shapes().tag(texts)
    assert [told(*pair) for pair in zip(texts, found, strict=True)] == [
        [],
        [("Gout", "DISEASE")],
        [],
        [("Larkadol", "DRUG"), ("Gout", "DISEASE")],
        [],
    ]
    assert by_shapes().tag([]) == []


@pytest.mark.parametrize("place", range(20, 75))
def test_an_entity_at_the_border_of_a_window_is_read_whole(by_shapes: Make, place: int) -> None:
    """Wherever a name of five words lies in a long text, and whatever stands behind it, it is found whole."""
    words = ["word"] * 100
    words[place : place + 5] = ["Severe", "Restless", "Legs", "And", "Arms"]
    words[place + 10 : place + 12] = ["Larkadol", "20"]
    text = " ".join(words)
    assert told(text, by_shapes().tag(text)) == [("Severe Restless Legs And Arms", "DISEASE"), ("Larkadol", "DRUG")]


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.sampled_from(["a", "Gout", "7", "X", "."]), max_size=150))
def test_windows_change_nothing(words: list[str]) -> None:
    """Read in small windows, a text has the entities that it has in one window."""
    text = " ".join(words)
    from .conftest import Featurizer, card

    answers = []
    for window in (32, 1000):
        said = card(window=window)
        tagger = Tagger(said, Featurizer(said.inputs, None, said.window, said.margin), Shapes(), {})
        answers.append(tagger.tag(text))
    assert answers[0] == answers[1]


def test_batches_are_of_like_length_and_bounded(by_shapes: Make) -> None:
    """Windows go through in order of length; padding counts; without a bound each goes alone."""
    texts = [" ".join(["Gout"] * words) for words in (3, 20, 5, 18, 4)]
    alone, together = Shapes(), Shapes(batch=44)
    assert by_shapes(alone).tag(texts) == by_shapes(together).tag(texts)
    assert alone.asked == [(1, 20), (1, 18), (1, 5), (1, 4), (1, 3)]
    assert together.asked == [(2, 20), (3, 5)]


def test_threads_change_nothing(by_shapes: Make) -> None:
    """Windows that are computed side by side land where they belong."""
    texts = [f"Gout {'x ' * number} Larkadol 5" for number in range(40)]
    assert by_shapes(Shapes(threads=4)).tag(texts) == by_shapes().tag(texts)


def test_confidence_is_calibrated(by_shapes: Make) -> None:
    """The card's knots turn probabilities into confidence: on a line between two of them, level beyond."""
    (plain,) = by_shapes().tag("Gout")
    (halved,) = by_shapes(calibration=((0.0, 0.0), (1.0, 0.5))).tag("Gout")
    (level,) = by_shapes(calibration=((0.1, 0.2), (0.2, 0.4))).tag("Gout")
    assert halved.confidence == pytest.approx(plain.confidence / 2)
    assert level.confidence == 0.4


def test_words_of_the_caller_are_kept(by_shapes: Make) -> None:
    """A corpus divides its texts as it likes; places come from its words, an empty word among them does no harm."""
    text = "on Larkadol-20"
    (entities,) = by_shapes().tag_words([Words(text, [(0, 2), (3, 11), (11, 11), (11, 14)])])
    assert told(text, entities) == [("Larkadol", "DISEASE")]


@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        "X" * 100_000,
        "9" * 100_000,
        "." * 5_000,
        "\0",
        "\ud83d",
        "a\u0301\u200d\ufeff\u2028 ²½Ⅷ",
        "🧬" * 50,
    ],
)
def test_strange_texts_are_read(by_shapes: Make, text: str) -> None:
    """One word of 100,000 letters, signs alone, NUL, half characters, marks: read without an error, beside a name."""
    whole = f"Gout; {text} ; Gout."
    found = by_shapes().tag(whole)
    assert [one for one in told(whole, found) if one[0] == "Gout"] == [("Gout", "DISEASE")] * 2


def test_scores_that_are_no_numbers_are_an_error(by_shapes: Make) -> None:
    """A network that computes nonsense is told, and nothing is answered."""
    with pytest.raises(BadModel, match=r"no numbers.*corrupted"):
        by_shapes(Shapes(worth=numpy.nan)).tag("Gout")


def test_lines_are_breaks() -> None:
    """The words of a plain text, and which of them begin a line."""
    words = Words.in_text("one two\nthree\n\n four")
    assert [words.text[start:end] for start, end in words.spans] == ["one", "two", "three", "four"]
    assert list(words.breaks) == [2, 3]
