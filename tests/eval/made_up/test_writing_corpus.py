"""A corpus is the same by any number of processes and after any interruption, and holds what its manifest says."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cohortium.eval.made_up.synthetic import corpus_files
from cohortium.eval.made_up.synthetic.corpus_files import FILES, write_corpus
from cohortium.eval.made_up.synthetic.courses.simulate import course
from cohortium.eval.made_up.synthetic.thinning import thinned
from cohortium.kb.errors import UsageError


def lines(path: Path) -> list[dict[str, object]]:
    """The objects of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a corpus."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_one_process_or_two_and_an_interruption_in_between_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was finished before the interruption is kept, not made again, and the end is the same."""
    write_corpus(tmp_path / "one", patients=34, seed=2, length=0.3, labels=False)
    write_corpus(tmp_path / "two", patients=34, seed=2, length=0.3, workers=2, labels=False)
    whole = corpus_files._write_block
    made: list[int] = []

    def broken(task: tuple[str, int, corpus_files.Settings, float]) -> None:
        made.append(task[1])
        if len(made) == 2:
            raise KeyboardInterrupt
        whole(task)

    monkeypatch.setattr(corpus_files, "_write_block", broken)
    with pytest.raises(KeyboardInterrupt):
        write_corpus(tmp_path / "three", patients=34, seed=2, length=0.3, labels=False)
    assert not (tmp_path / "three" / "manifest.json").exists()
    write_corpus(tmp_path / "three", patients=34, seed=2, length=0.3, labels=False)
    assert made == [0, 1, 1, 2]
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "three")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "three").iterdir()} == {0o600}


def test_every_gold_place_and_all_evidence_stand_in_the_notes(tmp_path: Path) -> None:
    """Spans are substrings of their notes, evidence of the first document of its fact, and every fact is stated."""
    manifest = write_corpus(tmp_path, patients=12, seed=5, labels=False)
    notes = {note["doc_id"]: str(note["text"]) for note in lines(tmp_path / "notes.jsonl")}
    for gold in lines(tmp_path / "gold.jsonl"):
        text = notes[gold["doc_id"]]
        for fact in gold["facts"]:  # type: ignore[attr-defined]
            assert text[fact["start"] : fact["end"]] == fact["text"]
    facts = 0
    for patient in lines(tmp_path / "facts.jsonl"):
        for fact in patient["facts"]:  # type: ignore[attr-defined]
            facts += 1
            assert fact["evidence"] in notes[fact["docs"][0]]
    assert facts == manifest["counts"]["facts"]
    assert not manifest["counts"]["facts not stated"]
    assert len(notes) == manifest["counts"]["documents"]


def test_a_finished_corpus_is_left_and_another_is_not_overwritten(tmp_path: Path) -> None:
    """The same settings find the corpus made; other settings are refused."""
    first = write_corpus(tmp_path, patients=2, seed=1, labels=False)
    before = (tmp_path / "notes.jsonl").stat().st_mtime_ns
    assert write_corpus(tmp_path, patients=2, seed=1, labels=False) == first
    assert (tmp_path / "notes.jsonl").stat().st_mtime_ns == before
    with pytest.raises(UsageError):
        write_corpus(tmp_path, patients=3, seed=1, labels=False)


def test_notes_of_somebody_else_are_not_overwritten(tmp_path: Path) -> None:
    """A folder with notes and no word of a corpus is refused, and left as it is."""
    (tmp_path / "notes.jsonl").write_text("mine\n")
    with pytest.raises(UsageError, match=r"notes\.jsonl"):
        write_corpus(tmp_path, patients=1, labels=False)
    assert contents(tmp_path) == {"notes.jsonl": b"mine\n"}


def test_a_corpus_that_lost_a_file_is_made_again(tmp_path: Path) -> None:
    """The same bytes as before."""
    write_corpus(tmp_path, patients=2, seed=1, labels=False)
    before = contents(tmp_path)
    (tmp_path / "gold.jsonl").unlink()
    write_corpus(tmp_path, patients=2, seed=1, labels=False)
    assert contents(tmp_path) == before


def test_the_order_of_sets_does_not_matter(tmp_path: Path) -> None:
    """Interpreters that hash text in different ways write the same bytes, and load nothing that reads notes."""
    program = (
        "import hashlib, sys; "
        "from cohortium.eval.made_up.synthetic.courses.simulate import course; "
        "from cohortium.eval.made_up.synthetic.writing.notes import write_course; "
        "notes = [note for index in range(4) for note in write_course(course(index, 8), 8, 0.5)]; "
        "print(hashlib.sha256(repr(notes).encode()).hexdigest()); "
        "print([name for name in sys.modules if name.startswith(('cohortium.ingest', 'cohortium.query_lang'))])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert said.pop().endswith("\n[]\n")


@pytest.mark.parametrize("wrong", [{"patients": 0}, {"workers": 0}, {"length": 0.0}, {"documents": 0}])
def test_settings_without_sense_are_refused(tmp_path: Path, wrong: dict[str, float]) -> None:
    """Nothing is begun for them."""
    with pytest.raises(UsageError):
        write_corpus(tmp_path / "corpus", **wrong)  # type: ignore[arg-type]
    assert not (tmp_path / "corpus").exists()


def test_fewer_documents_leave_out_only_visits_that_found_nothing_new(tmp_path: Path) -> None:
    """What a thinned course says anew is what the whole one says; copies point to the same notes or to none."""
    whole = course(3, 0)
    less = thinned(whole, 0.5, 0)
    assert len(less.encounters) < 0.7 * len(whole.encounters)
    assert [one.new for one in less.encounters if one.new] == [one.new for one in whole.encounters if one.new]
    for one in less.encounters:
        assert one.copies is None or less.encounters[one.copies].date <= one.date
    manifest = write_corpus(tmp_path, patients=5, documents=150, length=0.2, labels=False)
    assert manifest["counts"]["documents"] < sum(len(course(index, 0).encounters) for index in range(5))
    assert all(name in manifest["files"] for name in FILES)


def test_labels_are_what_the_bank_says_of_the_facts(tmp_path: Path) -> None:
    """Each patient has a line; those who died match the query for it, and only they."""
    write_corpus(tmp_path, patients=20, seed=0, length=0.2)
    labels = {one["patient_id"]: one for one in lines(tmp_path / "labels.jsonl")}
    dead = {one["patient_id"] for one in lines(tmp_path / "facts.jsonl") if one["vital_status"] == "dead"}
    assert {one for one, label in labels.items() if 115 in label["match"]} == dead  # type: ignore[operator]
    assert len(labels) == 20
