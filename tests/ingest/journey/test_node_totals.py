"""Totals of lymph nodes: which counts of an invented report are added up, and which are told twice."""

from __future__ import annotations

import datetime

import pytest

from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import NoteReader
from cohortium.kb.model import Event, Note
from cohortium.kb.ontology.concepts import shipped_concepts

BREAST = "DIAGNOSIS: A. Breast, left, mastectomy: invasive ductal carcinoma, 2.2 cm. "


def totals(text: str, kind: str = "pathology") -> list[Event]:
    """The totals that follow of one report."""
    concepts = shipped_concepts()
    note = Note("P1", "D1", text, datetime.date(2012, 5, 4), kind)
    journey = build_journey("P1", [NoteReader(concepts).read(note)], concepts)
    return [event for event in journey.events if event.attributes.get("rule") == "sum_of_stations"]


@pytest.mark.parametrize(
    ("told", "positive", "examined"),
    [
        ("B. Sentinel node, left: one benign lymph node (0/1). C. Axillary contents, left: 3 of 14 lymph nodes", 3, 15),
        ("(B) LEFT AXILLA LEVEL I: TWO OF NINE LYMPH NODES (2/9). (C) LEFT AXILLA LEVEL II: 2/5 LYMPH NODES", 4, 14),
        (
            "2. Lymph nodes, right pelvic: Number of lymph nodes examined: 8. Number of lymph nodes with metastatic "
            "disease: 2. 3. Lymph nodes, left pelvic: Benign lymph nodes. Number of lymph nodes examined: 6",
            2,
            14,
        ),
        ("Metastatic carcinoma in 2 of 4 left level II nodes. Six left level III nodes, negative for tumor", 2, 10),
        ("Lymph nodes, right obturator, excision: No tumor in four nodes. Left obturator: 0/7 nodes", 0, 11),
        (
            "Nodes of the lesser curvature: no neoplasia (0/8). Nodes of the greater curvature: no neoplasia (0/6)",
            0,
            14,
        ),
        (
            "RIGHT OBTURATOR. Nodes examined: 3. Nodes involved: 0. "
            "LEFT EXTERNAL ILIAC. Nodes examined: 8. Nodes involved: 1",
            1,
            11,
        ),
        (
            "Lymph nodes, parametrium: none of 1 nodes (0/1). "
            "Lymph nodes, left pelvic, excision: none of 6 nodes (0/6)",
            0,
            7,
        ),
        ("LYMPH NODES - LEVEL 5 (0/2), LEVEL 7 (0/4), LOBAR (0/7)", 0, 13),
        ("01 - Carcinoma in one lymph node out of six. 02 - Carcinoma in one lymph node out of seven", 2, 13),
        (
            "RIGHT NECK, LEVELS 2-3: level 2, 7 nodes, 1 positive. Level 3, 5 nodes, all negative. "
            "LEFT NECK, LEVELS 2-3: level 2, 8 nodes, 3 positive. Level 3, 6 nodes, 1 positive",
            5,
            26,
        ),
        ("Right pelvic nodes: no metastasis in nine. Left pelvic nodes: no metastasis in twelve", 0, 21),
        ("Of superficial inguinal nodes, 3 of 11 contain tumor. Of deep nodes, 0 of 5 contain tumor", 3, 16),
        ("Lymph nodes (metastasis / total): #1, 2/4; #2, 0/1; #4sb, 1/3; #4d, 3/9", 6, 17),
        ("NODES: group 1: 0/3. group 2: 0/l. group 3: 4/9", 4, 13),
        ("Lymph nodes: peripancreatic, 8, no metastasis; splenic hilum, 3, no metastasis", 0, 11),
        ("Nodes. 2: three of six positive. 3: three of eleven positive. 5: four, all negative", 6, 21),
        ("LYMPH NODES: left obturator: 3 metastatic among 8. Right obturator: 9, no metastasis", 3, 17),
        ("Lymph nodes. Esophageal middle: 1 from 5 with metastasis. Bifurcation: 0 from 4, anthracosis", 1, 9),
        ("Lymph nodes obturator right (7): one with a metastasis of 4 mm. Lymph nodes obturator left (4): free", 1, 11),
        ("Lymph nodes: small curvature 12, with metastases 6; great curvature 7, with metastasis 1", 7, 19),
        ("Lymph nodes isolated: pararectal 10, two of which seat of metastasis; upper rectal 4, free", 2, 14),
        ("Lymph nodes: A) external iliac right - 6 nodes; B) obturator right - 7 nodes. All are free", 0, 13),
        ("In lymph nodes: paratracheal (5), bifurcation (6), paraesophageal (2) - no metastases", 0, 13),
        ("NODES: Right pelvic, 11, two with metastases. Left pelvic, 9, without metastases", 2, 20),
        ("Lymph nodes, B: 6 of 9 with metastatic carcinoma. C: 4 of 31 with metastatic carcinoma", 10, 40),
        ("[II] Metastases in lymphonodis (No III/IX). [III] Metastasis in lymphonodo (No I/VII)", 4, 16),
    ],
)
def test_the_counts_of_stations_are_added(told: str, positive: int, examined: int) -> None:
    """A label of its own, another side or level tells one station from the next."""
    found = [(one.attributes["positive"], one.attributes["examined"]) for one in totals(f"{BREAST}{told}.")]
    assert found == [(positive, examined)]


@pytest.mark.parametrize(
    "told",
    [
        # Figures and words of one count.
        "B. Axillary contents, left: metastatic carcinoma in three of fourteen lymph nodes (3/14).",
        # The sum is stated.
        "B. Sentinel node: 1/1 lymph nodes. C. Axillary contents: 3/14 nodes. SYNOPTIC REPORT. Nodes: positive 4/15.",
        "B. Sentinel node: 1/1 lymph nodes. C. Axilla: 3/14 nodes. Total lymph nodes: 4/15.",
        # Told again in another part of the report.
        "B. Axilla, left: 3/14 nodes. INTRAOPERATIVE CONSULTATION: B. Axilla, left: 1/1 nodes.",
        "B. Axilla, left: 3/14 nodes. SYNOPTIC REPORT: Lymph nodes: Sentinel lymph node 1/1.",
        # A whole with its parts behind it in brackets.
        "B. Right neck: metastatic carcinoma in 3 of 12 lymph nodes (1/7 upper jugular, 2/5 lower jugular).",
        # One of two counts may be a part of the other.
        "Axillary nodes: 3/14. Sentinel nodes: 1/2.",
        "B. Left axilla: 3/14 nodes. Left axillary nodes, largest deposit 4 mm, in 2 of 14 nodes.",
        # A level may be a part of its side.
        "Left neck: 5/30 nodes. Level II: 2/10 nodes.",
        # One station alone.
        "B. Left axilla: 3/14 nodes.",
    ],
)
def test_what_is_told_twice_is_not_added(told: str) -> None:
    """A total is never of one station twice, nor of a total with its parts."""
    assert totals(BREAST + told) == []


def test_only_a_report_of_pathology_is_added_up() -> None:
    """What a letter tells of nodes is no list of specimens."""
    told = f"{BREAST}B. Sentinel node: 1/1 lymph nodes. C. Left axilla: 3/14 nodes."
    assert totals(told)
    assert not totals(told, "clinic letter")


def test_a_total_names_its_counts_and_is_of_their_tumor() -> None:
    """The total cites one mention of each station, and the events that they are evidence of are its premises."""
    (total,) = totals(f"{BREAST}B. Sentinel node: one benign lymph node (0/1). C. Left axilla: 3/14 nodes.")
    assert len(total.evidence) == len(str(total.attributes["premises"]).split()) == 2
    assert total.tumor


def test_a_count_that_leaves_the_examined_nodes_open_leaves_the_total_open() -> None:
    """How many were examined is told of all or not at all."""
    (total,) = totals(f"{BREAST}B. Right axilla: metastatic carcinoma in two nodes. C. Left axilla: 3/14 nodes.")
    assert total.attributes["positive"] == 5
    assert "examined" not in total.attributes


def test_the_fields_of_stations_are_added() -> None:
    """Fields that a form repeats for each side."""
    found = totals(
        "Prostate and pelvic nodes, radical prostatectomy: adenocarcinoma. LYMPH NODES. RIGHT OBTURATOR. NUMBER OF "
        "NODES IDENTIFIED: 3. NUMBER OF NODES INVOLVED BY METASTASIS: 1. LEFT OBTURATOR. NUMBER OF NODES IDENTIFIED: "
        "2. NUMBER OF NODES INVOLVED BY METASTASIS: 0."
    )
    assert [(one.attributes["positive"], one.attributes["examined"]) for one in found] == [(1, 5)]
