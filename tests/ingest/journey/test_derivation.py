"""Facts that follow from facts: what the shipped rules conclude of invented reports, and what they leave open."""

from __future__ import annotations

import datetime
import itertools

import networkx as nx
import pytest

from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.journey.derivation import levels, stratified
from cohortium.ingest.note.read import NoteReader
from cohortium.kb.derivation.rules import in_force, in_use, rule_of_row, shipped_rules
from cohortium.kb.model import Event, Note, World
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts

DAY = datetime.date(2012, 5, 4)
KIDNEY = "Left kidney, radical nephrectomy: clear cell renal cell carcinoma, Fuhrman grade 2. Tumor size: 4.5 cm. "


@pytest.fixture(scope="module")
def concepts() -> ConceptTable:
    """The ontology that ships."""
    return shipped_concepts()


@pytest.fixture(scope="module")
def reader(concepts: ConceptTable) -> NoteReader:
    """Reads notes under the shipped ontology."""
    return NoteReader(concepts)


def derived(reader: NoteReader, concepts: ConceptTable, *texts: str, date: datetime.date | None = DAY) -> list[Event]:
    """What follows of the reports of one patient."""
    notes = [Note("P1", f"D{number}", text, date, "pathology") for number, text in enumerate(texts)]
    journey = build_journey("P1", [reader.read(note) for note in notes], concepts)
    return [event for event in journey.events if "rule" in event.attributes]


def categories(events: list[Event], letter: str, least: World = World.BELIEVED) -> set[str]:
    """The categories of one letter that are so at least."""
    return {
        str(event.attributes[letter])
        for event in events
        if event.kind == "tnm" and letter in event.attributes and event.world >= least
    }


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("Tumor is confined to the kidney.", {"T1b"}),
        ("The tumor invades the perinephric fat.", {"T3a"}),
        # Silence about what the kidney's T1 is limited by derives nothing.
        ("", set()),
    ],
)
def test_t_follows_from_size_and_extension(
    reader: NoteReader, concepts: ConceptTable, said: str, category: set[str]
) -> None:
    assert categories(derived(reader, concepts, KIDNEY + said), "t") == category


def test_what_is_stated_is_not_derived(reader: NoteReader, concepts: ConceptTable) -> None:
    assert not categories(derived(reader, concepts, KIDNEY + "Tumor is confined to the kidney. pT1b."), "t")


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("Seven lymph nodes, all negative (0/7).", {"N0"}),
        ("Metastatic carcinoma in 5 of 12 lymph nodes.", {"N2a"}),
        ("", set()),
    ],
)
def test_n_follows_from_counts_and_never_from_silence(
    reader: NoteReader, concepts: ConceptTable, said: str, category: set[str]
) -> None:
    report = f"Left breast, modified radical mastectomy: invasive ductal carcinoma. {said}"
    assert categories(derived(reader, concepts, report), "n") == category


def test_a_group_follows_from_what_is_stated(reader: NoteReader, concepts: ConceptTable) -> None:
    """M that no note speaks of is open: the group is believed, not certain."""
    events = derived(reader, concepts, "Sigmoid colon, sigmoidectomy: adenocarcinoma of the colon, pT3 pN1.")
    stages = {(event.attributes["stage"], event.world) for event in events if event.kind == "stage"}
    assert {world for stage, world in stages if str(stage).startswith("III")} == {World.BELIEVED}


def test_a_derived_fact_is_as_open_as_its_premises(reader: NoteReader, concepts: ConceptTable) -> None:
    said = "The tumor is suspicious for invasion of the perinephric fat."
    events = derived(reader, concepts, KIDNEY + said)
    assert "T3a" not in categories(events, "t")
    assert categories(events, "t", World.POSSIBLE) <= {"T3a"}


def test_a_biopsy_gives_no_category(reader: NoteReader, concepts: ConceptTable) -> None:
    report = "Left breast, core biopsy: invasive ductal carcinoma. Tumor size: 1.2 cm."
    assert not categories(derived(reader, concepts, report), "t", World.POSSIBLE)


def test_the_edition_is_the_one_of_the_words_or_of_the_day(reader: NoteReader, concepts: ConceptTable) -> None:
    report = "Right lung, lobectomy: squamous cell carcinoma of the lung. Tumor size: 8 cm. Stage by AJCC {}th edition."
    by_words = {edition: derived(reader, concepts, report.format(edition)) for edition in (6, 7)}
    assert categories(by_words[6], "t") == {"T2"}
    assert categories(by_words[7], "t") == {"T3"}
    plain = "Right lung, lobectomy: squamous cell carcinoma of the lung. Tumor size: 8 cm."
    by_day = derived(reader, concepts, plain, date=datetime.date(2011, 3, 1))
    assert categories(by_day, "t") == {"T3"}
    assert categories(by_day, "t", World.POSSIBLE) == {"T2", "T3"}
    assert categories(derived(reader, concepts, plain, date=datetime.date(2005, 3, 1)), "t") == {"T2"}
    # Without a day no edition is believed.
    assert not categories(derived(reader, concepts, plain, date=None), "t")


def test_a_derived_event_cites_the_words_of_its_premises(reader: NoteReader, concepts: ConceptTable) -> None:
    journey = build_journey(
        "P1",
        [reader.read(Note("P1", "D", KIDNEY + "Tumor is confined to the kidney.", DAY, "pathology"))],
        concepts,
    )
    known = {event.event_id: event for event in journey.events}
    event = next(event for event in journey.events if event.kind == "tnm")
    premises = [known[one] for one in str(event.attributes["premises"]).split()]
    assert {one.kind for one in premises} == {"feature", "extension"}
    assert set(event.evidence) == {mention for one in premises for mention in one.evidence}


def test_editions_follow_each_other() -> None:
    first, later = datetime.date(2009, 6, 1).toordinal(), datetime.date(2010, 6, 1).toordinal()
    assert (in_force(first), in_force(later)) == (6, 7)
    assert set(in_use(later)) == {6, 7}


def test_the_shipped_rules_name_what_there_is(concepts: ConceptTable) -> None:
    """Concepts of tumors, premises and conclusions are in the ontology."""
    for rule in shipped_rules().values():
        named = {*rule.but, *(() if rule.of_patient else rule.of), rule.gives.concept}
        named |= {premise.concept for premise in (*rule.when, *rule.unless, *rule.open)}
        assert not {one for one in named if one and one not in concepts}, rule.id


def test_the_shipped_rules_are_stratified() -> None:
    """As networkx sees it: what a rule must not find lies on a lower level than what it concludes."""
    level = {
        rule.gives.about: number
        for number, some in enumerate(levels())
        for rule in itertools.chain.from_iterable(some.values())
    }
    graph = nx.DiGraph((about, number) for about, number in level.items())
    assert nx.is_directed_acyclic_graph(graph)
    assert len(
        {about for some in levels() for rules in some.values() for about in (rule.gives.about for rule in rules)}
    ) == len(level)


def test_rules_in_a_circle_are_refused() -> None:
    row = {"id": "a", "of": "patient", "editions": "", "source": "", "open": "", "unless": ""}
    one = rule_of_row({**row, "gives": "state remission", "when": "state recurrence"})
    other = rule_of_row({**row, "id": "b", "gives": "state recurrence", "when": "state remission"})
    with pytest.raises(ValueError, match="circle"):
        stratified([one, other])


@pytest.mark.parametrize(
    ("cell", "text", "says"),
    [
        ("when", "", "silence"),
        ("when", "nothing x", "no premise"),
        ("when", "tnm: colour = red", "no condition"),
        ("gives", "no tnm: t = T1", "is no event"),
        ("gives", "medication aspirin", "do not follow"),
        ("source", "hearsay", "source is"),
    ],
)
def test_a_row_that_means_nothing_says_why(cell: str, text: str, says: str) -> None:
    row = {"id": "a", "of": "breast_cancer", "editions": "7", "source": "", "open": "", "unless": ""}
    with pytest.raises(ValueError, match=says):
        rule_of_row({**row, "gives": "tnm: t = T1", "when": "feature tumor_size: value <= 20", cell: text})


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("Intraparenchymal lymph node, negative for tumor.", {"N0"}),
        ("Hilar lymph nodes: not involved.", {"N0"}),
        ("Hilar lymph node: metastatic carcinoma in one node (1/1). Aortic lymph node, negative.", {"N1"}),
    ],
)
def test_one_free_station_is_enough_where_none_is_involved(
    reader: NoteReader, concepts: ConceptTable, said: str, category: set[str]
) -> None:
    """Nodes of one station that are told to be free make N0; an involved one elsewhere forbids it."""
    report = f"Left kidney, radical nephrectomy: clear cell renal cell carcinoma. {said}"
    assert categories(derived(reader, concepts, report), "n") == category


def test_nodes_that_were_counted_were_taken_out(reader: NoteReader, concepts: ConceptTable) -> None:
    """A count of nodes needs no operation that is named; a size does."""
    report = "Breast tissue checklist. Invasive ductal carcinoma of the breast. Tumor size: 2.5 cm. Lymph nodes: 0/4."
    found = derived(reader, concepts, report)
    assert categories(found, "n") == {"N0"}
    assert categories(found, "t") == set()
    assert categories(derived(reader, concepts, report + " Margins: uninvolved."), "t") == {"T2"}


@pytest.mark.parametrize(("named", "edition"), [("AJCC 2002", 6.0), ("AJCC 7th edition", 7.0), ("UICC 2009", 7.0)])
def test_the_words_name_the_edition(reader: NoteReader, concepts: ConceptTable, named: str, edition: float) -> None:
    """By its number or by the year in which the manual came out."""
    report = f"Staged by {named}. Stomach, gastrectomy: adenocarcinoma, invades the serosa."
    assert {event.attributes.get("edition") for event in derived(reader, concepts, report) if event.kind == "tnm"} == {
        edition
    }
