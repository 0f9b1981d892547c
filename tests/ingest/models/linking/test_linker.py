"""Mentions that the lexicon lacks: linked where likeness is enough, unlinked with their candidates elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.ingest.models.linking.encoders import GramEncoder
from cohortium.ingest.models.linking.linker import Linker, UnreadMention
from cohortium.ingest.models.linking.names import NameTable
from cohortium.ingest.models.linking.nearest import NearestNames, kept_vectors
from cohortium.ingest.models.linking.score import Scorer
from cohortium.kb.errors import UsageError
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.rows import Abbreviation, ConceptRow
from tests.amounts import examples

ROWS = (
    ConceptRow("cancer", "tumor", "cancer"),
    ConceptRow(
        "lung_adenocarcinoma",
        "tumor",
        "lung adenocarcinoma",
        ("cancer",),
        ("adenocarcinoma of the lung", "pulmonary adenocarcinoma"),
        (Abbreviation("LUAD"),),
    ),
    ConceptRow("lung_squamous", "tumor", "lung squamous cell carcinoma", ("cancer",), ("squamous carcinoma of lung",)),
    ConceptRow("small_cell", "tumor", "small cell lung carcinoma", ("cancer",)),
    ConceptRow("non_small_cell", "tumor", "non-small cell lung carcinoma", ("cancer",)),
    ConceptRow("hypothyroidism", "condition", "hypothyroidism"),
    ConceptRow("hyperthyroidism", "condition", "hyperthyroidism"),
    ConceptRow("diabetes_1", "condition", "type 1 diabetes mellitus"),
    ConceptRow("diabetes_2", "condition", "type 2 diabetes mellitus"),
    ConceptRow("osimertinib", "drug", "osimertinib", (), ("Tagrisso",)),
    ConceptRow("erlotinib", "drug", "erlotinib"),
    ConceptRow("lobectomy", "procedure", "lobectomy"),
)


@pytest.fixture(scope="module")
def names() -> NameTable:
    """A small ontology."""
    return NameTable(ConceptTable(ROWS))


@pytest.fixture(scope="module")
def linker(names: NameTable) -> Linker:
    """The shipped numbers over the small ontology, linking whatever is at least as likely as not."""
    return Linker(names, Scorer.load(), GramEncoder.load(), threshold=0.5)


@pytest.mark.parametrize(
    ("text", "kind", "concept"),
    [
        ("osimertinibb", "medication", "osimertinib"),
        ("lung adenocarcinomas", "diagnosis", "lung_adenocarcinoma"),
        ("adenocarcinoma, lung", "diagnosis", "lung_adenocarcinoma"),
        ("pulmonary squamous cell carcinoma", "diagnosis", "lung_squamous"),
    ],
)
def test_variants_of_a_name_are_linked(linker: Linker, text: str, kind: str, concept: str) -> None:
    """A slip, a plural, another order, an adjective for a noun: the best candidate is the concept."""
    (link,) = linker.link([UnreadMention(text, kind)])
    assert link.candidates[0].concept == concept


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("hyperthyroidisms", "hypothyroidism"),
        ("diabetes mellitus of type 2", "diabetes_1"),
        ("carcinoma of lung, non-small cell", "small_cell"),
    ],
)
def test_contraries_and_numbers_are_told_apart(linker: Linker, text: str, wrong: str) -> None:
    """Hypo and hyper, type 1 and type 2, small and non-small cell: the other one does not come first."""
    (link,) = linker.link([UnreadMention(text, "diagnosis")])
    assert link.concept != wrong
    assert link.candidates[0].concept != wrong


@pytest.mark.parametrize("text", ["", "  ", "...", "ER", "T2", "PD-1", "zzzzqqqq xxxyyy"])
def test_what_says_nothing_stays_unlinked(linker: Linker, text: str) -> None:
    """No words, a symbol, or letters of no name: unlinked, and no error."""
    (link,) = linker.link([UnreadMention(text, "diagnosis")])
    assert not link.linked
    assert link.concept == link.name == ""


def test_no_mentions_give_no_links(linker: Linker) -> None:
    """An empty list is answered by an empty list."""
    assert linker.link([]) == []


def test_a_link_cites_the_name_it_was_made_by(linker: Linker, names: NameTable) -> None:
    """The proof of a link can name a name of the concept, what made it, and how likely it is."""
    (link,) = linker.link([UnreadMention("adenocarcinomas of the lungs", "diagnosis")])
    assert link.linked
    assert link.name in names.concepts.names(link.concept)
    assert 0.5 <= link.probability <= 1
    assert dict(link.how)["grams"] > 0


def test_below_the_threshold_a_mention_is_unlinked_with_its_candidates(names: NameTable) -> None:
    """With a threshold that nothing reaches, the candidates stay and the concept goes."""
    strict = Linker(names, Scorer.load(), GramEncoder.load(), threshold=1.01)
    (link,) = strict.link([UnreadMention("adenocarcinomas of the lungs", "diagnosis")])
    assert not link.linked
    assert link.candidates[0].concept == "lung_adenocarcinoma"


def test_a_drug_is_no_candidate_for_a_diagnosis(linker: Linker) -> None:
    """Kinds that do not go together propose nothing to each other."""
    (link,) = linker.link([UnreadMention("osimertinibb", "procedure")])
    assert "osimertinib" not in {one.concept for one in link.candidates}


def test_short_forms_in_a_mention_are_written_out(names: NameTable) -> None:
    """A short form that one concept alone has stands for its name; a lone word is left as it is."""
    assert names.expanded("metastatic LUAD") == "metastatic lung adenocarcinoma"
    assert names.expanded("LUAD") == "LUAD"


def test_an_ontology_without_names_links_nothing() -> None:
    """No rows, no candidates, no error."""
    empty = Linker(NameTable(ConceptTable(())), Scorer.load(), GramEncoder.load())
    assert not empty.link([UnreadMention("lung cancer", "diagnosis")])[0].linked


def test_without_an_encoder_letters_are_compared(names: NameTable) -> None:
    """The numbers for no encoder find a misspelt drug."""
    plain = Linker(names, Scorer.load(encoder="none"))
    assert plain.searched_by == "letters"
    assert plain.link([UnreadMention("osimertinibb", "medication")])[0].candidates[0].concept == "osimertinib"


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(st.text(max_size=30), max_size=4))
def test_any_text_is_linked_alone_as_among_others(linker: Linker, texts: list[str]) -> None:
    """The company of a mention changes nothing, nor does asking again; probabilities are probabilities."""
    mentions = [UnreadMention(text) for text in texts]
    together = linker.link(mentions)
    assert together == [linker.link([one])[0] for one in mentions]
    assert all(0 <= link.probability <= 1 and link.linked == bool(link.name) for link in together)


def test_faiss_and_numpy_propose_the_same_links(names: NameTable) -> None:
    """Whether FAISS is installed changes the speed alone."""
    pytest.importorskip("faiss")
    mentions = [UnreadMention(text) for text in ("lung carcinoma", "erlotinb", "thyroidism", "lobectomies")]
    with_faiss = Linker(names, Scorer.load(), GramEncoder.load(), faiss=True)
    without = Linker(names, Scorer.load(), GramEncoder.load(), faiss=False)
    assert (with_faiss.searched_by, without.searched_by) == ("faiss", "numpy")
    assert with_faiss.link(mentions) == without.link(mentions)


class Counting:
    """An encoder that counts the names it is given."""

    def __init__(self, name: str) -> None:
        self.name, self.asked = name, 0

    def signature(self) -> dict[str, str]:
        return {"name": self.name}

    def encode(self, texts: list[str]) -> np.ndarray:
        self.asked += len(texts)
        return np.eye(4, dtype=np.float32)[[len(text) % 4 for text in texts]]


def test_vectors_are_made_once_for_an_ontology_and_an_encoder(tmp_path: Path, names: NameTable) -> None:
    """A second look reads the file; another encoder, another ontology or a broken file makes them again."""
    first = Counting("one")
    made = kept_vectors(names, first, tmp_path)
    again = kept_vectors(names, first, tmp_path)
    assert first.asked == len(names)
    assert isinstance(again, np.memmap)
    assert np.array_equal(made, again)
    kept_vectors(names, Counting("two"), tmp_path)
    kept_vectors(NameTable(ConceptTable(ROWS[:3])), first, tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    for path in tmp_path.iterdir():
        path.write_bytes(b"broken")
    assert np.array_equal(kept_vectors(names, first, tmp_path), made)
    assert not list(tmp_path.glob("*.part"))


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path, names: NameTable) -> None:
    """A file where the folder should be: the vectors are made, and not kept."""
    (tmp_path / "taken").write_text("", encoding="utf-8")
    assert len(kept_vectors(names, Counting("one"), tmp_path / "taken")) == len(names)


def test_a_search_gives_names_of_the_kinds_asked_for(names: NameTable) -> None:
    """All rows of those kinds where more are asked for than there are; none where there is no such kind."""
    nearest = NearestNames(kept_vectors(names, Counting("one"), None), names, faiss=False)
    vector = np.eye(4, dtype=np.float32)[:1]
    (found,) = nearest.search(vector, ("medication",), 50)
    assert {names.rows[at].kind for at in found} == {"medication"}
    assert len(nearest.search(vector, ("gene",), 5)[0]) == 0


def test_files_that_are_no_numbers_are_told(tmp_path: Path) -> None:
    """A file that is missing, of other features, or no file of vectors is a usage error that names it."""
    with pytest.raises(UsageError, match=r"gone\.json"):
        Scorer.load(tmp_path / "gone.json")
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"features": ["x"], "second": [], "encoders": {}}), encoding="utf-8")
    with pytest.raises(UsageError, match="train the linker again"):
        Scorer.load(other)
    with pytest.raises(UsageError, match="'nothing'"):
        Scorer.load(encoder="nothing")
    other.with_suffix(".npz").write_bytes(b"no zip")
    with pytest.raises(UsageError, match=r"other\.npz"):
        GramEncoder.load(other.with_suffix(".npz"))


def test_a_name_is_the_sum_of_its_words() -> None:
    """The order of words says nothing to the encoder, and a text without letters has no direction."""
    one, other, nothing = GramEncoder.load().encode(["lung adenocarcinoma", "adenocarcinoma, lung", " "])
    assert np.allclose(one, other, atol=1e-6)
    assert np.isclose(one @ one, 1)
    assert not nothing.any()
