"""Maps of labels as data: every label of a corpus either becomes another, or is left out for a reason."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from ....kb.errors import UsageError
from ....kb.files.text_files import text_of
from .corpus import AnnotatedCorpus

FOLDER: Final = Path(__file__).with_name("maps")
_KINDS: Final = "kinds"
_TABLES: Final = ("labels", "left_out")
_LISTS: Final = ("annotates", "annotates_wider")


@dataclass(frozen=True)
class LabelMap:
    """How the labels of a corpus become those of another set.

    ``annotates``: the new labels of which the corpus marks every mention, so that a word outside of its spans is none
    of these; of any other it may be (``annotates_wider``: of the wider kinds). ``why`` and ``left_out`` give the
    reasons, by old label.
    """

    name: str
    corpus: str
    to: str
    labels: Mapping[str, str]
    left_out: Mapping[str, str]
    why: Mapping[str, str]
    annotates: frozenset[str]
    annotates_wider: frozenset[str] = frozenset()

    def unknown(self, corpus: AnnotatedCorpus) -> list[str]:
        """The labels of a corpus of which the map says nothing, in the order of the alphabet."""
        return sorted(corpus.labels().keys() - self.labels.keys() - self.left_out.keys())

    def applied(self, corpus: AnnotatedCorpus) -> AnnotatedCorpus:
        """The corpus with the new labels. UsageError when it has labels of which nobody decided what they become."""
        unknown = self.unknown(corpus)
        if unknown:
            raise UsageError(
                f"the map '{self.name}' says nothing of {len(unknown)} labels of {corpus.name}:"
                f" {', '.join(unknown[:5])}. Hint: it is for {self.corpus}; its labels are"
                f" {', '.join(sorted(self.labels)[:8]) or 'none'}"
            )
        return corpus.relabelled(self.labels)

    def widened(self) -> LabelMap:
        """The same with the wider kinds (``[wider]`` of ``kinds.toml``): disease and symptom are one problem, so that
        corpora that draw no line between them agree with those that do. UsageError for a map to other labels."""
        if self.to != _KINDS:
            raise UsageError(f"the map '{self.name}' is to {self.to}. Hint: only maps to {_KINDS} have wider ones")
        wider = kinds()["wider"]
        return LabelMap(
            f"{self.name}, wider",
            self.corpus,
            "wider kinds",
            {old: wider.get(new, new) for old, new in self.labels.items()},
            self.left_out,
            self.why,
            self.annotates_wider,
        )


@cache
def kinds() -> Mapping[str, Any]:
    """``kinds.toml``: the types that all corpora are brought to, what each becomes, and the wider ones."""
    return tomllib.loads((FOLDER / f"{_KINDS}.toml").read_text(encoding="utf-8"))


def map_names() -> list[str]:
    """The shipped maps, by the names of their files."""
    return sorted(path.stem for path in FOLDER.glob("*.toml") if path.stem != _KINDS and _is_map(path))


def _is_map(path: Path) -> bool:
    """Whether a file has the form read here: maps that need more than labels are read where they are used."""
    return {"corpus", "to"} <= tomllib.loads(path.read_text(encoding="utf-8")).keys()


def label_map(name: str | Path) -> LabelMap:
    """A shipped map by its name, or one in a file of your own.

    UsageError when there is none, or it is not of the form: ``corpus``, ``to``, ``annotates``, ``annotates_wider``,
    ``[labels]`` old = new,
    ``[left_out]`` old = reason, ``[why]`` old = reason.
    """
    own = Path(name)
    path = own if own.suffix == ".toml" else FOLDER / f"{name}.toml"
    try:
        data = tomllib.loads(text_of(path))
    except UsageError as error:
        raise UsageError(
            f"there is no map of labels '{name}': {error}. Hint: {', '.join(map_names())}, or a .toml"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the map of labels '{name}' is not TOML: {error}. Hint: see {FOLDER.name}/") from error
    tables = [data.get(key, {}) for key in (*_TABLES, "why")]
    lists = [data.get(key, []) for key in _LISTS]
    words = all(isinstance(table, dict) and all(isinstance(v, str) for v in table.values()) for table in tables)
    if not words or not all(isinstance(one, list) and all(isinstance(v, str) for v in one) for one in lists):
        raise UsageError(f"the map of labels '{name}' is not of the form. Hint: [labels] and [left_out], label = word")
    labels, left_out, why = tables
    twice = sorted(labels.keys() & left_out.keys())
    if twice:
        raise UsageError(f"the map of labels '{name}' both maps and leaves out {', '.join(twice)}. Hint: choose one")
    return LabelMap(
        path.stem,
        str(data.get("corpus", "")),
        str(data.get("to", "")),
        labels,
        left_out,
        why,
        *map(frozenset, lists),
    )
