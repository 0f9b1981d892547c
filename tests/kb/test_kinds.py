"""The table of kinds holds together, and no code lists kinds beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import cohortium
from cohortium.ingest.coral_schema.types import schema
from cohortium.kb.kinds import KIND_TABLE, KINDS, TRAITS, Kind, kinds_named, of_domain
from cohortium.kb.note_classes import NOTE_CLASSES
from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.rows import CONCEPT_KINDS
from cohortium.kb.ontology.scales import Scales

TREE = Path(cohortium.__file__).parent
FOLDERS = ("engine", "eval", "ingest", "kb", "query_lang")
#: So many kinds in one place are a set of kinds that share something: it is a trait, and stands in ``kinds.toml``.
A_SET = 3
#: File -> why words that are names of kinds may stand there together.
ALLOWED = {
    "eval/made_up/synthetic/gold.py": "kinds of abstracted fact, some of which are called as kinds of event are",
    "eval/made_up/synthetic/second_hand/groups.py": "kinds of abstracted fact, in the order in which a note tells them",
    "eval/made_up/synthetic/second_hand/scribe.py": "kinds of abstracted fact, by how they are told",
    "eval/made_up/synthetic/writing/slots.py": "for each kind of abstracted fact the function that writes it",
    "eval/training/few/silver.py": "types of a corpus's labels",
    "eval/training/linking/mentions.py": "labels of corpora, and how many mentions of each kind a person judged",
    "kb/ontology/rows.py": "kinds of concept",
    "query_lang/english/composition.py": "types of chunk that name a treatment",
    "query_lang/english/lexer.py": "kinds of concept",
}


def _words_of(node: ast.AST) -> Iterator[object]:
    """The constants that stand beside each other in a node."""
    match node:
        case ast.Tuple() | ast.List() | ast.Set():
            yield from (one.value for one in node.elts if isinstance(one, ast.Constant))
        case ast.Dict():
            yield from (one.value for one in (*node.keys, *node.values) if isinstance(one, ast.Constant))
        case ast.BoolOp():
            compared = (one for value in node.values if isinstance(value, ast.Compare) for one in value.comparators)
            yield from (one.value for one in compared if isinstance(one, ast.Constant))
        case ast.MatchOr():
            for pattern in node.patterns:
                if isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant):
                    yield pattern.value.value
        case ast.Call(ast.Attribute(ast.Constant(value=str(text)), "split")):
            yield from text.split()


def _sets_of_kinds() -> Iterator[str]:
    for folder in FOLDERS:
        for path in sorted((TREE / folder).rglob("*.py")):
            file = path.relative_to(TREE).as_posix()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if file not in ALLOWED else ():
                words = set(_words_of(node)).intersection(KINDS)
                if len(words) >= A_SET:
                    yield f"{file}:{getattr(node, 'lineno', 0)}: {', '.join(sorted(map(str, words)))}"


def test_no_code_lists_kinds() -> None:
    """What several kinds share is a trait of theirs in ``kb/kinds.toml``."""
    assert not list(_sets_of_kinds())


def test_what_may_list_kinds_is_there() -> None:
    """Each file that is let off exists."""
    assert all((TREE / file).exists() for file in ALLOWED)


@pytest.mark.parametrize("kind", KIND_TABLE.values(), ids=KINDS)
def test_a_kind_speaks_of_what_there_is(kind: Kind) -> None:
    """Its attributes, concepts, notes, label and words are known where they are used."""
    assert {
        *kind.result_attributes,
        *kind.distinguishing,
        *kind.short.values(),
        *kind.read_back.get("that", ()),
    } <= kind.attributes.keys()
    assert not kind.main_attribute or kind.main_attribute in kind.attributes
    assert {*kind.concepts, *kind.meant_by, *filter(None, [kind.named_by])} <= set(CONCEPT_KINDS)
    assert kind.noted_in
    assert kind.noted_in <= set(NOTE_CLASSES)
    assert not kind.root or kind.root in shipped_concepts()
    assert not kind.coral_label or kind.coral_label in schema().entities
    assert kind.made_of is None or kind.made_of in KINDS
    assert kind.belongs_to in ("tumor", "patient")
    assert kind.read_back["noun"]
    assert kind.read_back["below"]
    assert kind.read_back.get("alone") or kind.read_back["of"]
    scales = [name for name, type_ in kind.attributes.items() if type_ == "scale"]
    assert all(Scales.from_files().scale(name) is not None for name in scales)


def test_every_trait_is_some_kind_s_and_none_is_every_kind_s() -> None:
    """A trait tells kinds apart, and is explained in a sentence."""
    for trait, meaning in TRAITS.items():
        assert 0 < sum(trait in kind.traits for kind in KIND_TABLE.values()) < len(KINDS)
        assert len(meaning.split()) > 5


def test_data_files_name_kinds_by_trait() -> None:
    """A trait, all, and all but one; what is no trait is refused."""
    assert kinds_named(["@molecular", "death"]) == {"biomarker", "variant", "death"}
    assert kinds_named(["*", "-death"]) == set(KINDS) - {"death"}
    with pytest.raises(ValueError, match="moleculra"):
        kinds_named(["@moleculra"])


def test_kinds_to_choose_from_stand_in_the_order_of_use() -> None:
    """What a clinician means first comes first."""
    assert of_domain("Condition") == ("diagnosis", "comorbidity", "symptom", "adverse_event")
    assert of_domain("Procedure") == ("surgery", "procedure", "radiation")
