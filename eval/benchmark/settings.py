"""Which systems a run sets side by side: the shipped table, a file of one's own, and a choice of names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...kb.errors import UsageError
from ...kb.files.text_files import text_of

SHIPPED: Final = Path(__file__).with_name("systems.toml")


class _Setting(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]*$")
    #: Whether it is asked when no names are given.
    default: bool = True


class EngineSetting(_Setting):
    """A way of asking the engine; see ``systems.toml``."""

    kind: Literal["engine"]
    asked_by: Literal["query", "words"] = "query"
    world: Literal["certain", "believed", "possible"] = "believed"
    ranked: bool = False
    notes: Literal["together", "alone"] = "together"


class _Chunked(_Setting):
    """What is made over chunks. ``encoder`` is a name of ``encoders.toml`` (it counts the tokens of a chunk); one that
    is not shipped is in ``directory``. ``way``: what the cut is tuned by; ``share``: the cut itself, in place of that.
    """

    encoder: str
    directory: str = ""
    precision: Literal["float32", "bfloat16"] = "float32"
    device: str = "cpu"
    way: Literal["share", "threshold", "both"] = "share"
    share: float | None = Field(default=None, gt=0, le=1)


class RetrieverSetting(_Chunked):
    """A dense retriever."""

    kind: Literal["retriever"]
    index: Literal["flat", "ivf", "hnsw"] = "flat"


class LexicalSetting(_Chunked):
    """BM25."""

    kind: Literal["lexical"]


class ReaderSetting(_Setting):
    """A reader behind the retriever of that name."""

    kind: Literal["reader"]
    retriever: str
    endpoint: Literal["offline", "environment"] = "offline"


Setting = EngineSetting | RetrieverSetting | LexicalSetting | ReaderSetting


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    system: list[Annotated[Setting, Field(discriminator="kind")]]


def load_settings(path: Path = SHIPPED) -> tuple[Setting, ...]:
    """The systems of a TOML file. UsageError that names the place of what cannot be used, and a name given twice."""
    try:
        held = _File.model_validate(tomllib.loads(text_of(path)))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is no TOML: {error}") from error
    except ValidationError as error:
        raise UsageError(f"{path.name}: {_reasons(error)}. Hint: see the head of the shipped systems.toml") from error
    _once(path.name, [one.name for one in held.system])
    return tuple(held.system)


def chosen(settings: Sequence[Setting], names: Iterable[str]) -> tuple[Setting, ...]:
    """The settings of these names in their own order; without names, those that are asked by default. UsageError."""
    wanted = list(names)
    known = {one.name: one for one in settings}
    for name in wanted:
        if name not in known:
            raise UsageError(f"there is no system '{name}'. Hint: the systems are {', '.join(known)}")
    _once("--systems", wanted)
    return tuple(known[name] for name in wanted) if wanted else tuple(one for one in settings if one.default)


def retriever_of(reader: ReaderSetting, settings: Sequence[Setting]) -> RetrieverSetting:
    """The retriever that a reader reads after. UsageError if there is none of that name."""
    for one in settings:
        if one.name == reader.retriever and isinstance(one, RetrieverSetting):
            return one
    raise UsageError(f"'{reader.name}' reads what '{reader.retriever}' retrieves, and no retriever has that name")


def _once(where: str, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"{where}: {', '.join(twice)} stands there twice")


def _reasons(error: ValidationError) -> str:
    parts: list[Any] = []
    for one in error.errors()[:3]:
        place = ".".join(str(part) for part in one["loc"])
        parts.append(f"{place}: {one['msg']}")
    return "; ".join(dict.fromkeys(parts))
