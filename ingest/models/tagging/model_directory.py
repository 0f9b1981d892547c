"""A trained tagger as a directory: its files, and every way in which they may be missing, corrupted or at odds.

``card.json`` (see ``model_card``), ``model.onnx`` (the network for onnxruntime), ``weights.safetensors`` (or
``weights.pt``; the network for torch, which may be left out), ``tokenizer.json`` (word pieces, where the network reads
pieces), ``README.md`` (the card for people). Nothing in it is run: no pickle is opened, no code is loaded.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from ....kb.errors import BadModel
from ....kb.files.untrusted import read_regular
from ..optional import library
from .features import Featurizer
from .model_card import SCHEMA_VERSION, ModelCard, ModelFile

CARD: Final = "card.json"
ONNX: Final = "model.onnx"
WEIGHTS: Final = ("weights.safetensors", "weights.pt")
TOKENIZER: Final = "tokenizer.json"
README: Final = "README.md"
#: A directory works without these, as long as another file carries the network.
_OPTIONAL: Final = (*WEIGHTS, README)
_PIECES: Final = "pieces"


@dataclass(frozen=True)
class ModelDirectory:
    """A folder whose card was read and whose files are there."""

    folder: Path
    card: ModelCard

    @classmethod
    def open(cls, folder: Path | str) -> ModelDirectory:
        """The model in a folder. BadModel when there is none, its card cannot be read, or a file is not there.

        Checksums are compared when a file is used (``file``).
        """
        place = Path(folder)
        card = _card(place)
        found = cls(place, card)
        missing = [name for name in card.files if name not in _OPTIONAL and not (place / name).is_file()]
        if not missing and not found.has(ONNX) and not any(map(found.has, WEIGHTS)):
            missing = [ONNX]
        if not missing and _PIECES in card.inputs and not found.has(TOKENIZER):
            missing = [TOKENIZER]
        if missing:
            raise BadModel(f"the model in '{place}' is not whole: no {missing[0]}. Hint: copy the whole directory")
        room = dict(card.network.get("encoder") or {}).get("max_position_embeddings")
        if isinstance(room, int) and _PIECES in card.inputs and card.window > room:
            raise BadModel(
                f"the model in '{place}' reads {room} pieces at once, and its card says {card.window}. Hint: its card"
                " was changed; take the one that it came with"
            )
        return found

    def has(self, name: str) -> bool:
        """Whether the card names the file, and it is there."""
        return name in self.card.files and (self.folder / name).is_file()

    def file(self, name: str) -> Path:
        """The path of a file, after its size and checksum were found as the card says. BadModel when they are not."""
        path, listed = self.folder / name, self.card.files.get(name)
        if listed is None or not path.is_file():
            raise BadModel(f"the model in '{self.folder}' has no {name}. Hint: copy the whole directory")
        now = _measured(path)
        if now != listed:
            size = (
                f"{now.bytes} bytes, and the card says {listed.bytes}"
                if now.bytes != listed.bytes
                else "another content"
            )
            raise BadModel(
                f"'{path}' is corrupted or of another model: it has {size}. Hint: copy the whole directory again"
            )
        return path

    @property
    def bytes(self) -> int:
        """The size of all its files that are there, the card among them."""
        names = [CARD, *(name for name in self.card.files if (self.folder / name).is_file())]
        return sum((self.folder / name).stat().st_size for name in names)

    def featurizer(self) -> Featurizer:
        """What makes the network's arrays of words. BadModel for word pieces that cannot be read or do not fit."""
        if _PIECES not in self.card.inputs:
            return Featurizer(self.card.inputs, None, self.card.window, self.card.margin)
        path = self.file(TOKENIZER)
        tokenizers = library("tokenizers", "ner")
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(path))
            tokenizer.no_padding()
            tokenizer.no_truncation()
            made = Featurizer(self.card.inputs, tokenizer, self.card.window, self.card.margin)
        except Exception as error:  # the library raises nothing narrower
            raise BadModel(f"'{path}' holds no word pieces that can be read. Hint: copy it again") from error
        rows = dict(self.card.network.get("encoder") or {}).get("vocab_size")
        if isinstance(rows, int) and tokenizer.get_vocab_size() > rows:
            raise BadModel(
                f"'{path}' has {tokenizer.get_vocab_size()} word pieces, and the network knows {rows}. Hint: the"
                " tokenizer is of another model; copy the whole directory"
            )
        return made

    def identity(self) -> dict[str, Any]:
        """Name and checksums: what names this model in a manifest or a signature."""
        return {"name": self.card.name, "files": {name: one.sha256 for name, one in sorted(self.card.files.items())}}


def write_card(folder: Path, card: ModelCard) -> ModelDirectory:
    """Write ``card.json`` with the checksums of the files that lie in the folder now, and open the directory."""
    names = [name for name in (ONNX, *WEIGHTS, TOKENIZER, README) if (folder / name).is_file()]
    whole = card.model_copy(update={"files": {name: _measured(folder / name) for name in names}})
    text = json.dumps(whole.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
    partly = folder / f"{CARD}.part"
    partly.write_text(text, encoding="utf-8")
    partly.replace(folder / CARD)
    return ModelDirectory.open(folder)


def _card(folder: Path) -> ModelCard:
    if not folder.is_dir():
        kind = "a file, not a directory" if folder.exists() else "no directory"
        raise BadModel(f"there is no model at '{folder}': it is {kind}. Hint: the directory that 'train ner' wrote")
    path = folder / CARD
    if not path.is_file():
        raise BadModel(f"'{folder}' holds no model: no {CARD} in it. Hint: the directory that 'train ner' wrote")
    try:
        data = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError) as error:
        raise BadModel(f"'{path}' cannot be read as JSON. Hint: copy the model again") from error
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        raise BadModel(
            f"'{path}' is a card of version {version!r}, and this program reads version {SCHEMA_VERSION}. Hint: train"
            " the model again, or use the program that wrote it"
        )
    try:
        return ModelCard.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        reason = str(first["msg"]).removeprefix("Value error, ")
        more = f" ({len(error.errors())} such faults)" if len(error.errors()) > 1 else ""
        raise BadModel(
            f"the card '{path}' does not hold together: {place + ': ' if place else ''}{reason}{more}. Hint: copy the"
            " model again"
        ) from error
    except (ArithmeticError, TypeError, ValueError, RecursionError, MemoryError) as error:
        # Half characters, numbers without end, rows where numbers belong: what no check of a field foresees.
        raise BadModel(f"the card '{path}' does not hold together. Hint: copy the model again") from error


def _measured(path: Path) -> ModelFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return ModelFile(sha256=digest, bytes=path.stat().st_size)
