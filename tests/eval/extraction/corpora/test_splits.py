"""Splits are by document, the same for the same content, stratified, and never part what belongs together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.eval.extraction.corpora.assembling import of_text
from cohortium.eval.extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan
from cohortium.eval.extraction.corpora.splits import Split, choose, split
from cohortium.kb.errors import UsageError
from tests.amounts import examples


def document(id: str, text: str, *labels: str, group: str = "") -> AnnotatedDocument:
    """A document whose first word bears the labels."""
    return of_text(id, text, [LabelledSpan(0, len(text.split()[0]), label) for label in labels], group=group)


def invented(count: int) -> AnnotatedCorpus:
    """Documents that differ; every second has a common label, every tenth a rare one."""
    return AnnotatedCorpus(
        "invented",
        tuple(
            document(
                f"d{n}",
                f"finding{n} of visit {n * n} was written",
                "common" * (n % 2) or "other",
                *["rare"] * (n % 10 == 0),
            )
            for n in range(count)
        ),
    )


def test_proportions_are_kept_to_the_document() -> None:
    """Documents that stand alone fill the parts exactly, and each label is divided as they are."""
    corpus = invented(100)
    parts = split(corpus, {"train": 0.7, "dev": 0.1, "test": 0.2}).divide(corpus)
    assert {name: len(part) for name, part in parts.items()} == {"train": 70, "dev": 10, "test": 20}
    assert {name: part.labels()["rare"] for name, part in parts.items()} == {"train": 7, "dev": 1, "test": 2}
    assert {name: part.labels()["common"] for name, part in parts.items()} == {"train": 35, "dev": 5, "test": 10}


@settings(max_examples=examples(25), deadline=None)
@given(st.permutations(range(30)), st.integers(0, 3))
def test_a_split_depends_on_content_and_seed_alone(order: list[int], seed: int) -> None:
    """Documents in another order come to the same sides."""
    corpus = invented(30)
    turned = replace(corpus, documents=tuple(corpus.documents[at] for at in order))
    made = split(corpus, {"a": 0.5, "b": 0.5}, seed=seed)
    again = split(turned, {"a": 0.5, "b": 0.5}, seed=seed)
    assert {name: set(ids) for name, ids in made.parts.items()} == {n: set(ids) for n, ids in again.parts.items()}


def test_another_seed_divides_otherwise() -> None:
    """Two seeds give two splits."""
    corpus = invented(60)
    assert split(corpus, {"a": 0.5, "b": 0.5}, seed=1) != split(corpus, {"a": 0.5, "b": 0.5}, seed=2)


LONG = "the invented patient came with a cough that had lasted for three weeks and with nothing else to report at all"


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "copy", [LONG.upper(), LONG + " copied from the last visit by somebody"], ids=["equal", "near"]
)
def test_copies_never_stand_on_two_sides(seed: int, copy: str) -> None:
    """Equal and nearly equal texts come to one part, whatever the seed."""
    plain = invented(20)
    corpus = replace(plain, documents=(document("x", LONG), *plain.documents, document("y", copy)))
    sides = split(corpus, {"a": 0.5, "b": 0.5}, seed=seed).parts
    assert ("x" in sides["a"]) == ("y" in sides["a"])


@pytest.mark.parametrize("seed", range(8))
def test_a_group_is_not_parted(seed: int) -> None:
    """Notes of one patient come to one part."""
    corpus = AnnotatedCorpus(
        "notes", tuple(document(f"n{n}", f"note{n} says {n * 7}", group=f"P{n // 5}") for n in range(50))
    )
    for ids in split(corpus, {"a": 0.5, "b": 0.5}, seed=seed).parts.values():
        assert all(sum(f"n{n}" in ids for n in range(at, at + 5)) in (0, 5) for at in range(0, 50, 5))


def test_a_phrase_that_all_sentences_use_does_not_join_their_blocks() -> None:
    """Where documents are sentences, copies of one come to one side, and the blocks are divided all the same."""
    sentences = [
        document(f"s{n}", "METHODS :" if n % 10 == 0 else f"sentence {n} says {n * 3}", group=f"b{n // 10}")
        for n in range(100)
    ]
    corpus = AnnotatedCorpus("toy", tuple(sentences), unit="sentence")
    parts = split(corpus, {"a": 0.5, "b": 0.5}).parts
    assert all(30 < len(ids) < 70 for ids in parts.values())
    for ids in parts.values():
        assert sum(f"s{n}" in ids for n in range(0, 100, 10)) in (0, 10)


def test_exactly_so_many_are_chosen() -> None:
    """The few-resource setting: exactly n documents that differ, every label among them, the rest apart."""
    plain = invented(150)
    copies = tuple(replace(one, id=one.id + "-copy") for one in plain.documents[:30])
    corpus = replace(plain, documents=plain.documents + copies)
    made = choose(corpus, 100)
    chosen, rest = made.divide(corpus)["chosen"], made.divide(corpus)["rest"]
    assert len(chosen) == 100
    assert set(chosen.labels()) == set(corpus.labels())
    assert not {one.text for one in chosen.documents} & {one.text for one in rest.documents}
    assert len({one.text for one in chosen.documents}) == 100
    assert choose(corpus, 100, seed=1) != made
    with pytest.raises(UsageError, match="150 that differ"):
        choose(corpus, 151)


def test_what_shares_a_patient_with_the_chosen_is_not_in_the_rest() -> None:
    """The rest can be tested on: no note of a patient of whom one was chosen."""
    corpus = AnnotatedCorpus(
        "notes", tuple(document(f"n{n}", f"note{n} says {n * 7}", group=f"P{n // 5}") for n in range(50))
    )
    made = choose(corpus, 3).divide(corpus)
    groups = {one.group for one in made["chosen"].documents}
    assert not groups & {one.group for one in made["rest"].documents}
    assert len(made["rest"]) == 50 - 5 * len(groups)


def test_a_file_of_ids_comes_back(tmp_path: Path) -> None:
    """A split that was written is read as it was; one of another corpus is refused."""
    corpus = invented(20)
    made = split(corpus, {"train": 0.8, "dev": 0.2})
    made.write(tmp_path / "ids.tsv")
    assert Split.read(tmp_path / "ids.tsv") == made
    with pytest.raises(UsageError, match="has not"):
        made.divide(invented(10))
    (tmp_path / "bad.tsv").write_text("part\tid\ntrain\td1\ndev\td1\n")
    with pytest.raises(UsageError, match="line 3"):
        Split.read(tmp_path / "bad.tsv")
    (tmp_path / "bad.tsv").write_text("train d1\n")
    with pytest.raises(UsageError, match="line 1"):
        Split.read(tmp_path / "bad.tsv")
    with pytest.raises(UsageError, match="cannot read"):
        Split.read(tmp_path / "none.tsv")


@pytest.mark.parametrize("parts", [{}, {"a": 0.5}, {"a": 1.5, "b": -0.5}, {"a": 1.0, "b": 0.0}])
def test_wrong_proportions_are_refused(parts: dict[str, float]) -> None:
    """Proportions are above 0 and sum to 1."""
    with pytest.raises(UsageError, match="sum to 1"):
        split(invented(10), parts)


def test_a_part_that_stays_empty_is_refused() -> None:
    """One document cannot be divided, and none at all neither."""
    for count in (0, 1):
        with pytest.raises(UsageError, match="no document came to"):
            split(invented(count), {"a": 0.5, "b": 0.5})
