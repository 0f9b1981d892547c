"""The cells of the few-resource experiment: how much is annotated, how it is multiplied, who labels the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from .few.augment import AUGMENTATIONS, Augmentation

#: What the overview gives its systems: exactly so many annotated documents.
JUST: Final = 100
#: How often each cell is trained.
PLAN_SEEDS: Final = 3


@dataclass(frozen=True, slots=True)
class Cell:
    """One way of learning.

    ``documents``: how many annotated ones; with ``per_label`` they are only where the guideline's examples, so many
    sentences a tag, are drawn from. ``silver``: their texts, labelled by the weak labellers, are learned from as well.
    ``labeller``: nothing is trained, and this one answers: ``reader``, ``dictionary``, or ``both``.
    """

    name: str
    documents: int = JUST
    augmentations: tuple[Augmentation, ...] = ()
    per_label: int = 0
    silver: bool = False
    labeller: str = ""


def _augmented(name: str) -> Cell:
    return Cell(f"{JUST} documents, {name}", augmentations=AUGMENTATIONS[name])


def guideline_of(per_label: int, silver: bool = False, augmentation: str = "") -> Cell:
    """The cell that learns from so many example sentences of each tag."""
    name = f"guideline of {per_label}" + (", silver" if silver else "") + (f", {augmentation}" if augmentation else "")
    extra = AUGMENTATIONS[augmentation] if augmentation else ()
    return Cell(name, augmentations=extra, per_label=per_label, silver=silver)


#: The cell that the others are held against.
PLAIN: Final = Cell(f"{JUST} documents")
_UNTRAINED: Final = (
    Cell("our reader", labeller="reader"),
    Cell(f"dictionary of {JUST} documents", labeller="dictionary"),
    Cell("dictionary of a guideline of 10", labeller="dictionary", per_label=10),
    Cell("dictionary of a guideline of 10, our reader", labeller="both", per_label=10),
)
_SHORT: Final = (
    PLAIN,
    _augmented("mentions"),
    _augmented("synonyms"),
    _augmented("segments"),
    _augmented("together"),
    guideline_of(5),
    guideline_of(10),
    guideline_of(10, silver=True),
)
_MORE: Final = (
    _augmented("tokens"),
    _augmented("all"),
    guideline_of(5, silver=True),
    guideline_of(10, augmentation="mentions"),
    Cell("25 documents", 25),
    Cell("50 documents", 50),
    Cell("150 documents", 150),
)
#: Plan → its cells, in the order in which they are run: those that train nothing first.
PLANS: Final[Mapping[str, tuple[Cell, ...]]] = {
    "untrained": _UNTRAINED,
    "short": (*_UNTRAINED, *_SHORT),
    "full": (*_UNTRAINED, *_SHORT, *_MORE),
}
