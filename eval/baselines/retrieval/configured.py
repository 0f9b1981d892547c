"""Encoders by name: the packaged one, those of the paper, and any directory or endpoint that a user has."""

from __future__ import annotations

import functools
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ....kb.errors import UsageError
from ....kb.files.text_files import text_of
from .encoders import PLAIN, Encoder, Machine

FILE: Final = Path(__file__).with_name("encoders.toml")
KINDS: Final = ("package", "directory", "endpoint")

_MODEL: Final = "COHORTIUM_EMBEDDING_MODEL"


@dataclass(frozen=True, slots=True)
class EncoderEntry:
    """One encoder of ``encoders.toml``; see there."""

    name: str
    kind: str
    paper: str = ""
    model: str = ""
    dimension: int | None = None
    most_tokens: int | None = None
    before_question: str = ""
    before_passage: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"the encoder {self.name!r} is of kind {self.kind!r}; kinds are {', '.join(KINDS)}")


def load_encoders(file: Path = FILE) -> Mapping[str, EncoderEntry]:
    """Name to entry, in the order of the file. UsageError for a file of another form."""
    try:
        entries = [EncoderEntry(**one) for one in tomllib.loads(text_of(file))["encoder"]]
    except (UsageError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{file.name} lists no encoders that can be read") from error
    return {one.name: one for one in entries}


@functools.cache
def _shipped() -> Mapping[str, EncoderEntry]:
    return load_encoders()


def encoder_named(
    name: str = "minilm",
    directory: Path | None = None,
    machine: Machine = PLAIN,
    *,
    environment: Mapping[str, str] | None = None,
    entries: Mapping[str, EncoderEntry] | None = None,
) -> Encoder:
    """The encoder of that name (see ``encoders.toml``, or ``entries`` of your own).

    One of kind *directory* is read from ``directory``. One of kind *endpoint* is asked where the environment says
    (COHORTIUM_EMBEDDING_BASE_URL, _API_KEY, and _MODEL unless the entry names one); that sends text of notes, so
    COHORTIUM_EMBEDDING_SEND_NOTES must allow it. UsageError for an unknown name, or when something is missing.
    """
    known = _shipped() if entries is None else entries
    if name not in known:
        raise UsageError(f"there is no encoder {name!r}. Hint: one of {', '.join(known)}")
    entry = known[name]
    if entry.kind == "endpoint":
        return _endpoint(entry, os.environ if environment is None else environment)
    if entry.kind == "directory" and directory is None:
        model = f" of {entry.model}" if entry.model else ""
        raise UsageError(f"the encoder {name!r} is not shipped: name the directory{model} that you have")
    from .local_encoder import LocalEncoder

    return LocalEncoder(
        directory,
        name="" if entry.kind == "package" and directory is None else entry.name,
        machine=machine,
        most_tokens=entry.most_tokens,
        query_prompt=entry.before_question,
        passage_prompt=entry.before_passage,
    )


def _endpoint(entry: EncoderEntry, environment: Mapping[str, str]) -> Encoder:
    from .embedding_endpoint import EmbeddingOptions, embedding_endpoint

    held = dict(environment)
    if entry.model and not held.get(_MODEL, "").strip():
        held[_MODEL] = entry.model
    options = EmbeddingOptions(
        dimension=entry.dimension,
        before_question=entry.before_question,
        before_passage=entry.before_passage,
    )
    if entry.most_tokens is not None:
        options = replace(options, most_tokens=entry.most_tokens)
    return embedding_endpoint(held, options)
