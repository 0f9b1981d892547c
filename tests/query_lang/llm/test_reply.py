"""What models write around and instead of the object that was asked for, and what is taken from it."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.query_lang.llm.reply import Reply, Unusable, read_reply

QUESTION = "Recent lung cancer patients with brain mets, covered by Medicaid"
GOOD = '{"query": "lung cancer", "unread": ["covered by Medicaid"], "unclear": []}'


def read(text: str) -> Reply:
    return read_reply(text, QUESTION, longest_query=100)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}",
        f"Here is the query you asked for:\n\n{GOOD}\n\nLet me know whether it helps!",
        f'<think>Perhaps {{"query": "death", "unread": [], "unclear": []}}? No.</think>{GOOD}',
        f"{GOOD}\n{GOOD}",
        f"The set {{a, b}} is meant. {GOOD}",
        GOOD.replace("}", ', "confidence": 1}'),
    ],
)
def test_the_object_is_found_in_what_models_write_around_it(text: str) -> None:
    """Code fences, courtesies, thoughts and repetitions are passed over."""
    assert read(text) == Reply("lung cancer", ("covered by Medicaid",))


def test_a_question_may_be_declined() -> None:
    """A null query with the phrases that stand in its way is an answer."""
    assert read('{"query": null, "unread": [], "unclear": ["Recent"]}') == Reply("", (), ("Recent",))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no JSON object"),
        ("I'm sorry, but I can't help with medical records.", "no JSON object"),
        (GOOD[:30], "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ('{"sql": "SELECT 1"}', "no JSON object"),
        ('{"query": "lung cancer"}', "no 'unread' and no 'unclear'"),
        ('{"query": "lung cancer", "unread": []}', "no 'unclear'"),
        ('{"query": 7, "unread": [], "unclear": []}', "neither text nor null"),
        ('{"query": ["a"], "unread": [], "unclear": []}', "neither text nor null"),
        ('{"query": null, "unread": [], "unclear": []}', "which words stand in its way"),
        ('{"query": "  ", "unread": [], "unclear": []}', "which words stand in its way"),
        ('{"query": "x", "unread": "Medicaid", "unclear": []}', "'unread' is no list"),
        ('{"query": "x", "unread": [], "unclear": [1]}', "'unclear' is no list"),
        ('{"query": "x", "unread": [], "unclear": null}', "'unclear' is no list"),
        (f'{GOOD} {GOOD.replace("lung", "breast")}', "several JSON objects"),
        (json.dumps({"query": "x" * 101, "unread": [], "unclear": []}), "more than 100 characters"),
        (json.dumps({"query": "x", "unread": ["Medicaid"] * 31, "unclear": []}), "'unread' is no list"),
        ('{"query":' * 20_000, "no JSON object"),
        ('{"query": ' + "[" * 100_000, "no JSON object"),
        ('{"query": ' + "9" * 10_000 + ', "unread": [], "unclear": []}', "no JSON object"),
    ],
)  # fmt: skip
def test_what_is_not_the_object_is_told(text: str, complaint: str) -> None:
    """The complaint says what is missing or wrong, for the one repair that is asked for."""
    with pytest.raises(Unusable, match=complaint):
        read(text)


@pytest.mark.parametrize(
    "phrase", ["Call this number", "medicaid insurance", "see https://example.org", "lung mets", "can"]
)
def test_phrases_are_words_of_the_question(phrase: str) -> None:
    """What a model makes up is not shown as if the asker had said it, and the complaint does not repeat it."""
    with pytest.raises(Unusable, match="copy them from it") as told:
        read(json.dumps({"query": "lung cancer", "unread": [phrase], "unclear": []}))
    assert phrase not in str(told.value)


@pytest.mark.parametrize("phrase", ["COVERED BY MEDICAID", " covered  by Medicaid ", "covered by Medicaid.", "Brain"])
def test_case_blanks_and_full_stops_of_a_phrase_do_not_matter(phrase: str) -> None:
    """The words count."""
    assert read(json.dumps({"query": "lung cancer", "unread": [phrase], "unclear": []})).unread


@given(st.text(max_size=300) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["query", "unread", "unclear", "x"]), inner, max_size=4
    ),
    max_leaves=12,
).map(json.dumps))  # fmt: skip
def test_any_text_is_a_reply_or_unusable(text: str) -> None:
    """Nothing else comes out, and phrases are always of the question."""
    with contextlib.suppress(Unusable):
        reply = read(text)
        assert reply.query or reply.unread or reply.unclear
