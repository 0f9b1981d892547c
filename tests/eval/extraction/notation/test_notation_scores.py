"""Expressions of change scored against annotated corpora: their two shapes, what counts, and what is wrong input."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cohortium.__main__ import app
from cohortium.eval.extraction.notation.corpora import AnnotatedText, Gold, read_corpus
from cohortium.eval.extraction.notation.scores import score
from cohortium.kb.errors import UsageError

PUBTATOR = (
    "10|t|A case with BRAF V600E.\n"
    "10|a|The tumor carried c.1799T>A and rs113488022.\n"
    "10\t17\t22\tV600E\tProteinMutation\tp|V|600|E\n"
    "10\t42\t51\tc.1799T>A\tDNAMutation\tc|T|1799|A\n"
    "10\t56\t67\trs113488022\tSNP\trs113488022\n"
    "10\t0\t6\tA case\tOther\t-\n"
    "\n"
    "11|t|No change here.\n"
    "11|a|None at all, but p.G12D.\n"
)


@pytest.fixture
def pubtator(tmp_path: Path) -> Path:
    """Two invented texts in the form of PubTator."""
    path = tmp_path / "texts.txt"
    path.write_text(PUBTATOR, encoding="utf-8")
    return path


@pytest.fixture
def brat(tmp_path: Path) -> Path:
    """One invented text in the form of the SETH corpus."""
    folder = tmp_path / "seth"
    (folder / "annotations").mkdir(parents=True)
    (folder / "corpus.txt").write_text("7\tThe change R213X and 35delG.\n", encoding="utf-8")
    rows = "T1\tSNP 11 16\tR213X\nT2\tSNP 21 27\t35delG\nT3\tGene 0 3\tThe\nR1\tEquals Arg1:T1 Arg2:T2\n"
    (folder / "annotations" / "7.ann").write_text(rows, encoding="utf-8")
    return folder


def test_pubtator_texts_have_their_spans_and_halves(pubtator: Path) -> None:
    """Offsets count through title, blank and abstract; other types are counted; odd numbers are held aside."""
    first, second = read_corpus(pubtator)
    assert {first.text[start:end]: form for (start, end), form in first.gold.items()} == {
        "V600E": "protein",
        "c.1799T>A": "dna",
        "rs113488022": "dbsnp",
    }
    assert (first.half, second.half, dict(first.left_out)) == ("development", "held_aside", {"Other": 1})


def test_brat_texts_have_one_class_of_change(brat: Path) -> None:
    """The corpus does not tell proteins from DNA; relations and genes are no changes."""
    (text,) = read_corpus(brat)
    assert sorted(text.gold.values()) == ["variant", "variant"]
    assert score([text]).counts["held_aside"]["variant"].tp == 2


def test_only_exact_spans_of_the_right_class_count() -> None:
    """A span one character longer is extra and missed; so is one of another class."""
    text = AnnotatedText("2", "V600E c.35G>A", {(0, 5): "protein", (6, 13): "dna"}, Counter())

    def reader(_: str) -> Gold:
        return {(0, 6): "protein", (6, 13): "protein"}

    counts = score([text], reader).counts["development"]
    assert (counts["protein"].tp, counts["protein"].fp, counts["protein"].fn) == (0, 2, 1)
    assert (counts["dna"].tp, counts["dna"].fp, counts["dna"].fn) == (0, 0, 1)


def test_the_command_scores_and_lists_errors_of_the_development_half(pubtator: Path, tmp_path: Path) -> None:
    """The JSON holds counts by half and class and a signature; errors are of even numbers alone."""
    out = tmp_path / "scores.json"
    words = ["eval", "variants", "--corpus", str(pubtator), "--errors", "--json", str(out)]
    result = CliRunner().invoke(app, words, prog_name="cohortium")
    assert result.exit_code == 0, result.output
    told = json.loads(out.read_text("utf-8"))
    assert told["halves"]["development"]["protein"]["f1"] == 1.0
    assert told["halves"]["held_aside"]["protein"]["fp"] == 1
    assert (told["errors"], told["left_out"]) == ([], {"Other": 1})
    assert told["signature"]["match"] == "exact span and class"


def test_what_is_no_corpus_is_told(tmp_path: Path) -> None:
    """A missing path, a folder of other texts, and a span outside its text are a user's errors."""
    with pytest.raises(UsageError, match="cannot read"):
        read_corpus(tmp_path / "none.txt")
    (tmp_path / "note.txt").write_text("Nothing of the kind.\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no annotated text"):
        read_corpus(tmp_path)
    (tmp_path / "note.txt").write_text("1|t|Short.\n1|a|\n1\t4\t90\tx\tSNP\n", encoding="utf-8")
    with pytest.raises(UsageError, match="outside the text"):
        read_corpus(tmp_path / "note.txt")
