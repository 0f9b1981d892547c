"""What speaks for and against a mention meaning a name: the numbers that the linker's score is made of."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from .names import NameTable
from .wording import Wording, allowed_kinds, contrary

#: In the order of the numbers that :func:`features` gives.
FEATURES: Final = (
    "dense",
    "grams",
    "dense_squared",
    "sorted_ratio",
    "mention_covered",
    "name_covered",
    "rarest_of_mention",
    "rarest_of_name",
    "same_head",
    "contrasts_differ",
    "contrast_of_mention_alone",
    "contrast_of_name_alone",
    "numbers_differ",
    "number_of_one_alone",
    "contrary_words",
    "same_kind",
    "preferred",
    "one_word",
    "one_word_ratio",
    "unknown_words",
    "same_first_letter",
    "words_of_mention",
    "narrower",
    "broader",
    "most_alike",
    "least_alike",
)
#: From this share on all words of one are held by the other.
_WHOLE: Final = 0.97


#: What must not differ: a pair that has one of these is no candidate, however alike its letters are.
FORBIDDEN: Final = ("contrasts_differ", "numbers_differ", "contrary_words")
_FORBIDDEN_AT: Final = tuple(FEATURES.index(name) for name in FORBIDDEN)


def is_forbidden(held: Sequence[float]) -> bool:
    """Whether the features tell that mention and name mean different things (type 1 and type 2, left and right)."""
    return any(held[at] for at in _FORBIDDEN_AT)


@functools.lru_cache(maxsize=200_000)
def word_nearness(one: str, other: str) -> float:
    """How alike two words are written, 0 to 1; below 0.75 they are different words, and contraries are so always."""
    if one == other:
        return 1.0
    if min(len(one), len(other)) < 4 or one[0] != other[0] or contrary(one, other):
        return 0.0
    from rapidfuzz.distance import DamerauLevenshtein

    near = DamerauLevenshtein.normalized_similarity(one, other)
    # Words of one stem: esophagus and esophageal, metastasis and metastatic.
    stem = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        stem += 1
    if stem >= 5 and stem >= 0.6 * min(len(one), len(other)):
        near = max(near, 0.85)
    return near if near >= 0.75 else 0.0


def features(mention: Wording, kind: str, row: int, names: NameTable, dense: float, grams: float) -> list[float]:
    """The features of a pair of a mention and the name in ``row``, in the order of :data:`FEATURES`.

    ``dense``: the cosine of their vectors (0 without an encoder); ``grams``: that of their runs of letters.
    """
    from rapidfuzz import fuzz

    name, held = names.wordings[row], names.rows[row]
    of_mention, rare_mention = _covered(mention.words, name.words, names)
    of_name, rare_name = _covered(name.words, mention.words, names)
    differ, left, right = _contrasts(mention, name)
    apart = mention.numbers ^ name.numbers
    both = bool(mention.numbers) and bool(name.numbers)
    single = len(mention.words) == 1 and len(name.words) == 1
    ratio = fuzz.token_sort_ratio(mention.plain, name.plain) / 100
    kinds = allowed_kinds(kind)
    return [
        dense,
        grams,
        dense * dense if dense > 0 else 0.0,
        ratio,
        of_mention,
        of_name,
        rare_mention,
        rare_name,
        float(bool(mention.head) and word_nearness(mention.head, name.head) > 0),
        float(differ),
        float(left),
        float(right),
        float(both and bool(apart)),
        float(not both and bool(apart)),
        float(_contrary_pair(mention.words, name.words)),
        1.0 if not kind else float(held.kind == kinds[0]),
        float(held.preferred),
        float(single),
        ratio if single else 0.0,
        sum(not names.known(word) for word in mention.words) / max(1, len(mention.words)),
        float(mention.plain[:1] == name.plain[:1]),
        min(len(mention.words), 6) / 6,
        float(of_mention >= _WHOLE > of_name),
        float(of_name >= _WHOLE > of_mention),
        max(dense, ratio),
        min(dense, ratio),
    ]


def _covered(words: Sequence[str], others: Sequence[str], names: NameTable) -> tuple[float, float]:
    """The share of the weight of ``words`` that ``others`` hold, and how near the most telling of them is held."""
    total = found = heaviest = rarest = 0.0
    for word in words:
        weight = names.weight(word)
        near = max((word_nearness(word, other) for other in others), default=0.0)
        if near < 0.9 and any(names.same_meaning(word, other) for other in others):
            near = 0.9
        total += weight
        found += weight * near
        if weight > heaviest:
            heaviest, rarest = weight, near
    return (found / total if total else 0.0), rarest


def _contrasts(mention: Wording, name: Wording) -> tuple[int, int, int]:
    """In how many contrasts the two take different sides; in how many the mention, or the name, alone takes one."""
    differ = left = 0
    for contrast, sides in mention.sides.items():
        others = name.sides.get(contrast)
        if others is None:
            left += 1
        elif sides.isdisjoint(others):
            differ += 1
    return differ, left, sum(contrast not in mention.sides for contrast in name.sides)


def _contrary_pair(words: Sequence[str], others: Sequence[str]) -> bool:
    return any(contrary(one, other) for one in words if one not in others for other in others if other not in words)
