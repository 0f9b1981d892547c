"""Files that answer without event rows: ids of patients, the ontology in parts, lists that are not whole."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from cohortium.kb.errors import DamagedIndex
from cohortium.kb.index.lists.list_file import ListFile, ListWriter, key_of
from cohortium.kb.index.lists.patient_ids import PatientIds, write_patient_ids
from cohortium.kb.model import Journey, World
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.kept_concepts import KeptConcepts, write_concepts
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from tests.kb.told_again import tell_digests

LETTERS = st.characters(exclude_categories=("Cs",))


@settings(deadline=None)
@given(st.sets(st.text(LETTERS), max_size=8), st.text(LETTERS))
def test_ids_by_number_and_numbers_by_id(made: set[str], other: str) -> None:
    """As of a tuple of them; an id that is not there has no number."""
    ids = tuple(sorted(made))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "patients"
        write_patient_ids(path, iter(ids))
        held = PatientIds(path)
        assert held == ids
        assert (len(held), tuple(held), held[1:3]) == (len(ids), ids, ids[1:3])
        assert [held.number(one) for one in ids] == list(range(len(ids)))
        assert (held.number(other), other in held) == (None if other not in made else ids.index(other), other in made)
        with pytest.raises(IndexError):
            held[len(ids)]


def test_files_that_were_cut_off_are_told(tmp_path: Path) -> None:
    """A file of lists or ids that lost its end, or is another file, is DamagedIndex."""
    with ListWriter(tmp_path / "lists") as file:
        file.entry(key_of("stage", ""), [[file.bitmap(BitMap([1, 5]))], [], [], []], [2, 2, 2, 2])
    write_patient_ids(tmp_path / "patients", ["a", "b"])
    for name, read in (("lists", ListFile), ("patients", PatientIds)):
        whole = (tmp_path / name).read_bytes()
        for damaged in (whole[:-1], whole[:20], b"", b"x" * len(whole)):
            (tmp_path / name).write_bytes(damaged)
            with pytest.raises(DamagedIndex):
                read(tmp_path / name)


def test_an_index_without_its_lists_is_told(tmp_path: Path) -> None:
    """Also where the manifest does not name them, or tells of no file: the error says how the index is made again."""
    path = tmp_path / "x.kb"
    build_generation(path, [Journey("P1")], concepts=ConceptTable([]))
    (generation,) = (path / "generations").iterdir()
    for name in ("lists", "patients"):
        (generation / "index" / name).unlink()
    with pytest.raises(DamagedIndex, match=r"index/lists is missing.*--repair"):
        KnowledgeBase.open(path)
    for entries in ({}, {"files": {}}):
        tell_digests(path, **entries)
        with pytest.raises(DamagedIndex, match=r"index/lists is not told of.*--repair"):
            KnowledgeBase.open(path)


def test_a_reader_keeps_its_generation(tmp_path: Path) -> None:
    """Its database is opened after two more generations were written, and answers; the third writer removes it."""
    path = tmp_path / "x.kb"
    concepts = ConceptTable([])
    first = build_generation(path, [Journey("P1")], concepts=concepts)
    with KnowledgeBase.open(path) as kb:
        for number in (2, 3):
            build_generation(path, [Journey(f"P{number}")], concepts=concepts)
            build_generation(path, [Journey(f"Q{number}")], concepts=concepts)
        assert kb.journey("P1") == Journey("P1")
        assert (path / "generations" / first).exists()
    build_generation(path, [Journey("P4")], concepts=concepts)
    assert not (path / "generations" / first).exists()


def test_a_key_names_one_list(tmp_path: Path) -> None:
    """Two lists of one key are refused; a list that is not there is not found."""
    with ListWriter(tmp_path / "lists") as file:
        parts = [[file.bitmap(BitMap([7]))], [file.bitmap(BitMap([3]))], [], []]
        file.entry(key_of("stage", "a"), parts, [1, 2, 2, 2])
        with pytest.raises(ValueError, match="two lists"):
            file.entry(key_of("stage", "a"), parts, [1, 2, 2, 2])
    lists = ListFile(tmp_path / "lists")
    assert lists.find(key_of("stage", "b")) is None
    entry = lists.find(key_of("stage", "a"))
    assert entry is not None
    assert [set(lists.patients(entry, world)) for world in World] == [{3, 7}, {3, 7}, {3, 7}, {7}]


def test_the_ontology_in_parts_answers_as_the_whole(tmp_path: Path) -> None:
    """Rows, hierarchy, names, sets and what is wrong, from the file as from the table that was written."""
    table = shipped_concepts()
    write_concepts(tmp_path / "concepts", table)
    kept = KeptConcepts(tmp_path / "concepts")
    assert kept.lookup("lung cancers") == table.lookup("lung cancers")
    assert kept.lookup("RxCUI 1721560") == table.lookup("RxCUI 1721560")
    assert len(kept) == len(table)
    assert (kept.value_sets(), kept.problems) == (table.value_sets(), table.problems)
    assert list(kept.rows()) == list(table.rows())
    assert kept.nearest("lung cancr") == table.nearest("lung cancr")
    for row in list(table.rows())[::50]:
        assert (kept.kind(row.id), kept.name(row.id), kept.get(row.id)) == (row.kind, row.name, row)
        assert kept.below(row.id) == table.below(row.id)
        assert kept.above(row.id) == table.above(row.id)
        assert (kept.parents(row.id), kept.children(row.id)) == (table.parents(row.id), table.children(row.id))
        assert all(kept.lookup(name) == table.lookup(name) for name in table.names(row.id))


def test_names_are_indexed_anew_when_the_rules_of_spelling_are_others(tmp_path: Path) -> None:
    """A file that was written under other rules has other normal forms, which are not used."""
    table = shipped_concepts()
    path = tmp_path / "concepts"
    write_concepts(path, table)
    header, rest = path.read_bytes().split(b"\n", 1)
    digest = KeptConcepts(path).rules_of_names.encode()
    path.write_bytes(
        header.replace(digest, b"0" * len(digest)) + b"\n" + rest.replace(b"lung adenocarcinoma", b"nothing")
    )
    assert KeptConcepts(path).lookup("tumour of the lung") == table.lookup("tumour of the lung")
