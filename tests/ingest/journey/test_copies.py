"""Copied sentences, edited or not: which are found, in any order of reading, at what cost."""

from __future__ import annotations

import datetime
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.journey.copies import Copies, Statement, words_of
from cohortium.ingest.journey.facts import facts_of
from cohortium.ingest.note.read import ReadNote, shared_reader
from cohortium.kb.model import Mention, Note
from tests.amounts import examples

FIRST = "This 61-year-old woman was found to have a melanoma of the back, which was excised with wide margins in 2019."
#: The sentence edited, and whether it is still a copy.
EDITED = [
    (FIRST, True),
    (FIRST.replace("61", "62"), True),
    (FIRST.replace("woman", "womann").replace("2019", "March 2019"), True),
    (FIRST.replace("This", "This pleasant, well-appearing"), True),
    ("On 3/14/2019 " + FIRST.replace("61", "62"), True),
    (FIRST.upper().replace(" ", "\n"), True),
    ("Her sister, a nurse in the north of the country, was found to have a melanoma of the back.", False),
    (
        "The melanoma of the back was excised with wide margins, and nothing has come back since, as far as she knows.",
        False,
    ),
]
STATED: Statement = ("diagnosis", "melanoma")
WORDS = st.lists(
    st.sampled_from("a melanoma of the back was found and excised in 2019 2020 61 62 ECOG 1 2".split()), max_size=40
)
TEXTS = st.one_of(WORDS.map(" ".join), st.text(max_size=120), st.sampled_from([text for text, _ in EDITED]))


def said(text: str) -> dict[tuple[int, int], list[Statement]]:
    """The text as one sentence that states one thing."""
    return {(0, len(text)): [STATED]}


@pytest.mark.parametrize(("text", "copied"), EDITED)
def test_edited_sentences(text: str, copied: bool) -> None:
    """A sentence of an earlier note is recognised with a few words changed, and no other is."""
    copies = Copies()
    assert not copies.copied(FIRST, said(FIRST))
    assert bool(copies.copied(text, said(text))) is copied


def test_a_date_in_figures_is_one_word() -> None:
    """A short sentence with another date is a copy."""
    copies = Copies()
    for day, copied in (("4/1/2020", False), ("11/23/2021", True)):
        text = f"Interval history {day}: the melanoma of her back was excised with wide margins."
        assert bool(copies.copied(text, said(text))) is copied


def test_a_new_statement_of_a_copied_sentence_is_not_copied() -> None:
    """Of an edited sentence the statements are copied that the earlier one made; word for word all are."""
    copies, edited = Copies(), FIRST.replace("61", "62")
    copies.copied(FIRST, said(FIRST))
    new: Statement = ("performance", "ecog")
    assert copies.copied(edited, {(0, len(edited)): [STATED, new]}) == {(0, len(edited), STATED)}
    assert copies.copied(edited, {(0, len(edited)): [new]}) == {(0, len(edited), new)}


def test_sentences_of_one_note_copy_nothing_of_each_other() -> None:
    """Only an earlier note is copied from."""
    text = f"{FIRST} {FIRST}"
    halves = {(0, len(FIRST)): [STATED], (len(FIRST) + 1, len(text)): [STATED]}
    assert not Copies().copied(text, halves)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(TEXTS, max_size=6))
def test_any_text(texts: list[str]) -> None:
    """No text raises; a long sentence said twice is copied the second time; the first note has no copies."""
    copies = Copies()
    for position, text in enumerate(texts):
        found = copies.copied(text, said(text))
        assert position or not found
        again = copies.copied(text, said(text))
        assert bool(again) is (len(" ".join(words_of(text, 0, len(text)))) >= 60)


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(st.integers(0, len(EDITED) - 1), min_size=2, max_size=6), st.integers(0, 1000))
def test_the_order_of_reading_decides_nothing(record: list[int], seed: int) -> None:
    """The same notes in another order of reading give the same journey."""
    reader = shared_reader()
    notes = [
        Note("P1", f"N{at}", f"{EDITED[which][0]} ECOG {at % 3}.", datetime.date(2020, 1, 1 + at % 3))
        for at, which in enumerate(record)
    ]
    read = [reader.read(note) for note in notes]
    shuffled = random.Random(seed).sample(read, len(read))
    assert build_journey("P1", read, reader.concepts) == build_journey("P1", shuffled, reader.concepts)


def near_equal(number: int) -> list[ReadNote]:
    """So many notes of ten sentences, each with its own date in each sentence, as if read."""
    organs = ("back", "arm", "leg", "neck", "scalp", "hand", "foot", "chest", "hip", "face")
    notes = []
    for at in range(number):
        parts = [
            f"On day {at} of care the melanoma of the {organ} that was excised with wide margins stays away for good."
            for organ in organs
        ]
        text, mentions, start = " ".join(parts), [], 0
        for part in parts:
            place = start + part.index("melanoma")
            sentence = (start, start + len(part))
            mentions.append(Mention("", place, place + 8, "melanoma", "diagnosis", "", "melanoma", sentence=sentence))
            start += len(part) + 1
        notes.append(ReadNote(Note("P1", f"N{at}", text), tuple(mentions)))
    return notes


def test_cost_grows_with_the_number_of_notes() -> None:
    """4,000 near-equal notes take a few seconds, and four times as many notes about four times as long."""
    concepts = shared_reader().concepts
    spent = []
    for number in (1000, 4000):
        notes = near_equal(number)
        started = time.process_time()
        facts = facts_of(notes, concepts)
        spent.append(time.process_time() - started)
        assert sum(fact.copied for fact in facts) == 10 * (number - 1)
    assert spent[1] < max(8.0, 7 * spent[0]), spent
