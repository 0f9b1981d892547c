"""Which model reads along: a folder, the one that ships, or none; with its name and hash, made once a process."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from ....kb.errors import UsageError
from ....kb.files.untrusted import read_regular
from ....kb.ontology.concepts import ConceptTable

if TYPE_CHECKING:  # A run that hands its notes to others, or has no model, needs nothing of what reads.
    from .recognizer import Link, ModelRecognizer, Tagger

#: What stands for no model, for the one that ships beside the package, and for the chat model of the environment.
NONE: Final = "none"
SHIPPED: Final = "shipped"
CHAT: Final = "llm"
#: The distribution that holds the model that ships, and where it lies in a checkout.
_DISTRIBUTION: Final = "cohortium_models"
_CHECKOUT: Final = Path(__file__).parents[3] / "models" / _DISTRIBUTION
_CARD: Final = "card.json"


class Choice(Protocol):
    """A model that may read along; equal ones read alike. It goes to other processes as it is, unless it is ``alone``:
    then one process must do all the reading."""

    def __hash__(self) -> int: ...

    @property
    def alone(self) -> bool:
        """Whether several processes must not share it."""

    @property
    def name(self) -> str:
        """What its mentions are said to come from."""

    @property
    def version(self) -> str:
        """The name and a hash: what a knowledge base is told of it."""

    def recognizer(
        self, concepts: ConceptTable, kind_of: Callable[[str], str], never: frozenset[str]
    ) -> ModelRecognizer:
        """The model as a recogniser."""

    def asked(self) -> Mapping[str, Any]:
        """What a service was asked, and what of it failed; empty for a model that asks none."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model directory, and whether what it finds is linked to concepts. It goes to other processes as it is."""

    folder: Path
    linked: bool = True
    device: str = "cpu"
    threads: int = 1

    @property
    def alone(self) -> bool:
        """Any number of processes may load it."""
        return False

    @property
    def version(self) -> str:
        """The model's name and the hash of its files: what a knowledge base is told of it."""
        return f"{self.name}+{folder_hash(self.folder)}{'' if self.linked else '+unlinked'}"

    @property
    def name(self) -> str:
        """As the model's card tells it; the name of the folder where it does not."""
        try:
            name = json.loads(read_regular(self.folder / _CARD))["name"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            name = ""
        from .recognizer import recorded_name

        return recorded_name(str(name or self.folder.resolve().name))

    def recognizer(
        self, concepts: ConceptTable, kind_of: Callable[[str], str], never: frozenset[str]
    ) -> ModelRecognizer:
        """The model as a recogniser. UsageError if it cannot be loaded, or a library is missing."""
        from .recognizer import ModelRecognizer

        link = linker_of(concepts) if self.linked else None
        return ModelRecognizer(self.name, load_tagger(self), link, kind_of, never)

    def asked(self) -> Mapping[str, Any]:
        """It asks no service."""
        return {}


def chosen_model(model: str | os.PathLike[str] | Choice | None) -> Choice | None:
    """The choice that an option names: a model directory, ``shipped``, ``llm`` for the chat model of the environment,
    or ``none`` (and None) for no model; a choice is itself.

    UsageError where there is no such folder, or no chat model that may have notes.
    """
    if model is None or model == NONE:
        return None
    if not isinstance(model, str | os.PathLike):
        return model
    if str(model) == CHAT:
        from ..chat.choice import chat_choice

        return chat_choice(linker_of)
    if str(model) == SHIPPED:
        return ModelChoice(shipped_folder())
    folder = Path(model)
    if not folder.is_dir():
        raise UsageError(
            f"there is no model directory '{model}' (--model). Hint: name a folder, 'shipped', 'llm' or 'none'"
        )
    return ModelChoice(folder)


def shipped_folder() -> Path:
    """The model directory that ships: of the checkout, or of the distribution beside this one. UsageError without."""
    places = [_CHECKOUT]
    if (found := importlib.util.find_spec(_DISTRIBUTION)) is not None and found.origin:
        places.append(Path(found.origin).parent)
    for place in places:
        if (place / SHIPPED / _CARD).is_file():
            return place / SHIPPED
    raise UsageError(
        "the model that ships is a package of its own, and is not installed. Hint: pip install 'cohortium[shipped]', "
        "or name a model directory, or 'none'"
    )


def folder_hash(folder: Path) -> str:
    """A hash of the names and contents of all files in a folder."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def load_tagger(choice: ModelChoice) -> Tagger:
    """The tagger of a model directory. UsageError if it cannot be loaded, or a library is missing."""
    from .tagger import Tagger as TrainedTagger

    return TrainedTagger.load(choice.folder, choice.device, threads=choice.threads)


def linker_of(concepts: ConceptTable) -> Link:
    """The shipped linker under an ontology."""
    from ..linking.linker import Linker, UnreadMention

    shipped = Linker.shipped(concepts)
    return lambda mentions: shipped.link([UnreadMention(words, kind) for words, kind in mentions])
