"""Folders as sources: nothing outside of one is read, and what in it is not read is told."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from cohortium.ingest.readers.files import find_files, open_file
from cohortium.ingest.readers.records import Incoming
from cohortium.ingest.readers.sources import Sources
from cohortium.ingest.readers.told import LISTED, Told
from cohortium.kb.errors import UsageError

LINE = '{"patient_id": "P", "doc_id": "a", "text": "x"}\n'


@pytest.fixture
def drop(tmp_path: Path) -> Path:
    """A folder of notes of two patients, beside one with a secret."""
    for patient in ("P1", "P2"):
        (tmp_path / "drop" / patient).mkdir(parents=True)
        (tmp_path / "drop" / patient / "a.txt").write_text(f"ECOG 1 of {patient}.")
    (tmp_path / "outside" / "P9").mkdir(parents=True)
    (tmp_path / "outside" / "P9" / "secret.txt").write_text("SECRET")
    (tmp_path / "outside" / "secret.jsonl").write_text(LINE.replace('"x"', '"SECRET"'))
    return tmp_path / "drop"


def read(source: Path) -> tuple[list[str], dict[str, Any]]:
    """The texts of the notes of a source, and what was told."""
    found = Sources([source])
    texts = [one.note.text for one in found if isinstance(one, Incoming)]
    return texts, found.told.as_dict()


OWN = ["ECOG 1 of P1.", "ECOG 1 of P2."]
#: A link in the folder of patient P1: its name, where it leads from there, and why it is passed over.
LINKS = {
    "a file outside": ("x.txt", "../../outside/P9/secret.txt", "link_outside"),
    "a file outside, absolute": ("x.txt", "/etc/passwd", "link_outside"),
    "lines outside": ("x.jsonl", "../../outside/secret.jsonl", "link_outside"),
    "a folder outside": ("x", "../../outside", "link_outside"),
    "the folder above": ("x", "../..", "link_outside"),
    "a folder inside": ("x", "../P2", "link_to_folder"),
    "the folder itself": ("x", ".", "link_to_folder"),
    "itself": ("x.txt", "x.txt", "broken_link"),
    "nothing": ("x.txt", "none.txt", "broken_link"),
    "nothing outside": ("x.txt", "/nowhere/none.txt", "link_outside"),
    "a device": ("x.txt", "/dev/zero", "link_outside"),
    "a folder whose name begins alike": ("x.txt", "../../drop-too/secret.txt", "link_outside"),
}


@pytest.mark.parametrize("name", LINKS)
def test_a_link_that_leaves_the_source_is_passed_over_and_told(drop: Path, name: str) -> None:
    """Whatever leads there; the notes around it are read."""
    (drop.parent / "drop-too").mkdir()
    (drop.parent / "drop-too" / "secret.txt").write_text("SECRET")
    own, target, why = LINKS[name]
    (drop / "P1" / own).symlink_to(target)
    texts, told = read(drop)
    assert texts == OWN
    assert told["files"] == {why: 1}
    assert told["listed"][0]["where"] == f"P1/{own}"


def test_chains_of_links_are_followed_to_their_end(drop: Path) -> None:
    """One that ends inside is a file of the source, one that ends outside is none, over however many links."""
    (drop / "P1" / "z.txt").write_text("end")
    for last, name in (("z.txt", "in"), ("../../outside/P9/secret.txt", "out")):
        (drop / "P1" / f"{name}1").symlink_to(last)
        (drop / "P1" / f"{name}2").symlink_to(f"{name}1")
        (drop / "P1" / f"{name}3.txt").symlink_to(f"../P1/{name}2")
    texts, told = read(drop)
    assert sorted(texts) == sorted([*OWN, "end", "end"])
    assert told["files"] == {"link_outside": 3, "unknown_kind": 2}


def test_a_source_that_is_a_link_is_followed(drop: Path) -> None:
    """The user named it, with dots or without; so with a file."""
    (drop.parent / "link").symlink_to("drop")
    (drop.parent / "note.jsonl").symlink_to("outside/secret.jsonl")
    assert read(drop.parent / "link")[0] == OWN
    assert read(drop.parent / "outside" / ".." / "link" / "P1" / "..")[0] == OWN
    assert read(drop.parent / "note.jsonl")[0] == ["SECRET"]


@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_a_link_that_is_put_there_between_finding_and_reading_is_not_followed(drop: Path, swapped: str) -> None:
    """Neither in place of the file nor of a folder on the way."""
    (found, *_) = find_files([drop], Told())
    if swapped == "file":
        (drop / "P1" / "a.txt").unlink()
        (drop / "P1" / "a.txt").symlink_to("../../outside/P9/secret.txt")
    else:
        (drop.parent / "outside" / "P9" / "secret.txt").rename(drop.parent / "outside" / "P9" / "a.txt")
        (drop / "P1").rename(drop / "P3")
        (drop / "P1").symlink_to("../outside/P9")
    with pytest.raises(OSError):
        open_file(found)


def test_pipes_sockets_and_devices_are_passed_over(drop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that nobody writes into would hold the run for ever; one that is named itself is refused."""
    os.mkfifo(drop / "P1" / "pipe.txt")
    monkeypatch.chdir(drop)
    with socket.socket(socket.AF_UNIX) as plug:
        plug.bind("plug.jsonl")
        texts, told = read(drop)
    assert (texts, told["files"]) == (OWN, {"no_regular_file": 2})
    with pytest.raises(UsageError, match="a pipe, a socket or a device"):
        Sources([drop / "P1" / "pipe.txt"])


def test_what_is_passed_over_is_counted_and_named(drop: Path) -> None:
    """Of many the first; hidden folders count once."""
    (drop / ".git").mkdir()
    (drop / ".git" / "x.txt").write_text("x")
    (drop / "kb.duckdb").write_text("x")
    for number in range(LISTED + 5):
        (drop / "P1" / f"scan{number:03}.pdf").write_text("x")
    texts, told = read(drop)
    assert texts == OWN
    assert told["files"] == {"hidden": 1, "named_only": 1, "unknown_kind": LISTED + 5}
    assert len(told["listed"]) == LISTED


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may open every folder")
def test_a_folder_that_cannot_be_opened_is_told(drop: Path) -> None:
    """Its notes would be missing, and nobody knew."""
    (drop / "P2").chmod(0)
    texts, told = read(drop)
    (drop / "P2").chmod(0o700)
    assert (texts, told["files"]) == (OWN[:1], {"unreadable_folder": 1})


def test_a_deep_folder_is_read_to_its_ground(tmp_path: Path) -> None:
    """As deep as paths can be."""
    place = tmp_path / "src" / "P"
    for _ in range(300):
        place = place / "d"
    place.mkdir(parents=True)
    (place / "a.txt").write_text("deep")
    assert read(tmp_path / "src")[0] == ["deep"]


def test_a_name_that_is_no_utf8_is_part_of_an_id_all_the_same(tmp_path: Path) -> None:
    """Its bytes are told by their codes."""
    (tmp_path / "P").mkdir()
    path = Path(os.fsdecode(os.fsencode(tmp_path / "P") + b"/caf\xe9.txt"))
    try:
        path.write_text("x")
    except OSError:
        pytest.skip("this file system keeps to UTF-8")
    ((one),) = (one for one in Sources([tmp_path]) if isinstance(one, Incoming))
    assert one.note.doc_id.startswith("caf\\")


#: What exporters and people put beside notes: name and content; and the same names with notes in them.
BESIDE = {
    "README.txt": "How this export was made.",
    "export_log.txt": "12:00 started",
    "log.ndjson": '{"timestamp": 1, "eventId": "kickoff"}\n',
    "errors.jsonl": '{"error": "not found"}\n',
    "manifest.json": '{"transactionTime": "2020", "request": "x", "output": []}',
    "manifest.csv": "file,sha\na.txt,1\n",
    "checksums.csv": "",
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_lies_beside_notes_is_told_and_not_quarantined(drop: Path, name: str) -> None:
    """By its name and by holding no note; named itself, it is read like any file."""
    (drop / name).write_text(BESIDE[name])
    texts, told = read(drop)
    assert texts == OWN
    assert told["files"] == {"beside_notes": 1}
    with contextlib.suppress(UsageError):
        assert all(not isinstance(one, Incoming) for one in Sources([drop / name]))


NOTES_CALLED_SO = {
    "log.jsonl": LINE,
    "errors.csv": "patient_id,text\nP,x\n",
    "P7/log.txt": "x",
    "P7/readme.txt": "x",
    "logistics.jsonl": LINE,
    "manifest.json": '{"resourceType": "DocumentReference", "subject": {"reference": "Patient/P"}, "content": '
    '[{"attachment": {"contentType": "text/plain", "data": "eA=="}}]}',
}


@pytest.mark.parametrize("name", NOTES_CALLED_SO)
def test_notes_under_such_a_name_are_read(drop: Path, name: str) -> None:
    """What holds a note is one, and what lies in a patient's folder too."""
    (drop / name).parent.mkdir(exist_ok=True)
    (drop / name).write_text(NOTES_CALLED_SO[name])
    texts, told = read(drop)
    assert sorted(texts) == [*OWN, "x"]
    assert "files" not in told


def test_the_folder_of_one_patient_gets_a_hint_at_its_parent(drop: Path) -> None:
    """Its notes have no patient; a folder around it, or a map, has them."""
    texts, told = read(drop / "P1")
    assert not texts
    assert str(drop) in told["hints"][0]
    assert "--map patient_id=file" in told["hints"][0]
    assert "hints" not in read(drop)[1]


def test_columns_that_are_not_used_are_told_once_with_what_they_may_be(tmp_path: Path) -> None:
    """Of files with the same columns the first is named; of a field that is there nothing is guessed."""
    for number in range(3):
        (tmp_path / f"n{number}.csv").write_text(
            "patient_id,text,note_date,category,ward,title\nP,x,2020-01-01,a,b,c\n"
        )
    (tmp_path / "n.jsonl").write_text(LINE.replace('"text"', '"wardd": 1, "dates": 3, "text"'))
    told = read(tmp_path)[1]["columns"]
    assert [(row["where"], row["sources"], row["columns"]) for row in told] == [
        ("n.jsonl", 1, ["wardd", "dates"]),
        ("n0.csv", 3, ["note_date", "category", "ward"]),
    ]
    assert [row["hint"] for row in told] == ["--map date=dates", "--map date=note_date,type=category"]
    mapped = Sources([tmp_path / "n0.csv"], {"date": "note_date", "type": "category"})
    assert [one.note.type for one in mapped if isinstance(one, Incoming)] == ["a"]
    (row,) = mapped.told.as_dict()["columns"]
    assert (row["columns"], "hint" in row) == (["ward"], False)


def test_a_column_whose_name_may_be_a_text_is_counted_and_not_shown(tmp_path: Path) -> None:
    """A key of JSON can be anything."""
    (tmp_path / "n.jsonl").write_text(LINE.replace('"text"', '"The sailor from Zanzibar was seen": 1, "text"'))
    (row,) = read(tmp_path)[1]["columns"]
    assert (row["columns"], row["number"]) == ([], 1)


def test_resources_without_notes_are_counted_by_type(tmp_path: Path) -> None:
    """In a Bundle and in lines."""
    held = [{"resourceType": name} for name in ("Patient", "Observation", "Observation", "DiagnosticReport")]
    bundle = {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": one} for one in held]}
    (tmp_path / "a.json").write_text(json.dumps(bundle))
    (tmp_path / "b.ndjson").write_text("\n".join(map(json.dumps, held)))
    texts, told = read(tmp_path)
    assert not texts
    assert told["resources"] == {"DiagnosticReport without a text": 2, "Observation": 4, "Patient": 2}
