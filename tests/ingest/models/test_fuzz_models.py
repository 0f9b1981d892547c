"""Damaged models: whatever stands in their files, loading says what is wrong, or gives a model that works."""

from __future__ import annotations

import copy
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohortium.ingest.models.linking import encoders, score
from cohortium.ingest.models.linking.encoders import GramEncoder
from cohortium.ingest.models.linking.features import FEATURES
from cohortium.ingest.models.linking.score import SECOND, Scorer
from cohortium.ingest.models.tagging.choice import chosen_model
from cohortium.ingest.models.tagging.model_directory import ModelDirectory
from cohortium.ingest.models.tagging.tagger import Tagger
from cohortium.kb.errors import BadModel, UsageError
from tests.amounts import examples
from tests.ingest.models.tagging.conftest import card

CARD = json.dumps(card(files={"model.onnx": {"sha256": "0" * 64, "bytes": 4}}).model_dump(mode="json"))
#: What no card holds where a number, a text, a list or an object belongs.
ODD = st.sampled_from(
    [None, True, -1, 0, 10**400, 1e308, "", "\ud800", "../x", [], [[]], {}, {"": {}}, [None] * 50, {"model_type": "x"}]
)
FUZZ = settings(max_examples=examples(600), deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """Bytes with a bit turned, a stretch cut out, doubled or exchanged for another, or the end lost."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        low = draw(st.integers(0, max(0, len(data) - 1)))
        high = min(len(data), low + draw(st.integers(0, 40)))
        match draw(st.integers(0, 4)):
            case 0 if data:
                data[low] ^= 1 << draw(st.integers(0, 7))
            case 1:
                del data[low:]
            case 2:
                del data[low:high]
            case 3:
                data[low:low] = data[low:high] * draw(st.integers(1, 30))
            case _:
                data[low:high] = draw(st.binary(max_size=20))
    return bytes(data)


@st.composite
def twisted(draw: st.DrawFn, whole: str) -> bytes:
    """A JSON object of which a value anywhere was exchanged, left out, or taken from elsewhere in it."""
    told: Any = json.loads(whole)
    at: Any = told
    for _ in range(draw(st.integers(0, 3))):
        keys = [key for key in (at if isinstance(at, dict) else range(len(at))) if isinstance(at[key], dict | list)]
        if not keys:
            break
        at = at[draw(st.sampled_from(keys))]
    keys = list(at) if isinstance(at, dict) else list(range(len(at)))
    if keys:
        key = draw(st.sampled_from(keys))
        match draw(st.integers(0, 2)):
            case 0:
                del at[key]
            case 1:
                at[key] = copy.deepcopy(draw(st.sampled_from(list(told.values()))))
            case _:
                at[key] = draw(ODD)
    return json.dumps(told, ensure_ascii=True).encode()


def write(place: Path, content: bytes) -> None:
    """A model directory with this card."""
    place.mkdir(exist_ok=True)
    (place / "card.json").write_bytes(content)
    (place / "model.onnx").write_bytes(b"none")


def is_told_or_whole(place: Path) -> None:
    """The card is refused, or decodes; its name can be told in any case, and its network is refused."""
    choice = chosen_model(place)
    assert choice is not None
    assert choice.name
    assert choice.version
    try:
        found = ModelDirectory.open(place)
    except BadModel:
        return
    found.card.decoder()
    found.card.confidence(np.array([0.5]))
    json.dumps(found.identity())
    with pytest.raises(UsageError):
        Tagger.load(place)


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, CARD[:-1] + ', "network": ' + "[" * 5_000])
def test_a_card_nested_without_end_is_told(tmp_path: Path, deep: str) -> None:
    """Brackets in brackets, as the whole card or within it."""
    write(tmp_path / "model", deep.encode())
    is_told_or_whole(tmp_path / "model")


@given(content=damaged(CARD.encode()))
@FUZZ
def test_a_damaged_card(tmp_path: Path, content: bytes) -> None:
    """Bytes of any kind."""
    write(tmp_path / "model", content)
    is_told_or_whole(tmp_path / "model")


@given(content=twisted(CARD))
@FUZZ
def test_a_card_of_other_values(tmp_path: Path, content: bytes) -> None:
    """JSON of any kind."""
    write(tmp_path / "model", content)
    is_told_or_whole(tmp_path / "model")


def scores_something(path: Path) -> None:
    """The numbers of a linker are refused, or score."""
    try:
        scorer = Scorer.load(path)
    except UsageError:
        return
    assert scorer.first["names"].scores(np.zeros((1, len(FEATURES)))).shape == (1,)
    assert scorer.second.scores(np.zeros((1, len(SECOND)))).shape == (1,)
    assert isinstance(scorer.probability(0.5), float)


@given(content=twisted(score.SHIPPED.read_text(encoding="utf-8")) | damaged(score.SHIPPED.read_bytes()))
@FUZZ
def test_damaged_numbers_of_the_linker(tmp_path: Path, content: bytes) -> None:
    """Bytes and JSON of any kind."""
    (tmp_path / "linker.json").write_bytes(content)
    scores_something(tmp_path / "linker.json")


def small_vectors() -> bytes:
    """Vectors of names as they are shipped, but few."""
    held = io.BytesIO()
    np.savez_compressed(held, table=np.arange(64, dtype=np.int8).reshape(16, 4), scales=np.ones(16, dtype=np.float16))
    return held.getvalue()


@given(content=damaged(small_vectors()))
@FUZZ
def test_damaged_vectors_of_names(tmp_path: Path, content: bytes) -> None:
    """An archive whose parts are cut, doubled or turned."""
    assert encoders.SHIPPED.is_file()
    (tmp_path / "vectors.npz").write_bytes(content)
    try:
        encoder = GramEncoder.load(tmp_path / "vectors.npz")
    except UsageError:
        return
    assert encoder.encode(["breast cancer"]).shape == (1, encoder.dimension)
