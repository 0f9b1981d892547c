"""Words stand in data (``ingest/cues``): the patterns in the code of reading hold few of their own."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator

import pytest

from cohortium.ingest.text.word_classes import WordClasses, word_classes
from tests.places import ROOT

INGEST = ROOT / "ingest"
#: What makes patterns, or opens their gates.
MAKERS = {"compile", "compiled", "Gated", "Gate", "search", "match", "fullmatch", "sub", "split", "findall"}
#: Named groups, escapes, flags, sets of characters, classes and holes: letters that are no words.
NO_WORDS = re.compile(r"\(\?P[<=]\w+[>)]|\(\?\(\w+\)|\\[a-zA-Z]|\(\?[imsx\-]+[:)]|\[[^\]]*\]|\{\{?\w+\}?\}")
#: A file may hold a word or two that says what a pattern is about.
FEW = 3
#: How many others may hold, and why.
MORE = {
    "notation/dna.py": (10, "codon, Delta: the notation of variants is logic"),
    "notation/protein.py": (14, "delins, stop, Greek letters: the notation of variants is logic"),
    "notation/structural.py": (8, "frame, dbSNP, reference: the notation of variants is logic"),
    "recognizers/allergies.py": (26, "allergic, intolerant, NKDA: what an allergy is; its lists are to become classes"),
    "recognizers/encounters.py": (22, "admitted, hospitalized, disposition, visit: each alone in its place"),
    "recognizers/measurements.py": (44, "flags, feet and inches, verbs between: its lists are to become classes"),
    "recognizers/molecular.py": (18, "delins, METex, codon, percent, Allred: notation and names of scores"),
    "recognizers/spread.py": (4, "stage: alone in its place"),
    "recognizers/staging.py": (14, "stage, grade, group, AJCC: each alone in its place"),
    "recognizers/trials.py": (6, "clinical, phase, ECOG-ACRIN: each alone in its place"),
    "treatments/courses.py": (6, "line, boost, over: each alone in its place"),
    "readers/fhir_scope.py": (6, "Patient, identifier, history, uuid: paths of FHIR"),
}


def written(node: ast.expr) -> str:
    """The text of a literal, or of those that an expression is made of; what is put in is a gap."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else " "
    if isinstance(node, ast.JoinedStr):
        return "".join(written(part) if isinstance(part, ast.Constant) else " " for part in node.values)
    if isinstance(node, ast.BinOp):
        return f"{written(node.left)} {written(node.right)}"
    return " "


def patterns(tree: ast.Module) -> Iterator[str]:
    """The patterns written in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in MAKERS:
                yield from map(written, [*node.args, *(keyword.value for keyword in node.keywords)])
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            text = written(node.value)
            if "(?" in text:
                yield text


def words(text: str) -> list[str]:
    """The words of four letters and more that stand in a pattern."""
    return re.findall(r"[A-Za-z]{4,}", NO_WORDS.sub(" ", text))


def test_patterns_hold_few_words_of_their_own() -> None:
    """A list of words in a pattern is a class in ``cues/words``; code says how the classes stand together."""
    found = {}
    for path in sorted(INGEST.rglob("*.py")):
        written_here = dict.fromkeys(patterns(ast.parse(path.read_text("utf-8"))))
        held = [word for text in written_here for word in words(text)]
        name = path.relative_to(INGEST).as_posix()
        if len(held) > MORE.get(name, (FEW, ""))[0]:
            found[name] = held
    assert found == {}


def test_every_class_of_words_has_its_place() -> None:
    """Each class is named in the patterns of its module or in another class, and a shared one in those of some."""
    sources = [text for path in INGEST.rglob("*.py") if "word_classes(" in (text := path.read_text("utf-8"))]
    everywhere, unused = "".join(sources), []
    for room in ("text", "notation", "coral", "context", "binding", "treatments", "recognizers"):
        for module, classes in tables(room).items():
            (source,) = (text for text in sources if f'word_classes("{room}", "{module}")' in text)
            in_classes = "".join(word for alternatives in classes.values() for word in alternatives)
            unused += [
                f"{room}.{module}.{name}"
                for name in classes
                if f"{{{name}}}" not in source + in_classes and not _is_looped(name, source)
            ]
            everywhere += in_classes
    unused += [f"shared.{name}" for name in tables("shared")["shared"] if f"{{{name}}}" not in everywhere]
    assert unused == []


def _is_looped(name: str, source: str) -> bool:
    """Whether a pattern is put together of classes whose names stand in a list."""
    return "{{{name}" in source and f'"{name.removesuffix("_before")}"' in source


def tables(room: str) -> dict[str, dict[str, list[str]]]:
    """The tables of one file of classes."""
    return tomllib.loads((INGEST / "cues" / "words" / f"{room}.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (r"\b{seen}s?\b", r"\b(?:mass|nodul\w+)s?\b"),
        (r"(?:{seen}|spot)", r"(?:mass|nodul\w+|spot)"),
        (r"(?P<what>{seen})", r"(?P<what>mass|nodul\w+)"),
        (r"(?i:spot|{seen})", r"(?i:spot|mass|nodul\w+)"),
        (r"{seen}|spot", r"mass|nodul\w+|spot"),
        (r"{seen}", r"(?:mass|nodul\w+)"),
        (r"\({seen}\)", r"\((?:mass|nodul\w+)\)"),
        (r"(?:{seen} in){0,3}", r"(?:(?:mass|nodul\w+) in){0,3}"),
        (r"{all}x", r"(?:mass|nodul\w+|spot)x"),
    ],
)
def test_a_class_is_a_group_or_alternatives_of_one(text: str, pattern: str) -> None:
    """Where a class stands beside other alternatives it is some of them, and anywhere else a group of its own."""
    classes = WordClasses({"seen": ["mass", r"nodul\w+"], "all": ["{seen}", "spot"]})
    assert classes.pattern(text) == pattern
    assert classes.compile(text).pattern == pattern


def test_a_class_that_is_not_there_is_a_mistake() -> None:
    """A pattern that names no class of its module or of all cannot be made."""
    with pytest.raises(KeyError):
        word_classes("text", "shape").pattern("{nothing}")
