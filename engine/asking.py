"""A question in plain English with its answer: the cohort if it is clear, else its readings and who is in which."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from ..kb.deadline import Allowance
from ..kb.errors import UsageError
from ..kb.skin.notebook import small_table
from ..kb.skin.terminal import counted, print_csv, print_lines, print_table, print_text
from ..kb.storage.reader import KnowledgeBase
from ..query_lang.english.translate import House, Reading, Translation, translate
from .answers.read_as import ReadAs, question_read_as
from .cohort import UNHURRIED, Cohort
from .tables import WorldName, cohort_payload, csv_rows, print_cohort

#: Who may translate a question: the rules of the program, or they and a chat model (docs/guide/llm.md).
TRANSLATORS: Final = ("rules", "llm")
#: Patients that are shown for each of two readings, who are in one and not in the other.
TELLING: Final = 3


def translated(kb: KnowledgeBase, question: str, translator: str, house: House | None = None) -> Translation:
    """What ``translator`` makes of a question, with what a house has settled. UsageError if there is none, or no
    model is set up."""
    if translator not in TRANSLATORS:
        raise UsageError(
            f"there is no translator '{translator}'. Hint: the translators are {' and '.join(TRANSLATORS)}"
        )
    rules = translate(question, kb.concepts, kb.scales, house or House(), kb.now)
    if translator == "rules":
        return rules
    # Imported when asked for: nothing that could reach a network is loaded otherwise.
    from .answers.model_asking import ask_model

    return ask_model(kb, question, rules)


@dataclass(frozen=True, slots=True)
class Difference:
    """Patients in the cohort of one reading (by its position) and in none of the others'."""

    reading: int
    patients: tuple[str, ...]
    count: int


class Answer:
    """What was understood of a question, and the patients of it: none when it was declined or has several readings."""

    def __init__(self, kb: KnowledgeBase, translation: Translation, allowed: Allowance = UNHURRIED) -> None:
        """Use ``kb.ask(question)``. Each evaluation may take what is ``allowed``."""
        self._allowed = allowed
        self._kb = kb
        self.translation = translation

    def __repr__(self) -> str:
        if self.cohort is not None:
            return f"<Answer: {counted(len(self.cohort), 'patient')}: {self.cohort.text}>"
        readings = len(self.translation.readings)
        return (
            f"<Answer: {counted(readings, 'reading')}>"
            if readings
            else f"<Answer: declined: {self.translation.reason}>"
        )

    def _repr_html_(self) -> str:
        """What was understood with the patients, or why there are none, for a notebook."""
        translation = self.translation
        if self.cohort is not None:
            said = [small_table(part, (), ()) for part in translation.understood.split("\n\n")]
            return "".join([*said, self.cohort._repr_html_()])
        rows = [(reading.says, reading.text) for reading in translation.readings]
        return small_table(f"not answered: {translation.reason}", ("it may mean", "query"), rows)

    def __len__(self) -> int:
        return 0 if self.cohort is None else len(self.cohort)

    def __iter__(self) -> Iterator[str]:
        return iter(()) if self.cohort is None else iter(self.cohort)

    def read_so(self, translation: Translation) -> Answer:
        """The answer to the same question, read as ``translation``."""
        return Answer(self._kb, translation, self._allowed)

    @property
    def abstained(self) -> bool:
        """Whether there is no single query."""
        return self.translation.abstained

    @cached_property
    def cohort(self) -> Cohort | None:
        """The cohort of the question; None when it was declined or can be read in several ways."""
        query = self.translation.query
        return None if query is None else Cohort(self._kb, query, self.translation.text, allowed=self._allowed)

    @cached_property
    def read_as(self) -> tuple[ReadAs, ...]:
        """Names in the question that were read as a concept whose preferred name says less, more or something else."""
        query = self.translation.query
        return () if query is None else question_read_as(self.translation.question, query, self._kb.concepts)

    @cached_property
    def cohorts(self) -> tuple[Cohort, ...]:
        """The cohort of each reading."""
        return tuple(self._cohort(reading) for reading in self.translation.readings)

    def _cohort(self, reading: Reading) -> Cohort:
        return Cohort(self._kb, reading.query, reading.text, allowed=self._allowed)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Of several readings: for each, a few patients who are in its cohort alone."""
        if len(self.cohorts) < 2:
            return ()
        found = []
        for at, cohort in enumerate(self.cohorts):
            numbers = cohort.numbers.copy()
            for other in self.cohorts[:at] + self.cohorts[at + 1 :]:
                numbers -= other.numbers
            patients = tuple(self._kb.patients[number] for number in list(numbers[:TELLING]))
            found.append(Difference(at, patients, len(numbers)))
        return tuple(found)

    def to_dict(self, world: WorldName = WorldName.BELIEVED, limit: int | None = None) -> dict[str, Any]:
        """The object of a query, then what was understood and what was not; see docs/guide/english.md."""
        if self.cohort is not None:
            payload = cohort_payload(self.cohort, world, limit)
            if self.read_as:
                payload["read_as"] = [one.as_dict() for one in self.read_as]
        else:
            payload = {
                "query": "", "resolved": "", "world": world.value, "count": 0, "believed": 0, "certain": 0,
                "possible": 0, "patients": [],
            }  # fmt: skip
        payload = {"question": self.translation.question, **payload, **self.translation.to_dict()}
        for one in self.differences:
            payload["readings"][one.reading] |= {"only": list(one.patients), "only_count": one.count}
        return payload


def print_answer(answer: Answer, payload: dict[str, Any], limit: int | None) -> None:
    """What was understood, then the patients; or the readings; or why the question was declined, and what to say."""
    translation = answer.translation
    print_lines(one.as_text() for one in answer.read_as)
    payload = {name: value for name, value in payload.items() if name != "read_as"}
    if translation.understood:
        print_text(f"{translation.understood}\n")
    if translation.note:
        print(f"note: {translation.note}")
    if answer.cohort is not None:
        print_cohort(answer.cohort, payload, limit)
        return
    if not translation.readings:
        print(f"not answered: {translation.reason}")
        if translation.unread:
            print(f"words that were not used: {', '.join(translation.unread)}")
        return
    print(f"not answered, since {translation.reason}; ask the one you mean:")
    for number, (reading, difference) in enumerate(zip(translation.readings, answer.differences, strict=True), 1):
        print()
        print_text(f"{number}. {reading.says}")
        print_text(f"   query: {reading.text}")
        if difference.patients:
            more = f" of {difference.count}" if difference.count > len(difference.patients) else ""
            print_table((f"only in reading {number}{more}",), [(patient,) for patient in difference.patients])


def tell_readings(answer: Answer) -> None:
    """The readings with patients that tell them apart, on standard error: the answer itself is still to come."""
    for number, (reading, difference) in enumerate(
        zip(answer.translation.readings, answer.differences, strict=True), 1
    ):
        only = f" (only in this one: {', '.join(difference.patients)})" if difference.patients else ""
        print(f"{number}. {reading.says}{only}", file=sys.stderr)


def chosen(answer: Answer, number: str) -> Answer:
    """The answer to the reading of this number, from 1. UsageError for any other text."""
    readings = answer.translation.readings
    if not number.isdigit() or not 1 <= int(number) <= len(readings):
        raise UsageError(f"'{number[:20]}' is no reading. Hint: a number from 1 to {len(readings)}")
    reading = readings[int(number) - 1]
    return answer.read_so(replace(answer.translation, readings=(reading,), reason="", confidence=1.0))


def print_rows_of(answer: Answer, payload: dict[str, Any]) -> None:
    """The patients as csv; what was understood, or why there are none, on standard error: it is no row."""
    translation = answer.translation
    told = [*translation.understood.split("\n"), f"note: {translation.note}" if translation.note else ""]
    if answer.cohort is None:
        told.append(f"not answered: {translation.reason}. Hint: --format table tells what to say instead")
    for line in filter(None, told):
        print(line, file=sys.stderr)
    if answer.cohort is None:
        print_csv(("patient_id", "certainty"), ())
    else:
        print_csv(*csv_rows(answer.cohort, payload))
