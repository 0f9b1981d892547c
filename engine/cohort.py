"""A cohort: a set of patients of one knowledge base, with the query that made it."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyroaring import BitMap

from ..kb.arguments import expect, expect_patient, expect_patients
from ..kb.deadline import Allowance
from ..kb.errors import UsageError
from ..kb.model import World
from ..kb.skin.notebook import MOST_ROWS, small_table
from ..kb.skin.terminal import count_text
from ..kb.storage.reader import KnowledgeBase
from ..query_lang import nodes
from ..query_lang.errors import QueryError
from ..query_lang.nodes import QueryTreeError
from ..query_lang.render import render
from ..query_lang.tree import children, map_children
from .fast.evaluate import evaluate

if TYPE_CHECKING:
    import pyarrow as pa

    from ..query_lang.lint.finding import Finding
    from ..query_lang.parsing.parameters import Parameters
    from .answers.empty import Empty
    from .answers.explain import Explanation
    from .answers.funnel import Funnel
    from .answers.rank import RankedPatient
    from .answers.read_as import ReadAs
    from .report.page import Report
    from .why_not.answer import WhyNot

#: Sub-expressions that :meth:`Cohort.parts` lists, at most.
MOST_PARTS: Final = 100
#: What an evaluation may take when nobody says otherwise.
UNHURRIED: Final = Allowance()


@dataclass(frozen=True, slots=True)
class PartCount:
    """How many patients a part of a query has: believed, certain, possible. ``depth`` counts from 0."""

    text: str
    depth: int
    believed: int
    certain: int
    possible: int


class Cohort:
    """The patients that a query denotes, in one of the three worlds (by default the believed one).

    Behaves like a frozen set of patient ids, in sorted order. ``&``, ``|`` and ``-`` join cohorts of one knowledge
    base into one whose query says so. Two cohorts are equal (``==``) when they have the same patients, in the same
    world of the same state of a knowledge base, whatever their queries say; so equal cohorts count once in a set.
    Evaluated when first needed, once; safe to share between threads.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        query: nodes.Query,
        text: str = "",
        world: World = World.BELIEVED,
        given: tuple[Parameters | None, tuple[nodes.Definition, ...]] = (None, ()),
        allowed: Allowance = UNHURRIED,
    ) -> None:
        """``query`` is resolved; ``text`` is what was asked (by default the query as it was understood), and was read
        with the parameters and the definitions from elsewhere that are ``given``. Each evaluation may take what is
        ``allowed``."""
        self._allowed = allowed
        self._kb = kb
        self.query = query
        self._text = text
        self._given = given
        self.world = world
        # The answers in the worlds, as far as they are found: both bounds can come of one look.
        self._known: dict[World, BitMap] = {}
        # Once it is found; it is of the query, whatever the world.
        self._names_read: list[tuple[ReadAs, ...]] = []

    def __repr__(self) -> str:
        return f"<Cohort of {len(self)} patients ({self.world.name.lower()}): {_shortened(self.resolved)}>"

    def _repr_html_(self) -> str:
        """Its count and its first patients, for a notebook."""
        count = count_text(len(self.believed), len(self.certain), len(self.possible))
        shown = list(islice(self, MOST_ROWS))
        more = f"… and {len(self) - len(shown)} more" if len(self) > len(shown) else ""
        rows = [(patient, self.certainty(patient)) for patient in shown]
        return small_table(f"{count} patients: {_shortened(self.resolved, 500)}", ("patient", "certainty"), rows, more)

    @property
    def kb(self) -> KnowledgeBase:
        """The open generation that the patients are of."""
        return self._kb

    # --- the set ----------------------------------------------------------------------------------------------------

    @cached_property
    def numbers(self) -> BitMap:
        """The dense patient numbers. QueryError if the query cannot be evaluated."""
        with self.evaluating():
            return evaluate(self.query, self._kb, self.world, self._known)

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """The clock of one evaluation: DeadlineExceeded at its end. QueryError for what cannot be evaluated."""
        try:
            with self._allowed.running():
                yield
        except QueryTreeError as error:
            raise QueryError(str(error)) from error
        except RecursionError as error:
            raise QueryError("the query is nested too deep", hint="list alternatives side by side") from error

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[str]:
        patients = self._kb.patients
        return (patients[number] for number in self.numbers)

    def __contains__(self, patient_id: object) -> bool:
        if not isinstance(patient_id, str):
            return False
        try:
            return self._kb.number(patient_id) in self.numbers
        except UsageError:
            return False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cohort):
            return NotImplemented
        if self is other:
            return True
        return self._state == other._state and self.numbers == other.numbers

    def __hash__(self) -> int:
        numbers = self.numbers
        return hash((self._state, len(numbers), numbers.min() if numbers else 0, numbers.max() if numbers else 0))

    @property
    def _state(self) -> tuple[Path, str, World]:
        """Of what the patient numbers are: which knowledge base, which state of it, and which world."""
        return self._kb.path, self._kb.generation, self.world

    def in_world(self, world: World) -> Cohort:
        """The answer to the same query in a world: certain, believed or possible. UsageError for anything else."""
        if world is self.world:
            return self
        expect("world", world, World, "a world: World.BELIEVED, World.CERTAIN or World.POSSIBLE")
        found = self._worlds.get(world)
        if found is None:
            found = self._worlds[world] = Cohort(self._kb, self.query, self._text, world, self._given, self._allowed)
            found._known = self._known
            found._names_read = self._names_read
        return found

    @property
    def certain(self) -> Cohort:
        """The patients in whom the query holds in every completion of the record."""
        return self.in_world(World.CERTAIN)

    @property
    def believed(self) -> Cohort:
        """The patients in whom it holds as the record is believed."""
        return self.in_world(World.BELIEVED)

    @property
    def possible(self) -> Cohort:
        """The patients in whom it holds in some completion of the record."""
        return self.in_world(World.POSSIBLE)

    @cached_property
    def _worlds(self) -> dict[World, Cohort]:
        return {}

    def __and__(self, other: Cohort) -> Cohort:
        if not isinstance(other, Cohort):
            return NotImplemented
        left, right, definitions = self._joined(other)
        return self._with(nodes.And((*_parts(left, nodes.And), *_parts(right, nodes.And))), definitions, other)

    def __or__(self, other: Cohort) -> Cohort:
        if not isinstance(other, Cohort):
            return NotImplemented
        left, right, definitions = self._joined(other)
        return self._with(nodes.Or((*_parts(left, nodes.Or), *_parts(right, nodes.Or))), definitions, other)

    def __sub__(self, other: Cohort) -> Cohort:
        if not isinstance(other, Cohort):
            return NotImplemented
        left, right, definitions = self._joined(other)
        return self._with(nodes.Except(left, right), definitions, other)

    def _with(self, body: nodes.PatientExpression, definitions: tuple[nodes.Definition, ...], other: Cohort) -> Cohort:
        """Another believed cohort of this knowledge base, which may take as long; of two different days that were now
        in the two, it tells neither."""
        told = {one.query.as_of for one in (self, other)} - {None}
        as_of = told.pop() if len(told) == 1 else None
        return Cohort(self._kb, nodes.Query(body, definitions, as_of), allowed=self._allowed)

    def _joined(
        self, other: Cohort
    ) -> tuple[nodes.PatientExpression, nodes.PatientExpression, tuple[nodes.Definition, ...]]:
        """Both criteria under one set of definitions. UsageError unless both are believed and of one kb."""
        require_same(self._kb, other)
        if World.BELIEVED not in (self.world, other.world) or self.world is not other.world:
            raise UsageError(
                "only believed cohorts can be joined. Hint: join them first, then take .certain or .possible"
            )
        known = {definition.name: definition for definition in self.query.definitions}
        renamed: dict[str, str] = {}
        added = []
        for definition in other.query.definitions:
            body = _renamed(definition.body, renamed)
            if known.get(definition.name) == replace(definition, body=body):
                continue
            name, number = definition.name, 2
            while name in known:
                name, number = f"{definition.name} {number}", number + 1
            if name != definition.name:
                renamed[definition.name] = name
            known[name] = nodes.Definition(name, body)
            added.append(known[name])
        return self.query.body, _renamed(other.query.body, renamed), (*self.query.definitions, *added)

    # --- what it is -------------------------------------------------------------------------------------------------

    @cached_property
    def resolved(self) -> str:
        """The query as it was understood, with preferred names; it can be asked again."""
        return render(self.query)

    @property
    def as_of(self) -> str | None:
        """The day that *now* is in the query (``2021-03-04``); None where it names none."""
        return None if self.query.as_of is None else datetime.date.fromordinal(self.query.as_of).isoformat()

    @property
    def text(self) -> str:
        """What was asked."""
        return self._text or self.resolved

    def to_dict(self) -> dict[str, Any]:
        """query, resolved, count, certain, possible (numbers) and patients (sorted ids); as_of, where the query names
        now."""
        return {
            "query": self.text,
            "resolved": self.resolved,
            **({} if self.as_of is None else {"as_of": self.as_of}),
            "count": len(self),
            "certain": len(self.certain),
            "possible": len(self.possible),
            "patients": list(self),
        }

    def certainty(self, patient_id: str) -> str:
        """The strongest world whose answer has a patient of this cohort: certain, believed or possible. UnknownPatient
        if there is no such patient."""
        expect_patient(patient_id)
        number = self._kb.number(patient_id)
        for world in (World.CERTAIN, World.BELIEVED):
            if number in self.in_world(world).numbers:
                return world.name.lower()
        return World.POSSIBLE.name.lower()

    def to_arrow(self) -> pa.Table:
        """Columns patient_id and certainty (the strongest world that holds the patient), sorted by patient."""
        import pyarrow as pa

        certain, believed = self.certain.numbers, self.believed.numbers
        certainty = [
            "certain" if number in certain else "believed" if number in believed else "possible"
            for number in self.numbers
        ]
        return pa.table(
            {"patient_id": pa.array(list(self), pa.string()), "certainty": pa.array(certainty, pa.string())}
        )

    def evidence(self, patients: Iterable[str] | None = None) -> pa.Table:
        """What each patient's membership rests on, a row for each quoted evidence of each criterion, sorted by patient.

        ``patients``: only these (UnknownPatient for one that is none). Columns: patient_id, certainty; criterion (its
        text), criterion_certainty, counts (whether the fact makes the criterion hold, or only stands beside); kind,
        name, earliest, latest (ISO, empty when unknown), attributes, context, world of the fact; doc_id, note_date,
        start, end (character offsets into the note), quote, sentence, rule. Reads the record of each patient.
        """
        from .answers.evidence_rows import evidence_table

        if patients is not None:
            expect_patients(patients)
        return evidence_table(self.explain(patient) for patient in (self if patients is None else patients))

    def explain(self, patient_id: str) -> Explanation:
        """For each criterion its truth and its evidence. UnknownPatient if the knowledge base has no such patient."""
        expect_patient(patient_id)
        # Imported when asked for: a count needs neither evidence nor the reference engine.
        from .answers.explain import explained

        with self.evaluating():
            journey = self._kb.journey(patient_id, relations=False)
            return explained(self.query, journey, self._kb.concepts, self._kb.scales, self.resolved)

    def findings(self) -> tuple[Finding, ...]:
        """What the linter finds doubtful in the query, the gravest first; then, who has what is denied of them."""
        from ..query_lang.lint.atoms import Atoms
        from ..query_lang.lint.linter import lint_resolved
        from .answers.beside_denials import beside_denials

        with self.evaluating():
            atoms = Atoms(self._kb.concepts, self._kb.scales)
            found = lint_resolved(self.query, self._text, atoms, self._kb, *self._given)
            return (*found, *beside_denials(self.query, self._kb, self.world, self.numbers))

    def prove(self, patient_id: str) -> dict[str, Any]:
        """The proof that the patient is in this cohort, in its world, as JSON-able data: docs/reference/proofs.md.

        UnknownPatient if there is no such patient, UsageError if it is no member, NoProof (a defect) if none is found.
        """
        expect_patient(patient_id)
        from .proofs.prover import proof_of

        number = self._kb.number(patient_id)
        if number not in self.numbers:
            raise UsageError(
                f"{patient_id!r} is not in this cohort ({self.world.name.lower()}), so there is nothing to prove. "
                "Hint: explain() tells what each criterion finds"
            )
        with self.evaluating():
            return proof_of(
                self.query,
                self._kb.journey(patient_id, relations=False),
                self._kb.concepts,
                self._kb.scales,
                self.world,
                resolved=self.resolved,
                generation=self._kb.generation,
            )

    def why_not(self, patient_id: str) -> WhyNot:
        """The criteria that keep a patient out, the nearest evidence, and the cheapest edit of the query that admits
        them.

        UnknownPatient if the knowledge base has no such patient, UsageError unless the cohort is the believed one.
        """
        expect_patient(patient_id)
        from .answers.query_text import QueryText
        from .answers.typed_text import typed_places
        from .why_not.answer import in_typed_text, why_not

        if self.world is not World.BELIEVED:
            raise UsageError("why_not is about the believed answer. Hint: cohort.believed.why_not(…)")
        with self.evaluating():
            found = why_not(self.query, self._kb, patient_id, self.numbers)
            places = typed_places(self.query, QueryText(self.query), self._text, *self._given)
            return in_typed_text(found, self.text, places)

    def funnel(self) -> Funnel:
        """How many patients remain after each criterion, whom it removes, and whom dropping it alone would regain."""
        from .answers.funnel import funnel

        with self.evaluating():
            return funnel(self.query, self._kb)

    def read_as(self) -> tuple[ReadAs, ...]:
        """Clinical terms in what was asked, with what they are read as, and names that are read as a concept whose
        preferred name says less, more or something else."""
        if not self._text:
            return ()
        if not self._names_read:
            from ..query_lang.lint.places import sites_of
            from .answers.read_as import names_read_as

            sites = sites_of(self.query, self._text, *self._given)
            self._names_read.append(names_read_as(sites, self._kb.concepts, self._kb.scales))
        return self._names_read[0]

    def why_empty(self) -> Empty | None:
        """Which criterion nobody meets, and what is recorded near it (other kinds of fact, other values, wider
        concepts); None for a cohort with patients. A few queries are asked for it, once."""
        return self._why_empty

    @cached_property
    def _why_empty(self) -> Empty | None:
        if self.numbers:
            return None
        from .answers.empty import why_empty

        try:
            return why_empty(self.query, self._kb, self.world)
        except QueryTreeError as error:
            raise QueryError(str(error)) from error

    def report(self, limit: int | None = 50) -> Report:
        """Everything that supports this answer, as a page (``.as_html()``) or in a notebook: query, read-back, counts,
        funnel, the first ``limit`` members (None: all) with their evidence and a picture of their record, signature.

        UsageError for a number below 0. Reads the record of each member that is shown.
        """
        from .report.page import Answered, report_on

        expect("limit", limit, (int, type(None)), "the number of members to show in full, or None for all")
        numbers = {world: self.in_world(world).numbers for world in (World.CERTAIN, World.BELIEVED, World.POSSIBLE)}
        with self.evaluating():
            return report_on(
                Answered(
                    self._kb,
                    self.query,
                    self.text,
                    self.resolved,
                    self.world,
                    numbers,
                    self.findings(),
                    tuple(one.as_text() for one in self.read_as()),
                ),
                limit,
            )

    def rank(self, top: int | None = 20) -> tuple[RankedPatient, ...]:
        """The first ``top`` patients (None: all): the certain first, then by the weakest evidence that they need.

        UsageError for a number below 0. Reads the record of each patient who can be among the first.
        """
        from .answers.rank import ranked

        expect("top", top, (int, type(None)), "the number of patients to list, or None for all")
        if top is not None and top < 0:
            raise UsageError("rank: 'top' is the number of patients to list, 0 or more")
        with self.evaluating():
            return ranked(self.query, self._kb, self._by_certainty(), top)

    def by_strength(self) -> Iterator[tuple[World, str, float]]:
        """All patients in the order of :meth:`rank`, each with their world and strength alone: half its cost."""
        from .answers.rank import by_strength

        with self.evaluating():
            # All of it: a clock that ran while the caller looks at one of them would run out of nobody's fault.
            found = list(by_strength(self.query, self._kb, self._by_certainty(), None))
        return ((world, patient, strength.value) for world, patient, strength in found)

    def _by_certainty(self) -> dict[World, BitMap]:
        """Each of the patients under the strongest world that has them."""
        rest, by_world = self.numbers, {}
        for world, cohort in ((World.CERTAIN, self.certain), (World.BELIEVED, self.believed)):
            by_world[world] = rest & cohort.numbers
            rest = rest - cohort.numbers
        return {**by_world, World.POSSIBLE: rest}

    def parts(self) -> list[tuple[Cohort, int]]:
        """The sub-expressions, each as a cohort of its own with its depth from 0, in the order of the text; the first
        hundred. What stands inside a scope is asked of the whole patient here."""
        found: list[tuple[Cohort, int]] = []
        waiting = [(part, 0) for part in reversed(children(self.query.body))]
        while waiting and len(found) < MOST_PARTS:
            node, depth = waiting.pop()
            query = nodes.Query(node, self.query.definitions)
            found.append((Cohort(self._kb, query, "", self.world, allowed=self._allowed), depth))
            waiting.extend((part, depth + 1) for part in reversed(children(node)))
        return found

    def counts_by_part(self) -> list[PartCount]:
        """The counts of :meth:`parts` in the three worlds."""
        return [
            PartCount(part.resolved, depth, len(part.believed), len(part.certain), len(part.possible))
            for part, depth in self.parts()
        ]


def require_same(kb: KnowledgeBase, cohort: Cohort) -> None:
    """UsageError unless the cohort is of this knowledge base, in this state."""
    if cohort._kb is not kb and cohort._kb.generation != kb.generation:
        raise UsageError(
            "these cohorts come from different knowledge bases, or from different states of one. "
            "Hint: find both in the same open knowledge base"
        )


def named_cohorts(kb: KnowledgeBase, cohorts: Mapping[str, Cohort]) -> tuple[nodes.Definition, ...]:
    """Each cohort's query as a definition of that name, after the definitions that it uses, which bear its name too.

    UsageError for a cohort of another knowledge base. A cohort of one world counts as its query, in every world.
    """
    found: list[nodes.Definition] = []
    for name, cohort in cohorts.items():
        require_same(kb, cohort)
        renamed: dict[str, str] = {}
        for definition in cohort.query.definitions:
            body = _renamed(definition.body, renamed)
            renamed[definition.name] = f"{name}: {definition.name}"
            found.append(nodes.Definition(renamed[definition.name], body))
        found.append(nodes.Definition(name, _renamed(cohort.query.body, renamed)))
    return tuple(found)


def _parts(node: nodes.PatientExpression, kind: type[nodes.And | nodes.Or]) -> Sequence[nodes.PatientExpression]:
    """Side by side rather than nested, so that many cohorts can be joined one by one."""
    return node.parts if isinstance(node, kind) else (node,)


def _renamed(node: nodes.PatientExpression, names: dict[str, str]) -> nodes.PatientExpression:
    """The tree with definitions called by their new names."""
    if not names:
        return node
    if isinstance(node, nodes.Defined):
        return nodes.Defined(names.get(node.name, node.name))
    return map_children(node, lambda part: _renamed(part, names))


def _shortened(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
