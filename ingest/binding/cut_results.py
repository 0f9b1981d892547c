"""Results that a full stop parts from their marker: scanned forms end each of their lines in one.

``ER Status. Positive.``, ``Progesterone receptor. 0 %.``, ``is interpreted as. NEGATIVE`` are a marker that tells no
result, and a result that no marker has, one right behind the other: they are read as one sentence. So is *HER2 protein
stained with HercepTest. Negative reaction in tumor cells*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ..text.frame import Frame, Span
from ..text.shape import Sentence
from ..text.word_classes import word_classes
from .findings import in_parallel

_CLASSES: Final = word_classes("binding", "cut_results")

#: All that may stand behind a marker whose result is cut off.
_BARE: Final = _CLASSES.compile(
    r"(?:[\s:(),/\-–]|\b(?:{behind_marker})(?![a-z])|(?<=\s)\d{1,4}(?=[\s.])){0,12}\.?\s*", re.IGNORECASE
)
_STAINED: Final = _CLASSES.compile(r"\b{stained_with}\b", re.IGNORECASE)
_REACTION: Final = _CLASSES.compile(r"\.?\s{1,2}{reaction}\b", re.IGNORECASE)
#: So far round its name may it be told how a protein was stained (characters).
_ROUND_MARKER: Final = 90
#: A sentence that tells the result of what was stained (*The reaction is positive*).
_TOLD: Final = _CLASSES.compile(
    r"(?:the\s)?(?:\w{4,12}\s)?{reaction}s?\s{0,2}(?:(?:is|was|were|shows?|showed)\b|:)?[\s:(]{0,3}", re.IGNORECASE
)
_IN_CELLS: Final = _CLASSES.compile(r"[\s(]{1,2}{in_cells}\b", re.IGNORECASE)
_OPENS: Final = re.compile(r"[\s(\-–:]*")
#: A result that ends there is one; *Positive margins* goes on.
_ENDS: Final = _CLASSES.compile(
    r"\s?(?:[.;,)(]|\d{1,3}\s?%|\d\+?(?=[\s.;,]|\Z)|{behind_result}\b|\Z|\n)", re.IGNORECASE
)
_BY_PROBE: Final = _CLASSES.compile(r"[\s(\-–]*(?:{by_probe})\b[^.;]{0,40}", re.IGNORECASE)
_OF_COPIES: Final = frozenset({"her2", "erbb2"})
_COPIES: Final = frozenset({"amplified", "not_amplified"})
_FIGURES: Final = frozenset({"percent", "plus", "score"})


def joined(frame: Frame, sentences: Iterable[tuple[Sentence, list[Span]]]) -> Iterator[tuple[Sentence, list[Span]]]:
    """The sentences with their spans; those that a full stop parts from the result of their marker, joined to it."""
    waiting: tuple[Sentence, list[Span]] | None = None
    for sentence, here in sentences:
        if waiting is not None:
            if here and _goes_on(frame.text, waiting, sentence, here):
                here = [*waiting[1], *here]
                sentence = Sentence(waiting[0].start, sentence.end, sentence.closed_by)
            elif sentence.end - sentence.start < 2:
                continue
            else:
                yield waiting
        waiting = None
        if _is_open(sentence, here):
            waiting = sentence, here
        else:
            yield sentence, here
    if waiting is not None:
        yield waiting


def _is_open(sentence: Sentence, here: list[Span]) -> bool:
    """Whether the result of a sentence's last marker may stand in the next one: it has none, or one more may follow."""
    last = next((one for one in reversed(here) if one.kind in ("gene", "biomarker")), None)
    if last is None or sentence.closed_by not in ("stop", "line", "semi"):
        return False
    return last.concept in _OF_COPIES or last is here[-1] and _is_stain(last) and sentence.closed_by != "semi"


def _is_stain(marker: Span) -> bool:
    """Whether a marker is one of a stain, or may be."""
    return marker.kind == "biomarker" or any(kind == "biomarker" for _, kind in marker.alternatives)


def _goes_on(text: str, waiting: tuple[Sentence, list[Span]], sentence: Sentence, here: list[Span]) -> bool:
    """Whether the sentence begins with the result of the marker that ends the one before it, or names it once more."""
    marker, first = waiting[1][-1], here[0]
    probe = _BY_PROBE.match(text, sentence.start, first.end)
    if probe is not None or marker.kind not in ("gene", "biomarker"):
        # "HER2 equivocal (2+). FISH: not amplified"
        found = first.concept in _COPIES or first.attributes.get("alteration") == "amplification"
        return probe is not None and found
    told = _TOLD.match(text, sentence.start, first.start)
    opens = told or _OPENS.match(text, sentence.start, first.start)
    if opens is None or opens.end() < first.start or "\n\n" in text[marker.end : first.start]:
        return False
    bare = _BARE.fullmatch(text, marker.end, sentence.start)
    if first.kind == "biomarker":
        # "estrogen receptors. (ER) are. positive", "HER2 protein stained with. HER-2/neu (4B5)": named once more.
        is_short_form = bare is not None and text[first.start - 1 : first.start] == "("
        return is_short_form or first.concept == marker.concept and len(here) == 1 and sentence.start - marker.end < 30
    if first.kind != "value" and not first.attributes.keys() & _FIGURES:
        return False
    if bare is None:
        low = max(waiting[0].start, marker.start - _ROUND_MARKER)
        is_near = sentence.start - marker.end <= _ROUND_MARKER
        is_result = told or _REACTION.match(text, first.end) or _IN_CELLS.match(text, first.end)
        return bool(is_near and is_result and _STAINED.search(text, low, sentence.start))
    end, results = first.end, {first.concept}
    for other in here[1:]:
        if other.kind in ("gene", "biomarker") or text[end : other.start].strip():
            break
        end = other.end
        results.add(other.concept)
    # "ER PR HER2. Positive Negative Negative": results of several markers are as many as those.
    is_table = len(results - {""}) > 1 and len(waiting[1]) > 1
    is_whole = not is_table or bool(in_parallel(text, waiting[1]))
    return is_whole and _ENDS.match(text, end, sentence.end + 1) is not None
