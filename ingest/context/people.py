"""People beside the patient: who is the subject of what is said, and where a sentence tells of people at large.

The words are data (``cues/context.toml``, ``cues/statements.toml``).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

from ...kb.kinds import ILLNESSES
from ..text.phrases import PhraseMatch
from ..text.statements import goes_on_with, needs, statement

#: Cues of people who are most often named because they come along: they must be the subject of what is said.
_ONLY_SUBJECTS: Final = frozenset({"subject_of_kin", "subject_of_other"})
#: The cues of people who may be named because they come along, help, or tell of the patient.
NAMED_BESIDE: Final = _ONLY_SUBJECTS | {"descendant", "spouse", "kin_by_marriage", "other_person"}
#: Cues of what others have, or may have; they leave the patient what is called the patient's own.
_OF_OTHERS: Final = frozenset({"someone_else", "read_about"})
#: Statements about people at large.
_STATEMENTS: Final = ("people_at_large", "carriers_at_large")
#: The stretch of a sentence that tells of nobody else.
NOBODY: Final = (0, 0)
#: One of these folded words stands in each sentence of people or tumors at large.
AT_LARGE: Final = frozenset[str]().union(*map(needs, (*_STATEMENTS, "general_opening")))
#: So far before somebody may the words of coming along begin (characters).
_REACH_OF_COMPANY = 60
#: And so far before what is said the word that calls it the patient's own.
_REACH_OF_POSSESSION = 40


def is_subject(text: str, person: PhraseMatch[Any], sentence: tuple[int, int], cue: str) -> bool:
    """Whether what follows the words for a person is said of that person, rather than of the patient.

    ``cue``: the name of the person's cue, one of :data:`NAMED_BESIDE`.
    """
    before = max(sentence[0], person.start - _REACH_OF_COMPANY)
    if cue in _ONLY_SUBJECTS and statement("own_occupation").search(text, before, person.start):
        return False
    if statement("has_it").match(text, person.end, sentence[1]):
        return True
    if cue in _ONLY_SUBJECTS or statement("tells_of_patient").match(text, person.end, sentence[1]):
        return False
    return not statement("keeps_company").search(text, before, person.start)


def comes_along(text: str, person: PhraseMatch[Any], target: int, sentence: int) -> bool:
    """``here with her husband for breast cancer``: who comes along does not have what the patient comes for.

    ``target``: where what is said begins; ``sentence``: where the sentence does.
    """
    return bool(
        person.end <= target
        and statement("companion_before").search(text, max(sentence, person.start - _REACH_OF_COMPANY), person.start)
        and statement("companion_behind").match(text, person.end, target)
        and not statement("companion_has").search(text, person.end, target)
    )


def is_called_own(cue: str, kind: str, text: str, target: int, sentence: int) -> bool:
    """``read about olaparib for her ovarian cancer``: the word right before it gives it back to the patient.

    ``cue``: the name of the cue before it; ``kind``: that of what is said, which begins at ``target``.
    """
    if cue not in _OF_OTHERS or kind not in ILLNESSES:
        return False
    return bool(statement("possessed").search(text, max(sentence, target - _REACH_OF_POSSESSION), target))


def people_at_large(text: str, norms: Sequence[str], sentence: tuple[int, int]) -> tuple[int, int]:
    """The stretch of a sentence that tells of people at large, up to where it comes back to the patient; else empty.

    ``norms``: its folded words.
    """
    said = text[sentence[0] : sentence[1]]
    for name in _STATEMENTS:
        if not _may_hold(name, norms):
            continue
        found = statement(name).search(said)
        if found is None or statement("people_like_patient").search(said, found.start()):
            continue
        back = statement("back_to_patient").search(said, found.end())
        return sentence[0] + found.start(), sentence[0] + (back.start() if back else len(said))
    return NOBODY


def opens_at_large(text: str, norms: Sequence[str], sentence: tuple[int, int]) -> bool:
    """Whether a sentence opens as one about people or tumors at large."""
    return not needs("general_opening").isdisjoint(norms[:2]) and bool(
        statement("general_opening").match(text, *sentence)
    )


def _may_hold(name: str, norms: Sequence[str]) -> bool:
    words, behind = needs(name), goes_on_with(name)
    return any(norm in words and following in behind for norm, following in itertools.pairwise(norms))
