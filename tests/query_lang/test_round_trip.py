"""Rendering and parsing: what is rendered parses to the same tree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.query_lang import nodes
from cohortium.query_lang.nodes import Name
from cohortium.query_lang.parsing.parse import parse
from cohortium.query_lang.render import name_text, render, render_expression
from tests.amounts import examples
from tests.generated import query_strategies as strategies

WORDS = (
    "lung adenocarcinoma", "breast cancer", "EGFR", "T", "pT", "N0", "ypT3", "T cell lymphoma", "ECOG", "KPS", "and",
    "or", "not death", "no", "with", "in situ", "carcinoma in situ", "2019", "in 2019", "2019-03", "50", "-5", "1e9",
    "50%", "first line", "2nd", "any", "anything", "exactly", "other than", "positive", "percent", "wild type",
    "Wilms' tumor", "'", '"', "'\"", "--", "a--b", "#1", "x#y", "let", "be", "before", "before 2020", "death",
    "stage", "grade 3", "radiation therapy", "RxCUI 1721560", "ONCOTREE:LUAD", "del(11q)", "a, b", "a;b", "HER2+",
    "t(9;22)", " padded ", "two  spaces", "new\nline", "\x00", "\ufeff", "“quoted”", "≥", "ß", "SS",
    "family history of",
    "first set", "FIRST SET", "lymph node", "of", "to liver", "at least", "same tumor", "documented", "is", "equals",
)  # fmt: skip
names = st.sampled_from(WORDS) | st.text(min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
KINDS_WITH_CONCEPT = ("diagnosis", "metastasis", "biomarker", "variant", "medication", "performance", "lab", "stage")
ATTRIBUTES = {
    "biomarker": ["result", "percent", "value", "method", "Weird Attribute", "and"],
    "variant": ["alteration", "protein", "exon"],
    "stage": ["stage", "prefix"],
    "grade": ["grade", "value"],
    "tnm": ["t", "n", "m", "prefix"],
    "performance": ["value"],
    "lab": ["value", "unit"],
    "diagnosis": ["laterality", "grade"],
}
SCALE_VALUES = ("T2", "T2b", "Tis", "N3b", "M0", "IIIA", "IV", "p", "yp", "positive", "wild type", "50", "3+")


@st.composite
def queries(draw: st.DrawFn) -> nodes.Query:
    """Any tree: every name, attribute and value may be awkward."""
    name = names.map(Name)
    terms = {kind: draw(st.lists(name, min_size=1, max_size=3)) for kind in KINDS_WITH_CONCEPT}
    terms["performance"].append(Name(draw(st.sampled_from(["ECOG", "ecog", "KPS"]))))
    number = st.floats(allow_nan=False) | st.integers(-3, 120).map(float)
    value = number | st.sampled_from(SCALE_VALUES) | name
    attributes = {
        kind: {attribute: draw(st.lists(value, min_size=2, max_size=4)) for attribute in some}
        for kind, some in ATTRIBUTES.items()
    }
    defined = draw(st.lists(names, max_size=2, unique=True))
    return draw(
        strategies.queries(
            terms, attributes, kinds=("tnm", "grade", "death", "adverse_event"), days=(693_596, 803_168), names=defined
        )
    )


@settings(deadline=None, max_examples=examples(150))
@given(queries())
def test_every_tree_survives_rendering_and_parsing(query: nodes.Query) -> None:
    """parse(render(q)) == q for every tree."""
    assert parse(render(query)) == query


@settings(deadline=None)
@given(names)
def test_every_name_survives(text: str) -> None:
    """A name of any text can be written, as a concept and as a value."""
    query = parse(f"diagnosis {name_text(text)} and biomarker x = {name_text(text, as_value=True)}")
    assert render(query) == render(parse(render(query)))
    assert isinstance(query.body, nodes.And)
    first, second = query.body.parts
    assert first == nodes.Exists(nodes.Events("diagnosis", nodes.Under(Name(text))))
    assert isinstance(second, nodes.Exists)
    assert second.events.condition == nodes.Is("result", (Name(text),))


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("DIAGNOSIS lung   adenocarcinoma", "diagnosis lung adenocarcinoma"),
        ("diagnosis 'carcinoma in situ'", "diagnosis 'carcinoma in situ'"),
        ("stage IIIA", "stage = IIIA"),
        ("T is T2b", "T = T2b"),
        ("yPt3n0", "ypT3N0"),
        ("pathological T>=T2c", "pathological T >= T2c"),
        ("metastases in liver", "metastasis to liver"),
        ("denied x", "no evidence of x"),
        ("a but not b", "a except b"),
        ("a without b except c", "a except (b or c)"),
        ("medication any x except y", "medication x other than y"),
        ("(medication any x) except y", "medication x except y"),
        ("any (a or b) before c", "any (a or b) before c"),
        ("(a or b) before c", "a before c or b before c"),
        ("latest ECOG 2", "latest ECOG = 2"),
        ("biomarker PD-L1≥50%", "biomarker PD-L1 >= 50%"),
        ("x in 2019", "x between 2019-01-01 and 2019-12-31"),
        ("x since 2019 until 2020-02", "x between 2019-01-01 and 2020-02-29"),
        ("let big be stage IV; BIG and x", "let big be stage = IV;\nbig and x"),
        ("let big be stage IV; any big and x", "let big be stage = IV;\nany big and x"),
        ("a on the same day as b", "a within 0 days of b"),
    ],
)
def test_the_usual_spelling(text: str, rendered: str) -> None:
    """Each spelling is rendered in one usual way."""
    assert render(parse(text)) == rendered
    assert parse(rendered) == parse(text)


def test_resolved_concepts_are_written_by_their_preferred_names() -> None:
    """A resolved tree reads as one of names."""
    concept = nodes.Concept("lung_cancer", "lung cancer")
    node = nodes.Exists(nodes.Events("diagnosis", nodes.Under(concept)))
    assert render_expression(node) == "diagnosis lung cancer"
