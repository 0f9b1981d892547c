"""What a model may add to a note: proposals beside what the rules read, in context, linked or openly unlinked."""

from __future__ import annotations

import datetime
import functools
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.models.tagging.recognizer import ModelRecognizer, kinds_of_types
from cohortium.ingest.note.proposals import probabilities
from cohortium.ingest.note.read import ReadNote
from cohortium.ingest.run.batches import PatientNotes, ShippedReader, Version, read_batch
from cohortium.ingest.single import document_of
from cohortium.kb.errors import UsageError
from cohortium.kb.model import Event, Journey, Mention, Note, World
from tests.amounts import examples
from tests.ingest.models.tagging.made_models import LINKS, PHRASES, Linked, MadeChoice, MadeTagger, made_reader
from tests.places import SAMPLES

DAY = datetime.date(2019, 5, 1)
MADE = MadeChoice()


@functools.cache
def reader(choice: MadeChoice | None = MADE) -> Any:
    """A reader, made once."""
    return made_reader(choice)


@functools.cache
def by_rules(note: Note) -> ReadNote:
    """A note as rules alone read it."""
    found: ReadNote = reader(None).read(note)
    return found


def proposing(*told: tuple[str, str, float, str, str, float]) -> MadeChoice:
    """A model that finds phrases: words, type, confidence, concept, name, probability of the link."""
    return MadeChoice(
        phrases=tuple((words, (type_, sure)) for words, type_, sure, *_ in told),
        links=tuple((words, Linked(concept, name, link)) for words, _, _, concept, name, link in told if concept),
    )


def read(text: str, choice: MadeChoice | None = MADE) -> ReadNote:
    """One note of patient P1."""
    found: ReadNote = reader(choice).read(Note("P1", "d1", text, DAY))
    return found


def proposed(text: str, choice: MadeChoice | None = MADE) -> list[Mention]:
    """The mentions that the model added."""
    return [mention for mention in read(text, choice).mentions if mention.model]


def journey(*texts: str, choice: MadeChoice | None = MADE) -> Journey:
    """The journey of a patient with these notes, a month apart."""
    notes = [Note("P1", f"d{at}", text, DAY + datetime.timedelta(30 * at)) for at, text in enumerate(texts)]
    return build_journey("P1", [reader(choice).read(note) for note in notes], reader(choice).concepts)


def events_of(made: Journey, concept: str) -> list[Event]:
    """The events of a concept."""
    return [event for event in made.events if event.concept == concept]


@functools.cache
def samples() -> list[Note]:
    """The sample notes."""
    rows = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    return [Note(row["patient_id"], row["doc_id"], row["text"], DAY, row.get("type") or "") for row in rows]


def samples_by_patient() -> dict[str, list[Note]]:
    """The sample notes of each patient."""
    by_patient: dict[str, list[Note]] = {}
    for note in samples():
        by_patient.setdefault(note.patient_id, []).append(note)
    return by_patient


# --- what is taken ----------------------------------------------------------------------------------------------------


def test_a_proposal_that_the_rules_lack_is_a_mention_with_its_link() -> None:
    """It has the concept, the kind of the concept, the model as its source, the name it was linked by, and a
    probability: that of the span times that of the link."""
    (found,) = proposed("She started trastuzumabum in April.")
    assert (found.text, found.kind, found.label, found.concept) == (
        "trastuzumabum", "medication", "MedicationName", "trastuzumab",
    )  # fmt: skip
    assert found.source == "model:made"
    assert found.model == "made"
    assert not found.unlinked
    assert found.confidence == pytest.approx(0.96 * 0.95, abs=0.001)
    assert [cue.rule for cue in found.cues if cue.rule.startswith("link:")] == ["link:trastuzumab"]


def test_what_the_linker_does_not_know_is_unlinked() -> None:
    """It keeps words and kind, and has no concept; nothing is made up."""
    (found,) = proposed("She has cerebral glimmer syndrome.")
    assert (found.text, found.kind, found.concept) == ("cerebral glimmer syndrome", "comorbidity", "")
    assert found.unlinked
    unlinked = proposed("She started trastuzumabum.", replace(MadeChoice(), linked=False))
    assert [(one.kind, one.concept, one.unlinked) for one in unlinked] == [("medication", "", True)]


@pytest.mark.parametrize("text", ["She has breast cancer of the left breast.", "Started carboplatin 3/4/2019."])
def test_what_the_rules_read_is_not_proposed_again(text: str) -> None:
    """The same span, one within it, and one across its edge all give way."""
    rules = read(text, None).mentions
    (target, *_) = rules
    for start, end in ((0, 0), (1, 0), (0, -1), (-4, -2), (2, 3)):
        words = text[target.start + start : target.end + end]
        choice = proposing((words, "Disease", 0.99, "hypertension", "hypertension", 0.99))
        assert not proposed(text, choice)


def test_a_longer_proposal_stands_beside_the_rules_when_it_says_more() -> None:
    """Linked below what the rules read within it, it is added, and theirs stays; linked elsewhere or not at all, it
    gives way."""
    text = "Biopsy: breast carcinoma of the encapsulated papillary sort."
    words = "breast carcinoma of the encapsulated papillary sort"
    (known,) = [mention for mention in read(text, None).mentions if mention.kind == "diagnosis"]
    concepts = reader(None).concepts
    below = min(concepts.below(known.concept) - {known.concept})
    more = read(text, proposing((words, "Disease", 0.99, below, concepts.name(below), 0.99)))
    assert known in more.mentions
    assert [mention.text for mention in more.mentions if mention.model] == [words]
    for concept in ("hypertension", known.concept, ""):
        assert not proposed(text, proposing((words, "Disease", 0.99, concept, concept, 0.99)))


def test_a_place_within_a_proposal_does_not_keep_it_away() -> None:
    """A site is no reading of the disease that is named after it."""
    words = "glimmer disease of the liver"
    assert [one.text for one in proposed(f"She has {words}.", proposing((words, "Disease", 0.9, "", "", 0)))] == [words]
    assert not proposed("She has liver.", proposing(("liver", "Disease", 0.9, "", "", 0)))


def test_an_improbable_proposal_is_dropped() -> None:
    """Below the recorded probability it is no mention at all."""
    least = probabilities().proposed
    for sure, number in ((least, 1), (least - 0.001, 0)):
        assert len(proposed("She has glimmers.", proposing(("glimmers", "Disease", sure, "", "", 0)))) == number


def test_a_link_to_a_concept_too_wide_is_none() -> None:
    """*Neoplasm* or *drug* says nothing that the type does not say."""
    (found,) = proposed("She has glimmers.", proposing(("glimmers", "Disease", 0.9, "neoplasm", "neoplasm", 0.99)))
    assert found.unlinked


def test_a_type_without_use_is_left_alone_and_a_model_of_none_is_an_error() -> None:
    """Types are compared without case and signs."""
    assert not proposed(
        "She has glimmers.", proposing(("glimmers", "Astronomy", 0.9, "", "", 0), ("x-x", "Drug", 0.9, "", "", 0))
    )
    with pytest.raises(UsageError, match="no use"):
        ModelRecognizer("made", MadeTagger({"glimmers": ("Astronomy", 0.9)}), None, str)
    assert kinds_of_types()["diseasedisorder"] == "comorbidity"


# --- what the rules read stays ----------------------------------------------------------------------------------------


@settings(max_examples=examples(25), deadline=None)
@given(data=st.data())
def test_whatever_is_proposed_the_mentions_of_the_rules_stay_as_they_are(data: st.DataObject) -> None:
    """Any spans of any note: what the rules read is the same, in the same order, and what is added overlaps it only
    where it holds the whole of it."""
    note = data.draw(st.sampled_from(samples()))
    words = [
        data.draw(st.integers(0, max(0, len(note.text) - 60)).flatmap(lambda at: st.just(note.text[at : at + 25])))
        for _ in range(3)
    ]
    phrases = [one for one in dict.fromkeys(words) if one.strip()]
    concepts = ("breast_cancer", "hypertension", "trastuzumab", "")
    choice = proposing(*((one, "Disease", 0.9, data.draw(st.sampled_from(concepts)), "made", 0.95) for one in phrases))
    plain, more = by_rules(note), made_reader(choice).read(note)
    added = [mention for mention in more.mentions if mention.model]
    assert [mention for mention in more.mentions if not mention.model] == list(plain.mentions)
    assert [edge for edge in more.relations if edge in plain.relations] == list(plain.relations)
    for one in added:
        for other in plain.mentions:
            apart = one.end <= other.start or other.end <= one.start
            assert apart or one.start <= other.start and other.end <= one.end


@settings(max_examples=examples(15), deadline=None)
@given(data=st.data())
def test_whatever_is_proposed_the_events_of_the_rules_stay_as_they_are(data: st.DataObject) -> None:
    """Any words of a record linked to anything: events and decisions of the rules are all there, and what is added
    stands on proposals and is not certain."""
    by_patient = samples_by_patient()
    patient = data.draw(st.sampled_from(sorted(by_patient)))
    notes = by_patient[patient]
    words = sorted({word for note in notes for word in note.text.split() if len(word) > 6})
    concepts = ("breast_cancer", "lung_adenocarcinoma", "hypertension", "trastuzumab", "carboplatin", "lymphoma")
    choice = proposing(
        *(
            (
                word,
                "Disease",
                data.draw(st.sampled_from((0.6, 0.99))),
                data.draw(st.sampled_from(concepts)),
                "made",
                0.95,
            )
            for word in data.draw(st.lists(st.sampled_from(words), min_size=1, max_size=6, unique=True))
        )
    )
    plain = build_journey(patient, [by_rules(note) for note in notes], reader(None).concepts)
    changed = made_reader(choice)
    more = build_journey(patient, [changed.read(note) for note in notes], changed.concepts)
    assert all(event in more.events for event in plain.events)
    assert set(plain.decisions) <= set(more.decisions)
    proposals = {mention.mention_id for mention in more.mentions if mention.model}
    for event in more.events:
        if event in plain.events:
            continue
        assert proposals.issuperset(event.evidence)
        assert event.world < World.CERTAIN


def test_a_model_that_proposes_nothing_changes_no_event() -> None:
    """Journeys with it and without it are equal, and so are their ids."""
    silent = proposing(("no such words stand anywhere", "Disease", 0.9, "", "", 0))
    for patient, notes in list(samples_by_patient().items())[:4]:
        with_it, without = (
            build_journey(patient, [one.read(note) for note in notes], one.concepts)
            for one in (reader(silent), reader(None))
        )
        assert with_it == without


# --- context, site, date ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "assertion", "experiencer"),
    [
        ("She has cerebral glimmer syndrome.", "present", "patient"),
        ("No evidence of cerebral glimmer syndrome.", "absent", "patient"),
        ("Possible cerebral glimmer syndrome.", "uncertain", "patient"),
        ("History of cerebral glimmer syndrome.", "historical", "patient"),
        ("Mother had cerebral glimmer syndrome.", "present", "family"),
        ("We plan to start trastuzumabum next month.", "planned", "patient"),
    ],
)
def test_a_proposal_has_the_context_of_its_sentence(text: str, assertion: str, experiencer: str) -> None:
    """Cues are read by the same steps as for any mention."""
    (found,) = proposed(text)
    assert found.context.assertion == assertion or experiencer == "family"
    assert str(found.context.experiencer) == experiencer


def test_a_proposal_has_site_side_and_date_by_the_same_steps() -> None:
    """A tumor is placed, a drug is dated."""
    choice = proposing(("glimmeroma", "Disease", 0.95, "carcinoma", "carcinoma", 0.95))
    (found,) = proposed("Glimmer clinic. There is a glimmeroma of the left breast.", choice)
    assert found.attributes["site"] == "left_breast"
    assert found.attributes["laterality"] == "left"
    (drug,) = proposed("Started trastuzumabum on 3/4/2019.")
    assert drug.day.low == drug.day.high
    assert any(cue.rule.startswith("date:") for cue in drug.cues)


# --- worlds -----------------------------------------------------------------------------------------------------------


def test_a_probable_proposal_is_believed_and_never_certain() -> None:
    """A model may err, whatever it says of itself; the event keeps its probability."""
    (event,) = events_of(journey("She started trastuzumabum on 3/4/2019."), "trastuzumab")
    assert event.world is World.BELIEVED
    assert event.confidence == pytest.approx(0.912, abs=0.001)


def test_an_improbable_proposal_is_possible_only() -> None:
    """Below the recorded probability the event is uncertain, as if the text doubted it."""
    (event,) = events_of(journey("She takes lapatinibum daily."), "lapatinib")
    assert event.world is World.POSSIBLE
    assert event.context.assertion == "uncertain"


def test_what_a_rule_read_as_well_is_certain_by_the_rule() -> None:
    """The event of the rule stands as it would without the model."""
    texts = ("She started trastuzumabum on 3/4/2019.", "She is on trastuzumab, given on 6/3/2019.")
    (event,) = events_of(journey(*texts), "trastuzumab")
    assert event.world is World.CERTAIN
    assert [event] == events_of(journey(*texts, choice=None), "trastuzumab")


@pytest.mark.parametrize(
    "text", ["She has no glimmeroma.", "We plan to start trastuzumabum.", "Her mother had glimmeroma of the breast."]
)
def test_what_is_no_fact_of_the_patient_is_in_no_world(text: str) -> None:
    """Denied, planned and a relative's proposals are as other mentions of that context."""
    choice = proposing(
        ("glimmeroma", "Disease", 0.99, "breast_cancer", "breast cancer", 0.99),
        ("trastuzumabum", "Drug", 0.99, "trastuzumab", "trastuzumab", 0.99),
    )
    made = journey(text, choice=choice)
    assert made.events
    assert all(event.world is World.NONE for event in made.events)


def test_an_unlinked_mention_is_no_event() -> None:
    """It is kept, and states nothing that a query could find."""
    made = journey("She has cerebral glimmer syndrome.")
    assert [mention.text for mention in made.mentions] == ["cerebral glimmer syndrome"]
    assert not made.events


# --- many notes at once -----------------------------------------------------------------------------------------------


def test_notes_are_tagged_together_and_read_the_same() -> None:
    """The tagger is asked once for a batch, and what is found does not depend on the batch."""
    choice = proposing(
        ("cancer", "Disease", 0.9, "", "", 0), ("mg", "Drug", 0.9, "", "", 0), ("plan", "Disease", 0.9, "", "", 0)
    )
    notes = samples()[:12]
    together = made_reader(choice)
    together.prepare(notes)
    tagger = together.proposals.recognizer._tagger  # type: ignore[union-attr, attr-defined]
    alone = made_reader(choice)
    assert [together.read(note) for note in notes] == [alone.read(note) for note in notes]
    assert tagger.calls == [len({note.text for note in notes})]


class MadeShipped(ShippedReader):
    """The shipped reader with the made model."""

    def __init__(self, choice: MadeChoice) -> None:
        self._notes = made_reader(choice)
        self._build = build_journey


def test_a_note_on_which_the_model_fails_costs_no_other() -> None:
    """It is quarantined, and the others of its batch are read with their proposals."""
    texts = ("She started trastuzumabum.", "A note that BREAKS the tagger.", "She has cerebral glimmer syndrome.")
    patients = [
        PatientNotes(f"P{at}", (Version(Note(f"P{at}", "d", text, DAY), ("made.jsonl", f"line {at}")),))
        for at, text in enumerate(texts)
    ]
    result = read_batch(MadeShipped(replace(MadeChoice(), fails_on="BREAKS")), patients)
    assert [why.split(":")[:2] for _, _, why in result.quarantined] == [["reader_error", "RuntimeError"]]
    assert result.tables["mention"].num_rows == 2


# --- read -------------------------------------------------------------------------------------------------------------


def test_what_is_read_can_be_shown_linked_or_not() -> None:
    """JSON tells source, probability and the missing concept; brat has an entity for each."""
    found = read("She has cerebral glimmer syndrome and started trastuzumabum.")
    document = document_of(found, reader())
    shown = {mention["text"]: mention for mention in document.as_dict()["mentions"]}
    syndrome = shown["cerebral glimmer syndrome"]
    assert (syndrome["concept"], syndrome["name"], syndrome["source"]) == ("", "", "model:made")
    assert syndrome["confidence"] == 0.9
    assert shown["trastuzumabum"]["name"] == "trastuzumab"
    assert "cerebral glimmer syndrome" in document.to_brat()


def test_the_made_model_knows_what_the_ontology_does_not() -> None:
    """Else these tests would show nothing."""
    lexicon = reader(None).concepts
    assert not any(lexicon.lookup(words) for words in PHRASES)
    assert all(linked.concept in lexicon for _, linked in LINKS)
