"""Read-backs: what a query really asks, in English; each node in a sentence of its own, and no tree without one."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.kb.kinds import KIND_TABLE, KINDS
from cohortium.kb.model import EARLIEST_DAY, LATEST_DAY
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang import nodes
from cohortium.query_lang.nodes import Concept, Name
from cohortium.query_lang.parsing.parse import DEEPEST_QUERY, parse
from cohortium.query_lang.read_back.layout import WORDS
from cohortium.query_lang.read_back.query import read_back, read_back_definition
from cohortium.query_lang.resolution.resolve import resolve_text
from cohortium.query_lang.vocabulary import ATTRIBUTES
from tests.amounts import examples
from tests.generated import query_strategies as strategies


def said(text: str) -> str:
    """The read-back of a query as it is written, without the rules."""
    return read_back(parse(text), rules=False)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        # --- facts and concepts
        ("diagnosis breast cancer", "Patients with a diagnosis of breast cancer (or any kind of it)."),
        ("diagnosis exactly 'breast cancer'", "Patients with a diagnosis of exactly breast cancer."),
        ("'breast cancer'", "Patients with a record of breast cancer (or any kind of it)."),
        ("death", "Patients with a record of death."),
        ("surgery", "Patients with an operation."),
        ("metastasis to liver", "Patients with a metastasis to liver (or any part of it)."),
        (
            "medication (osimertinib or afatinib)",
            "Patients with a drug treatment with osimertinib or afatinib (or any drug of that kind).",
        ),
        (
            "variant (KRAS or exactly 'RAS family')",
            "Patients with a genetic alteration in KRAS (or any gene of that kind) or exactly RAS family.",
        ),
        ("diagnosis (x or (y or z))", "Patients with a diagnosis of x, y or z (or any kind of it)."),
        (
            "diagnosis (x or (y other than z))",
            "Patients with a diagnosis of x (or any kind of it) or "
            "[y (or any kind of it) other than z (or any kind of it)].",
        ),
        (
            "medication any 'systemic therapy' other than ('EGFR inhibitor' or exactly tamoxifen)",
            "Patients with a drug treatment with systemic therapy (or any drug of that kind) other than "
            "[EGFR inhibitor (or any drug of that kind) or exactly tamoxifen].",
        ),
        (
            "diagnosis ('carcinoma in situ' or 'head and neck cancer')",
            "Patients with a diagnosis of carcinoma in situ or 'head and neck cancer' (or any kind of it).",
        ),
        # --- conditions
        ("biomarker ER is exactly positive",
         "Patients with a biomarker result for ER (or any marker of that kind) that is exactly positive."),
        ("stage >= IIC", "Patients with a stage that is IIC or higher."),
        ("stage < IIC", "Patients with a stage that is lower than IIC."),
        ("stage = IV", "Patients with a stage that is IV (or a substage)."),
        ("stage between IIIB and IV", "Patients with a stage that is from IIIB to IV."),
        ("lab PSA > 4", "Patients with a laboratory value for PSA (or any marker of that kind) that is more than 4."),
        ("T in (T2, T3)", "Patients with a TNM staging for which T is T2 or T3 (or a substage)."),
        ("T exactly T2", "Patients with a TNM staging for which T is exactly T2."),
        ("T != T2", "Patients with a TNM staging for which T is other than T2."),
        ("variant with codon between 729 and 761",
         "Patients with a genetic alteration for which the codon is from 729 to 761."),
        ("biomarker with percent >= 50", "Patients with a biomarker result for which the percentage is 50% or more."),
        ("variant with exon documented", "Patients with a genetic alteration for which the exon is documented."),
        ("variant with not exon documented",
         "Patients with a genetic alteration for which the exon is not documented."),
        (
            "variant with not protein = L858R",
            "Patients with a genetic alteration for which the protein change is not L858R (or not documented).",
        ),
        (
            "variant with exon = 2, not origin = germline",
            "Patients with a genetic alteration for which the exon is 2 and the origin is not germline "
            "(or not documented).",
        ),
        (
            "variant with exon = 19 or codon > 7",
            "Patients with a genetic alteration for which either the exon is 19 or the codon is more than 7.",
        ),
        (
            "variant with not (exon = 19 or codon < 7)",
            "Patients with a genetic alteration for which neither the exon is 19 nor the codon is less than 7.",
        ),
        (
            "variant with not (exon = 19 and codon <= 7)",
            "Patients with a genetic alteration for which not both of the following hold:\n"
            "- the exon is 19\n"
            "- the codon is 7 or less",
        ),
        # --- picks, contexts, windows
        ("latest ECOG <= 2", "Patients with a latest ECOG (or any form of it) that is 2 or less."),
        ("worst grade >= 3", "Patients with a worst grade that is 3 or higher."),
        ("best grade", "Patients with a best grade."),
        # The worst Karnofsky score is the lowest: a read-back tells no direction that is true of some kinds alone.
        ("worst KPS <= 60", "Patients with a worst KPS (or any form of it) that is 60 or less."),
        ("2nd surgery", "Patients with an operation that is number 2 by date."),
        ("no evidence of metastasis", "Patients with a statement that there is no metastasis."),
        ("suspected metastasis", "Patients with a suspected metastasis."),
        ("planned surgery", "Patients with a planned operation."),
        ("declined surgery", "Patients with a declined operation."),
        ("hypothetical surgery", "Patients with a hypothetical operation."),
        ("current medication", "Patients with a current drug treatment."),
        ("historical medication", "Patients with a past drug treatment."),
        ("any mention of metastasis", "Patients with a mention, in whatever context, of a metastasis."),
        (
            "family history of diagnosis 'breast cancer'",
            "Patients with a family history of a diagnosis of breast cancer (or any kind of it).",
        ),
        ("surgery since 2019-03-01", "Patients with an operation dated 2019-03-01 or later."),
        ("surgery before 2020", "Patients with an operation dated 2019-12-31 or earlier."),
        ("surgery in 2019", "Patients with an operation dated between 2019-01-01 and 2019-12-31."),
        ("surgery on 2019-03-04", "Patients with an operation dated 2019-03-04."),
        ("first stage since 2019", "Patients with a first stage dated 2019-01-01 or later."),
        # --- criteria
        ("death and surgery", "Patients with both a record of death and an operation."),
        ("death or surgery", "Patients with either a record of death or an operation."),
        ("not death", "Patients with no record of death."),
        ("not not death", "Patients with a record of death."),
        ("not (death or surgery)", "Patients with neither a record of death nor an operation."),
        ("not (death and surgery)", "Patients with not both of the following:\n- a record of death\n- an operation"),
        ("death except surgery", "Patients with a record of death, but no operation."),
        ("not (death except surgery)", "Patients with either no record of death or an operation."),
        (
            "at least 2 of (death, surgery, grade)",
            "Patients with at least 2 of the following 3:\n- a record of death\n- an operation\n- a grade",
        ),
        (
            "not at least 2 of (death, surgery)",
            "Patients with fewer than 2 of the following 2:\n- a record of death\n- an operation",
        ),
        (
            "death and (surgery or not radiation)",
            "Patients with both of the following:\n"
            "- a record of death\n"
            "- either an operation or no radiation treatment",
        ),
        (
            "death and surgery and (grade or stage and not (node or tnm and metastasis))",
            "Patients with all of the following:\n"
            "- a record of death\n"
            "- an operation\n"
            "- one or both of the following:\n"
            "  - a grade\n"
            "  - both of the following:\n"
            "    - a stage\n"
            "    - neither of the following:\n"
            "      - a lymph node finding\n"
            "      - both a TNM staging and a metastasis",
        ),
        (
            "(death or surgery) except (stage and (grade or node))",
            "Patients with the following, with an exception:\n"
            "- either a record of death or an operation\n"
            "- but not both of the following:\n"
            "  - a stage\n"
            "  - either a grade or a lymph node finding",
        ),
        # --- scopes
        ("same tumor (grade and stage)", "Patients with one and the same tumor with both a grade and a stage."),
        ("not same tumor (grade)", "Patients with no tumor with a grade."),
        (
            "same tumor (grade and same event (variant KRAS and not variant with exon = 2))",
            "Patients with one and the same tumor with both of the following:\n"
            "- a grade\n"
            "- one single fact that is both a genetic alteration in KRAS (or any gene of that kind) and not a genetic "
            "alteration for which the exon is 2",
        ),
        ("not same event (tnm and same event (not T = T2))",
         "Patients with no fact that is both a TNM staging and not a TNM staging for which T is T2 (or a substage)."),
        ("same event (same tumor (grade))", "Patients with one single fact that is of a tumor with a grade."),
        # --- time
        ("surgery before radiation", "Patients with an operation, at least 1 day before a radiation treatment."),
        ("surgery after radiation", "Patients with an operation, at least 1 day after a radiation treatment."),
        (
            "surgery at least 30 days after radiation",
            "Patients with an operation, at least 30 days (about 1 month) after a radiation treatment.",
        ),
        (
            "surgery within 90 days before radiation",
            "Patients with an operation, 1 day to 90 days before a radiation treatment.",
        ),
        (
            "surgery between 2 and 6 weeks after radiation",
            "Patients with an operation, 14 days (2 weeks) to 42 days (6 weeks) after a radiation treatment.",
        ),
        (
            "surgery within 2 years of radiation",
            "Patients with an operation, at most 730 days (about 2 years) before or after a radiation treatment.",
        ),
        ("surgery on the same day as radiation",
         "Patients with an operation, on the same day as a radiation treatment."),
        (
            "not surgery before radiation",
            "Patients with no two different facts, the first at least 1 day before the second:\n"
            "- an operation\n"
            "- a radiation treatment",
        ),
        (
            "(surgery with laterality = left) before radiation",
            "Patients with two different facts, the first at least 1 day before the second:\n"
            "- an operation for which the side is left\n"
            "- a radiation treatment",
        ),
        # --- definitions
        (
            "let high be grade >= 3; let worse be high and not death; worse or stage",
            'Patients with either "worse" or a stage.\n\n'
            '"worse" means both "high" and no record of death.\n\n'
            '"high" means a grade that is 3 or higher.',
        ),
        (
            "let high be grade >= 3; death and not high",
            'Patients with both a record of death and nothing that counts as "high".\n\n'
            '"high" means a grade that is 3 or higher.',
        ),
        (
            "let high be grade >= 3; same event (grade and not high)",
            'Patients with one single fact that is both a grade and not "high".\n\n'
            '"high" means a grade that is 3 or higher.',
        ),
    ],
)  # fmt: skip
def test_a_query_reads_back(text: str, sentence: str) -> None:
    """What is asked, said in English."""
    assert said(text) == sentence


# --- resolved queries -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ontology() -> tuple[ConceptTable, Scales]:
    """The shipped ontology."""
    return shipped_concepts(), Scales.from_files()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("diagnosis breast cancer", "Patients with a diagnosis of breast cancer (or any kind of it)."),
        ("medication Tagrisso", "Patients with a drug treatment with osimertinib."),
        (
            "variant with alteration = mutation",
            "Patients with a genetic alteration for which the type of alteration is mutation of any kind.",
        ),
        (
            "variant with effect exactly 'in-frame indel'",
            "Patients with a genetic alteration for which the effect is exactly in-frame indel.",
        ),
        (
            "variant with significance in (vus, 'likely benign')",
            "Patients with a genetic alteration for which the significance is uncertain or likely benign.",
        ),
        ("biomarker concept:her2 = positive",
         "Patients with a biomarker result for HER2 that is positive in any degree."),
        (
            "biomarker HER2 exactly positive",
            "Patients with a biomarker result for HER2 that is exactly positive.",
        ),
        ("ypT3", "Patients with a TNM staging for which T is T3 (or a substage) and the basis of staging is "
                 "pathological after treatment (yp)."),
        ("variant with protein = A763_Y764insFQEA",
         "Patients with a genetic alteration for which the protein change is A763_Y764insFQEA."),
        ("latest ECOG <= 2", "Patients with a latest ECOG performance status that is 2 or less."),
        ("variant with partner = concept:alk",
         "Patients with a genetic alteration for which the partner gene is ALK gene."),
    ],
)  # fmt: skip
def test_with_the_ontology_only_kinds_that_exist_are_told(
    text: str, sentence: str, ontology: tuple[ConceptTable, Scales]
) -> None:
    """Preferred names; findings with all of their kinds as one; no *or any kind of it* where there is none."""
    assert read_back(resolve_text(text, *ontology), ontology[0], rules=False) == sentence


def test_a_concept_known_by_its_id_alone_is_told_by_its_name(ontology: tuple[ConceptTable, Scales]) -> None:
    """``concept:egfr`` is for queries; without the ontology the id must do."""
    gene = nodes.Query(nodes.Exists(nodes.Events("variant", nodes.Under(Concept("egfr", "concept:egfr")))))
    assert "in EGFR gene." in read_back(gene, ontology[0], rules=False)
    concept = nodes.Under(Concept("blood_tmb", "concept:blood_tmb"))
    marker = nodes.Query(nodes.Exists(nodes.Events("biomarker", concept)))
    assert "for blood tmb (" in read_back(marker, rules=False)


# --- rules ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("death", ["present"]),
        ("any mention of death", []),
        ("no evidence of metastasis to (brain or liver)", ["denial"]),
        ("not death", ["present", "not"]),
        ("planned surgery except planned radiation", ["not"]),
        ("first planned surgery", ["pick"]),
        ("same tumor (planned surgery)", ["tumor"]),
        ("planned medication any x other than y", ["other_than"]),
        ("let a be planned surgery; a", ["defined"]),
        ("let a be not surgery; a and same tumor (first radiation)", ["present", "not", "defined", "pick", "tumor"]),
    ],
)
def test_the_rules_that_bear_on_a_query_are_told_after_it(text: str, names: list[str]) -> None:
    """Each once, in the order of the words; a query that needs none ends without."""
    assert read_back(parse(text)).removeprefix(said(text)).strip() == " ".join(WORDS["rules"][name] for name in names)


def test_a_definition_can_be_told_alone() -> None:
    """As in the query that it belongs to."""
    query = parse("let high be grade >= 3; high")
    assert read_back_definition(query.definitions[0]) == '"high" means a grade that is 3 or higher.'
    assert said("let high be grade >= 3; high").endswith(read_back_definition(query.definitions[0]))


# --- every tree -----------------------------------------------------------------------------------------------------

WORDS_OF_NAMES = (
    "lung adenocarcinoma", "breast cancer", "EGFR", "ypT3", "head and neck", "not death", "a, b", "or", "{0}", "%s",
    "Wilms' tumor", '"', "t(9;22)", "new\nline", " padded ", "concept:some_id", "in_situ", "A763_Y764insFQEA", "\x00",
)  # fmt: skip
names = st.sampled_from(WORDS_OF_NAMES) | st.text(min_size=1, max_size=8).filter(lambda text: bool(text.split()))
terms = names.map(Name) | names.map(lambda text: Concept("some_id", text))
NUMBERS = (0.0, 1.5, 50.0, -3.0, float("inf"), 1e22)


@st.composite
def queries(draw: st.DrawFn) -> nodes.Query:
    """Any tree, resolved or not: every kind, attributes known and unknown, awkward names."""
    of_kind = {kind: draw(st.lists(terms, min_size=1, max_size=2)) for kind in draw(some_kinds)}
    value = st.sampled_from(NUMBERS) | st.sampled_from(("T2b", "IV", "p", "vus", "mutation", "positive")) | terms
    some_values = st.lists(value, min_size=1, max_size=3)
    attributes = {kind: {name: draw(some_values) for name in draw(some_attributes)} for kind in of_kind}
    defined = draw(st.lists(names, max_size=2, unique=True))
    return draw(
        strategies.queries(
            of_kind, attributes, kinds=("tnm", "death"), days=(EARLIEST_DAY, LATEST_DAY), names=defined, max_leaves=8
        )
    )


some_kinds = st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True)
some_attributes = st.lists(st.sampled_from((*ATTRIBUTES, "Weird attribute")), min_size=1, max_size=3, unique=True)


@settings(deadline=None, max_examples=examples(120))
@given(queries())
def test_every_tree_reads_back_and_nothing_in_it_is_left_out(query: nodes.Query) -> None:
    """Never empty, always the same, and every name, value, bound, date and gap of the tree is there."""
    text = read_back(query, rules=False)
    assert text.startswith("Patients with ")
    assert read_back(query, rules=False) == text
    assert all(line.strip() for paragraph in text.split("\n\n") for line in paragraph.split("\n"))
    for word in mentions(query):
        assert word in text or word.replace("_", " ") in text, word


def mentions(node: Any) -> Iterator[str]:
    """What a read-back of ``node`` must not leave out."""
    match node:
        case Name(text) | Concept(_, text) | nodes.Definition(text) | nodes.Defined(text):
            yield " ".join(text.removeprefix("concept:").split())
        case nodes.Is(_, values):
            # A value can stand in other words: what it means is told, or what it is a kind of.
            yield from (word for value in values for word in mentions(value) if word not in ("vus", "mutation"))
        case nodes.Compare(_, _, value):
            yield number_or_word(value)
        case nodes.Between(_, low, high):
            yield from (number_or_word(low), number_or_word(high))
        case nodes.Window(low, high):
            yield from (datetime.date.fromordinal(day).isoformat() for day in {low, high} - {EARLIEST_DAY, LATEST_DAY})
        case nodes.Ordered(relation="during" | "overlapping" | "beside"):
            yield from ["of another concept than"] * node.different
            yield {"during": "which begins during", "overlapping": "which shares a day with"}.get(node.relation, "")
        case (
            nodes.Ordered(relation=relation, minimum=low, maximum=high)
            | nodes.Clear(relation=relation, minimum=low, maximum=high)
        ):
            yield from ["of another concept than"] * (isinstance(node, nodes.Ordered) and node.different)
            if (low, high) == (0, 0):
                yield "on the same day as"
            else:
                yield from [f"{low} day"] * (low > 0)
                yield from [] if high is None else [f"{high} day"]
                yield from [relation] if relation != "within" else []
        case nodes.Gap(low, high) if (low, high) != (1, None):
            yield f"{low} day"
            yield "" if high is None else f"{high} day"
        case nodes.Times(n, _, by):
            yield f"at least {n} different {'lines' if by == 'lines' else 'kinds' if by == 'concepts' else 'days'}"
        case nodes.AgeAt(_, day, low, high):
            yield from [str(low)] * (low > 0 or high is None)
            yield "" if high is None else str(high)
            yield "" if day is None else datetime.date.fromordinal(day).isoformat()
        case nodes.Ongoing(_, day):
            yield f"going on on {datetime.date.fromordinal(day).isoformat()}"
        case nodes.Lacking(how):
            yield {"denied": "stated in a note", "silent": "in notes that would", "unobservable": "without any note"}[
                how
            ]
        case nodes.Among(patients):
            yield from (" ".join(patient.split()) for patient in patients)
        case nodes.Events(source=source, undisputed=undisputed, sources=sources, known=known):
            yield source
            yield f"as {known}" * bool(known)
            yield "undisputed" * undisputed
            yield f"at least {sources} independent notes" * (sources > 1)
        case nodes.Pick(how, n):
            yield {"any": "", "nth": f"number {n}"}.get(how, how)
    if isinstance(node, tuple):
        for part in node:
            yield from mentions(part)
    elif dataclasses.is_dataclass(node) and not isinstance(node, nodes.Is):
        for one in dataclasses.fields(node):
            yield from mentions(getattr(node, one.name))


def number_or_word(value: str | float) -> str:
    """A bound as it stands in English."""
    return " ".join(value.split()) if isinstance(value, str) else repr(float(value)).removesuffix(".0")


def test_the_words_know_the_whole_vocabulary() -> None:
    """Every kind, attribute, context, pick, operator and relation has its English."""
    assert all(
        {"noun", "below"} <= told.keys() for told in (WORDS["any"], *(KIND_TABLE[kind].read_back for kind in KINDS))
    )
    assert set(ATTRIBUTES) <= set(WORDS["attributes"])
    assert list(WORDS["contexts"]) == list(nodes.CONTEXTS)
    assert set(WORDS["picks"]) | {"any"} == set(nodes.PICKS)
    assert set(WORDS["comparisons"]) == set(nodes.OPERATORS)


def test_the_deepest_query_reads_back() -> None:
    """A tree as deep as the parser allows is no harder than another."""
    text = "death"
    for _ in range(DEEPEST_QUERY // 2 - 2):
        text = f"surgery and (grade or {text})"
    lines = read_back(parse(text), rules=False).splitlines()
    assert sum(line.endswith("- an operation") for line in lines) == DEEPEST_QUERY // 2 - 2
    assert lines[-1].startswith("  " * 100)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("death and (surgery or grade)", "(death and surgery) or grade"),
        ("death except (surgery and grade)", "death except surgery and grade"),
        ("same tumor (grade and stage)", "same tumor (grade) and same tumor (stage)"),
        ("medication a other than b", "medication a except medication b"),
        ("variant with exon = 2 and not codon = 3", "variant with not (exon = 2 and codon = 3)"),
        ("surgery before radiation", "radiation before surgery"),
        ("not same event (grade)", "same event (not grade)"),
        ("T >= T2", "T > T2"),
        ("diagnosis (a or (b other than c))", "diagnosis (a or b) other than c"),
        ("first stage = IV", "stage = IV"),
        ("no evidence of metastasis", "not metastasis"),
    ],
)
def test_what_differs_in_meaning_differs_in_words(one: str, other: str) -> None:
    """Brackets, scopes and order of reading can be heard."""
    assert said(one) != said(other)
