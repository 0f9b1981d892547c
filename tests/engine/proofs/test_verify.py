"""``cohortium.verify`` and the command ``verify``: what they tell, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cohortium
from cohortium.__main__ import app
from cohortium.kb.errors import UsageError
from tests.places import ROOT

QUERY = "diagnosis 'malignant neoplasm' and not 'breast cancer'"


def run(*words: str) -> tuple[int, str]:
    """Exit code and standard output of a command."""
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.output


def test_every_member_is_proved_and_told(sample_kb: Path) -> None:
    """The answer counts the members, the proofs that hold, and keeps the proofs."""
    done = cohortium.verify(sample_kb, QUERY)
    assert done.holds
    assert done.members == len(done.verdicts) == len(done.proofs) > 5
    assert done.as_dict()["verified"] == done.members


def test_the_proof_leads_to_the_characters_of_a_note(sample_kb: Path) -> None:
    """From the query's node to an event, its mention and the span, and the hash of the note that it lies in."""
    with cohortium.open(sample_kb) as kb:
        proof = kb.find("breast cancer").prove("SAMPLE-01")
        chosen = proof["criterion"]["sets"][0]["chosen"][0]
        event = proof["events"][chosen["event"]]
        mention = proof["mentions"][event["evidence"][0]]
        journey = kb.journey("SAMPLE-01").journey
    note = next(note for note in journey.notes if note.note_id == mention["note"])
    assert note.text[mention["start"] : mention["end"]] == mention["text"]
    assert proof["notes"][mention["note"]]["sha256"] == note.sha256
    assert all(edge in proof["edges"] for edge in chosen["path"])


def test_a_patient_who_is_no_member_has_nothing_to_prove(sample_kb: Path) -> None:
    """It is an error of the question, not a proof that fails."""
    with cohortium.open(sample_kb) as kb, pytest.raises(UsageError, match="nothing to prove"):
        kb.find("not 'breast cancer'").prove("SAMPLE-01")


def test_a_member_without_a_proof_fails(sample_kb: Path) -> None:
    """With proofs from outside, every member needs one."""
    done = cohortium.verify(sample_kb, "breast cancer", proofs={})
    assert [verdict.faults[0].check for verdict in done.failed] == ["proof"]


def test_the_command_keeps_proofs_and_checks_them(sample_kb: Path, tmp_path: Path) -> None:
    """Proofs that were kept verify; one character further they do not, and the exit code is 5."""
    kept = tmp_path / "proofs.json"
    code, told = run("verify", str(sample_kb), "breast cancer", "--keep", str(kept))
    assert (code, told.splitlines()[0]) == (0, "1 of 1 proof verified (believed): diagnosis breast cancer")
    assert run("verify", str(sample_kb), "breast cancer", "--proofs", str(kept))[0] == 0
    proofs = json.loads(kept.read_text(encoding="utf-8"))
    next(iter(proofs["proofs"]["SAMPLE-01"]["mentions"].values()))["start"] += 1
    kept.write_text(json.dumps(proofs), encoding="utf-8")
    code, told = run("verify", str(sample_kb), "breast cancer", "--proofs", str(kept), "--format", "json")
    assert code == 5
    assert '"check": "span"' in told


def test_the_command_proves_in_each_world(sample_kb: Path) -> None:
    """``--world`` and ``--patient`` choose whose membership is proved."""
    for world in ("certain", "possible"):
        code, told = run("verify", str(sample_kb), QUERY, "--world", world, "--format", "json")
        assert code == 0
        assert json.loads(told)["world"] == world
    code, told = run("verify", str(sample_kb), "breast cancer", "--patient", "SAMPLE-01", "--no-reading")
    assert code == 0
    assert "not checked:" in told


def test_a_file_without_proofs_is_told(sample_kb: Path, tmp_path: Path) -> None:
    """What is no JSON, and what holds no proofs, is an error of usage."""
    path = tmp_path / "proofs.json"
    for text in ("{", "[1]", '"proof"'):
        path.write_text(text, encoding="utf-8")
        assert run("verify", str(sample_kb), "breast cancer", "--proofs", str(path))[0] == 2


def test_facts_are_verified_as_far_as_they_can_be(tmp_path: Path) -> None:
    """A knowledge base of abstracted facts has lines for notes; what no text proves is told as unchecked."""
    source = ROOT / "ingest" / "samples" / "abstraction.jsonl"
    kb = tmp_path / "facts.kb"
    assert run("ingest", "--abstraction", str(source), "--kb", str(kb))[0] == 0
    done = cohortium.verify(kb, "diagnosis 'malignant neoplasm'")
    assert done.holds
    assert done.members
    assert any("abstract" in reason for reason in done.as_dict()["unchecked"])
