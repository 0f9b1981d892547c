"""The answer of a model about one patient: yes or no with its quotes, a refusal, or nonsense; quotes are looked up."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from ....kb.endpoint.chat import ChatReply
from ....kb.endpoint.objects import objects_with
from ....kb.errors import UsageError
from ..systems.contract import Quote
from .passages import Passage

_MOST_EVIDENCE: Final = 50
#: Letters and digits that a quote must have: a full stop stands in every passage, and shows nothing.
_SHORTEST_QUOTE: Final = 3
_SIGN: Final = re.compile(r"[^\W_]")
_WORD_SIGN: Final = re.compile(r"\w")


class Verdict(enum.StrEnum):
    """How an answer ended."""

    YES = "yes"
    NO = "no"
    REFUSAL = "refusal"
    NONSENSE = "nonsense"


@dataclass(frozen=True, slots=True)
class Cited:
    """A quote that an answer gives, and the number of the passage that it is said to stand in (from 1)."""

    passage: int
    quote: str


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer, read: for a refusal and for nonsense ``reason`` says why, without any word of the answer."""

    verdict: Verdict
    evidence: tuple[Cited, ...] = ()
    reason: str = ""

    def as_text(self) -> str:
        """As a file of answers holds it: the verdict and its quotes, no other word of the model."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> Reading:
        """What :meth:`as_text` wrote. UsageError for any other text."""
        try:
            held = json.loads(text)
            return cls(Verdict(held["verdict"]), tuple(Cited(**one) for one in held["evidence"]), held["reason"])
        except (ValueError, KeyError, TypeError):
            raise UsageError("the kept answers are not those of a reader. Hint: name another file") from None


def read_answer(reply: ChatReply) -> Reading:
    """The one JSON object that was asked for, or what is wrong with it; nothing else of the answer is used."""
    if reply.declined:
        return Reading(Verdict.REFUSAL, reason="the model declined to answer")
    if reply.cut_off:
        # What stands before the cut may be a draft, and the verdict behind it.
        return _nonsense("the answer was cut off")
    found = objects_with(reply.text, "eligible")
    if len(found) != 1:
        return _nonsense(
            "the answer holds several verdicts" if found else "the answer is no JSON object with a verdict"
        )
    (held,) = found
    eligible = held["eligible"]
    if not isinstance(eligible, str) or eligible.strip().casefold() not in ("yes", "no"):
        return _nonsense("the verdict is neither yes nor no")
    if eligible.strip().casefold() == "no":
        return Reading(Verdict.NO)
    evidence = _evidence(held.get("evidence"))
    if evidence is None:
        return _nonsense("the evidence is no list of passages and quotes")
    if not evidence:
        return _nonsense("a yes without a quote")
    return Reading(Verdict.YES, evidence)


def _evidence(held: object) -> tuple[Cited, ...] | None:
    if held is None:
        return ()
    if not isinstance(held, list) or len(held) > _MOST_EVIDENCE:
        return None
    cited = [_cited(one) for one in held]
    return None if None in cited else tuple(one for one in cited if one is not None)


def _cited(one: Any) -> Cited | None:
    if not isinstance(one, dict):
        return None
    passage, quote = one.get("passage"), one.get("quote")
    if isinstance(passage, bool) or not isinstance(passage, int) or not isinstance(quote, str):
        return None
    return Cited(passage, quote)


def _nonsense(reason: str) -> Reading:
    return Reading(Verdict.NONSENSE, reason=reason)


# --- quotes ---------------------------------------------------------------------------------------------------------


def places(evidence: Sequence[Cited], passages: Sequence[Passage]) -> tuple[Quote, ...]:
    """Where in the notes the quotes stand, each once; a quote that does not stand in its passage word for word, blanks
    aside, has no place."""
    found: dict[Quote, None] = {}
    for one in evidence:
        if 1 <= one.passage <= len(passages):
            passage = passages[one.passage - 1]
            span = _span(one.quote, passage.text)
            if span is not None:
                begin = passage.quote.start
                found[Quote(passage.quote.doc_id, begin + span[0], begin + span[1])] = None
    return tuple(found)


def _span(quote: str, text: str) -> tuple[int, int] | None:
    """The first place of ``quote`` in ``text``, letter by letter, as whole words; runs of blanks are equal."""
    words = quote.split()
    if len(quote) > 2 * len(text) + 100 or len(_SIGN.findall(quote)) < _SHORTEST_QUOTE:
        return None
    pattern = r"\s+".join(map(re.escape, words))
    if _WORD_SIGN.match(words[0][0]):
        pattern = r"(?<!\w)" + pattern
    if _WORD_SIGN.match(words[-1][-1]):
        pattern += r"(?!\w)"
    match = re.compile(pattern).search(text)
    return None if match is None else match.span()
