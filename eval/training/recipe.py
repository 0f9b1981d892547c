"""Which corpora a recogniser learns from: a recipe of several, or the paths of one command line.

A recipe is a TOML file: ``name``, ``types``, ``description`` and ``limits`` (a list of sentences) for the card, and
tables ``[[train]]`` and ``[[dev]]``. Each of these has a ``path`` (below the folder of data) and may have: ``map``, how
labels become types (``extraction/corpora/maps``); ``groups``, the beginnings of the groups (patients) that are taken;
``part`` of the documents, by a file of ``ids`` or by the ``share`` that is held aside as ``dev``; ``silver``, to take
the labels from our own reader of notes; ``annotates``, the types that are marked throughout, where the map does not
say so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ...kb.errors import UsageError
from ...kb.files.text_files import text_of
from ..extraction.corpora.corpus import AnnotatedCorpus
from ..extraction.corpora.label_maps import label_map
from ..extraction.corpora.reading import read_annotated
from ..extraction.corpora.splits import Split, split
from ..report.signature import sha256_of
from .examples import TrainingPart
from .few.silver import silver_part

_NOTHING_MARKED: Final = "the corpora have no entities to learn from. Hint: --map, or another --train"
#: The keys of a corpus in a recipe, each with what it may be.
_KEYS: Final[dict[str, tuple[type, ...]]] = {
    "path": (str,),
    "map": (str,),
    "groups": (list,),
    "ids": (str,),
    "part": (str,),
    "share": (int, float),
    "form": (str,),
    "silver": (bool,),
    "annotates": (list,),
}


@dataclass(frozen=True)
class Recipe:
    """What is learned from and what is held aside to tell when to stop; each part with the types that it annotates."""

    train: tuple[TrainingPart, ...]
    development: tuple[TrainingPart, ...]
    types: tuple[str, ...]
    name: str = ""
    description: str = ""
    limits: tuple[str, ...] = ()
    corpora: dict[str, Any] = field(default_factory=dict)


def read_recipe(path: Path, data: Path | None) -> Recipe:
    """The recipe in a file, its corpora read. ``data``: the folder that its paths lie in (else the recipe's own).

    UsageError for a file that is no recipe, a key that is none, or a corpus that cannot be read.
    """
    try:
        written = tomllib.loads(text_of(path))
    except (UsageError, ValueError) as error:
        raise UsageError(f"cannot read the recipe '{path}': {error}") from error
    folder = data or path.parent
    sides = [written.get(side) for side in ("train", "dev")]
    if not all(isinstance(side, list) and side and all(isinstance(one, dict) for one in side) for side in sides):
        raise UsageError(f"the recipe '{path}' needs [[train]] and [[dev]] with a path each")
    types = written.get("types", [])
    if not isinstance(types, list) or not all(isinstance(one, str) for one in types):
        raise UsageError(f"in the recipe '{path}' types cannot be {types!r}. Hint: types = [\"disease\", …]")
    train, development = ([_part(one, folder, path) for one in side or ()] for side in sides)
    whole = recipe_of(train, development, tuple(types), str(written.get("name", path.stem)))
    limits = written.get("limits", [])
    if not isinstance(limits, list) or not all(isinstance(one, str) for one in limits):
        raise UsageError(f"the limits of the recipe '{path}' are no list of sentences")
    return replace(whole, description=str(written.get("description", "")), limits=tuple(limits))


def _part(entry: dict[str, Any], folder: Path, recipe: Path) -> TrainingPart:
    if unknown := sorted(entry.keys() - _KEYS.keys()):
        raise UsageError(f"the recipe '{recipe}' has the key '{unknown[0]}'. Hint: {', '.join(sorted(_KEYS))}")
    if "path" not in entry:
        raise UsageError(f"a corpus of the recipe '{recipe}' has no path. Hint: path = \"FILE\" below each [[…]]")
    for key, value in entry.items():
        strings = not isinstance(value, list) or all(isinstance(one, str) for one in value)
        if type(value) not in _KEYS[key] or not strings or (key == "share" and not 0 < value < 1):
            raise UsageError(f"in the recipe '{recipe}' {key} cannot be {value!r}. Hint: docs/guide/training.md")
    path = folder / entry["path"]
    part = silver_part(path) if entry.get("silver") else part_of(path, entry.get("map"), entry.get("form"))
    corpus = part.corpus
    if "groups" in entry:
        begins = tuple(entry["groups"])
        corpus = corpus.only(one.id for one in corpus.documents if one.group.startswith(begins))
    if "ids" in entry:
        corpus = _side(Split.read(folder / entry["ids"]), corpus, entry, recipe)
    if "share" in entry:
        share = float(entry["share"])
        corpus = _side(split(corpus, {"train": 1 - share, "dev": share}), corpus, entry, recipe)
    return TrainingPart(corpus, frozenset(entry.get("annotates", part.types)))


def _side(parts: Split, corpus: AnnotatedCorpus, entry: dict[str, Any], recipe: Path) -> AnnotatedCorpus:
    sides = parts.divide(corpus)
    wanted = entry.get("part", "train")
    if wanted not in sides:
        raise UsageError(f"the recipe '{recipe}' asks for the part '{wanted}'. Hint: {', '.join(sides)}")
    return sides[wanted]


def part_of(path: Path, by: str | None, form: str | None = None) -> TrainingPart:
    """A corpus as it is learned from: its labels as they are, or by a map (a name of ours, or a file)."""
    corpus = read_annotated(path, form)
    if by is None:
        return TrainingPart(corpus, frozenset(corpus.labels()))
    known = label_map(by)
    return TrainingPart(known.applied(corpus), known.annotates)


def recipe_of(
    train: Sequence[TrainingPart], development: Sequence[TrainingPart], types: Sequence[str] = (), name: str = ""
) -> Recipe:
    """A recipe of parts. ``types``: what is to be found; without them all that the training parts name.

    UsageError where a type that is asked for has no entity to learn from.
    """
    named = {label for part in train for label in part.corpus.labels()}
    wanted = tuple(types) or tuple(sorted(named))
    if missing := [one for one in wanted if one not in named]:
        raise UsageError(
            f"no entity of the type '{missing[0]}' to learn from. Hint: the corpora have {', '.join(sorted(named))}"
        )
    if not wanted:
        raise UsageError(_NOTHING_MARKED)
    if not any(label in wanted for part in development for label in part.corpus.labels()):
        held = sorted({label for part in development for label in part.corpus.labels()})
        raise UsageError(
            f"the development documents have no entity of {', '.join(wanted)}"
            + (f", but {', '.join(held)}" if held else "")
            + ". Hint: another --dev, a larger --dev-share, or --map"
        )

    def kept(part: TrainingPart) -> TrainingPart:
        return TrainingPart(part.corpus.relabelled({one: one for one in wanted}), part.types & frozenset(wanted))

    return Recipe(
        tuple(map(kept, train)),
        tuple(map(kept, development)),
        wanted,
        name,
        corpora={
            "train": [_described(one.corpus) for one in train],
            "dev": [_described(one.corpus) for one in development],
        },
    )


def _described(corpus: AnnotatedCorpus) -> dict[str, Any]:
    """What a signature says of a corpus: name, size, how many files, and one sum of all their sums."""
    return {
        "name": corpus.name,
        "documents": len(corpus),
        "entities": sum(corpus.labels().values()),
        "files": len(corpus.files),
        "sha256": sha256_of(f"{one.name} {one.sha256}" for one in corpus.files),
    }


def without_share(
    parts: Sequence[TrainingPart], share: float, seed: int
) -> tuple[list[TrainingPart], list[TrainingPart]]:
    """(training, development): a share of each corpus's documents is held aside; copies of a text are not parted.

    UsageError where nothing is marked, or a corpus is too small to be parted.
    """
    if not any(part.corpus.labels() for part in parts):
        raise UsageError(_NOTHING_MARKED)
    kept, aside = [], []
    for part in parts:
        try:
            sides = split(part.corpus, {"train": 1 - share, "dev": share}, seed=seed).divide(part.corpus)
        except UsageError as error:
            fact, _, _ = str(error).partition(". Hint:")
            lines = ", or -DOCSTART- lines between its documents" if part.corpus.unit == "sentence" else ""
            raise UsageError(f"{fact}. Hint: --dev FILE, a larger --dev-share{lines}") from error
        kept.append(TrainingPart(sides["train"], part.types))
        aside.append(TrainingPart(sides["dev"], part.types))
    return kept, aside
