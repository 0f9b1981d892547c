"""The steps of a note: each has a name of its own, and can be left out by it."""

from __future__ import annotations

import datetime

import pytest

from cohortium.ingest.note.read import NoteReader, Parts, shared_reader
from cohortium.ingest.note.steps import STEPS, chosen, name_of, without
from cohortium.ingest.recognizers.every import recognizers_of
from cohortium.ingest.single import read_steps
from cohortium.kb.model import Note

NOTE = Note(
    "P1",
    "N1",
    "A 61-year-old woman. Breast cancer, ER positive, metastatic to the liver. Started letrozole in May 2020.",
    datetime.date(2020, 6, 1),
)


def kinds(*left_out: str) -> set[str]:
    """The kinds of the mentions of the note, read without these steps."""
    reader = NoteReader(shared_reader().concepts, Parts(steps=without(*left_out)))
    return {mention.kind for mention in reader.read(NOTE).mentions}


def test_names_are_unique_and_each_step_says_what_it_does() -> None:
    """No two steps share a name, and each has one line of description."""
    names = [name_of(step) for step in STEPS]
    assert len(set(names)) == len(names)
    for step in STEPS:
        assert len((step.__doc__ or "").splitlines()) == 1, name_of(step)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("bind results", "biomarker"), ("place spread", "metastasis"), ("write births", "birth"), ("find spans", "state")],
)
def test_what_a_left_out_step_adds_is_missing(name: str, kind: str) -> None:
    """Without the step there is no mention of the kind that it adds."""
    assert kind in kinds()
    assert kind not in kinds(name)


def test_steps_are_chosen_in_their_own_order() -> None:
    """In whatever order their names are given; a name that none has is an error."""
    assert chosen("tie harms", "write mentions") == chosen("write mentions", "tie harms")
    with pytest.raises(KeyError):
        without("fly")


def test_recognisers_have_names_of_their_own() -> None:
    """No two recognisers of the door share a name."""
    names = [one.name for one in recognizers_of(shared_reader().lexicon, shared_reader().measured)]
    assert len(set(names)) == len(names)


def test_what_each_step_changed_is_told() -> None:
    """Every step is told in order; what it added is there with its words, and what it changed as it is now."""
    steps = read_steps(NOTE.text, NOTE.date)
    assert [one.name for one in steps] == [name_of(step) for step in STEPS]
    assert [one.number for one in steps] == list(range(1, len(STEPS) + 1))
    changes = {one.name: {(change.sign, change.what, change.text) for change in one.changes} for one in steps}
    assert ("+", "span", "letrozole") in changes["find spans"]
    assert ("+", "event", "ER positive") in changes["bind results"]
    assert ("+", "mention", "letrozole") in changes["write mentions"]
    assert ("~", "mention", "letrozole") in changes["read courses"]
    assert ("+", "mention", "61-year-old") in changes["write births"]
    for step in steps:
        for change in step.changes:
            if change.what in ("span", "event", "mention"):
                assert change.text == NOTE.text[change.start : change.end]
