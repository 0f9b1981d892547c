"""A new kind of event is an entry of ``kinds.toml``, its words and its chapter: no other file of the tree is touched.

A made-up kind, implanted devices, is added to a copy of the tree (links to all files but these three), and there read
in notes, stored, asked for, counted, set in time, explained, read back, and proved.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import cohortium
from tests.amounts import ALL

TREE = Path(cohortium.__file__).parent
TESTS = Path(__file__).parents[1]

ENTRY = """
[kind.device]
belongs_to = "patient"
concepts = ["condition"]
meant_by = ["condition"]
root = "implanted_device"
noted_in = ["operative", "clinical"]
coral_label = "ClinicalCondition"
cdm_domain = "Device"
later = true
spellings = ["implanted device", "device"]
read_back = { noun = "implanted device", of = "of the kind", below = "or any kind of it" }
[kind.device.attributes]
laterality = ["left", "right", "bilateral", "midline"]
"""
COLUMNS = ("id", "kind", "name", "parents", "synonyms", "abbreviations", "codes", "site", "source")
WORDS = (
    COLUMNS,
    ("implanted_device", "condition", "implanted device", "condition", "", "", "", "", "made up"),
    ("loop_recorder", "condition", "loop recorder", "implanted_device", "cardiac monitor", "", "", "", "made up"),
    ("vagus_stimulator", "condition", "vagus nerve stimulator", "implanted_device", "", "VNS", "", "", "made up"),
)
CHAPTER = '''
title = "Devices"
text = "What is implanted."

[[part]]
record = """
patient | kind       | concept          | day        | attributes        | context
Ana     | device     | loop_recorder    | 2020-03-04 | laterality=left   |
Ana     | medication | letrozole        | 2021-05-02 |                   |
Ben     | device     | vagus_stimulator | 2022-11-20 |                   | uncertain
Ben     | medication | letrozole        | 2021-05-02 |                   |
Cleo    | medication | letrozole        | 2021-05-02 |                   |
"""
ask = """
implanted device => Ana / Ana / Ana Ben
device loop recorder with laterality = left => Ana
device before medication letrozole => Ana
medication letrozole and not device => Cleo / Ben Cleo / Ben Cleo
"""
'''
NOTES = (
    ("P1", "a", "2020-03-05", "Assessment: She has a left loop recorder and a vagus nerve stimulator. Breast cancer."),
    ("P1", "b", "2021-06-01", "Assessment: Breast cancer. Started letrozole today."),
    ("P2", "a", "2020-03-05", "Assessment: No loop recorder. Breast cancer."),
    ("P3", "a", "2020-01-05", "Assessment: Breast cancer. Started letrozole today."),
    ("P3", "b", "2022-03-05", "Assessment: Breast cancer. There is a loop recorder."),
    ("P4", "a", "2022-03-05", "Family history: mother had a loop recorder. Assessment: Breast cancer."),
)
ANSWERS = {
    "device": ["P1", "P3"],
    "implanted device loop recorder": ["P1", "P3"],
    "cardiac monitor": ["P1", "P3"],
    "device with laterality = left": ["P1"],
    "device of at least 2 kinds": ["P1"],
    "first device before medication letrozole": ["P1"],
    "medication letrozole before device": ["P3"],
    "breast cancer and not device": ["P2", "P4"],
    "no evidence of device loop recorder": ["P2"],
    "family history of device": ["P4"],
    "same event (device loop recorder and device with laterality is documented)": ["P1"],
}
#: Each proof begins with a reading of the whole ontology.
PROVED = list(ANSWERS)[:: 1 if ALL else 4]
PROGRAM = """
import json, sys
from pathlib import Path
import cohortium
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.query_lang.parsing.parse import parse
from cohortium.query_lang.read_back.query import read_back
from cohortium.query_lang.render import render

folder, queries = Path(sys.argv[1]), json.loads(sys.argv[2])
kb = folder / "devices.kb"
run_ingest([folder / "notes.jsonl"], kb, progress=False)
told = {"answers": {}, "again": {}, "proved": {}}
with cohortium.open(kb) as opened:
    for query in queries:
        told["answers"][query] = sorted(opened.find(query))
        told["again"][query] = render(parse(render(parse(query)))) == render(parse(query))
    told["explained"] = opened.find("device loop recorder").explain("P1").as_text()
    told["sql"] = sorted(opened.find_sql("SELECT patient_id FROM device WHERE concept = 'loop recorder'"))
told["read back"] = read_back(parse("device loop recorder with laterality = left"))
for query in json.loads(sys.argv[3]):
    done = cohortium.verify(kb, query)
    told["proved"][query] = [done.holds, done.members]
print(json.dumps(told, default=list))
"""


def overlaid(source: Path, copy: Path, changed: Mapping[Path, str]) -> None:
    """``copy`` is ``source`` by links, but for the files that are ``changed`` (below it) or added."""
    copy.mkdir(parents=True, exist_ok=True)
    beginnings = {path.parts[0] for path in changed}
    for entry in source.iterdir():
        if entry.name not in beginnings and entry.name not in ("__pycache__", ".git", ".pkg", ".venv"):
            (copy / entry.name).symlink_to(entry)
    for name in beginnings:
        inner = {Path(*path.parts[1:]): text for path, text in changed.items() if path.parts[0] == name}
        if Path() in inner:
            (copy / name).write_text(inner[Path()], encoding="utf-8")
        else:
            overlaid(source / name, copy / name, inner)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tree that knows devices, the tests with their chapter, and notes that tell of them."""
    home = tmp_path_factory.mktemp("devices")
    entries = (TREE / "kb" / "kinds.toml").read_text(encoding="utf-8")
    words = "".join("\t".join(row) + "\n" for row in WORDS)
    overlaid(
        TREE,
        home / "cohortium",
        {Path("kb/kinds.toml"): entries + ENTRY, Path("kb/ontology/devices.tsv"): words},
    )
    overlaid(TESTS, home / "tests", {Path("spec/chapters/99_devices.toml"): CHAPTER})
    lines = (dict(zip(("patient_id", "doc_id", "date", "text"), note, strict=True)) for note in NOTES)
    (home / "notes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return home


def run_there(home: Path, *words: str) -> str:
    """What Python prints where the package is the tree that knows devices."""
    environment = {**os.environ, "PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *words], env=environment, cwd=home, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def told(home: Path) -> dict[str, Any]:
    """What is found in the notes."""
    found: dict[str, Any] = json.loads(
        run_there(home, "-c", PROGRAM, str(home), json.dumps(list(ANSWERS)), json.dumps(PROVED))
    )
    return found


def test_a_new_kind_is_read_and_asked_for(told: dict[str, Any]) -> None:
    """In its context, with its attribute, by kind, concept, count and time; rendered queries are the same queries."""
    assert told["answers"] == ANSWERS
    assert all(told["again"].values())
    assert told["sql"] == ["P1", "P3"]


def test_a_new_kind_is_told(told: dict[str, Any]) -> None:
    """The evidence of a member is shown, and a query reads back in English."""
    assert "left loop recorder" in told["explained"]
    assert "implanted device of the kind" in told["read back"]
    assert "the side is left" in told["read back"]


def test_a_new_kind_is_proved(told: dict[str, Any]) -> None:
    """The independent checker finds every member's proof to hold."""
    assert told["proved"] == {query: [True, len(ANSWERS[query])] for query in PROVED}


def test_the_chapter_of_a_new_kind_holds(home: Path) -> None:
    """The reference engine, the fast one and a stored knowledge base give the answers of its chapter."""
    said = run_there(
        home, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "-k", "99_devices",
        str(home / "tests" / "spec" / "test_chapters.py"),
    )  # fmt: skip
    assert " passed" in said
