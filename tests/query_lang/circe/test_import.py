"""OHDSI cohort definitions become queries; what cannot be carried is listed. All definitions here are invented."""

from __future__ import annotations

import copy
import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohortium import from_circe
from cohortium.engine.api import OpenKb
from cohortium.engine.reference import meaning as reference
from cohortium.kb.errors import CohortiumError, UsageError
from cohortium.kb.model import DayInterval, Event, Journey, World
from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from cohortium.query_lang.circe.document import EFFECTS, CirceError
from cohortium.query_lang.circe.importer import CirceImport
from cohortium.query_lang.read_back.query import read_back
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve_text
from tests.amounts import examples

FOLDER = Path(__file__).parent / "documents"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "nothing_known")
CONCEPTS, SCALES = shipped_concepts(), Scales.from_files()
SCRAPS = (None, "", -1, 0, 2.5, 1e300, True, "x", [], {}, [1], {"a": 1}, "2020-02-30", [[]], [{}])
ENTRY = datetime.date(2020, 1, 1).toordinal()


def document(name: str) -> dict[str, Any]:
    """One of the definitions."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def imported(source: dict[str, Any]) -> CirceImport:
    """The query of a definition, with the shipped ontology."""
    return from_circe(source, CONCEPTS, SCALES)


@pytest.mark.parametrize("name", NAMES)
def test_the_query_parses_resolves_and_reads_back(name: str) -> None:
    """What is produced is a query like any other: its text is read to the same tree, and says the same."""
    found = imported(document(name))
    again = resolve_text(found.text, CONCEPTS, SCALES)
    assert again == found.query
    assert render(again) == found.text
    assert read_back(again, CONCEPTS) == found.says
    assert all(loss.effect in EFFECTS and loss.why for loss in found.losses)


def leaves(value: Any, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a document with its path."""
    if isinstance(value, dict):
        yield path, value
        for name, one in value.items():
            yield from leaves(one, f"{path}.{name}")
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from leaves(one, f"{path}[{at}]")


@settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([name for name in NAMES if name != "exported"]), st.integers(0, 10_000))
def test_no_field_is_dropped_silently(name: str, which: int) -> None:
    """A field that no importer knows, anywhere in the document, is listed at its path or at one around it."""
    source = document(name)
    places = [
        (path, place)
        for path, place in leaves(source)
        # What lies in a field that is listed as a whole is listed with it.
        if not any(part in path for part in (".concept", "EndWindow", "Censor", "Surprise", "EndStrategy", "Collapse"))
        and not path.split("[")[0].endswith(("Type", "Gender", "Race", "Ethnicity", "Status", "Concept", "Unit"))
    ]
    path, place = places[which % len(places)]
    place["NeverHeardOf"] = {"Value": 1}
    try:
        found = imported(source)
    except CirceError:
        return
    listed = [loss.path for loss in found.losses]
    assert any(f"{path}.NeverHeardOf".startswith(one) for one in listed), path


@settings(deadline=None, max_examples=examples(120), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(NAMES), st.data())
def test_a_broken_definition_is_refused_and_never_crashes(name: str, data: st.DataObject) -> None:
    """Whatever stands in a field: a query, or an error of ours."""
    source = copy.deepcopy(document(name))
    places = [place for _, place in leaves(source) if place]
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(places))
        key = data.draw(st.sampled_from(sorted(place) or ["x"]))
        scrap = st.sampled_from(
            [None, "", -1, 0, 2.5, 1e300, True, "x", [], {}, [1], {"a": 1}, "2020-02-30", [[]], [{}]]
        )
        place[key] = data.draw(scrap)
    try:
        found = imported(source)
    except CohortiumError:
        return
    assert resolve_text(found.text, CONCEPTS, SCALES) == found.query


def test_what_cannot_enter_is_refused() -> None:
    """A definition of which no entry event is known, and what is no definition, are told; exit code 3."""
    with pytest.raises(CirceError, match=r"nothing of the entry event can be asked: VisitOccurrence") as caught:
        imported(document("nothing_known"))
    assert caught.value.exit_code == 3
    for text in ("{", "{}", '{"PrimaryCriteria": []}', "[1]", '{"expression": "no JSON"}'):
        with pytest.raises(CohortiumError):
            from_circe(text, CONCEPTS, SCALES)
    with pytest.raises(CohortiumError, match="cannot read"):
        from_circe(FOLDER / "none.json", CONCEPTS, SCALES)


def test_every_table_and_kind_of_field_is_told_in_the_document_of_all_features() -> None:
    """Each table without events, each lost field and each unknown one has its line, with path and effect."""
    found = {loss.path: loss for loss in imported(document("every_feature")).losses}
    rule = "$.InclusionRules[0].expression"
    for path, effect in {
        "$.PrimaryCriteria.CriteriaList[0].ConditionOccurrence.Gender": "wider",
        "$.PrimaryCriteria.ObservationWindow.PriorDays": "wider",
        "$.AdditionalCriteria.CriteriaList[0].Criteria.ProcedureOccurrence": "narrower",
        f"{rule}.CriteriaList[0].Criteria.DrugExposure.Quantity": "wider",
        f"{rule}.CriteriaList[2].Criteria.DoseEra": "wider",
        f"{rule}.CriteriaList[6].Criteria.Death.CodesetId": "narrower",
        f"{rule}.CriteriaList[14].Criteria.SomethingNew": "wider",
        f"{rule}.DemographicCriteriaList[0].Race": "wider",
        "$.InclusionRules[1].expression.CriteriaList[3].EndWindow": "wider",
        "$.InclusionRules[3]": "wider",
        "$.ConceptSets[3].expression.items[0].includeMapped": "narrower",
        "$.ConceptSets[8]": "none",
        "$.EndStrategy": "none",
        "$.CensorWindow": "wider",
        "$.Surprise": "other",
    }.items():
        assert found[path].effect == effect, path
    assert not imported(document("every_feature")).faithful
    assert imported(document("lung_egfr")).faithful


# --- what the query means ---------------------------------------------------------------------------------------------


def journey(patient: str, **days: int | list[int]) -> Journey:
    """A patient with facts at so many days after the first of 2020: luad, osi, plat, death; born in 1950."""
    facts = {
        "luad": ("diagnosis", "lung_adenocarcinoma"), "osi": ("medication", "osimertinib"),
        "plat": ("medication", "cisplatin"), "death": ("death", "death"),
    }  # fmt: skip
    events = [Event(patient, "birth", "", DayInterval(ENTRY - 70 * 366, ENTRY - 70 * 366))]
    for name, told in days.items():
        for day in told if isinstance(told, list) else [told]:
            kind, concept = facts[name]
            events.append(Event(patient, kind, concept, DayInterval(ENTRY + day, ENTRY + day)))
    return Journey(patient, events=tuple(events))


def defined(
    window: tuple[int | None, int | None] | None, kind: int, count: int, limit: str = "First"
) -> dict[str, Any]:
    """Lung adenocarcinoma, with so many exposures to osimertinib in a window of days around it."""
    source = document("lung_egfr")
    source["PrimaryCriteria"]["PrimaryCriteriaLimit"]["Type"] = source["QualifiedLimit"]["Type"] = limit
    source["ExpressionLimit"]["Type"] = "All"
    rule = source["InclusionRules"][0]["expression"]["CriteriaList"][0]
    rule["Occurrence"] = {"Type": kind, "Count": count, "IsDistinct": True, "CountColumn": "START_DATE"}
    del rule["StartWindow"]
    if window is not None:
        ends = []
        for at, days in enumerate(window):
            sign = (-1, 1)[at] if days is None else -1 if days < 0 else 1
            ends.append({"Coeff": sign} if days is None else {"Days": abs(days), "Coeff": sign})
        rule["StartWindow"] = {"Start": ends[0], "End": ends[1]}
    del source["InclusionRules"][1]
    return source


@pytest.mark.parametrize(
    ("window", "kind", "count", "expected"),
    [
        (None, 2, 1, "a b c d"),
        ((1, 180), 2, 1, "a c"),
        ((-30, -1), 2, 1, "b"),
        ((-30, 30), 2, 1, "a b c"),
        ((-10, 200), 2, 1, "a b c"),
        ((0, None), 2, 1, "a c d"),
        ((None, 0), 2, 1, "b"),
        ((None, None), 2, 1, "a b c d"),
        ((1, 180), 0, 0, "b d e"),
        ((-10, 200), 1, 0, "d e"),
        (None, 0, 0, "e"),
        (None, 2, 2, "c"),
        (None, 1, 1, "a b d e"),
        (None, 0, 1, "a b d"),
        (None, 0, 2, "c"),
    ],
)
def test_windows_and_counts_mean_what_they_mean_there(
    window: tuple[int | None, int | None] | None, kind: int, count: int, expected: str
) -> None:
    """At least, at most and exactly so many facts, before, around and after the entry event."""
    people = [
        journey("a", luad=0, osi=20), journey("b", luad=0, osi=-5), journey("c", luad=0, osi=[10, 170]),
        journey("d", luad=0, osi=400), journey("e", luad=0, plat=30), journey("f", osi=3),
    ]  # fmt: skip
    for limit in ("First", "All"):
        found = imported(defined(window, kind, count, limit))
        answer = reference.evaluate(found.query, people, CONCEPTS, SCALES, World.BELIEVED)
        assert " ".join(sorted(answer)) == expected, found.text


def test_the_first_entry_event_is_the_one_that_counts() -> None:
    """With the limit First a later entry event does not make up for the first; with All it does."""
    people = [journey("a", luad=[0, 1000], osi=1020)]
    first, every = (imported(defined((1, 180), 2, 1, limit)) for limit in ("First", "All"))
    assert not reference.evaluate(first.query, people, CONCEPTS, SCALES, World.BELIEVED)
    assert reference.evaluate(every.query, people, CONCEPTS, SCALES, World.BELIEVED)


def test_ages_are_reckoned_at_the_entry_event() -> None:
    """Completed years at the first diagnosis."""
    source = document("lung_egfr")
    people = [journey("a", luad=0, osi=20)]
    for value, operator, hit in ((70, "gte", True), (71, "gte", False), (70, "lt", False), (70, "eq", True)):
        source["InclusionRules"][1]["expression"]["DemographicCriteriaList"] = [
            {"Age": {"Value": value, "Op": operator}}
        ]
        found = imported(source)
        answer = reference.evaluate(found.query, people, CONCEPTS, SCALES, World.BELIEVED)
        assert bool(answer) is hit, (value, operator)


def test_a_knowledge_base_answers_a_definition(tmp_path: Path) -> None:
    """A faithful definition is answered; one with losses is refused until they are accepted."""
    path = tmp_path / "circe.kb"
    build_generation(path, [journey("a", luad=0, osi=20), journey("b", luad=0)], concepts=CONCEPTS, scales=SCALES)
    kb = OpenKb(KnowledgeBase.open(path))
    assert list(kb.find_circe(FOLDER / "lung_egfr.json")) == ["a"]
    with pytest.raises(CirceError, match="lossy=True"):
        kb.find_circe(FOLDER / "every_feature.json")
    assert list(kb.find_circe(FOLDER / "every_feature.json", lossy=True)) == []


# --- what is asked of one event ---------------------------------------------------------------------------------------

OLD = {"Age": {"Value": 65, "Op": "gte"}}
ONE_EVENT = "one and the same"


def with_rule(group: dict[str, Any], limit: str = "All") -> dict[str, Any]:
    """Lung adenocarcinoma with one inclusion rule: the group."""
    source = defined((1, 180), 2, 1, limit)
    source["InclusionRules"][0]["expression"] = group
    return source


def criterion(window: tuple[int | None, int | None] | None, kind: int = 2, count: int = 1) -> dict[str, Any]:
    """Exposures to osimertinib in a window of days around the entry event, as a criterion of a group."""
    found: dict[str, Any] = defined(window, kind, count)["InclusionRules"][0]["expression"]["CriteriaList"][0]
    return found


def entry_of(source: dict[str, Any]) -> dict[str, Any]:
    """The fields of the entry criterion."""
    found: dict[str, Any] = source["PrimaryCriteria"]["CriteriaList"][0]["ConditionOccurrence"]
    return found


def group(how: str, *criteria: dict[str, Any], count: int | None = None, ages: int = 0) -> dict[str, Any]:
    """A group of criteria, with so many demographic ones."""
    return {"Type": how, "Count": count, "CriteriaList": list(criteria), "DemographicCriteriaList": [OLD] * ages,
            "Groups": []}  # fmt: skip


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize(
    ("age", "near", "window", "lost"),
    [
        (True, 0, (1, 180), True),
        (False, 1, (1, 180), True),
        (True, 1, None, True),
        (False, 2, None, True),
        (True, 0, None, False),
        (False, 1, None, False),
        (False, 0, (1, 180), False),
    ],
)
def test_two_things_asked_of_one_entry_event_are_a_loss(
    age: bool, near: int, window: tuple[int, int] | None, lost: bool, first: bool
) -> None:
    """Age, facts around it and rules: of several entry events each may be met by another, of the first by that one."""
    source = defined(window, 2, 1, "All")
    entry = entry_of(source)
    entry["First"] = first
    if age:
        entry.update(copy.deepcopy(OLD))
    if near:
        entry["CorrelatedCriteria"] = group("ALL", *(criterion((1, 90 * at)) for at in range(1, near + 1)))
    found = imported(source)
    listed = [loss for loss in found.losses if ONE_EVENT in loss.what]
    assert bool(listed) is (lost and not first), found.text
    assert found.faithful is not (lost and not first), found.losses
    assert all(loss.effect != "none" for loss in listed)


@pytest.mark.parametrize(
    ("age", "near", "lost"), [(True, 1, True), (False, 2, True), (True, 0, False), (False, 1, False)]
)
def test_two_things_asked_of_one_other_fact_are_a_loss(age: bool, near: int, lost: bool) -> None:
    """The same of a fact that a rule asks for at any time."""
    one = criterion(None)
    (fields,) = one["Criteria"].values()
    if age:
        fields.update(copy.deepcopy(OLD))
    if near:
        fields["CorrelatedCriteria"] = group("ALL", *(criterion((1, 90 * at)) for at in range(1, near + 1)))
    found = imported(with_rule(group("ALL", one)))
    assert any(ONE_EVENT in loss.what and loss.effect == "wider" for loss in found.losses) is lost
    assert found.faithful is not lost


@pytest.mark.parametrize("limit", ["First", "All"])
@pytest.mark.parametrize(
    ("rule", "lost"),
    [
        (group("AT_MOST", criterion((1, 180)), count=0), True),
        (group("AT_MOST", criterion((1, 180)), criterion((-90, -1)), count=1), True),
        (group("AT_MOST", count=0, ages=1), True),
        ({**group("ALL"), "Groups": [group("AT_MOST", criterion((1, 180)), count=0)]}, True),
        ({**group("AT_MOST", count=0), "Groups": [group("ALL", criterion((1, 180)))]}, True),
        (group("AT_MOST", criterion(None), count=0), False),
    ],
)
def test_not_around_one_of_several_entry_events_is_a_loss(rule: dict[str, Any], lost: bool, limit: str) -> None:
    """*At most so many* is asked of all entry events at once; where only the first counts, that is the same."""
    found = imported(with_rule(rule, limit))
    lost = lost and limit == "All"
    assert (
        any("one entry event meets at most" in loss.what and loss.effect == "narrower" for loss in found.losses) is lost
    )
    assert found.faithful is not lost


@pytest.mark.parametrize(("how", "count"), [("AT_LEAST", 5), ("AT_LEAST", -1), ("AT_MOST", -1), ("AT_LEAST", None)])
@pytest.mark.parametrize("within", [False, True])
def test_a_count_that_nobody_meets_is_refused(how: str, count: int | None, within: bool) -> None:
    """More criteria than there are, or fewer than none, in a rule or inside one."""
    rule = group(how, criterion(None), criterion((1, 180)), count=count)
    with pytest.raises(CirceError, match="ount"):
        imported(with_rule({**group("ALL", criterion(None)), "Groups": [rule]} if within else rule))


@pytest.mark.parametrize(
    ("how", "count", "effect"), [("ALL", None, None), ("ANY", None, "narrower"), ("AT_LEAST", 1, "other")]
)
def test_a_criterion_that_everybody_meets_is_not_dropped_silently(
    how: str, count: int | None, effect: str | None
) -> None:
    """*At least 0 times* adds nothing where all are asked for; as an alternative it makes everybody a member."""
    found = imported(with_rule(group(how, criterion(None), criterion(None, 2, 0), count=count)))
    listed = [loss.effect for loss in found.losses if "everybody meets" in loss.what]
    assert listed == ([] if effect is None else [effect])
    assert found.faithful is (effect is None)


def test_a_source_without_end_is_refused() -> None:
    """A device is read as far as a definition may go, and a text that is no path is shortened in the message."""
    with pytest.raises(UsageError, match="longer than"):
        from_circe("/dev/zero", CONCEPTS, SCALES)
    with pytest.raises(CohortiumError) as caught:
        from_circe("[" * 100_000, CONCEPTS, SCALES)
    assert len(str(caught.value)) < 1000
