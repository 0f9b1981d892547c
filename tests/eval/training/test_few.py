"""The few-resource experiment: nothing held out is learned from, finished cells are kept, scores are the task's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cohortium.__main__ import app
from cohortium.eval.extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan
from cohortium.eval.training.cells import JUST, PLAIN, PLANS, Cell
from cohortium.eval.training.few.augment import AUGMENTATIONS
from cohortium.eval.training.few.guideline import Dictionary
from cohortium.eval.training.few.resources import Answers, Experiment, annotated_of, as_dict, divided, lesson
from cohortium.ingest.models.tagging.words import word_spans
from cohortium.kb.errors import UsageError

DISEASES = ["fever", "pain", "ascites", "mass", "dyspnea", "nausea", "edema", "cough", "rash", "lesion"]
TESTS = ["CT", "MRI", "biopsy", "endoscopy", "ECG", "ultrasound", "angiography"]


def report(number: int) -> AnnotatedDocument:
    """A fictional report; no two are alike."""
    disease, test = DISEASES[number % 10], TESTS[number % 7]
    code = "".join("abcdefghij"[int(digit)] * 3 for digit in f"{number:03}")
    text = (
        f"Patient {code} of ward {code[::-1]} had {disease} in year {code}x.\nHer {test} {code}y showed no {disease}.\n"
    )
    words = tuple(word_spans(text))
    first = text.index(disease)
    second = text.index(disease, first + 1)
    spans = (
        LabelledSpan(first, first + len(disease), "d"),
        LabelledSpan(text.index(test, first), text.index(test, first) + len(test), "t-test"),
        LabelledSpan(second, second + len(disease), "d"),
        LabelledSpan(0, 7, "f"),
    )
    line = next(n for n in range(1, len(words)) if "\n" in text[words[n - 1][1] : words[n][0]])
    return AnnotatedDocument(f"r{number:03}", text, words, tuple(sorted(spans)), (line,))


CORPUS = AnnotatedCorpus("made", tuple(report(number) for number in range(112)))


class Rote:
    """Learns a dictionary, and counts how often it was asked to."""

    def __init__(self, name: str = "rote") -> None:
        self.asked: list[tuple[int, int]] = []
        self._name = name

    @property
    def signature(self) -> Mapping[str, Any]:
        return {"name": self._name}

    def learn(
        self,
        train: tuple[AnnotatedDocument, ...],
        development: tuple[AnnotatedDocument, ...],
        seed: int,
        work: Path,
    ) -> Answers:
        self.asked.append((len(train), len(development)))
        known = Dictionary.from_documents(train)

        def answers(documents: Sequence[AnnotatedDocument]) -> list[tuple[LabelledSpan, ...]]:
            assert not any(one.spans for one in documents)
            return [known(one) for one in documents]

        return answers


def test_held_out_reports_are_apart() -> None:
    """Exactly 100 are learned from, the rest is held out, smaller parts lie in larger ones, unscored tags are gone."""
    parts = divided(CORPUS, [25, 50, 150])
    assert len(parts.held_out) == 12
    assert sorted(parts.taught) == [25, 50, JUST]
    ids = {size: {one.id for one in documents} for size, documents in parts.taught.items()}
    assert all(len(ids[size]) == size for size in ids)
    assert ids[25] < ids[50] < ids[JUST]
    assert not ids[JUST] & {one.id for one in parts.held_out}
    assert {span.label for one in parts.held_out for span in one.spans} == {"d", "t-test"}
    assert divided(CORPUS, [25]).taught[JUST] == parts.taught[JUST]


def test_too_few_reports_are_refused() -> None:
    """Without a report to hold out there is nothing to measure."""
    with pytest.raises(UsageError, match="held out"):
        divided(AnnotatedCorpus("small", CORPUS.documents[:JUST]), [])


def test_lessons_know_nothing_of_the_held_out_reports() -> None:
    """No word that stands in held-out reports alone is in what any cell learns from; the seeds differ."""
    parts = divided(CORPUS, [25, 50])
    taught = {one.word(at) for one in parts.taught[JUST] for at in range(len(one.words))}
    alone = {one.word(at) for one in parts.held_out for at in range(len(one.words))} - taught
    assert alone
    for cell in PLANS["full"]:
        if cell.documents in parts.taught:
            made = lesson(cell, parts, 0, None)
            seen = {one.word(at) for one in made.train + made.development for at in range(len(one.words))}
            assert not seen & alone
            assert made.annotated == annotated_of(cell, parts, 0)
    plain = lesson(PLAIN, parts, 0, None)
    assert (len(plain.train), len(plain.development)) == (90, 10)
    doubled = lesson(Cell("x", augmentations=AUGMENTATIONS["mentions"]), parts, 0, None)
    assert doubled.development == plain.development
    assert doubled.train[:90] == plain.train
    assert len(doubled.train) > 150
    assert lesson(PLAIN, parts, 1, None).development != plain.development


def test_guidelines_teach_examples_alone() -> None:
    """A guideline's lesson is its sentences; with silver, the 100 texts with what weak labellers say of them."""
    parts = divided(CORPUS, [])
    made = lesson(Cell("g", per_label=3), parts, 0, None)
    assert made.train == made.development == made.annotated
    assert 3 <= len(made.train) <= 6
    more = lesson(Cell("g", per_label=3, silver=True), parts, 0, None)
    assert more.train[: len(made.train)] == made.train
    assert len(more.train) == len(made.train) + JUST
    told = {one.text[span.start : span.end].casefold() for one in made.train for span in one.spans}
    silver = more.train[len(made.train) :]
    assert told <= {one.text[span.start : span.end].casefold() for one in silver for span in one.spans}


def test_finished_cells_are_kept(tmp_path: Path) -> None:
    """A second run trains nothing; another learner, or a damaged file, is run again; what has no documents is told."""
    parts = divided(CORPUS, [150])
    cells = [PLAIN, Cell("guideline of 5", per_label=5), Cell("150 documents", 150)]
    first = Rote()
    left_out = Experiment(parts, first, tmp_path, seeds=2).run(cells)
    assert len(first.asked) == 4
    assert left_out == ["150 documents: the corpus leaves 100 reports to learn from"]
    again = Rote()
    lines: list[str] = []
    Experiment(parts, again, tmp_path, seeds=2).run(cells, lines.append)
    assert not again.asked
    assert all(line.endswith("kept") for line in lines)
    (tmp_path / "cells" / "guideline-of-5-1.json").write_text("{", encoding="utf-8")
    Experiment(parts, again, tmp_path, seeds=2).run(cells)
    assert len(again.asked) == 1
    other = Rote("another")
    assert len(Experiment(parts, again, tmp_path, seeds=2).scores(cells)) == 2
    assert Experiment(parts, other, tmp_path, seeds=2).scores(cells) == []
    Experiment(parts, other, tmp_path, seeds=2).run(cells)
    assert len(other.asked) == 4
    assert not any("had" in one.read_text(encoding="utf-8") for one in (tmp_path / "cells").iterdir())


def test_scores_are_those_of_the_task(tmp_path: Path) -> None:
    """By rote all that repeats itself is found: F1 1; weighted it is worth less; a cell is held against plain."""
    parts = divided(CORPUS, [])
    experiment = Experiment(parts, Rote(), tmp_path, seeds=2)
    cells = [PLAIN, Cell("guideline of 1", per_label=1), Cell("our reader", labeller="reader")]
    assert experiment.run(cells) == []
    plain, guideline, reader = as_dict(experiment, cells, [])["cells"]
    assert plain["exact"]["label"]["f1"] == plain["partial"]["span"]["f1"] == 1.0
    assert plain["exact"]["label"]["ci"] == [1.0, 1.0]
    assert plain["exact"]["label"]["gold"] == 2 * 3 * len(parts.held_out)
    assert plain["exact"]["weighted"]["recall"] < 0.5
    assert plain["exact"]["by_seed"] == [1.0, 1.0]
    assert "to_plain" not in plain["exact"]
    assert guideline["exact"]["label"]["f1"] < 0.7
    difference = guideline["exact"]["to_plain"]
    assert difference["f1"] == pytest.approx(guideline["exact"]["label"]["f1"] - 1.0)
    assert difference["ci"][0] <= difference["f1"] <= difference["ci"][1]
    assert reader["seeds"] == 1


def test_unfinished_cells_have_no_scores(tmp_path: Path) -> None:
    """A cell that has answered with some seeds alone is not scored."""
    parts = divided(CORPUS, [])
    Experiment(parts, Rote(), tmp_path, seeds=1).run([PLAIN])
    assert Experiment(parts, Rote(), tmp_path, seeds=2).scores([PLAIN]) == []
    assert Experiment(parts, None, tmp_path, seeds=1).run([PLAIN]) == ["100 documents: no learner was given"]


def test_plans_name_each_cell_once() -> None:
    """A cell's name is its file: no two of a plan share one; the short plan trains eight."""
    for cells in PLANS.values():
        assert len({one.name for one in cells}) == len(cells)
    assert sum(not one.labeller for one in PLANS["short"]) == 8
    assert set(PLANS["untrained"]) < set(PLANS["short"]) < set(PLANS["full"])


def test_a_plan_or_cell_that_is_none_is_told_with_those_that_are(tmp_path: Path) -> None:
    """``train few`` names the plans, and the cells of a plan, before anything is read."""
    for options, told in ((("--plan", "huge"), "untrained, short, full"), (("--cell", "all of it"), "100 documents")):
        found = CliRunner().invoke(app, ["train", "few", str(tmp_path), "--out", str(tmp_path / "out"), *options])
        assert found.exit_code == 2
        assert told in " ".join(str(found.exception or found.output).split()) or told in found.output
