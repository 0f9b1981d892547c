"""A knowledge base that a model read along: what it is told of the model, what is proved, what the commands say."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import cohortium
from cohortium.__main__ import app
from cohortium.engine.proofs.checker import again
from cohortium.engine.proofs.checker.models import WITHOUT_MODEL
from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.models.tagging import choice as choices
from cohortium.ingest.readers.sources import Sources
from cohortium.ingest.run.batches import Reading, ShippedReader, shipped_reading
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.kb.errors import UsageError
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from tests.ingest.models.tagging.made_models import MadeChoice, made_reader

#: Three fictional patients: one whose drug a model alone knows, one whose rules read it, one with an unlinked mention.
NOTES = (
    ("M1", "2019-03-01", "Breast cancer. She started trastuzumabum on 3/4/2019."),
    ("M2", "2019-03-01", "Breast cancer. She started trastuzumab on 3/4/2019."),
    ("M3", "2019-03-01", "She has cerebral glimmer syndrome. She takes lapatinibum daily."),
)


class MadeShipped(ShippedReader):
    """The shipped reader with the made model."""

    def __init__(self, choice: MadeChoice | None) -> None:
        self._notes = made_reader(choice)
        self._build = build_journey


def made_reading(choice: MadeChoice | None) -> Reading:
    """The reading that the commands would make of this choice, with a reader that is made at once."""
    told: Any = choice
    return Reading(functools.partial(MadeShipped, choice), shipped_reading(None, told).versions)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The notes as a file."""
    path = tmp_path_factory.mktemp("place") / "notes.jsonl"
    rows = [{"patient_id": one, "doc_id": "d", "date": day, "text": text} for one, day, text in NOTES]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def kb(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The notes, read along by the made model."""
    path = tmp_path_factory.mktemp("place") / "made.kb"
    run_ingest([source], path, reading=made_reading(MadeChoice()), progress=False)
    return path


@pytest.fixture
def made_at_hand(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The made model is the one that a directory holds."""
    made: Any = MadeChoice()
    monkeypatch.setattr(again, "chosen_model", lambda _: made)
    again.reader_of.cache_clear()
    yield
    again.reader_of.cache_clear()


# --- what is recorded -------------------------------------------------------------------------------------------------


def test_the_manifest_names_the_model_and_its_probabilities(kb: Path) -> None:
    """So does ``info``; a knowledge base of rules alone says *none*."""
    with KnowledgeBase.open(kb) as opened:
        versions = opened.info()["versions"]
    assert versions["model"] == "made+0123456789abcdef"
    assert versions["probabilities"] == "proposed 0.5, believed 0.8"
    assert dict(shipped_reading().versions)["model"] == "none"
    assert "made+0123456789abcdef" in CliRunner().invoke(app, ["info", str(kb)]).output


def test_another_model_reads_everybody_again_and_the_same_nobody(source: Path, tmp_path: Path) -> None:
    """Its hash alone makes it another; and none is another than some."""
    path = tmp_path / "again.kb"
    for choice, read in (
        (None, 3), (MadeChoice(), 3), (MadeChoice(), 0), (replace(MadeChoice(), version="made+ff"), 3), (None, 3),
    ):  # fmt: skip
        report = run_ingest([source], path, reading=made_reading(choice), progress=False)
        assert report.unchanged + read == 3 or report.batches == (1 if read else 0)
        with KnowledgeBase.open(path) as opened:
            assert opened.manifest["versions"]["model"] == (choice.version if choice else "none")


def test_the_rest_of_the_record_is_what_rules_alone_give(source: Path, kb: Path, tmp_path: Path) -> None:
    """Every event of the rules is there with the same id; those of the model are more."""
    plain = tmp_path / "plain.kb"
    run_ingest([source], plain, reading=made_reading(None), progress=False)
    with KnowledgeBase.open(plain) as one, KnowledgeBase.open(kb) as other:
        for patient, more in (("M1", 1), ("M2", 0), ("M3", 1)):
            before, after = ({event.event_id for event in base.journey(patient).events} for base in (one, other))
            assert before <= after
            assert len(after - before) == more


# --- what is asked ----------------------------------------------------------------------------------------------------


def test_worlds_tell_how_sure_the_model_was(kb: Path) -> None:
    """Believed and not certain above the recorded probability, possible below it."""
    with cohortium.open(kb) as opened:
        found = opened.find("trastuzumab")
        assert (sorted(found.certain), sorted(found), sorted(found.possible)) == (["M2"], ["M1", "M2"], ["M1", "M2"])
        doubted = opened.find("lapatinib")
        assert (sorted(doubted), sorted(doubted.possible)) == ([], ["M3"])


def test_an_unlinked_mention_is_found_by_its_words_alone(kb: Path) -> None:
    """SQL finds the text, no kind of event does, and nothing that looks at the record stumbles over it."""
    with cohortium.open(kb) as opened:
        rows = opened.sql("SELECT patient_id FROM mentions WHERE surface ILIKE '%glimmer%'").to_pylist()
        assert [row["patient_id"] for row in rows] == ["M3"]
        for kind in ("comorbidity", "diagnosis", "symptom"):
            assert "M3" not in opened.find(f"any {kind}")
        assert [event.concept for event in opened.journey("M3").journey.events] == ["lapatinib"]
        assert "M3" in opened.find("not 'breast cancer'")
        opened.find("'breast cancer'").why_not("M3")
        opened.find("'breast cancer'").explain("M1")


# --- proofs -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("made_at_hand")
def test_a_proof_says_that_it_stands_on_a_model(kb: Path) -> None:
    """It holds, by the model's name, hash, link and probability, read again with the model; and it is counted apart."""
    done = cohortium.verify(kb, "trastuzumab")
    assert done.holds, done.as_dict()
    assert {verdict.patient_id: verdict.stands_on for verdict in done.verdicts} == {"M1": ("made",), "M2": ()}
    assert done.on_models == {"made": 1}
    assert done.as_dict()["verified"] == 2
    mention = next(one for one in done.proofs["M1"]["mentions"].values() if one["source"] == "model:made")
    assert mention["probability"] == pytest.approx(0.912, abs=0.001)
    assert WITHOUT_MODEL not in done.as_dict()["unchecked"]


def test_without_the_model_the_proposals_are_told_as_unchecked(kb: Path) -> None:
    """What the rules read is held against the notes all the same; the command says both."""
    done = cohortium.verify(kb, "trastuzumab")
    assert done.holds, done.as_dict()
    assert WITHOUT_MODEL in done.as_dict()["unchecked"]
    told = CliRunner().invoke(app, ["verify", str(kb), "trastuzumab"])
    assert told.exit_code == 0
    assert "1 of them stands on the model made" in told.output


@pytest.mark.usefixtures("made_at_hand")
def test_a_member_that_rules_prove_does_not_stand_on_the_model(kb: Path) -> None:
    """Nor does one who is in a cohort for want of something."""
    assert cohortium.verify(kb, "'breast cancer'").on_models == {}
    assert cohortium.verify(kb, "not trastuzumab").holds


def test_another_model_than_the_recorded_one_is_refused(kb: Path, tmp_path: Path) -> None:
    """By name and hash."""
    (tmp_path / "card.json").write_text('{"name": "made"}', encoding="utf-8")
    with pytest.raises(UsageError, match=r"read with the model made\+0123456789abcdef, not with made\+"):
        cohortium.verify(kb, "trastuzumab", model=tmp_path)


@pytest.mark.parametrize(
    ("change", "versions", "message"),
    [
        ({"source": "model:other"}, {}, "names no model"),
        ({"confidence": 0.4}, {}, "less probable"),
        ({"cues": ()}, {}, "by which name"),
        ({"concept": "pertuzumab"}, {}, "none of its concept"),
        ({"concept": ""}, {}, "linked to no concept"),
        ({}, {"model": "none"}, "names no model"),
        ({}, {"probabilities": "proposed 0.5, believed 0.95"}, "proposals are improbable"),
    ],
)
def test_a_forged_proposal_fails(
    source: Path, tmp_path: Path, change: dict[str, Any], versions: dict[str, str], message: str
) -> None:
    """Another model, probability, link or concept than the rest of the record gives is found without the model."""
    read = made_reader(MadeChoice())
    notes = [one.note for one in Sources([source], None) if one.note.patient_id == "M1"]  # type: ignore[union-attr]
    found = [read.read(note) for note in notes]
    forged = [
        replace(one, mentions=tuple(replace(m, **change) if m.model else m for m in one.mentions)) for one in found
    ]
    journey = build_journey("M1", forged, read.concepts)
    if not any(event.concept == "trastuzumab" for event in journey.events):
        # The event is kept as it was, on a mention that does not carry it any more.
        right = build_journey("M1", found, read.concepts)
        renamed = {a.mention_id: b.mention_id for a, b in zip(found[0].mentions, forged[0].mentions, strict=True)}
        events = [replace(one, evidence=tuple(renamed[e] for e in one.evidence)) for one in right.events]
        journey = replace(journey, events=tuple(events))
    told = dict(made_reading(MadeChoice()).versions) | versions
    build_generation(tmp_path / "forged.kb", [journey], concepts=read.concepts, versions=told)
    done = cohortium.verify(tmp_path / "forged.kb", "trastuzumab", read_again=False, world="possible")
    assert not done.holds
    assert any(message in fault.message for verdict in done.failed for fault in verdict.faults)


# --- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["read", "-"], ["ingest", "{source}", "--kb", "{kb}"]])
@pytest.mark.parametrize(
    ("model", "message"), [("no/such/folder", "no model directory"), ("shipped", "pip install 'cohortium[shipped]'")]
)
def test_a_model_that_is_not_there_is_a_usage_error(
    command: list[str], model: str, message: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is read."""
    monkeypatch.setattr(choices, "_CHECKOUT", tmp_path / "nowhere")
    monkeypatch.setattr(choices, "_DISTRIBUTION", "cohortium_models_that_are_not_there")
    words = [word.format(source=source, kb=tmp_path / "new.kb") for word in command]
    done = CliRunner().invoke(app, [*words, "--model", model], input="ECOG 1.")
    assert isinstance(done.exception, UsageError) or done.exit_code == 2
    assert message in str(done.exception) + done.output
    assert not (tmp_path / "new.kb").exists()


def test_none_is_no_model(tmp_path: Path) -> None:
    """As if nothing was said; a folder is taken by its card's name and the hash of its files."""
    assert choices.chosen_model(None) is choices.chosen_model("none") is None
    (tmp_path / "card.json").write_text('{"name": "glimmer finder"}', encoding="utf-8")
    chosen = choices.chosen_model(tmp_path)
    assert chosen is not None
    name, _, digest = chosen.version.partition("+")
    assert name == "glimmer-finder"
    (tmp_path / "weights").write_bytes(b"1")
    assert chosen.version.partition("+")[2] != digest
    assert replace(chosen, linked=False).version.endswith("+unlinked")


def test_read_takes_a_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """``cohortium.read(text, model=DIR)`` and ``cohortium read --model DIR`` show what it proposes."""
    made = MadeChoice()
    monkeypatch.setattr(choices, "load_tagger", lambda _: made.tagger())
    monkeypatch.setattr(choices, "linker_of", lambda _: made.link())
    (tmp_path / "card.json").write_text('{"name": "made"}', encoding="utf-8")
    text = "She started trastuzumabum."
    assert [one.concept for one in cohortium.read(text, model=tmp_path).mentions] == ["trastuzumab"]
    assert not cohortium.read(text).mentions
    done = CliRunner().invoke(app, ["read", "-", "--json", "--model", str(tmp_path)], input=text)
    (shown,) = json.loads(done.output)["mentions"]
    assert (shown["source"], shown["concept"]) == ("model:made", "trastuzumab")
