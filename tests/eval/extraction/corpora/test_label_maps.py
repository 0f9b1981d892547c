"""Maps of labels decide every label, to kinds that exist; terms say what may be shipped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cohortium.eval.extraction.corpora.assembling import of_tokens
from cohortium.eval.extraction.corpora.corpus import AnnotatedCorpus
from cohortium.eval.extraction.corpora.label_maps import kinds, label_map, map_names
from cohortium.eval.extraction.corpora.licences import licence_at, licences
from cohortium.eval.extraction.corpora.reading import read_annotated
from cohortium.ingest.note.mentions import LABELS
from cohortium.kb.errors import UsageError
from cohortium.kb.kinds import KINDS

Put = Callable[[str, str], Path]


def test_every_kind_becomes_a_kind_of_ours() -> None:
    """What a type of a model becomes is a kind of event, or of mention."""
    ours = {*KINDS, *LABELS, "gene"}
    for name, kind in kinds()["kinds"].items():
        assert set(kind["becomes"]) <= ours, name
    assert kinds()["wider"].keys() == kinds()["kinds"].keys()


@pytest.mark.parametrize("name", map_names())
def test_a_shipped_map_is_whole(name: str) -> None:
    """Its targets exist, a reason stands for each label that is left out, and none explains a label it has not."""
    made = label_map(name)
    assert made.corpus
    assert made.to
    assert all(made.left_out.values())
    assert made.why.keys() <= made.labels.keys()
    if made.to == "kinds":
        assert set(made.labels.values()) <= kinds()["kinds"].keys()
        assert made.annotates <= set(made.labels.values())
        assert made.annotates_wider <= set(made.widened().labels.values())


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "corpus"),
    [
        ("maccrobat_coarse", "data/maccrobat"),
        ("maccrobat_kinds", "data/maccrobat"),
        ("lct_kinds", "data/lct/criteria"),
        ("bc5cdr_kinds", "data/ner_iob/BC5CDR-IOB/devel.tsv"),
        ("ncbi_disease_kinds", "data/ner_iob/NCBI-disease-IOB/devel.tsv"),
        ("bionlp13cg_kinds", "data/ner_iob/BioNLP13CG-IOB/train.tsv"),
        ("anatem_kinds", "data/ner_iob/AnatEM-IOB/devel.tsv"),
        ("neurotrialner_kinds", "data/neurotrialner/ct_neuro_dev_data_153.json"),
        ("development_kinds", "acr/dev"),
    ],
)
def test_every_label_of_a_corpus_is_decided(shared: Callable[[str], Path], name: str, corpus: str) -> None:
    """No label of the corpus is unknown to its map, and its terms are known by its name."""
    read = read_annotated(shared(corpus))
    assert label_map(name).unknown(read) == []
    assert read.licence


def test_a_label_that_nobody_decided_is_an_error() -> None:
    """A corpus of another label set is refused with its labels named; one of the map's is relabelled."""
    made = label_map("bc5cdr_kinds")
    corpus = AnnotatedCorpus("toy", (of_tokens("a", ["Aspirin", "helps"], ["B-Chemical", "O"]),))
    assert made.applied(corpus).labels() == {"medication": 1}
    other = AnnotatedCorpus("toy", (of_tokens("a", ["Aspirin"], ["B-Drug"]),))
    with pytest.raises(UsageError, match="Drug"):
        made.applied(other)


def test_what_is_left_out_is_plain_text() -> None:
    """Its words stay, without a span."""
    corpus = AnnotatedCorpus("toy", (of_tokens("a", ["Placebo", "or", "aspirin"], ["B-CONTROL", "O", "B-DRUG"]),))
    made = label_map("neurotrialner_kinds").applied(corpus)
    assert made.labels() == {"medication": 1}
    assert len(made.documents[0].words) == 3


def test_own_maps_are_read_and_checked(put: Put) -> None:
    """A map in a file of one's own; one that contradicts itself, is no TOML, or is not there."""
    own = put("own.toml", 'corpus = "x"\nto = "y"\nannotates = ["b"]\n[labels]\nA = "b"\n[left_out]\nC = "vague"\n')
    assert label_map(own).labels == {"A": "b"}
    with pytest.raises(UsageError, match="only maps to kinds"):
        label_map(own).widened()
    for text, said in (
        ('[labels]\nA = "b"\n[left_out]\nA = "vague"\n', "both maps and leaves out A"),
        ("[labels]\nA = 1\n", "not of the form"),
        ('labels = "A"\n', "not of the form"),
        ("[labels\n", "not TOML"),
    ):
        with pytest.raises(UsageError, match=said):
            label_map(put("bad.toml", text))
    with pytest.raises(UsageError, match="maccrobat_coarse"):
        label_map("nothing")


def test_only_terms_that_ask_for_credit_at_most_are_shipped() -> None:
    """No share-alike corpus and none without stated terms is trained into what is shipped; each says why."""
    assert len({one.name for one in licences()}) == len(licences())
    for one in licences():
        assert one.cite
        assert one.why
        unclear = any(word in one.licence for word in ("SA", "NC", "ND", "none", "free to use"))
        assert not (one.ship and unclear), one.name


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("data/ner_iob/BC5CDR-IOB/train.tsv", "BC5CDR"),
        ("somewhere/MACCROBAT2020", "MACCROBAT"),
        ("x/ct_neuro_dev_data_153.json", "NeuroTrialNER"),
        ("data/lct/criteria", "LCT"),
        ("acr/dev/facts.jsonl", "development records"),
        ("my/selected/notes.jsonl", None),
        ("", None),
    ],
)
def test_terms_are_told_by_the_name_of_a_place(tmp_path: Path, place: str, name: str | None) -> None:
    """Whole words of the last three names of a path; no part of another word."""
    found = licence_at(tmp_path / "a" / "b" / place)
    assert (found.name if found else None) == name
