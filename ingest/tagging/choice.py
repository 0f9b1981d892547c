"""Which model reads along: a folder, the one that ships, or none; with its name and hash, made once a process."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...kb.concepts import ConceptTable
from ...kb.errors import UsageError
from .recognizer import Link, Linked, ModelRecognizer, Tagger

#: What stands for no model, and for the one that ships with the package.
NONE: Final = "none"
SHIPPED: Final = "shipped"
_SHIPPED_FOLDER: Final = Path(__file__).with_name("shipped")
_CARD: Final = "card.json"
#: Signs that no name of a model has where it is recorded.
_NO_NAME: Final = re.compile(r"[^\w.\-]+")


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model directory, and whether what it finds is linked to concepts. It goes to other processes as it is."""

    folder: Path
    linked: bool = True
    device: str = "cpu"
    threads: int = 1

    @property
    def version(self) -> str:
        """The model's name and the hash of its files: what a knowledge base is told of it."""
        return f"{self.name}+{folder_hash(self.folder)}{'' if self.linked else '+unlinked'}"

    @property
    def name(self) -> str:
        """As the model's card tells it; the name of the folder where it does not."""
        try:
            told = json.loads((self.folder / _CARD).read_text(encoding="utf-8"))["name"]
        except (OSError, ValueError, KeyError, TypeError):
            told = ""
        return _NO_NAME.sub("-", str(told or self.folder.resolve().name))

    def recognizer(
        self, concepts: ConceptTable, kind_of: Callable[[str], str], never: frozenset[str]
    ) -> ModelRecognizer:
        """The model as a recogniser. UsageError if it cannot be loaded, or a library is missing."""
        link = linker_of(concepts) if self.linked else None
        return ModelRecognizer(self.name, load_tagger(self), link, kind_of, never)


def chosen_model(model: str | os.PathLike[str] | None) -> ModelChoice | None:
    """The choice that an option names: a model directory, ``shipped``, or ``none`` (and None) for no model.

    UsageError where there is no such folder.
    """
    if model is None or str(model) == NONE:
        return None
    if str(model) == SHIPPED:
        if not _SHIPPED_FOLDER.is_dir():
            raise UsageError("no model ships with this installation. Hint: name a model directory, or 'none'")
        return ModelChoice(_SHIPPED_FOLDER)
    folder = Path(model)
    if not folder.is_dir():
        raise UsageError(f"there is no model directory '{model}'. Hint: name a folder, 'shipped' or 'none'")
    return ModelChoice(folder)


def folder_hash(folder: Path) -> str:
    """A hash of the names and contents of all files in a folder."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def load_tagger(choice: ModelChoice) -> Tagger:
    """The tagger of a model directory. UsageError if it cannot be loaded, or a library is missing."""
    from .tagger import Tagger as TrainedTagger

    return TrainedTagger.load(choice.folder, choice.device, threads=choice.threads)


def linker_of(concepts: ConceptTable) -> Link:
    """The shipped linker under an ontology."""
    linker = importlib.import_module("..linking.linker", __package__)
    shipped = linker.Linker.shipped(concepts)

    def link(mentions: Sequence[tuple[str, str]]) -> Sequence[Linked]:
        found: Sequence[Linked] = shipped.link([linker.UnreadMention(words, kind) for words, kind in mentions])
        return found

    return link
