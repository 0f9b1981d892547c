"""A query for what is not held, or held otherwise, is told so, with the query that asks for what is."""

from __future__ import annotations

import pytest

from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.parsing.not_held import Topic, topics
from cohortium.query_lang.resolution.resolve import resolve_text

CONCEPTS, SCALES = shipped_concepts(), Scales.from_files()
#: How people write a word of a topic.
FORMS = ("{}", "'{}'", "last {}", "{} > 5", "lung cancer and {}")


def refused(text: str) -> QueryError:
    """The error that the text meets."""
    with pytest.raises(QueryError) as caught:
        resolve_text(text, CONCEPTS, SCALES)
    return caught.value


@pytest.mark.parametrize("topic", topics(), ids=[topic.words[0] for topic in topics()])
def test_each_word_of_a_topic_gets_its_message(topic: Topic) -> None:
    """However it is written, no other name is offered for it; and none of the words is the name of anything known."""
    for at, word in enumerate(topic.words):
        form = FORMS[at % len(FORMS)]
        error = refused(form.format(word))
        assert error.hint == topic.hint, f"{form.format(word)}: {error}"
        assert "did you mean" not in str(error)


@pytest.mark.parametrize("topic", topics(), ids=[topic.words[0] for topic in topics()])
def test_what_a_topic_says_to_write_can_be_written(topic: Topic) -> None:
    """The queries in the hint are read."""
    for text in topic.valid:
        assert text in topic.hint
        assert resolve_text(text, CONCEPTS, SCALES)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SUV > 7", "what scans measure of lesions is not held"),
        ("lung cancer with size > 3", "the size of a tumor is a feature of it"),
        ("last fasting insulin level above 1.5 mg/dl", "laboratory values"),
        ("female", "the sex of a patient"),
        ("insured", "who somebody is in society"),
        ("black", "it is the value of one"),
        ("race = hispanic", "is an ethnicity"),
    ],
)
def test_topics_in_sentences(text: str, words: str) -> None:
    """What stands around the word does not matter, nor at which word the reading of the query stopped."""
    assert words in str(refused(text))


@pytest.mark.parametrize("text", ["white matter oddities", "hospital pneumonias", "black tongue"])
def test_a_name_that_only_holds_such_a_word_is_no_topic(text: str) -> None:
    """A topic is the whole of the name that is not known."""
    assert "not held" not in str(refused(text))


@pytest.mark.parametrize(
    ("text", "write"),
    [
        ("breast cancer no metastasis", "breast cancer and not metastasis"),
        ("lung cancer osimertinib", "lung cancer and osimertinib"),
        ("breast cancer stage IV", "breast cancer and stage IV"),
        ("melanoma with pneumonitis", "melanoma and pneumonitis"),
    ],
)
def test_criteria_written_as_one_name(text: str, write: str) -> None:
    """What is made of known names is told as the query that joins them."""
    error = refused(f"'{text}'")
    assert error.hint.endswith(f"write: {write}")
    assert resolve_text(write, CONCEPTS, SCALES)


@pytest.mark.parametrize(
    ("text", "write"),
    [
        ("grade >= 8", "grade with scale = gleason, value >= 8"),
        ("grade 7", "grade with scale = gleason, value = 7"),
        ("grade between 7 and 9", "grade with scale = gleason, value between 7 and 9"),
        ("grade in (7, 8)", "grade with scale = gleason, value in (7, 8)"),
    ],
)
def test_a_number_outside_its_scale_names_the_scale_that_has_it(text: str, write: str) -> None:
    """The query to write is in the hint, and can be written."""
    assert refused(text).hint.endswith(f"write: {write}")
    assert resolve_text(write, CONCEPTS, SCALES)


@pytest.mark.parametrize("text", ["grade 11", "grade >= 100", "adverse event with grade = 7", "stage >= 9"])
def test_no_scale_is_named_that_has_no_such_number(text: str) -> None:
    """Beyond every scale, and in facts that have no other, the values that there are are listed."""
    assert "its values are" in refused(text).hint
