"""The words of the language: data files, grammar and nodes know the same ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import lark
import pytest
from lark.exceptions import UnexpectedInput

from cohortium.kb.kinds import KINDS
from cohortium.kb.ontology.rows import CONCEPT_KINDS
from cohortium.query_lang import nodes, syntax, vocabulary
from cohortium.query_lang.keywords import KEYWORDS, RESERVED
from cohortium.query_lang.parsing.parse import parse
from cohortium.query_lang.resolution.findings import is_protein_change, protein_change
from cohortium.query_lang.syntax import grammar
from tests.places import DOCS


def test_every_kind_context_and_pick_has_a_spelling() -> None:
    """What a node can hold can be written."""
    assert set(vocabulary.KIND_WORDS) == set(KINDS)
    assert set(vocabulary.CONTEXT_OF_SPELLING.values()) == set(nodes.CONTEXTS) - {"present"}
    assert set(vocabulary.PICK_OF_SPELLING.values()) == set(nodes.PICKS) - {"any", "nth"}
    assert set(vocabulary.MEANT_BY_CONCEPT) == set(CONCEPT_KINDS)


@pytest.mark.parametrize("spelling", vocabulary.KIND_OF_SPELLING)
def test_the_grammar_knows_every_spelling_of_a_kind(spelling: str) -> None:
    """The kind of each spelling is that of the table."""
    body = parse(spelling).body
    assert isinstance(body, nodes.Exists)
    assert body.events == nodes.Events(vocabulary.KIND_OF_SPELLING[spelling])


@pytest.mark.parametrize("spelling", vocabulary.CONTEXT_OF_SPELLING)
def test_the_grammar_knows_every_context(spelling: str) -> None:
    """The context of each spelling is that of the table."""
    body = parse(f"{spelling} death").body
    assert isinstance(body, nodes.Exists)
    assert body.events.context == vocabulary.CONTEXT_OF_SPELLING[spelling]


def test_the_attributes_are_those_of_the_architecture() -> None:
    """Every attribute that the architecture lists for a kind can be asked for."""
    table = (DOCS / "internals" / "architecture.md").read_text(encoding="utf-8").split("## Event attributes")[1]
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and cells[0] not in ("kind", "---"):
            listed = set(re.findall(r"[a-z_]+", re.sub(r"\([^)]*\)", "", cells[2])))
            for kind in cells[0].split(", "):
                assert listed <= set(vocabulary.KIND_WORDS[kind].attributes), kind


def test_every_keyword_of_the_grammar_is_listed() -> None:
    """Completion and quoting know each word that the grammar treats as a keyword."""
    for terminal in grammar().terminals:
        if terminal.pattern.type == "str" and terminal.pattern.value.isalpha():
            assert terminal.pattern.value in RESERVED, terminal.name
    assert all(help_line for help_line in KEYWORDS.values())


@pytest.mark.parametrize(
    ("text", "protein"),
    [
        ("p.Leu858Arg", "L858R"),
        ("L858R", "L858R"),
        ("l858r", "L858R"),
        ("p.(Val600Glu)", "V600E"),
        ("E746_A750del", "E746_A750del"),
        ("p.Glu746_Ala750del", "E746_A750del"),
        ("p.Arg1443Ter", "R1443*"),
        ("R1443fs", "R1443fs"),
    ],
)
def test_protein_changes_have_one_form(text: str, protein: str) -> None:
    """One letter a residue, without p."""
    assert protein_change(text) == protein
    assert is_protein_change(text)


@pytest.mark.parametrize("text", ["mutation", "EGFR", "exon", "19", "stage", "fusion positive"])
def test_other_words_are_no_protein_changes(text: str) -> None:
    """Plain words are not mistaken for a protein change."""
    assert not is_protein_change(text)


def test_the_kept_tables_are_those_of_the_grammar(tmp_path: Path) -> None:
    """They read what the grammar reads, are not used for another, and were made anew when it changed."""
    text = syntax.grammar_text()
    if (
        lark.__version__
        == json.loads((Path(syntax.__file__).parent / "grammar.json").read_text())["made_of"].split()[0]
    ):
        assert syntax.from_tables(text) is not None, "the grammar has changed: run 'make grammar'"
    syntax.write_tables(tmp_path / "tables.json")
    kept, compiled = syntax.from_tables(text, tmp_path / "tables.json"), syntax.compiled(text)
    assert kept is not None
    for query in ("same tumor (breast cancer and HER2 = negative) except latest ECOG <= 1", "let a be death; not a"):
        assert kept.parse(query, start="start") == compiled.parse(query, start="start")
    for wrong in ("breast cancer and", "stage >= >= II"):
        told = []
        for one in (kept, compiled):
            with pytest.raises(UnexpectedInput) as caught:
                one.parse(wrong, start="start")
            told.append((caught.value.pos_in_stream, sorted(getattr(caught.value, "expected", ()))))
        assert told[0] == told[1]
    assert syntax.from_tables(f"{text} ", tmp_path / "tables.json") is None
    assert syntax.from_tables(text, tmp_path / "nothing.json") is None
