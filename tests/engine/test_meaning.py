"""What each node means, on small records: certain, believed and possible patients, the same from both engines."""

from __future__ import annotations

import datetime

import pytest

from cohortium.query_lang import nodes as q


def term(concept: str) -> q.Concept:
    """A resolved name."""
    return q.Concept(concept, concept.replace("_", " "))


def under(concept: str, exact: bool = False) -> q.Under:
    """A concept and what lies below it."""
    return q.Under(term(concept), exact)


def some(kind: str | None, concept: str | None = None, condition: q.Condition | None = None, **more) -> q.Exists:
    """Patients with such an event."""
    return q.Exists(q.Events(kind, under(concept) if concept else None, condition, **more))


def day(text: str) -> int:
    """The ordinal of an ISO date."""
    return datetime.date.fromisoformat(text).toordinal()


def same(patients: str) -> tuple[str, str, str]:
    """An answer that is the same in the three worlds."""
    return patients, patients, patients


TUMORS = """
patient | kind      | concept        | context
P1      | diagnosis | lung_carcinoma |
P2      | diagnosis | lung_cancer    |
P3      | diagnosis | lung_carcinoma | uncertain
P4      | diagnosis | breast_cancer  | family
P5      |
"""


def test_an_atom_finds_its_concept_and_what_lies_below(answer) -> None:
    """Expansion goes down every parent; an uncertain event is possible, a relative's is in no world."""
    assert answer(TUMORS, some("diagnosis", "lung_cancer")) == ("P1 P2", "P1 P2", "P1 P2 P3")
    assert answer(TUMORS, some("diagnosis", "carcinoma")) == ("P1", "P1", "P1 P3")
    assert answer(TUMORS, some("diagnosis")) == ("P1 P2", "P1 P2", "P1 P2 P3")
    assert answer(TUMORS, some(None, "neoplasm")) == ("P1 P2", "P1 P2", "P1 P2 P3")
    assert answer(TUMORS, some("medication")) == same("")


def test_exactly_and_other_than_remove_concepts_not_patients(answer) -> None:
    """*Exactly* leaves descendants out; *any X except Y* still finds who has an X that is no Y."""
    assert answer(TUMORS, q.Exists(q.Events("diagnosis", under("lung_cancer", exact=True)))) == same("P2")
    other = q.OtherThan(under("neoplasm"), under("carcinoma"))
    assert answer(TUMORS, q.Exists(q.Events("diagnosis", other))) == same("P2")
    both = TUMORS + "P1 | diagnosis | lung_cancer |\n"
    assert answer(both, q.Exists(q.Events("diagnosis", other))) == same("P1 P2")
    union = q.Union((under("breast_cancer"), under("lung_carcinoma")))
    assert answer(TUMORS, q.Exists(q.Events("diagnosis", union))) == ("P1", "P1", "P1 P3")


def test_not_swaps_the_bounds(answer) -> None:
    """Who may have it is not certainly without it; and whose only lung cancer is a carcinoma has none without one."""
    assert answer(TUMORS, q.Not(some("diagnosis", "carcinoma"))) == ("P2 P4 P5", "P2 P3 P4 P5", "P2 P3 P4 P5")
    without = q.Except(some("diagnosis", "lung_cancer"), some("diagnosis", "carcinoma"))
    assert answer(TUMORS, without) == same("P2")


def test_and_or_at_least(answer) -> None:
    """Intersection, union, and counting of the bounds; a criterion that is listed twice counts twice."""
    lung, carcinoma = some("diagnosis", "lung_cancer"), some("diagnosis", "carcinoma")
    assert answer(TUMORS, q.And((lung, carcinoma))) == ("P1", "P1", "P1 P3")
    assert answer(TUMORS, q.Or((lung, carcinoma))) == ("P1 P2", "P1 P2", "P1 P2 P3")
    assert answer(TUMORS, q.AtLeast(2, (lung, carcinoma, some("stage")))) == ("P1", "P1", "P1 P3")
    assert answer(TUMORS, q.AtLeast(2, (lung, lung, carcinoma))) == ("P1 P2", "P1 P2", "P1 P2 P3")


CONTEXTS = """
patient | kind       | concept     | context
P1      | medication | cisplatin   |
P2      | medication | cisplatin   | historical
P3      | medication | cisplatin   | planned
P4      | medication | cisplatin   | declined
P5      | medication | cisplatin   | absent
P6      | medication | cisplatin   | uncertain
P7      | medication | cisplatin   | family
P8      | medication | cisplatin   | hypothetical
"""


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("present", ("P1 P2", "P1 P2", "P1 P2 P6")),
        ("current", ("P1", "P1", "P1 P6")),
        ("historical", same("P2")),
        ("planned", same("P3")),
        ("declined", same("P4")),
        ("absent", same("P4 P5")),
        ("uncertain", same("P6")),
        ("family", same("P7")),
        ("hypothetical", same("P8")),
        ("any", same("P1 P2 P3 P4 P5 P6 P7 P8")),
    ],
)
def test_a_context_that_is_asked_for_is_as_recorded(answer, context: str, expected: tuple[str, str, str]) -> None:
    """The default admits own present facts by world; any other context is what the record says, in every world."""
    assert answer(CONTEXTS, some("medication", "cisplatin", context=context)) == expected


DISPUTED = """
patient | kind      | concept     | context
P1      | diagnosis | lung_cancer | kept
P2      | diagnosis | lung_cancer | rejected
"""


def test_a_decision_is_believed_and_not_certain(answer) -> None:
    """A disputed fact that a decision keeps is believed, one that it rejects is possible."""
    assert answer(DISPUTED, some("diagnosis", "lung_cancer")) == ("", "P1", "P1 P2")
    assert answer(DISPUTED, q.Not(some("diagnosis", "lung_cancer"))) == ("", "P2", "P1 P2")


FINDINGS = """
patient | kind        | concept       | attributes
P1      | biomarker   | her2          | result=positive, percent=80
P2      | biomarker   | her2          | result=weakly_positive
P3      | biomarker   | her2          | result=negative
P4      | biomarker   | her2          |
P5      | tnm         |               | t=T2b, prefix=p
P6      | tnm         |               | t=T2
P7      | stage       |               | stage=IIIA
P8      | performance | ecog          | value=1
P9      | diagnosis   | breast_cancer | laterality=Left
"""

CONDITIONS = [
    ("biomarker", q.Is("result", (term("result_positive"),)), "P1 P2"),
    ("biomarker", q.Is("result", (term("positive"),)), "P1"),
    ("biomarker", q.Is("result", (term("result_positive"),), exact=True), ""),
    ("biomarker", q.Is("result", (term("positive"), term("negative"))), "P1 P3"),
    ("biomarker", q.Documented("result"), "P1 P2 P3"),
    ("biomarker", q.NotThat(q.Is("result", (term("negative"),))), "P1 P2 P4"),
    ("biomarker", q.AllOf((q.Documented("percent"), q.Is("result", (term("positive"),)))), "P1"),
    ("biomarker", q.AnyOf((q.Compare("percent", ">=", 50.0), q.Is("result", (term("negative"),)))), "P1 P3"),
    ("biomarker", q.Is("percent", (q.Name("80"),)), "P1"),
    ("tnm", q.Is("t", (q.Name("T2"),)), "P5 P6"),
    ("tnm", q.Is("t", (q.Name("t2"),), exact=True), "P6"),
    ("tnm", q.Is("prefix", (q.Name("P"),)), "P5"),
    ("tnm", q.Compare("t", ">=", "T2b"), "P5"),
    ("tnm", q.Compare("t", "<=", "T2"), "P5 P6"),
    ("tnm", q.Between("t", "T2b", "T3c"), "P5"),
    ("tnm", q.Compare("t", ">", "T9"), ""),
    ("stage", q.Compare("stage", ">=", "IIC"), "P7"),
    ("performance", q.Compare("value", "<=", 1.0), "P8"),
    ("diagnosis", q.Is("laterality", (q.Name("left"),)), "P9"),
    ("diagnosis", q.Compare("grade", "!=", "3"), ""),
]


@pytest.mark.parametrize(("kind", "condition", "patients"), CONDITIONS, ids=lambda value: str(value)[:60])
def test_conditions(answer, kind: str, condition: q.Condition, patients: str) -> None:
    """Concepts admit what lies below, scales their substages, words any case; what is unknown satisfies only *not*."""
    assert answer(FINDINGS, some(kind, None, condition)) == same(patients)


DATED = """
patient | kind      | concept     | day
P1      | diagnosis | lung_cancer | 2020-03-10
P2      | diagnosis | lung_cancer | 2020-03
P3      | diagnosis | lung_cancer | 2020-02-20..2020-03-02
P4      | diagnosis | lung_cancer | 2020-03-25..2020-12-31
P5      | diagnosis | lung_cancer |
"""


def test_a_window_holds_for_all_days_the_midpoint_or_some_day(answer) -> None:
    """Certain: the whole interval inside; believed: its midpoint; possible: it touches the window."""
    march = q.Window(day("2020-03-01"), day("2020-03-31"))
    assert answer(DATED, some("diagnosis", window=march)) == ("P1 P2", "P1 P2", "P1 P2 P3 P4 P5")
    early = q.Window(day("2020-03-01"), day("2020-03-20"))
    assert answer(DATED, some("diagnosis", window=early)) == ("P1", "P1 P2", "P1 P2 P3 P5")


SERIES = """
patient | kind        | concept | day        | attributes | context
P1      | performance | ecog    | 2020-01-01 | value=1    |
P1      | performance | ecog    | 2020-02-01 | value=3    |
P2      | performance | ecog    | 2020-01-01 | value=3    |
P2      | performance | ecog    | 2020-02-01 | value=1    |
P2      | performance | ecog    | 2020-02-01 | value=0    |
P3      | performance | ecog    | 2020-01-01 | value=1    |
P3      | performance | ecog    | 2020-01-01 | value=3    |
P4      | performance | ecog    | 2020-01-01 | value=1    |
P4      | performance | ecog    | 2020-02-01 | value=4    | uncertain
P5      | performance | ecog    | 2020      | value=1     |
P5      | performance | ecog    | 2020-02   | value=3     |
"""
FIT = q.Compare("value", "<=", 1.0)


@pytest.mark.parametrize(
    ("pick", "expected"),
    [
        (q.Pick("first"), ("P1 P4", "P1 P4", "P1 P4 P5")),
        (q.Pick("latest"), ("P2", "P2 P4 P5", "P2 P4 P5")),
        (q.Pick("nth", 2), ("P2", "P2 P5", "P2 P5")),
        (q.Pick("worst"), ("", "P4", "P4")),
        (q.Pick("best"), ("P1 P2 P3 P4 P5",) * 3),
    ],
    ids=str,
)
def test_picks_look_at_one_event_before_the_condition(answer, pick: q.Pick, expected: tuple[str, str, str]) -> None:
    """Ties on a day must all satisfy; overlapping intervals and uncertain events leave the pick open."""
    assert answer(SERIES, some("performance", None, FIT, pick=pick)) == expected


def test_the_nth_is_counted_in_days(answer) -> None:
    """Two values on one day are one occasion; who has fewer occasions has no n-th."""
    assert answer(SERIES, some("performance", pick=q.Pick("nth", 2))) == ("P1 P2", "P1 P2 P5", "P1 P2 P4 P5")
    assert answer(SERIES, some("performance", pick=q.Pick("nth", 3))) == same("")


def test_a_tie_that_is_certain_leaves_nothing_open(answer) -> None:
    """Two values of one known day are chosen together or not at all; those of one open day may lie apart."""
    table = """
    patient | kind        | concept | day        | attributes | context
    P1      | performance | ecog    | 2020-01-01 | value=1    |
    P1      | performance | ecog    | 2020-01-01 | value=3    | uncertain
    P2      | performance | ecog    | 2020-01    | value=1    |
    P2      | performance | ecog    | 2020-01    | value=3    |
    P3      | performance | ecog    | 2020-01-01 | value=1    |
    P3      | performance | ecog    | 2020-02-01 | value=1    |
    P3      | performance | ecog    | 2020-02-01 | value=3    |
    """
    assert answer(table, some("performance", None, FIT, pick=q.Pick("first"))) == ("P3", "P1 P3", "P1 P2 P3")
    assert answer(table, some("performance", None, FIT, pick=q.Pick("latest"))) == ("", "P1", "P1 P2")
    assert answer(table, some("performance", None, FIT, pick=q.Pick("nth", 2)))[2] == "P2"
    grades = """
    patient | kind  | day        | attributes            | context
    P1      | stage | 2020-01-01 | stage=IV, origin=scan |
    P1      | stage | 2020-02-01 | stage=IV              |
    P2      | stage | 2020-01-01 | stage=IV, origin=scan |
    P2      | stage | 2020-02-01 | stage=IV              | uncertain
    P3      | stage | 2020-01-01 | stage=IV, origin=scan | uncertain
    P3      | stage | 2020-02-01 | stage=III             |
    """
    worst = some("stage", None, q.Documented("origin"), pick=q.Pick("worst"))
    assert answer(grades, worst) == ("", "P2", "P2 P3")


def test_the_nth_of_few_days_is_not_possible(answer) -> None:
    """Events of one known day give one day, however many there are."""
    table = """
    patient | kind        | concept | day        | attributes | context
    P1      | performance | ecog    | 2020-01-01 | value=1    | uncertain
    P1      | performance | ecog    | 2020-01-01 | value=2    | uncertain
    P1      | performance | ecog    | 2020-01-02 | value=3    |
    P2      | performance | ecog    | 2020-01-01 | value=1    |
    P2      | performance | ecog    | 2020-01    | value=2    | uncertain
    P2      | performance | ecog    | 2020-01-31 | value=3    |
    """
    assert answer(table, some("performance", pick=q.Pick("nth", 3))) == ("", "", "P2")


def test_what_may_be_first_is_so_on_no_later_day(answer) -> None:
    """An undated event may be the first; if it is, it came before every dated one, and so before what follows those."""
    table = """
    patient | kind       | concept     | day
    P1      | medication | cisplatin   | 2020-01-01
    P1      | medication | cisplatin   |
    P1      | medication | trastuzumab | 2020-02-01
    P2      | medication | cisplatin   |
    P2      | medication | trastuzumab | 2020-02-01
    """
    first = q.Events("medication", under("platinum"), pick=q.Pick("first"))
    latest = q.Events("medication", under("platinum"), pick=q.Pick("latest"))
    other = q.Events("medication", under("trastuzumab"))
    assert answer(table, q.Ordered(first, "before", other)) == ("P1", "P1", "P1 P2")
    assert answer(table, q.Ordered(latest, "before", other))[2] == "P1 P2"


def test_an_event_of_a_window_lies_in_it_when_it_relates(answer) -> None:
    """Who may have had it in January cannot have had it in January after the February of the other."""
    table = """
    patient | kind       | concept     | day
    P1      | medication | cisplatin   | 2020
    P1      | medication | trastuzumab | 2020-02-10
    """
    january = q.Events("medication", under("platinum"), window=q.Window(day("2020-01-01"), day("2020-01-31")))
    other = q.Events("medication", under("trastuzumab"))
    assert answer(table, q.Ordered(january, "after", other)) == same("")
    assert answer(table, q.Ordered(january, "before", other)) == ("", "", "P1")
    assert answer(table, q.Ordered(january, "before", other, 41)) == same("")
    assert answer(table, q.Ordered(january, "before", other, 40)) == ("", "", "P1")


def test_a_pick_is_taken_within_the_window(answer) -> None:
    """The window narrows before the pick: the first since February."""
    since = q.Window(low=day("2020-01-15"))
    found = answer(SERIES, some("performance", None, FIT, pick=q.Pick("first"), window=since))
    assert found == ("P2", "P2", "P2 P5")


RECEPTORS = """
patient | kind      | concept       | attributes      | tumor | context
P1      | diagnosis | breast_cancer |                 | t1    |
P1      | biomarker | her2          | result=positive | t1    |
P2      | diagnosis | breast_cancer |                 | t1    |
P2      | diagnosis | lung_cancer   |                 | t2    |
P2      | biomarker | her2          | result=positive | t2    |
P3      | diagnosis | breast_cancer |                 | t1    |
P3      | biomarker | her2          | result=positive |       |
P4      | diagnosis | breast_cancer |                 | t1    |
P4      | biomarker | her2          | result=positive | *     |
P5      | biomarker | her2          | result=positive | *     |
"""


def test_same_tumor(answer) -> None:
    """A finding of all tumors counts for each; one of no known tumor may belong to any; no tumor, no answer."""
    breast, her2 = some("diagnosis", "breast_cancer"), some("biomarker", "her2")
    assert answer(RECEPTORS, q.SameTumor(q.And((breast, her2)))) == ("P1 P4", "P1 P4", "P1 P3 P4")
    assert answer(RECEPTORS, q.SameTumor(q.And((breast, q.Not(her2))))) == ("P2", "P2 P3", "P2 P3")
    assert answer(RECEPTORS, q.SameTumor(her2)) == ("P1 P2 P4", "P1 P2 P4", "P1 P2 P3 P4")
    assert answer(RECEPTORS, q.SameTumor(q.Not(her2))) == ("P2", "P2 P3", "P2 P3")


def test_same_event(answer) -> None:
    """One event must satisfy all; *not* inside ranges over everything recorded."""
    positive = some("biomarker", None, q.Is("result", (term("positive"),)))
    percent = some("biomarker", None, q.Documented("percent"))
    assert answer(FINDINGS, q.SameEvent(q.And((positive, percent)))) == same("P1")
    apart = """
    patient | kind      | concept | attributes
    P1      | biomarker | her2    | result=positive
    P1      | biomarker | her2    | percent=80
    """
    assert answer(apart, q.And((positive, percent))) == same("P1")
    assert answer(apart, q.SameEvent(q.And((positive, percent)))) == same("")
    assert answer(apart, q.SameEvent(q.And((positive, q.Not(percent))))) == same("P1")
    assert answer(apart, q.SameEvent(q.Not(some("diagnosis")))) == same("P1")


def test_a_pick_inside_a_scope_is_taken_per_tumor(answer) -> None:
    """The first marker of the one tumor, though the other tumor has an earlier one."""
    table = """
    patient | kind      | concept       | day        | attributes      | tumor
    P1      | diagnosis | breast_cancer | 2019-01-01 |                 | t1
    P1      | biomarker | her2          | 2020-01-01 | result=positive | t1
    P1      | biomarker | her2          | 2019-01-01 | result=negative | t2
    """
    first = some("biomarker", "her2", q.Is("result", (term("positive"),)), pick=q.Pick("first"))
    assert answer(table, first) == same("")
    assert answer(table, q.SameTumor(q.And((some("diagnosis", "breast_cancer"), first)))) == same("P1")


ORDER = """
patient | kind       | concept     | day
P1      | medication | cisplatin   | 2020-01-01
P1      | medication | trastuzumab | 2020-01-11
P2      | medication | trastuzumab | 2020-01-01
P2      | medication | cisplatin   | 2020-01-11
P3      | medication | cisplatin   | 2020-01-01
P3      | medication | trastuzumab | 2020-01-01
P4      | medication | cisplatin   | 2020-01-01..2020-01-10
P4      | medication | trastuzumab | 2020-01-08..2020-01-30
P5      | medication | cisplatin   | 2020-01-01
"""


@pytest.mark.parametrize(
    ("relation", "minimum", "maximum", "expected"),
    [
        ("before", 1, None, ("P1", "P1 P4", "P1 P4")),
        ("after", 1, None, ("P2", "P2", "P2 P4")),
        ("before", 1, 9, ("", "", "P4")),
        ("before", 10, 10, ("P1", "P1", "P1 P4")),
        ("before", 11, 20, ("", "P4", "P4")),
        ("within", 0, 10, ("P1 P2 P3", "P1 P2 P3", "P1 P2 P3 P4")),
        ("within", 1, 10, ("P1 P2", "P1 P2", "P1 P2 P4")),
        ("within", 0, 30, ("P1 P2 P3 P4",) * 3),
    ],
)
def test_order_in_time(answer, relation: str, minimum: int, maximum: int | None, expected) -> None:
    """Certain: for every pair of days; believed: for the midpoints; possible: for some pair."""
    platinum, other = q.Events("medication", under("platinum")), q.Events("medication", under("trastuzumab"))
    assert answer(ORDER, q.Ordered(platinum, relation, other, minimum, maximum)) == expected


def test_an_event_is_never_its_own_partner(answer) -> None:
    """Two are needed, even on one day."""
    drug = q.Events("medication", under("drug"))
    assert answer(ORDER, q.Ordered(drug, "within", drug, 0, 1000)) == same("P1 P2 P3 P4")


def test_whichever_is_the_first_it_comes_before(answer) -> None:
    """A pick that is open is still certainly before what comes after every event that it may be."""
    table = """
    patient | kind       | concept     | day
    P1      | medication | cisplatin   | 2020-01
    P1      | medication | carboplatin | 2020-01
    P1      | medication | trastuzumab | 2020-02-10
    P2      | medication | cisplatin   | 2020-01
    P2      | medication | carboplatin | 2020-01-20
    P2      | medication | trastuzumab | 2020-01-18
    """
    first = q.Events("medication", under("platinum"), pick=q.Pick("first"))
    later = q.Events("medication", under("trastuzumab"))
    assert answer(table, q.Ordered(first, "before", later)) == ("P1", "P1 P2", "P1 P2")
    assert answer(table, q.Ordered(later, "after", first)) == ("P1", "P1 P2", "P1 P2")
    only = q.Events("medication", under("trastuzumab"), pick=q.Pick("first"))
    assert answer(table, q.Ordered(first, "before", only)) == ("P1", "P1 P2", "P1 P2")


def test_a_definition_is_read_where_it_is_used(answer) -> None:
    """Inside a scope, a named criterion is asked of the tumor; a definition sees those before it."""
    query = q.Query(
        q.SameTumor(q.And((some("diagnosis", "breast_cancer"), q.Defined("marked")))),
        (q.Definition("her2", some("biomarker", "her2")), q.Definition("marked", q.Defined("her2"))),
    )
    assert answer(RECEPTORS, query) == ("P1 P4", "P1 P4", "P1 P3 P4")


@pytest.mark.parametrize(
    "query",
    [
        q.Query(q.Defined("nothing")),
        q.Query(q.Defined("a"), (q.Definition("a", q.Defined("b")), q.Definition("b", some("death")))),
        q.Query(q.Exists(q.Events("diagnosis", q.Under(q.Name("lung cancer"))))),
    ],
)
def test_what_is_not_resolved_is_refused(answer, query: q.Query) -> None:
    """A missing or later definition and an unresolved name are errors, never an empty answer."""
    with pytest.raises(q.QueryTreeError):
        answer(TUMORS, query)


def test_with_no_other_after_it_looks_after_it(answer) -> None:
    """*A with no B after it*: B lies neither before nor after by mistake, within the gap and without one."""
    table = """
    patient | kind       | concept     | day
    P1      | medication | platinum    | 2020-01-10
    P1      | medication | trastuzumab | 2020-01-20
    P2      | medication | platinum    | 2020-01-20
    P2      | medication | trastuzumab | 2020-01-10
    """
    one = q.Events("medication", under("platinum"))
    other = q.Events("medication", under("trastuzumab"))
    assert answer(table, q.Clear(one, "after", other)) == ("P2", "P2", "P2")
    assert answer(table, q.Clear(one, "before", other)) == ("P1", "P1", "P1")
    assert answer(table, q.Clear(one, "after", other, 1, 9)) == ("P1 P2", "P1 P2", "P1 P2")
    assert answer(table, q.Clear(one, "within", other, 0, 10)) == ("", "", "")
