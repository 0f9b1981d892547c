"""How the context model is trained and tried: examples of each source, folds, and what it learns of a plain sign."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from cohortium.eval.training.assertion import Recipe, allowed, fit, fold_of, held_aside, temperature_of, train
from cohortium.eval.training.assertion_examples import (
    Example,
    Gold,
    Watcher,
    folded,
    from_marked,
    from_negex,
    from_reports,
)
from cohortium.kb.errors import UsageError
from cohortium.kb.model import Context

SMALL = Recipe(buckets=128, folds=3, inner_folds=2)


def example(group: str, signs: tuple[str, ...], polarity: str, source: str = "marked") -> Example:
    """An invented example."""
    return Example(source, group, group, signs, ("rule present",), Context(), (), Gold(polarity, "current", "patient"))


def twenty() -> list[Example]:
    """Ten that a sign denies, ten plain ones, each of its own group."""
    return [
        example(f"g{n}", ("<=0kein", "x") if n % 2 else ("<=0ein", "x"), "absent" if n % 2 else "present")
        for n in range(20)
    ]


def test_a_sign_that_tells_all_is_learnt_and_holds_in_groups_that_were_not_seen() -> None:
    """Each group held aside is judged right by models of the others, whatever fold it is in."""
    pytest.importorskip("scipy")
    examples = twenty()
    aside = held_aside(examples, SMALL)
    assert [int(row.argmax()) for row in aside.probabilities] == [n % 2 for n in range(20)]
    assert aside.probabilities.sum(axis=1) == pytest.approx(numpy.ones(20))
    for number, inner in enumerate(aside.inner):
        assert not inner[aside.fold == number].any()
    model = train(examples, SMALL)
    assert model.probabilities(["<=0kein"])["polarity"]["absent"] > 0.5
    assert model.recipe["examples"] == {"marked": 20}


def test_a_group_is_never_parted() -> None:
    """The fold is the group's, and spacing, case and numbers of a sentence do not make another group."""
    assert folded("No RASH  on day 12.") == folded("no rash on day 3.")
    assert fold_of("one", 5) == fold_of("one", 5)
    assert len({fold_of(str(n), 5) for n in range(100)}) == 5


def test_affirmed_leaves_open_whether_it_is_certain() -> None:
    """A NegEx condition that is affirmed may be only thought possible; other sources tell the two apart."""
    marks = allowed(
        "polarity", [example("a", (), "present", "negex"), example("b", (), "present"), example("c", (), "")]
    )
    assert marks.tolist() == [[True, False, True], [True, False, False], [False, False, False]]


def test_the_fit_of_marks_that_are_all_open_is_even() -> None:
    """Where every value is allowed there is nothing to learn, and the temperature of nothing is 1."""
    scipy_sparse = pytest.importorskip("scipy.sparse")
    table = scipy_sparse.csr_matrix(numpy.ones((4, SMALL.buckets + 1)))
    assert not fit(table, numpy.ones((4, 3), dtype=bool), SMALL).any()
    assert temperature_of(numpy.zeros((0, 3)), numpy.zeros((0, 3), dtype=bool)) == 1.0


def test_without_a_mark_of_some_part_there_is_no_model() -> None:
    """The error says which part nobody marks."""
    pytest.importorskip("scipy")
    with pytest.raises(UsageError, match="no example tells of polarity"):
        train([example("a", ("x",), "")], SMALL)


def test_examples_of_brat_reports_take_polarity_history_and_family(tmp_path: Path) -> None:
    """Findings alone; the attribute may be of the entity or of its event; what lies in a history is historical."""
    text = "She denied fever. Past asthma. Mother had a stroke. CT done. Perhaps gout."
    (tmp_path / "1.txt").write_text(text)

    def span(name: str, label: str, words: str) -> str:
        return f"{name}\t{label} {text.index(words)} {text.index(words) + len(words)}\t{words}\n"

    (tmp_path / "1.ann").write_text(
        span("T1", "Sign_symptom", "fever")
        + span("T2", "Disease_disorder", "asthma")
        + span("T3", "History", "Past asthma")
        + span("T4", "Disease_disorder", "stroke")
        + span("T5", "Family_history", "Mother had a stroke")
        + span("T6", "Diagnostic_procedure", "CT")
        + span("T7", "Disease_disorder", "gout")
        + "E1\tSign_symptom:T1 \nA1\tPOLARITY E1 NEG\nA2\tPOLARITY T7 MAYBE_POS\n"
    )
    found = {one.place: one for one in from_reports(tmp_path, Watcher())}
    assert {place: one.gold for place, one in found.items()} == {
        "1 T1": Gold("absent", "current", "patient"),
        "1 T2": Gold("present", "historical", "patient"),
        "1 T4": Gold("present", "", "family"),
        "1 T7": Gold("uncertain", "current", "patient"),
    }
    assert {one.group for one in found.values()} == {"1"}


def test_examples_of_marked_sentences_and_of_the_negex_table(tmp_path: Path) -> None:
    """Assertion words become parts; what a mark does not tell stays open; a repeated sentence is one group."""
    (tmp_path / "some.txt").write_text(
        "# invented\nNo {melanoma=>diagnosis melanoma absent}.\nMother had {lymphoma=>diagnosis lymphoma family}.\n"
        "Took {ibuprofen=>medication ibuprofen}.\n"
    )
    marked = [one.gold for one in from_marked(tmp_path, Watcher())]
    assert marked == [Gold("absent", "", "patient"), Gold("", "", "family")]
    table = tmp_path / "table.tsv"
    table.write_text(
        "line\tcondition\tsentence\tnegation\ttemporality\texperiencer\n"
        "1\trash\tNo RASH or itch.\tNegated\tRecent\tPatient\n"
        "2\titch\tNo rash or ITCH.\tNegated\tNot particular\tPatient\n"
    )
    rows = list(from_negex(table, Watcher()))
    assert [one.gold for one in rows] == [Gold("absent", "current", "patient"), Gold("absent", "", "patient")]
    assert len({one.group for one in rows}) == 1
