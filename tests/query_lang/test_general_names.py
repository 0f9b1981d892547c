"""500 names of general medicine, drawn from four public lists and judged: none is read as something wider."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import pytest

from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.ontology.scope import said
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.nodes import Query, Under
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve_text
from cohortium.query_lang.tree import event_sets

FILE: Final = Path(__file__).with_name("general_names.tsv")


class Judged(NamedTuple):
    """A name, whence it is, and what it was found to mean: ``exact`` and the query that says so; ``wider``, refused
    with the wider name offered; ``refused``."""

    name: str
    source: str
    verdict: str
    meaning: str


def judged() -> list[Judged]:
    """The names of the file."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return [Judged(*line.split("\t")) for line in lines if not line.startswith("#")]


@pytest.fixture(scope="module")
def concepts() -> ConceptTable:
    """The shipped ontology."""
    return shipped_concepts()


def asked(name: str, concepts: ConceptTable) -> Query | str:
    """What a query of the name alone asks for; the hint where it is refused."""
    try:
        return resolve_text(f'"{name}"', concepts, Scales.from_files())
    except QueryError as error:
        return error.hint


def widens(name: str, query: Query, concepts: ConceptTable) -> bool:
    """Whether the query asks for a concept whose name says less, and for no place besides."""
    (events,) = event_sets(query.body)
    assert isinstance(events.concept, Under)
    return events.condition is None and said(concepts.name(events.concept.term.id)) < said(name)


def test_the_list_is_whole() -> None:
    """500 distinct names of four sources."""
    names = judged()
    assert len({one.name.lower() for one in names}) == len(names) == 500
    assert {one.source for one in names} == {"MTSamples", "MACCROBAT", "SYMP", "DOID"}


def test_no_name_is_read_as_a_wider_one(concepts: ConceptTable) -> None:
    """What was judged exact means that and nothing else; what became known since says no less than its name."""
    wrong = []
    for one in judged():
        if one.verdict != "exact" and not concepts.lookup(one.name):
            continue  # To look for what may be meant instead takes longest.
        query = asked(one.name, concepts)
        if isinstance(query, str):
            wrong += [one] if one.verdict == "exact" else []
        elif one.verdict == "exact":
            wrong += [one] if " ".join(render(query).split()) != one.meaning else []
        elif widens(one.name, query, concepts):
            wrong.append(one)
    assert wrong == []


def test_a_wider_name_is_offered(concepts: ConceptTable) -> None:
    """Where a name says more than one that is known, that one is named, and it is known."""
    offered = [asked(one.name, concepts) for one in judged() if one.verdict == "wider"][::2]
    hints = [hint for hint in offered if isinstance(hint, str) and "wider: " in hint]
    assert len(hints) > 15
    for hint in hints:
        wider = hint.partition("wider: ")[2]
        assert not isinstance(asked(wider.strip("'"), concepts), str), hint


@pytest.mark.parametrize(
    ("name", "wider"),
    [
        ("severe unstable angina", "unstable angina"),
        ("allergic reaction to latex", "'allergic reaction'"),
        ("rupture of the spleen", ""),
        ("risk of pneumonia", ""),
        ("no viral pneumonia", ""),
    ],
)
def test_the_head_of_a_name_is_wider(concepts: ConceptTable, name: str, wider: str) -> None:
    """Not what it only names: the risk of an illness is no illness."""
    hint = asked(name, concepts)
    assert isinstance(hint, str)
    assert (f"wider: {wider}" in hint) if wider else ("wider:" not in hint)


def test_an_examination_and_its_place_need_no_preposition(concepts: ConceptTable) -> None:
    """As they are written in orders; other things do, and a short form that is a word besides names nothing there."""
    assert isinstance(asked("lump in chest", concepts), str)
    for name, meaning in {
        "CT chest": "'CT scan' with site = thorax",
        "MRI left knee": "MRI with (site = knee and laterality = left)",
    }.items():
        query = asked(name, concepts)
        assert isinstance(query, Query)
        assert render(query) == meaning
    assert isinstance(asked("pain chest", concepts), str)
