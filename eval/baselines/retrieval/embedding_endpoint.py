"""An encoder behind an OpenAI-compatible embedding endpoint: batches, retries, a budget; its vectors are checked."""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from ....ingest.models.linking.encoders import to_unit
from ....kb.endpoint.post import CHARACTERS_A_TOKEN, EndpointError, JsonPost, is_count
from ....kb.endpoint.settings import Limits, Settings, check_leave
from ....kb.endpoint.settings import from_environment as endpoint_from_environment
from ....kb.errors import UsageError
from ..reading.budget import Account, Budget, Pace, Prices, Ticket
from ..reading.settings import prices
from ..systems.contract import Spent
from .encoders import Spans, Vectors
from .threads import each

PREFIX: Final = "COHORTIUM_EMBEDDING"
#: Signs, and pieces of words of at most four letters: about as many as the tokens of a model, rather more.
_PIECE: Final = re.compile(r"\w{1,4}|[^\w\s]")
#: What is encoded to learn the dimension where it was not told.
_PROBE: Final = "dimension"
_LIMITS: Final = Limits(tries=5, longest_pause=60.0, answer_bytes=128 * 1024 * 1024, requests=0, tokens=0)
#: Answers of a server that does not know an option.
_OTHER_OPTIONS: Final = frozenset({400, 422})


@dataclass(frozen=True, slots=True)
class EmbeddingOptions:
    """What the model reads and what it may cost.

    ``dimension`` of its vectors (None: one request asks for it), ``most_tokens`` that it reads of a text; ``batch``
    texts in a request, ``threads`` requests at a time; words set before questions and passages, for models that were
    trained so.
    """

    dimension: int | None = None
    most_tokens: int = 1_000
    batch: int = 64
    threads: int = 4
    per_second: float | None = None
    before_question: str = ""
    before_passage: str = ""
    budget: Budget = Budget()
    prices: Prices = Prices()

    def __post_init__(self) -> None:
        for name in ("dimension", "most_tokens", "batch", "threads"):
            bound = getattr(self, name)
            if bound is not None and bound < 1:
                raise UsageError(f"'{name}' of an embedding endpoint is a whole number, 1 or more")


class EndpointEncoder:
    """The encoder (``encoders.py``) that a model behind an endpoint is. Chunks of notes are sent to it.

    ``spent`` adds up what all its requests cost. EndpointError when an answer is not one vector for each text, each of
    the right dimension, of finite numbers and not all zero, or when the budget ends.
    """

    def __init__(self, settings: Settings, options: EmbeddingOptions | None = None) -> None:
        """Nothing is sent before the first vector, or the dimension, is wanted."""
        self._settings = settings
        self._options = options or EmbeddingOptions()
        self._post = JsonPost(settings, "embedding endpoint")
        self._account = Account(self._options.budget, self._options.prices, called="the encoder")
        self._pace = Pace(self._options.per_second)
        self._dimension = self._options.dimension
        self._lock = threading.Lock()
        self.spent = Spent()

    @property
    def name(self) -> str:
        """The model's."""
        return "-".join(self._settings.model.split())

    @property
    def dimension(self) -> int:
        """As it was told; else as a request tells it."""
        if self._dimension is None:
            self._dimension = len(self._vectors([_PROBE], threading.Event())[0])
        return self._dimension

    @property
    def most_tokens(self) -> int:
        """As it was told: an endpoint does not say."""
        return self._options.most_tokens

    def signature(self) -> Mapping[str, Any]:
        """The model by its name (what stands behind a name may change without a word); neither address nor key."""
        return {
            "name": self._settings.model,
            "kind": "endpoint",
            "dimension": self.dimension,
            "most_tokens": self.most_tokens,
            "before_question": self._options.before_question,
            "before_passage": self._options.before_passage,
            "tokens": "pieces of words of at most four letters, and signs",
        }

    def offsets(self, texts: Sequence[str]) -> list[Spans]:
        """Pieces of words and signs: an endpoint lends no tokenizer."""
        return [
            np.array([one.span() for one in _PIECE.finditer(text)], dtype=np.int32).reshape(-1, 2) for text in texts
        ]

    def encode(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:
        """Unit vectors in the order of ``texts``; a text of blanks alone is not sent, and has a row of zeros."""
        before = self._options.before_question if asked else self._options.before_passage
        places = [place for place, text in enumerate(texts) if text.strip()]
        sent = [before + self._cut(texts[place]) for place in places]
        size, stop = self._options.batch, threading.Event()
        batches = [sent[at : at + size] for at in range(0, len(sent), size)]
        found = each(lambda batch: self._vectors(batch, stop), batches, self._options.threads, stop)
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if found:
            rows[places] = np.concatenate(found)
        return to_unit(rows)

    def _cut(self, text: str) -> str:
        """What the model would read of a text."""
        for number, piece in enumerate(_PIECE.finditer(text), start=1):
            if number == self._options.most_tokens:
                return text[: piece.end()]
        return text

    # --- one request ------------------------------------------------------------------------------------------------

    def _vectors(self, texts: Sequence[str], stop: threading.Event) -> Vectors:
        plain = {"model": self._settings.model, "input": list(texts)}
        simplified = False

        def simpler(status: int) -> Mapping[str, Any] | None:
            """Not every server knows that numbers can be asked for as numbers."""
            nonlocal simplified
            if status not in _OTHER_OPTIONS or simplified:
                return None
            simplified = True
            return plain

        ticket = Ticket(self._account, self._pace, stop, 0)
        try:
            body = self._post.post({**plain, "encoding_format": "float"}, ticket, simpler)
            held, tokens = self._read(body, texts)
        except EndpointError as error:
            ticket.fail(error)
            raise
        else:
            ticket.settle(tokens, 0)
        finally:
            ticket.release()
            with self._lock:
                self.spent += ticket.spent
        return held

    def _read(self, body: bytes, texts: Sequence[str]) -> tuple[Vectors, int]:
        """The vectors by their ``index``, and the tokens that were counted."""
        try:
            answer = json.loads(body.decode("utf-8"))
            rows = {_whole(one["index"]): one["embedding"] for one in answer["data"]}
            ordered = [rows[place] for place in range(len(texts))]
            if len(rows) != len(texts) or len(answer["data"]) != len(texts):
                raise ValueError("one vector a text")
            if not all(isinstance(number, int | float) for row in ordered for number in row):
                raise ValueError("numbers")
            with np.errstate(over="ignore"):
                vectors = np.array(ordered, dtype=np.float32)
            usage = answer.get("usage")
            counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError):
            raise EndpointError(
                f"{self._post.name} sent something that is no vector for each text", "nonsense"
            ) from None
        if vectors.ndim != 2 or not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
            raise EndpointError(f"{self._post.name} sent a vector that has no direction", "nonsense")
        with self._lock:
            wanted, came = self._dimension, vectors.shape[1]
            self._dimension = came if wanted is None else wanted
        if wanted not in (None, came):
            raise EndpointError(f"{self._post.name} sent vectors of dimension {came}, not {wanted}", "nonsense")
        if is_count(counted):
            return vectors, counted
        return vectors, math.ceil(sum(map(len, texts)) / CHARACTERS_A_TOKEN)


def embedding_endpoint(
    environment: Mapping[str, str] | None = None, options: EmbeddingOptions | None = None
) -> EndpointEncoder:
    """The encoder that COHORTIUM_EMBEDDING_BASE_URL, _MODEL and _API_KEY name. UsageError when one is missing, or
    COHORTIUM_EMBEDDING_SEND_NOTES does not say that it may have text of notes."""
    settings = endpoint_from_environment(
        environment,
        prefix=PREFIX,
        place="/embeddings",
        called="embedding endpoint",
        hint="see docs/reference/baselines.md",
    )
    check_leave(environment, PREFIX)
    options = options or EmbeddingOptions()
    if options.prices == Prices():
        options = replace(options, prices=prices(environment, PREFIX))
    return EndpointEncoder(replace(settings, limits=replace(_LIMITS, seconds=settings.limits.seconds)), options)


def _whole(index: object) -> int:
    if isinstance(index, bool) or not isinstance(index, int):
        raise ValueError("an index is a whole number")
    return index
