"""What the model sees of a mention in its sentence: the words, cues and stops around it, as named signs.

The mention's own words are not among them: that *fever* is mostly denied says nothing of the sentence at hand.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ...text.shape import Section

if TYPE_CHECKING:  # The context of sentences is read beside this, not below it.
    from ...context.cue_table import Found
    from ...context.sentence import SentenceContext
    from ...context.values import Reading, Target
    from ...text.frame import Frame

#: Upper bounds of the distances in words that are told apart.
_STEPS: Final = (0, 1, 2, 4, 7, 12)
#: Words on each side that count, and those that count with their exact place.
_REACH: Final = 12
_NEAR: Final = 3
_SIGNS_OF_SENTENCES: Final = ",:;?()[]/-+"


def signs(
    frame: Frame, sentence: tuple[int, int], context: SentenceContext, target: Target, section: Section
) -> Iterator[str]:
    """The signs of one target: each a word that the weights are looked up by."""
    first, last = frame.token_range(*sentence)
    words = [norm if not norm.isdigit() else "0" for norm in frame.words.norms[first:last]]
    left, right = words[: target.first - first][::-1], words[target.last - first :]
    for side, beside in (("<", left), (">", right)):
        for at, word in enumerate(beside[:_REACH]):
            yield f"{side}{word}"
            yield f"{side}{_step(at)}{word}"
            if at < _NEAR:
                yield f"{side}={at}{word}"
        for at, (one, other) in enumerate(itertools.pairwise(beside[:_REACH])):
            yield f"{side}{one}_{other}" if at else f"{side}={one}_{other}"
        if len(beside) <= _REACH:
            yield f"{side}edge{_step(len(beside))}"
    if left and right:
        yield f"<>{left[0]}_{right[0]}"
    for found in context.found:
        yield from _of_cue(frame, context, found, target)
    yield f"kind {target.kind}"
    yield f"section {section.effect}"
    yield f"section {section.name}"
    for sign in _SIGNS_OF_SENTENCES:
        if sign in frame.text[target.end : target.end + 2]:
            yield f">{sign}"
        if sign in frame.text[max(sentence[0], target.start - 2) : target.start]:
            yield f"<{sign}"


def _of_cue(frame: Frame, context: SentenceContext, found: Found, target: Target) -> Iterator[str]:
    kind, match = found
    before = match.last <= target.first
    low, high = (match.last, target.first) if before else (target.last, match.first)
    if high < low:
        return
    side = "<" if before else ">"
    stopped = any(low <= first and last <= high for first, last in context.hard)
    ended = any(low <= first and last <= high for first, last in context.negation_ends)
    between = frame.text[match.end : target.start] if before else frame.text[target.end : match.start]
    parted = "," in between
    state = f"{'hard' if stopped else 'end' if ended else 'free'}{',' if parted else ''}"
    yield f"cue {side}{kind.name}"
    yield f"cue {side}{kind.name} {_step(high - low)}"
    yield f"cue {side}{kind.name} {state}"


def signs_of_rules(reading: Reading) -> Iterator[str]:
    """What the rules read, for a model that is to know it."""
    context = reading.context
    yield f"rule {context.polarity}"
    yield f"rule {context.temporality}"
    yield f"rule {context.experiencer}"
    for cue in reading.cues:
        yield f"rule cue {cue.rule}"


def _step(distance: int) -> int:
    return next((at for at, bound in enumerate(_STEPS) if distance <= bound), len(_STEPS))
