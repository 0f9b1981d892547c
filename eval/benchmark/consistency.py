"""Consistency of a system's answers with each other: the three checks of the paper, over answers to questions.

Source: the Automatic Cohort Retrieval paper, sections 3.2.1 and 4.4 (tables 2 to 4). The system is asked through its
own interface; nothing is known of how it answers, and no labels are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..baselines.systems.contract import Answer, Outcome
from .agreement import Expected, expected_agreement
from .grades import MISSING, failed_on, retrieved

CHECKS: Final = ("paraphrase", "intersection", "subtype")


@dataclass(frozen=True, slots=True)
class Compared:
    """The answers to two questions held together.

    ``only_first`` of a subset check are the patients who violate it; ``only_second`` then mean nothing and are empty.
    ``unanswered``: how the questions ended that were not answered; the pair is then neither consistent nor violated.
    ``left_out``: patients on whom one of the answers failed.
    """

    expected: Expected
    first_size: int = 0
    second_size: int = 0
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()
    left_out: int = 0
    unanswered: tuple[str, ...] = ()

    @property
    def checked(self) -> bool:
        """Whether both questions were answered."""
        return not self.unanswered

    @property
    def violated(self) -> bool:
        """Whether the answers contradict each other."""
        return bool(self.only_first or self.only_second)

    @property
    def empty(self) -> bool:
        """Whether the check holds of nobody, which shows little: of a subset, nobody in the smaller set."""
        both = self.expected.check == "paraphrase"
        return self.checked and not self.first_size and not (both and self.second_size)

    def as_dict(self) -> dict[str, Any]:
        """As JSON. ``only_first_share``: |A - B| / |A|; None where A is empty."""
        return {
            "check": self.expected.check,
            "kind": self.expected.kind,
            "first": self.expected.first,
            "second": self.expected.second,
            "table": self.expected.table or None,
            "status": _status(self),
            "first_size": self.first_size,
            "second_size": self.second_size,
            "only_first": len(self.only_first),
            "only_second": len(self.only_second),
            "only_first_share": _share(len(self.only_first), self.first_size),
            "only_second_share": _share(len(self.only_second), self.second_size),
            "patients_only_first": list(self.only_first),
            "patients_only_second": list(self.only_second),
            "left_out": self.left_out,
        }


@dataclass(frozen=True, slots=True)
class Consistency:
    """All comparisons of a system."""

    compared: tuple[Compared, ...]

    def pairs(self, check: str) -> tuple[Compared, ...]:
        """Those of one of :data:`CHECKS`."""
        return tuple(one for one in self.compared if one.expected.check == check)

    def as_dict(self) -> dict[str, Any]:
        """As JSON: of each check how many pairs ended how, the shares, and each pair."""
        return {
            check: {**summary(pairs), "pairs": [one.as_dict() for one in pairs]}
            for check, pairs in ((check, self.pairs(check)) for check in CHECKS)
        }


def consistency(answers: Mapping[str, Answer], pairs: Sequence[Expected] | None = None) -> Consistency:
    """Compares the answers (id of the question to answer) of each pair that must agree, by default all shipped ones.

    A pair is checked when both questions were answered; patients on whom one of the answers failed are left out of it.
    """
    return Consistency(tuple(_compared(one, answers) for one in (expected_agreement() if pairs is None else pairs)))


def summary(compared: Sequence[Compared]) -> dict[str, Any]:
    """Counts of pairs and shares over them.

    ``expected`` = ``checked`` + ``abstained`` + ``failed`` + ``missing``; ``checked`` = ``consistent`` + ``violated``.
    ``violated_share`` is of the checked pairs, ``patients_share`` the patients that contradict of all that were named.
    """
    checked = [one for one in compared if one.checked]
    wrong = [one for one in checked if one.violated]
    how = [_status(one) for one in compared]
    named = sum(one.first_size + _second(one) for one in checked)
    contradicting = sum(len(one.only_first) + len(one.only_second) for one in checked)
    return {
        "expected": len(compared),
        "checked": len(checked),
        "consistent": len(checked) - len(wrong),
        "of_empty_sets": sum(one.empty for one in checked),
        "violated": len(wrong),
        "abstained": how.count(Outcome.ABSTAINED.value),
        "failed": how.count(Outcome.FAILED.value),
        "missing": how.count(MISSING),
        "violated_share": _share(len(wrong), len(checked)),
        "patients_contradicting": contradicting,
        "patients_share": _share(contradicting, named),
    }


def _compared(expected: Expected, answers: Mapping[str, Answer]) -> Compared:
    held = [answers.get(id_) for id_ in (expected.first, expected.second)]
    answered = [one for one in held if one is not None and one.outcome == Outcome.ANSWERED]
    if len(answered) < len(held):
        ended = (MISSING if one is None else one.outcome.value for one in held)
        return Compared(expected, unanswered=tuple(one for one in ended if one != Outcome.ANSWERED))
    first, second = answered
    failed = failed_on(first) | failed_on(second)
    ours, theirs = retrieved(first) - failed, retrieved(second) - failed
    return Compared(
        expected,
        len(ours),
        len(theirs),
        tuple(sorted(ours - theirs)),
        tuple(sorted(theirs - ours)) if expected.check == "paraphrase" else (),
        len(failed),
    )


def _status(one: Compared) -> str:
    """*consistent*, *violated*, or the worst way in which one of the two questions ended without an answer."""
    for how in (MISSING, Outcome.FAILED.value, Outcome.ABSTAINED.value):
        if how in one.unanswered:
            return how
    return "violated" if one.violated else "consistent"


def _second(one: Compared) -> int:
    return one.second_size if one.expected.check == "paraphrase" else 0


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
