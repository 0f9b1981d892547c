"""The context model beside the rules: its signs, its file, and what is taken where the two disagree."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from cohortium.eval.training.assertion_examples import Watcher
from cohortium.ingest.models.assertion_model.classifier import PARTS, ContextModel, buckets_of
from cohortium.ingest.models.assertion_model.second_reading import SecondReading, combined
from cohortium.ingest.note.read import NoteReader, Parts
from cohortium.kb.errors import UsageError
from cohortium.kb.model import Note, Polarity


def model_that_says(polarity: str, by: str = "", buckets: int = 64) -> ContextModel:
    """A model with one opinion: always, or of mentions with the sign ``by``."""
    weights = {part: numpy.zeros((buckets + 1, len(values)), numpy.float32) for part, values in PARTS.items()}
    (row,) = buckets_of([by], buckets) if by else (buckets,)
    weights["polarity"][row, PARTS["polarity"].index(polarity)] = 8.0
    return ContextModel(weights, dict.fromkeys(PARTS, 1.0), False, {"examples": {}})


def test_a_mention_is_not_judged_by_its_own_words() -> None:
    """Two findings in one sentence frame have the same signs; what stands around them differs and is among them."""
    watcher = Watcher()
    first = watcher.read(Note("P", "N", "She has no rash today."), [(11, 15)])[11, 15, "symptom"]
    second = watcher.read(Note("P", "N", "She has no itch today."), [(11, 15)])[11, 15, "symptom"]
    other = watcher.read(Note("P", "N", "She has an itch today."), [(11, 15)])[11, 15, "symptom"]
    assert first.signs == second.signs
    assert "cue <negation" in first.signs
    assert "<=0no" in first.signs
    assert not {"cue <negation", "<=0no"} & set(other.signs)


def test_a_finding_that_is_all_of_its_sentence_has_signs_and_an_empty_note_has_no_finding() -> None:
    """Nothing beside a finding is nothing to read, and no error."""
    watcher = Watcher()
    assert watcher.read(Note("P", "N", "Rash"), [(0, 4)])[0, 4, "symptom"].signs
    assert watcher.read(Note("P", "N", "")) == {}


def test_probabilities_are_the_softmax_of_the_summed_weights() -> None:
    """Two signs with known weights, by hand: scores 1, 2 and 0 under a temperature of 2."""
    weights = {part: numpy.zeros((8, len(values)), numpy.float32) for part, values in PARTS.items()}
    (bucket,) = buckets_of(["a"], 7)
    weights["polarity"][bucket] = [0.0, 2.0, 0.0]
    weights["polarity"][7] = [1.0, 0.0, 0.0]
    model = ContextModel(weights, {"polarity": 2.0, "temporality": 1.0, "experiencer": 1.0}, False, {})
    told = model.probabilities(["a", "a"])
    raised = numpy.exp([0.5, 1.0, 0.0])
    assert list(told["polarity"].values()) == pytest.approx(list(raised / raised.sum()))
    assert told["experiencer"] == {"patient": 0.5, "family": 0.5}


def test_a_model_comes_back_from_its_file(tmp_path: Path) -> None:
    """What was written says the same of the same signs, to half precision."""
    model = model_that_says("absent", by="<=0kein")
    model.save(tmp_path / "context.npz")
    again = ContextModel.load(tmp_path / "context.npz")
    assert again.probabilities(["<=0kein"])["polarity"]["absent"] > 0.99
    assert again.probabilities([])["polarity"]["absent"] == pytest.approx(1 / 3)
    assert (again.knows_rules, again.recipe) == (False, {"examples": {}})


def test_what_is_no_model_is_told_by_its_place(tmp_path: Path) -> None:
    """A missing file, bytes that are none, a table missing, and tables that do not fit: each says which file."""
    path = tmp_path / "context.npz"
    with pytest.raises(UsageError, match=r"cannot be read from '.*context\.npz'"):
        ContextModel.load(path)
    path.write_bytes(b"no model at all")
    with pytest.raises(UsageError, match="is no context model"):
        ContextModel.load(path)
    path.write_bytes(b"")
    with pytest.raises(UsageError, match="is no context model"):
        ContextModel.load(path)
    good = model_that_says("absent")
    good.save(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(UsageError, match="is no context model"):
        ContextModel.load(path)
    short = {part: table[: 3 if part == "experiencer" else None] for part, table in good.weights.items()}
    ContextModel(short, good.temperature, False, {}).save(path)
    with pytest.raises(UsageError, match="do not fit"):
        ContextModel.load(path)


@pytest.mark.parametrize(
    ("rules", "cued", "said", "taken"),
    [
        ("present", False, "absent", ["uncertain", "uncertain", "absent", "present", "absent"]),
        ("present", True, "absent", ["uncertain", "present", "present", "present", "absent"]),
        ("absent", True, "present", ["uncertain", "absent", "absent", "absent", "present"]),
        ("uncertain", True, "present", ["uncertain", "uncertain", "uncertain", "present", "present"]),
        ("present", False, "present", ["present"] * 5),
    ],
)
def test_what_is_taken_where_rules_and_model_disagree(rules: str, cued: bool, said: str, taken: list[str]) -> None:
    """Each way of joining them, for a model that is sure, and for one that is not: then the rules stand."""
    sure = {value: 0.96 if value == said else 0.02 for value in PARTS["polarity"]}
    unsure = {value: 0.5 if value == said else 0.25 for value in PARTS["polarity"]}
    ways = ("doubt", "doubt_uncued", "uncued", "weak", "replace")
    assert [combined(rules, cued, sure, how, 0.9) for how in ways] == taken  # type: ignore[arg-type]
    assert {combined(rules, cued, unsure, how, 0.9) for how in ways} == {rules}  # type: ignore[arg-type]


def polarities(reader: NoteReader, text: str) -> dict[str, Polarity]:
    return {one.text: one.context.polarity for one in reader.read(Note("P", "N", text)).mentions}


def test_a_reader_has_a_second_reading_only_where_it_is_given_one() -> None:
    """By default the rules read alone; with a model that doubts everything findings are uncertain, treatments and the
    results that a recogniser read stay."""
    text = "Melanoma with nausea, BRAF mutated. She received pembrolizumab."
    concepts = Watcher().reader.concepts
    alone = polarities(NoteReader(concepts), text)
    joined = polarities(
        NoteReader(concepts, Parts(second=lambda: SecondReading(model_that_says("uncertain"), "doubt", 0.9))), text
    )
    assert set(alone.values()) == {Polarity.PRESENT}
    assert {name for name, polarity in joined.items() if polarity is Polarity.UNCERTAIN} == {"Melanoma", "nausea"}
    assert joined["pembrolizumab"] is Polarity.PRESENT
