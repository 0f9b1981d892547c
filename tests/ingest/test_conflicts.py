"""Results that give way to others."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import pytest

from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import shared_reader
from cohortium.kb.model import Journey, Note, World


def journey_of(texts: Sequence[str]) -> Journey:
    """The journey of one patient, a note a month."""
    reader = shared_reader()
    notes = [Note("A", f"{at}", text, datetime.date(2021, at, 1)) for at, text in enumerate(texts, 1)]
    return build_journey("A", [reader.read(note) for note in notes], reader.concepts)


@pytest.mark.parametrize(
    ("texts", "results", "rules"),
    [
        (("Preliminary: ER positive.", "ER negative."), {"negative"}, {"final over preliminary"}),
        (("ER negative.", "Preliminary: ER positive."), {"negative"}, {"final over preliminary"}),
        (("Preliminary: ER positive.", "Verbal report: ER negative."), {"positive", "negative"}, set()),
        (("Preliminary: ER positive.", "ER positive."), {"positive"}, set()),
    ],
)
def test_a_preliminary_result_gives_way_to_a_final_one_alone(
    texts: Sequence[str], results: set[str], rules: set[str]
) -> None:
    """Of a preliminary and a contrary final result the final one stands; two preliminary ones both stand."""
    journey = journey_of(texts)
    markers = [event for event in journey.events if event.concept == "er"]
    assert {event.attributes["result"] for event in markers if event.world >= World.BELIEVED} == results
    assert {decision.rule for decision in journey.decisions} == rules


def test_a_disputed_result_is_in_some_completions_alone() -> None:
    """Of a preliminary and a contrary final result the one is possible, and the other believed and not certain."""
    journey = journey_of(["Preliminary: ER positive.", "ER negative."])
    worlds = {event.attributes["result"]: event.world for event in journey.events if event.concept == "er"}
    assert worlds == {"positive": World.POSSIBLE, "negative": World.BELIEVED}


def test_what_a_correction_rejects_stays_on_record_in_no_world() -> None:
    """A corrected result is an event that says so, with the decision that names it and the one that stands."""
    journey = journey_of(["HER2: positive.", "HER2 corrected result: negative."])
    by_result = {event.attributes["result"]: event for event in journey.events if event.concept == "her2"}
    (decision,) = journey.decisions
    assert (by_result["positive"].world, by_result["positive"].context.reason) == (World.NONE, "retracted")
    assert decision.rejected == (by_result["positive"].event_id,)
    assert decision.believed == (by_result["negative"].event_id,)


def test_a_corrected_status_replaces_the_stains_that_it_rests_on() -> None:
    """A corrected mismatch repair status takes back the loss of a protein that was reported before."""
    journey = journey_of(["IHC: MLH1 lost.", "Amended report: mismatch repair proficient (pMMR)."])
    lost = [event for event in journey.events if event.attributes.get("result") == "lost"]
    assert [event.world for event in lost] == [World.NONE]


def test_a_gene_that_its_change_implies_is_shown_by_the_change() -> None:
    """No mention is empty: where a change alone brings its gene, the change is the mention's text."""
    journey = journey_of(["Progression with T790M."])
    variants = [mention for mention in journey.mentions if mention.kind == "variant"]
    assert [(mention.concept, mention.text) for mention in variants] == [("egfr", "T790M")]


def test_one_thing_in_one_place_is_mentioned_once() -> None:
    """Two recognisers that see the same thing in the same place give one mention."""
    journey = journey_of(["HER2 positive. ER+. Metastatic breast cancer with metastasis."])
    ids = [mention.mention_id for mention in journey.mentions]
    assert len(ids) == len(set(ids)) > 3


def test_each_result_that_gives_way_is_told_by_one_decision() -> None:
    """However many corrections a record holds, a rejected mention stands in one decision."""
    journey = journey_of(["HER2 positive.", *["Corrected: HER2 negative."] * 5])
    rejected = [event for decision in journey.decisions for event in decision.rejected]
    assert len(rejected) == len(set(rejected)) > 0
