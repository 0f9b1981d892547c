"""The questions of :mod:`.benchmark`: the shapes, each as a query, as SQL, and as a definition for the rival."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from benchmarks.scale import openmed as rival
from benchmarks.scale.atoms import Atom, Common, NotFound
from benchmarks.scale.sql import BELIEVED, CERTAIN, POSSIBLE, SqlSide, Writer, Writing
from cohortium.engine.api import OpenKb

#: Attributes that the rival's tables do not have, and other reasons why a question is not asked of it.
_NO_TUMOR: Final = "no notion of one tumor that several facts are about"
_NO_NUMBER: Final = "no condition on the number of a measurement"
_SAME_DAY: Final = (
    "its windows before and after another fact hold that fact's own day; so 'before or on the day' is asked"
)
_DAYS: Final = "counts records, not days (measured, and its cohort must hold ours)"

#: Concepts of ``bench make-kb`` that 10% and 5% of its patients have.
FIRST, SECOND = "made_up_first", "made_up_second"
#: Days within which the second of two facts follows, where there is a window.
WINDOW: Final = 90
#: Longer than any record.
EVER: Final = 100_000


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its shape, its text, and the same as SQL.

    ``definition`` is the rival's; ``differs`` says why there is none or, when there is one, what else it means.
    """

    shape: str
    name: str
    text: str
    sql: Writer
    definition: dict[str, Any] | None = None
    differs: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The facts that the questions are about. Shares are of patients."""

    #: About a third, and for *and*, *or*, *not*: two treatments, two conditions.
    many: Atom
    one: Atom
    two: Atom
    not_this: Atom
    nor_this: Atom
    #: In 10% and in 5%: for time, and for one tumor; a third, and one that comes again.
    first: Atom
    second: Atom
    third: Atom
    tumor_first: Atom
    tumor_second: Atom
    often: Atom
    broad: Atom
    single: Atom

    @classmethod
    def again(cls, common: Common, told: Mapping[str, Mapping[str, Any]]) -> Chosen | None:
        """The facts that another knowledge base was asked for; None when one of them is not here."""
        found = {role: common.called(one["concept"], one["kind"]) for role, one in told.items()}
        atoms = {role: atom for role, atom in found.items() if atom is not None}
        return cls(**atoms) if len(atoms) == len(fields(cls)) else None

    @classmethod
    def of(cls, common: Common) -> Chosen:
        """By how common they are. NotFound when there is nothing of the kind."""
        treatment, condition = ("medication", "regimen"), ("comorbidity", "symptom", "adverse_event", "metastasis")
        many = common.near(("diagnosis",), 0.3)
        one = common.near(treatment, 0.15)
        two = common.near(treatment, 0.1, (one,))
        not_this = common.near(condition, 0.2)
        nor_this = common.near(("metastasis", *condition), 0.05, (not_this,))
        # What ``bench make-kb`` makes for this purpose is in just so many, and of one tumor.
        made = common.called(FIRST), common.called(SECOND)
        first = made[0] or common.near((*treatment, "procedure"), 0.1)
        second = made[1] or common.near((*treatment, "procedure"), 0.05, (first,))
        third = common.near(("procedure", "surgery", *treatment, *condition), 0.1, (first, second))
        tumor_first = common.near(("diagnosis",), 0.1)
        tumor_second = common.near(("metastasis", "variant", "biomarker", *treatment), 0.05, (tumor_first,))
        often = common.near(("lab", *treatment), 0.3)
        broad, single = common.broad()
        return cls(
            many, one, two, not_this, nor_this, first, second, third, tumor_first, tumor_second, often, broad, single
        )


def questions(kb: OpenKb, sql: SqlSide, chosen: Chosen) -> Iterator[Question]:
    """Those that are answered by a set of patients: shapes 1 to 8."""
    yield from _boolean(chosen)
    yield from _ranges(kb, sql)
    yield from _scoped(chosen)
    yield from _timed(chosen)


def five_way(chosen: Chosen) -> str:
    """*And*, *or* and *not* of five facts."""
    return (
        f"{chosen.many.text} and ({chosen.one.text} or {chosen.two.text}) "
        f"and not {chosen.not_this.text} and not {chosen.nor_this.text}"
    )


def _boolean(chosen: Chosen) -> Iterator[Question]:
    for shape, name, atom in (
        ("single concept", "single concept", chosen.many),
        ("descendants", "broad concept", chosen.broad),
        ("descendants", "single code", chosen.single),
    ):
        yield Question(shape, name, atom.text, has(atom), rival.phenotype(rival.criterion("a", atom)))
    yield Question(
        "and, or, not",
        "five-way and/or/not",
        five_way(chosen),
        five_way_sql(chosen, BELIEVED),
        rival.phenotype(
            rival.both(
                rival.criterion("a", chosen.many),
                rival.either(rival.criterion("b", chosen.one), rival.criterion("c", chosen.two)),
                rival.no(rival.criterion("d", chosen.not_this)),
                rival.no(rival.criterion("e", chosen.nor_this)),
            )
        ),
    )


def has(atom: Atom) -> Writer:
    """The patients with such an event."""
    return lambda writing: f"SELECT DISTINCT patient FROM {writing.events(atom)}"


def five_way_sql(chosen: Chosen, world: int) -> Writer:
    """In a world: what is excluded is looked at in the opposite one."""
    opposite = {CERTAIN: POSSIBLE, BELIEVED: BELIEVED, POSSIBLE: CERTAIN}[world]

    def write(writing: Writing) -> str:
        def of(atom: Atom, where: int) -> str:
            return f"SELECT patient FROM {writing.events(atom, where)}"

        return f"""SELECT patient FROM patient WHERE patient IN ({of(chosen.many, world)})
            AND patient IN ({of(chosen.one, world)} UNION ALL {of(chosen.two, world)})
            AND patient NOT IN ({of(chosen.not_this, opposite)})
            AND patient NOT IN ({of(chosen.nor_this, opposite)})"""

    return write


def five_way_steps(chosen: Chosen) -> Writer:
    """One row: how many remain after each of the four criteria."""

    def write(writing: Writing) -> str:
        def of(atom: Atom) -> str:
            return f"SELECT patient FROM {writing.events(atom)}"

        return f"""WITH marked AS (SELECT patient IN ({of(chosen.many)}) AS a,
                patient IN ({of(chosen.one)} UNION ALL {of(chosen.two)}) AS b,
                patient NOT IN ({of(chosen.not_this)}) AS c, patient NOT IN ({of(chosen.nor_this)}) AS d FROM patient)
            SELECT count(*) FILTER (a), count(*) FILTER (a AND b), count(*) FILTER (a AND b AND c),
                count(*) FILTER (a AND b AND c AND d) FROM marked"""

    return write


def _ranges(kb: OpenKb, sql: SqlSide) -> Iterator[Question]:
    """On an ordered scale, and of numbers."""
    kinds = {row[0] for row in sql.database.execute("SELECT DISTINCT kind FROM event WHERE patient < 5000").fetchall()}
    scales = kb.scales
    if "tnm" in kinds:
        texts = [one for one in sql.texts("t") if scales.between("t", one, "T2b", "T3c")]
        yield _on_scale("T between two values", "T between T2b and T3c", "tnm", "t", texts)
    if "stage" in kinds:
        texts = [one for one in sql.texts("stage") if scales.compare("stage", one, ">=", "IIC")]
        yield _on_scale("stage at least", "stage >= IIC", "stage", "stage", texts)
    if "performance" in kinds:

        def at_most_one(writing: Writing) -> str:
            return f"SELECT DISTINCT patient FROM {writing.valued('performance', 'value', (), 1.0, 'ecog')}"

        yield Question("attribute range", "number at most", "ECOG <= 1", at_most_one, None, _NO_NUMBER)


def _on_scale(name: str, text: str, kind: str, attribute: str, texts: list[str]) -> Question:
    return Question(
        "attribute range",
        name,
        text,
        lambda writing: f"SELECT DISTINCT patient FROM {writing.valued(kind, attribute, texts, None)}",
        rival.phenotype(rival.values("a", kind, texts)) if texts else None,
    )


def _scoped(chosen: Chosen) -> Iterator[Question]:
    pairs = [("same tumor, of the record", chosen.tumor_first, chosen.tumor_second)]
    if chosen.first.concept == FIRST:
        pairs.insert(0, ("same tumor", chosen.first, chosen.second))
    for name, first, second in pairs:
        text = f"same tumor ({first.text} and {second.text})"
        yield Question("same tumor", name, text, one_tumor(first, second), None, _NO_TUMOR)


def _timed(chosen: Chosen) -> Iterator[Question]:
    first, second, third = chosen.first, chosen.second, chosen.third
    later = rival.criterion("a", first, relative=("b", EVER, 0))
    yield Question(
        "before",
        "before",
        f"{first.text} before {second.text}",
        before_sql(first, second, BELIEVED),
        None,
        _SAME_DAY,
    )
    yield Question(
        "before",
        "before or on the day",
        f"{first.text} before {second.text} or {first.text} on the same day as {second.text}",
        before_sql(first, second, BELIEVED, gap=0),
        rival.phenotype(rival.both(later, rival.criterion("b", second))),
    )
    yield Question(
        "after",
        "after",
        f"{first.text} after {second.text}",
        before_sql(second, first, BELIEVED),
        None,
        _SAME_DAY,
    )

    def within(writing: Writing) -> str:
        return f"""SELECT DISTINCT patient FROM {writing.events(first)} AS one
            JOIN {writing.events(second)} AS other USING (patient) WHERE abs(one.day - other.day) <= {WINDOW:d}"""

    near = rival.criterion("a", first, relative=("b", WINDOW, WINDOW))
    yield Question(
        "within",
        "within 90 days",
        f"{first.text} within {WINDOW} days of {second.text}",
        within,
        rival.phenotype(rival.both(near, rival.criterion("b", second))),
    )

    def often(writing: Writing) -> str:
        return f"SELECT patient FROM {writing.events(chosen.often)} GROUP BY patient HAVING count(DISTINCT day) >= 3"

    yield Question(
        "count",
        "on at least 3 days",
        f"{chosen.often.text} on at least 3 days",
        often,
        rival.phenotype(rival.criterion("a", chosen.often, minimum=3)),
        _DAYS,
    )
    yield Question(
        "sequence",
        "three steps",
        f"{first.text} then {second.text} then {third.text}",
        sequence_sql(first, second, third),
        None,
        _SAME_DAY,
    )


def before_sql(one: Atom, other: Atom, world: int, gap: int = 1) -> Writer:
    """One at least ``gap`` days before the other: for every pair of days, the midpoints, or some pair."""
    early, late = {CERTAIN: ("high", "low"), BELIEVED: ("day", "day"), POSSIBLE: ("low", "high")}[world]

    def write(writing: Writing) -> str:
        left, right = writing.events(one, world), writing.events(other, world)
        if writing.tuned:
            return f"""SELECT patient FROM (SELECT patient, min({early}) AS day FROM {left} GROUP BY patient) AS one
                JOIN (SELECT patient, max({late}) AS day FROM {right} GROUP BY patient) AS other USING (patient)
                WHERE other.day - one.day >= {gap:d}"""
        return f"""SELECT DISTINCT patient FROM {left} AS one JOIN {right} AS other USING (patient)
            WHERE other.{late} - one.{early} >= {gap:d}"""

    return write


def sequence_sql(first: Atom, second: Atom, third: Atom) -> Writer:
    """The earliest first, the earliest second after it, any third after that."""

    def write(writing: Writing) -> str:
        return f"""WITH one AS (SELECT patient, min(day) AS day FROM {writing.events(first)} GROUP BY patient),
            two AS (SELECT patient, min(event.day) AS day FROM {writing.events(second)} AS event
                JOIN one USING (patient) WHERE event.day > one.day GROUP BY patient)
            SELECT DISTINCT patient FROM {writing.events(third)} AS event JOIN two USING (patient)
            WHERE event.day > two.day"""

    return write


def english(kb: OpenKb, common: Common) -> tuple[str, Writer]:
    """A question in English that is understood, and what it asks: two facts of one patient, or of one tumor."""
    tried = set()
    for share in (0.1, 0.2, 0.3):
        for drug_share in (0.05, 0.1, 0.2, 0.3):
            try:
                tumor = common.near(("diagnosis",), share)
                drug = common.near(("medication",), drug_share, (tumor,))
            except NotFound:
                continue
            question = f"patients with {tumor.name} who received {drug.name}"
            tried.add(question)
            cohort = kb.ask(question).cohort
            if cohort is None or not len(cohort):
                continue
            together = f"{tumor.text} and {drug.text}"
            if cohort.query == kb.find(together).query:
                return question, both(tumor, drug)
            if cohort.query == kb.find(f"same tumor ({together})").query:
                return question, one_tumor(tumor, drug)
    raise NotFound("none of these is understood, and somebody's answer: " + "; ".join(sorted(tried)))


def both(one: Atom, other: Atom) -> Writer:
    """The patients who have one and the other."""

    def write(writing: Writing) -> str:
        return f"""SELECT DISTINCT patient FROM {writing.events(one)}
            WHERE patient IN (SELECT patient FROM {writing.events(other)})"""

    return write


def one_tumor(one: Atom, other: Atom) -> Writer:
    """The patients with a tumor that has one and the other."""

    def write(writing: Writing) -> str:
        return f"""SELECT DISTINCT patient FROM {writing.attached(one)}
            JOIN {writing.attached(other)} USING (patient, tumor)"""

    return write
