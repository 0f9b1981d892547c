"""The answers of a run on disk: a line each, written at once, so that a run that was stopped goes on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from ...kb.errors import UsageError
from ...kb.files.whole_files import open_privately
from ..baselines.systems.contract import Answer, Failure, Outcome, Question, Quote, Ranked, Spent

_FOLDER: Final = "answers"


class AnswerStore:
    """The answers of one system: ``answers/NAME.jsonl`` in the folder of a run, readable by its owner alone.

    The first line is the signature of the system. Answers of a system with another signature are not mixed in:
    UsageError. A last line that was cut off is dropped; so is the answer to a question that has other words now.
    """

    def __init__(self, folder: Path, name: str, signature: Mapping[str, Any]) -> None:
        if not name or not all(letter.isalnum() or letter in "+-._" for letter in name) or name.startswith("."):
            raise UsageError(f"'{name}' cannot name a system. Hint: use letters, digits, '-', '+', '.' and '_'")
        self._path = folder / _FOLDER / f"{name}.jsonl"
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        head = json.dumps({"signature": signature}, sort_keys=True)
        kept = _whole_lines(self._path)
        if kept and json.loads(kept[0]) != json.loads(head):
            raise UsageError(
                f"the answers of '{name}' in {folder} were made by another system or of other notes. "
                "Hint: name another folder with --out, or delete that one"
            )
        self._answers: dict[str, Answer] = {}
        for line in kept[1:]:
            held = json.loads(line)
            self._answers[held["asked"]] = answer_from(held)
        self._rewrite([head, *kept[1:]])

    def __getitem__(self, question: Question) -> Answer:
        return self._answers[asked(question)]

    def __contains__(self, question: Question) -> bool:
        return asked(question) in self._answers

    def add(self, question: Question, answer: Answer) -> None:
        """Keep an answer, on disk before this returns; of several to one question the last holds.

        It is held as it is kept: a run that never stopped reports what one that was taken up again does.
        """
        kept = answer_as_dict(answer)
        self._answers[asked(question)] = answer_from(kept)
        with open_privately(self._path, append=True) as file:
            file.write(json.dumps({"asked": asked(question), **kept}) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def failed(self, question: Question) -> bool:
        """Whether the kept answer failed, or a patient in it did."""
        answer = self[question]
        return answer.outcome is Outcome.FAILED or bool(answer.failures)

    def _rewrite(self, lines: Sequence[str]) -> None:
        part = self._path.with_suffix(".part")
        with open_privately(part) as file:
            file.writelines(f"{line}\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._path)


def asked(question: Question) -> str:
    """What was asked, as a key: id, words and formal query."""
    return hashlib.sha256("\0".join((question.id, question.text, question.query)).encode()).hexdigest()[:20]


def answer_as_dict(answer: Answer) -> dict[str, Any]:
    """An answer as JSON; a patient of the ranking is ``[id, score, [[doc_id, start, end], …]]``, and those behind the
    cohort have no quotes any more."""
    return {
        "question": answer.question_id,
        "outcome": answer.outcome.value,
        "reason": answer.reason,
        "size": answer.size,
        "ranking": [
            [
                one.patient_id,
                one.score,
                [[quote.doc_id, quote.start, quote.end] for quote in one.quotes if place < answer.size],
            ]
            for place, one in enumerate(answer.ranking)
        ],
        "failures": [[one.patient_id, one.kind, one.reason] for one in answer.failures],
        "spent": asdict(answer.spent),
    }


def answer_from(held: Mapping[str, Any]) -> Answer:
    """The answer that :func:`answer_as_dict` wrote."""
    return Answer(
        held["question"],
        tuple(
            Ranked(patient, score, tuple(Quote(*quote) for quote in quotes))
            for patient, score, quotes in held["ranking"]
        ),
        held["size"],
        Outcome(held["outcome"]),
        held["reason"],
        tuple(Failure(*one) for one in held["failures"]),
        Spent(**held["spent"]),
    )


def _whole_lines(path: Path) -> list[str]:
    """The lines that end; what was being written when a run was killed does not."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return text.split("\n")[:-1]
