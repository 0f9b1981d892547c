"""Whatever is written in a fact, reading it does not fail, and what comes depends on what is written alone."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohortium.ingest.abstraction.load import load_abstractions
from cohortium.ingest.abstraction.records import Abstraction, BadRecord, read_abstractions
from cohortium.ingest.abstraction.structure import ASSERTIONS, KINDS
from cohortium.kb.model import Experiencer, Journey, Temporality, World
from cohortium.kb.storage.reader import KnowledgeBase
from tests.amounts import examples
from tests.places import ABSTRACTIONS

#: Bits of clinical language, so that what is drawn is read as something now and then.
_BITS = (
    "breast cancer", "ca", "adenocarcinoma, NOS", "left", "Lt.", "stage IV", "pT2", "N1", "KRAS", "p.G12D", "EML4::ALK",
    "exon 19", "ER", "positive", "3+", "no", "possible", "VUS", "germline", "Keytruda", "FOLFOX", "or placebo", "ECOG",
    "1-2", "Gleason 4+3", "mets", "liver", "0/14", "nodes", "died", "grade 3", "fatigue", "%", "50", "(", ")", ",", ";",
    "/", "+", "[", "]", "\\", "del(17p)", "t(11;14)", "PD", "RT", "declined",
)  # fmt: skip
_text = st.one_of(
    st.text(max_size=30),
    st.lists(st.sampled_from(_BITS), max_size=6).map(" ".join),
    st.lists(st.one_of(st.sampled_from(_BITS), st.text(max_size=4)), max_size=6).map("".join),
)
_any = st.one_of(
    _text,
    st.none(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.lists(_text, max_size=3),
)
_keys = st.sampled_from(
    (
        "site", "laterality", "result", "gene", "percent", "alteration", "protein_change", "exon", "origin", "t", "n",
        "m", "prefix", "grade", "scale", "positive", "examined", "status", "reason", "line", "dose", "intent",
    )
)  # fmt: skip
_dates = st.sampled_from((None, "", "2020", "2020-02", "2020-02-29", "1900", "2199-12-31"))


def _in_time(fact: dict[str, Any]) -> dict[str, Any]:
    """The fact without an end that comes before its beginning: such a fact is refused."""
    return {**fact, "end_date": None} if (fact["end_date"] or "") < (fact["date"] or "") else fact


_facts = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(sorted(KINDS)),
        "concept": _any,
        "value": _any,
        "attributes": st.dictionaries(_keys | st.text(max_size=8), _any, max_size=4),
        "date": _dates,
        "end_date": _dates,
        "assertion": st.sampled_from(sorted(ASSERTIONS)),
        "docs": st.lists(st.sampled_from(("D1", "D2", "")), max_size=3),
        "evidence": _text,
    }
).map(_in_time)


def _tries(number: int) -> settings:
    """Settings for tests that write a file for each try, over the last one."""
    return settings(
        max_examples=examples(number), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )


@_tries(250)
@given(facts=st.lists(_facts, min_size=1, max_size=5))
def test_any_fact_is_read(facts: list[dict[str, Any]], journey_of: Callable[..., Journey]) -> None:
    """Reading does not fail; mentions are spans of the notes, events cite mentions, decisions are between events."""
    journey = journey_of(facts)
    notes = {note.note_id: note for note in journey.notes}
    assert len(notes) == len(facts)
    for mention in journey.mentions:
        text = notes[mention.note_id].text
        assert 0 <= mention.start <= mention.end <= len(text)
        assert text[mention.start : mention.end] == mention.text
        low, high = mention.sentence
        assert 0 <= low <= high <= len(text)
    known = {mention.mention_id for mention in journey.mentions}
    assert all(event.evidence and set(event.evidence) <= known for event in journey.events)
    events = {event.event_id for event in journey.events}
    assert all({*decision.believed, *decision.rejected} <= events for decision in journey.decisions)


@_tries(100)
@given(fact=_facts)
def test_the_assertion_bounds_the_world(fact: dict[str, Any], journey_of: Callable[..., Journey]) -> None:
    """What an abstraction calls planned, hypothetical, absent or another's never happened, whatever its words say.

    What it calls uncertain did not for certain, but for a variant of uncertain significance.
    """
    for event in journey_of([fact]).events:
        if fact["assertion"] in ("planned", "hypothetical", "absent", "family"):
            assert event.world is World.NONE
        if fact["assertion"] in ("planned", "hypothetical"):
            assert event.context.temporality is Temporality(fact["assertion"])
        if fact["assertion"] == "family":
            assert event.context.experiencer is Experiencer.FAMILY
        if fact["assertion"] == "uncertain" and event.attributes.get("significance") != "vus":
            assert event.world is not World.CERTAIN


@_tries(50)
@given(facts=st.lists(_facts, max_size=4))
def test_the_same_facts_make_the_same_journey(facts: list[dict[str, Any]], journey_of: Callable[..., Journey]) -> None:
    """A journey depends on its facts alone, to the last id."""
    assert journey_of(facts) == journey_of(facts)


@_tries(300)
@given(line=st.one_of(st.binary(max_size=60), st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_line_is_a_patient_or_a_reason(line: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever stands in a file, reading it gives patients and reasons."""
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(line)
    for record in read_abstractions(path):
        assert isinstance(record, Abstraction) or record.reason


@_tries(200)
@given(
    entry=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(("patient_id", "facts", "kind", "concept", "attributes", "date", "docs", "assertion")),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
def test_any_object_is_a_patient_or_a_reason(entry: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same of lines that are JSON and have the right names in the wrong places."""
    path = tmp_path_factory.getbasetemp() / "object.jsonl"
    path.write_text(json.dumps(entry))
    for record in read_abstractions(path):
        assert isinstance(record, Abstraction) or record.reason


def test_equal_facts_make_equal_knowledge_bases(tmp_path: Path) -> None:
    """The generation's id depends on the facts alone: not on the run, nor on the order of the patients in the file."""
    lines = ABSTRACTIONS.read_text("utf-8").splitlines()
    shuffled = random.Random(5).sample(lines, len(lines))
    assert shuffled != lines
    generations, journeys = [], []
    for number, part in enumerate((lines, lines, shuffled)):
        path = tmp_path / str(number) / "facts.jsonl"
        path.parent.mkdir()
        path.write_text("\n".join(part), "utf-8")
        load_abstractions(path, tmp_path / f"{number}.kb")
        with KnowledgeBase.open(tmp_path / f"{number}.kb") as store:
            generations.append(store.generation)
            journeys.append([store.journey(patient) for patient in store.patients])
    assert journeys[0] == journeys[1] == journeys[2]
    assert generations[0] == generations[1] == generations[2]


def test_a_changed_fact_makes_another_knowledge_base(tmp_path: Path) -> None:
    """The generation's id tells facts apart that differ in a word."""
    generations = set()
    for number, concept in enumerate(("colon cancer", "rectal cancer")):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(json.dumps({"patient_id": "A", "facts": [{"kind": "diagnosis", "concept": concept}]}))
        load_abstractions(path, tmp_path / f"{number}.kb")
        with KnowledgeBase.open(tmp_path / f"{number}.kb") as store:
            generations.add(store.generation)
    assert len(generations) == 2


@pytest.mark.parametrize(
    "half",
    [
        pytest.param({"concept": "colon cancer \ud800"}, id="concept"),
        pytest.param({"evidence": "\ud800"}, id="evidence"),
        pytest.param({"docs": ["\ud800"]}, id="document"),
        pytest.param({"attributes": {"\ud800": "colon"}}, id="attribute"),
    ],
)
def test_half_a_character_is_told(half: dict[str, Any], written: Any) -> None:
    """Text that is not valid Unicode could not be stored: its fact is told, and the patients after it are read."""
    fact = {"kind": "diagnosis", "concept": "colon cancer", **half}
    records = list(read_abstractions(written([{"patient_id": "A", "facts": [fact]}, {"patient_id": "B", "facts": []}])))
    assert [type(record) for record in records] == [BadRecord, Abstraction, Abstraction]


def test_half_a_character_of_a_patient_is_told(written: Any) -> None:
    """A patient whose id is not valid Unicode is a bad line."""
    (record,) = read_abstractions(written([{"patient_id": "\ud800", "facts": []}]))
    assert isinstance(record, BadRecord)


def test_a_day_that_no_record_can_be_of_is_told(loaded: Any) -> None:
    """A date before 1900, where days begin, goes to quarantine; the patients after it are read."""
    fact = {"kind": "diagnosis", "concept": "colon cancer", "date": "1820-03-04"}
    report, _ = loaded([{"patient_id": "A", "facts": [fact]}, {"patient_id": "B", "facts": []}])
    assert report.patients == 2
