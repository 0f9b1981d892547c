"""Overlaps of annotations: of types that exclude each other one stays, of one type the longest."""

from __future__ import annotations

import bisect
from functools import lru_cache

from .annotation import Annotation, Page
from .words import table, types_named


def settle(page: Page) -> None:
    """Leave no two annotations of one type, or of types that exclude each other, over the same text.

    What was asked for with a type stays alone. What the reading of the note found stays, but for what it says twice
    with one label; then the longer span stays, then the one found first.
    """
    kept: dict[str, _Stretches] = {}
    rivals = _rivals()
    chosen: list[Annotation] = []
    said: set[tuple[int, int, str, str]] = set()
    asked = _Stretches()
    for one in page.annotations:
        if one.mention.source == "target" and page.targets.get((one.start, one.end)):
            asked.add(one)
    asked.order()
    for one in page.annotations:
        target = one.mention.source == "target"
        if one.origin:
            key = (one.start, one.end, one.label, one.mention.concept)
            if target or key not in said and not asked.hold(one) or one.mention.kind == "variant":
                said.add(key)
                chosen.append(one)
                kept.setdefault(one.label, _Stretches()).add(one)
    for stretches in kept.values():
        stretches.order()
    new = [one for one in page.annotations if not one.origin and not asked.hold(one)]
    for one in sorted(new, key=lambda one: one.start - one.end):  # Stable: those found first stay before.
        same_target = (one.start, one.end) in page.targets and one.label in _TARGET_LABELS
        if same_target or any(kept[label].hold(one) for label in rivals.get(one.label, (one.label,)) if label in kept):
            continue
        chosen.append(one)
        kept.setdefault(one.label, _Stretches()).insert(one)
    page.annotations = chosen


#: A span that was asked for is a problem already.
_TARGET_LABELS = frozenset({"Symptom", "ClinicalCondition", "Allergy"})


class _Stretches:
    """Spans of one type, perhaps overlapping each other, by their start."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        #: The furthest end of the spans up to each.
        self.reach: list[int] = []
        self._raw: list[tuple[int, int]] = []

    def add(self, one: Annotation) -> None:
        self._raw.append((one.start, one.end))

    def order(self) -> None:
        furthest = 0
        for start, end in sorted(self._raw):
            furthest = max(furthest, end)
            self.starts.append(start)
            self.reach.append(furthest)

    def insert(self, one: Annotation) -> None:
        at = bisect.bisect_left(self.starts, one.start)
        # What is inserted overlaps nothing of its own type: the reach before it ends where it begins, or earlier.
        self.starts.insert(at, one.start)
        self.reach.insert(at, max(one.end, self.reach[at - 1] if at else 0))

    def hold(self, one: Annotation) -> bool:
        """Whether one of the spans overlaps ``one``."""
        at = bisect.bisect_left(self.starts, one.end)
        return at > 0 and self.reach[at - 1] > one.start


@lru_cache(maxsize=1)
def _rivals() -> dict[str, tuple[str, ...]]:
    """Each type with those that may not stand over the same text, itself among them."""
    found: dict[str, set[str]] = {}
    for layer in table("layers")["exclusive"]:
        types = types_named(layer["types"])
        for label in types:
            found.setdefault(label, {label}).update(types)
    return {label: tuple(sorted(types)) for label, types in found.items()}
