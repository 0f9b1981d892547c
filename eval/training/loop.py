"""Training of a recogniser: epochs over batches, scores on development documents, checkpoints, an early end.

A run that is stopped leaves a checkpoint behind every epoch; the same run again goes on from it. Seeds decide the
order of the batches and the first weights; what several threads add up in another order may differ in the last digits.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy
import torch
from torch import Tensor, nn

from ...ingest.models.tagging.decode import Decoder
from ...ingest.models.tagging.features import Featurizer
from ...ingest.models.tagging.labels import LabelSet
from ...ingest.models.tagging.network import Network
from ...ingest.models.tagging.runtime import device_named
from ...kb.errors import UsageError
from ..extraction.corpora.corpus import AnnotatedDocument
from ..measures.metrics import F1
from ..measures.scoring import total, value
from .checkpoints import keep, kept
from .crf import FORBIDDEN, TransitionScores
from .examples import Example, TrainingPart, batches_of, chance_of, digest_of, possible_tags, with_hidden, words_of
from .settings import TrainingSettings
from .span_scores import Entity, counts_of

if TYPE_CHECKING:
    from torch.optim import Optimizer

CHECKPOINT: Final = "checkpoint.pt"
#: Steps are clipped to this length: a batch of odd texts must not throw the weights about.
_LONGEST_STEP: Final = 1.0
#: Words of development documents that are scored at once.
_SCORED_WORDS: Final = 6000
#: The transitions between tags learn faster than the rest: they are few, and each batch speaks of all of them.
_TRANSITION_RATE: Final = 5.0


@dataclass(slots=True)
class Epoch:
    """What an epoch came to: mean loss a word, F1 on the development documents (exact, micro), seconds."""

    number: int
    loss: float
    f1: float
    seconds: float


@dataclass(slots=True)
class Trained:
    """The best weights of a run, and how it went."""

    network: Network
    transitions: TransitionScores
    epochs: list[Epoch] = field(default_factory=list)
    best: Epoch | None = None

    def decoder(self, labels: LabelSet) -> Decoder:
        """The decoder with the transitions that were learned."""
        with torch.no_grad():
            scores = [one.detach().cpu().double().numpy() for one in self.transitions.scores()]
        between, first, last = (numpy.where(one <= FORBIDDEN, -numpy.inf, one) for one in scores)
        return Decoder(labels, between, first, last)


@dataclass(frozen=True, slots=True)
class Progress:
    """Who is shown how it goes: a step's name, an epoch that is done, the share of an epoch that is."""

    step: Callable[[str], None] = lambda _: None
    epoch: Callable[[Epoch], None] = lambda _: None
    advance: Callable[[float], None] = lambda _: None


#: Nobody is shown anything.
SILENT: Final = Progress()


class Training:
    """One run of epochs over batches."""

    def __init__(
        self,
        settings: TrainingSettings,
        network: Network,
        labels: LabelSet,
        featurizer: Featurizer,
        folder: Path,
        progress: Progress = SILENT,
    ) -> None:
        self._settings = settings
        self._labels = labels
        self._featurizer = featurizer
        self._folder = folder
        self._progress = progress
        self._device = device_of(settings.device)
        if settings.threads:
            torch.set_num_threads(settings.threads)
        self._network = network.to(self._device)
        self._transitions = TransitionScores(labels).to(self._device)
        if settings.frozen_pieces and network.encoder is not None:
            for one in network.encoder.get_input_embeddings().parameters():  # type: ignore[operator]
                one.requires_grad_(False)
        self._precision = precision_of(settings.precision, self._device)
        self._average = [one.detach().clone() for one in self._parameters()]
        self._averaged = 0
        self._texts = ""

    def _parameters(self) -> list[nn.Parameter]:
        return [one for one in (*self._network.parameters(), *self._transitions.parameters()) if one.requires_grad]

    def run(self, examples: Sequence[Example], development: Sequence[TrainingPart]) -> Trained:
        """Train; the weights of the best epoch are kept. UsageError where there is nothing to learn from."""
        if not examples:
            raise UsageError("no words to train on. Hint: a corpus with annotated documents")
        if not any(part.corpus.documents for part in development):
            raise UsageError("no development documents to tell when to stop. Hint: --dev FILE, or --dev-share 0.1")
        settings = self._settings
        self._texts = digest_of(examples, development)
        steps = sum(1 for _ in batches_of(examples, settings.batch_words, settings.seed, 0))
        optimizer = self._optimizer()
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, _rates(settings, steps * settings.epochs))
        scaler = torch.amp.GradScaler(self._device.type, enabled=self._precision is torch.float16)
        state = self._resume(optimizer, scheduler)
        done: list[Epoch] = [Epoch(**one) for one in state["epochs"]]
        best_weights: list[Tensor] = state["best_weights"]
        for number in range(len(done), settings.epochs):
            if self._is_over(done):
                break
            torch.manual_seed(settings.seed * 1009 + number)
            began = time.perf_counter()
            loss = self._epoch(examples, number, steps, optimizer, scheduler, scaler)
            with self._averages():
                epoch = Epoch(number + 1, loss, self.f1(development), time.perf_counter() - began)
                if not done or epoch.f1 > max(one.f1 for one in done):
                    best_weights = [one.detach().cpu().clone() for one in self._parameters()]
            done.append(epoch)
            self._progress.epoch(epoch)
            self._keep(optimizer, scheduler, done, best_weights)
        with torch.no_grad():
            for parameter, best_weight in zip(self._parameters(), best_weights, strict=True):
                parameter.copy_(best_weight.to(self._device))
        best = max(done, key=lambda one: (one.f1, -one.number), default=None)
        self._network.eval()
        return Trained(self._network, self._transitions, done, best)

    def _is_over(self, done: Sequence[Epoch]) -> bool:
        if not done:
            return False
        best = max(done, key=lambda one: (one.f1, -one.number))
        return len(done) - best.number >= self._settings.patience

    def _optimizer(self) -> Optimizer:
        settings = self._settings
        encoder = (
            {id(one) for one in self._network.encoder.parameters()} if self._network.encoder is not None else set()
        )
        groups = []
        for rate, chosen in (
            (settings.encoder_rate, [one for one in self._parameters() if id(one) in encoder]),
            (settings.rate, [one for one in self._network.parameters() if id(one) not in encoder]),
            (settings.rate * _TRANSITION_RATE, list(self._transitions.parameters())),
        ):
            # Biases and norms are not drawn to zero.
            for decay, some in (
                (settings.weight_decay, [one for one in chosen if one.dim() > 1]),
                (0.0, [one for one in chosen if one.dim() <= 1]),
            ):
                if some:
                    groups.append({"params": some, "lr": rate, "weight_decay": decay})
        return torch.optim.AdamW(groups, fused=True)

    def _epoch(
        self,
        examples: Sequence[Example],
        number: int,
        steps: int,
        optimizer: Optimizer,
        scheduler: Any,
        scaler: Any,
    ) -> float:
        settings = self._settings
        self._network.train()
        losses, words = 0.0, 0
        for at, batch in enumerate(batches_of(examples, settings.batch_words, settings.seed, number)):
            chance = chance_of(settings.seed, number, at)
            arrays = self._arrays([with_hidden(one.words, settings.hidden, chance) for one in batch])
            mask = arrays[self._network.settings.inputs.index("word_mask")].bool()
            possible = torch.from_numpy(possible_tags(batch, mask.shape[1])).to(self._device)
            with self._mixed():
                emissions = self._network(*arrays).float()
            here = int(mask.sum())
            loss = self._transitions(emissions, possible, mask).sum() / max(1, here)
            if not torch.isfinite(loss):
                raise UsageError(
                    f"the loss is no number in epoch {number + 1}, batch {at + 1}. Hint: a lower --rate, or"
                    " --precision float32"
                )
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(self._parameters(), _LONGEST_STEP)
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()
            self._follow()
            losses += float(loss.detach()) * here
            words += here
            self._progress.advance(min(1.0, (at + 1) / steps))
        return losses / max(1, words)

    def _arrays(self, texts: Sequence[Sequence[str]]) -> list[Tensor]:
        made = self._featurizer.batch(texts)
        return [torch.from_numpy(made[name]).to(self._device) for name in self._network.settings.inputs]

    def _mixed(self) -> contextlib.AbstractContextManager[Any]:
        if self._precision is torch.float32:
            return contextlib.nullcontext()
        return torch.autocast(self._device.type, dtype=self._precision)

    # --- the average of the weights ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        decay = self._settings.averaging
        if not decay:
            return
        self._averaged += 1
        # Early on the average would still be the first weights: it follows faster then.
        decay = min(decay, (1 + self._averaged) / (10 + self._averaged))
        with torch.no_grad():
            torch._foreach_lerp_(self._average, [one.detach() for one in self._parameters()], 1 - decay)

    @contextlib.contextmanager
    def _averages(self) -> Iterator[None]:
        """The averaged weights in place of the last ones, for the while."""
        if not self._settings.averaging:
            yield
            return
        last = [one.detach().clone() for one in self._parameters()]
        with torch.no_grad():
            for parameter, average in zip(self._parameters(), self._average, strict=True):
                parameter.copy_(average)
            try:
                yield
            finally:
                for parameter, own in zip(self._parameters(), last, strict=True):
                    parameter.copy_(own)

    # --- scores ------------------------------------------------------------------------------------------------------

    def f1(self, development: Sequence[TrainingPart]) -> float:
        """Micro F1 of exact entities of the types that each part annotates; 0 where it is undefined."""
        whole = total(
            counts_of(gold, part.annotated(found))
            for part in development
            for gold, found in zip(part.gold(), self.entities(part.corpus.documents), strict=True)
        )
        return value(F1, whole) or 0.0

    def entities(self, documents: Sequence[AnnotatedDocument]) -> list[list[Entity]]:
        """The entities of each document, in words."""
        self._network.eval()
        decoder = Trained(self._network, self._transitions).decoder(self._labels)
        texts = [words_of(one) for one in documents]
        placed = [
            (at, window)
            for at, (words, one) in enumerate(zip(texts, documents, strict=True))
            for window in self._featurizer.windows(words, one.breaks)
        ]
        placed.sort(key=lambda one: one[1].last - one[1].first)
        emissions = [numpy.zeros((len(words), len(self._labels)), dtype=numpy.float32) for words in texts]
        at = 0
        while at < len(placed):
            widest = placed[at][1].last - placed[at][1].first
            some = placed[at : at + max(1, _SCORED_WORDS // max(1, 2 * widest))]
            at += len(some)
            arrays = self._arrays([texts[one][window.first : window.last] for one, window in some])
            with torch.no_grad(), self._mixed():
                scored = self._network(*arrays).float().cpu().numpy()
            for row, (one, window) in enumerate(some):
                emissions[one][window.core] = scored[row, window.core_inside]
        return [self._labels.decode(tags) for tags in decoder.best(emissions)]

    # --- checkpoints -------------------------------------------------------------------------------------------------

    def _keep(self, optimizer: Optimizer, scheduler: Any, done: Sequence[Epoch], best_weights: list[Tensor]) -> None:
        state = {
            "network": self._network.state_dict(),
            "transitions": self._transitions.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": {"last_epoch": scheduler.last_epoch},
            "average": self._average,
            "averaged": self._averaged,
            "epochs": [asdict(one) for one in done],
            "best_weights": best_weights,
        }
        keep(self._folder / CHECKPOINT, self._identity(), state)

    def _identity(self) -> dict[str, Any]:
        network = self._network.settings.as_dict()
        asked = {"epochs": self._settings.epochs, "types": self._labels.types, "network": network, "texts": self._texts}
        return {**self._settings.deciding, **asked}

    def _resume(self, optimizer: Optimizer, scheduler: Any) -> dict[str, Any]:
        """The state of a run that was stopped; that of a fresh one where there is none."""
        state = kept(self._folder / CHECKPOINT, self._identity())
        if state is None:
            return {"epochs": [], "best_weights": []}
        self._network.load_state_dict(state["network"])
        self._transitions.load_state_dict(state["transitions"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.last_epoch = state["scheduler"]["last_epoch"]
        for group, rate in zip(optimizer.param_groups, scheduler.base_lrs, strict=True):
            group["lr"] = rate * scheduler.lr_lambdas[0](scheduler.last_epoch)
        self._average = [one.to(self._device) for one in state["average"]]
        self._averaged = state["averaged"]
        return state


def _rates(settings: TrainingSettings, steps: int) -> Callable[[int], float]:
    """The share of the full rate at each step: up in a line, down in a line."""
    rising = max(1, int(settings.warmup * steps))

    def share(step: int) -> float:
        if step < rising:
            return (step + 1) / rising
        return max(0.0, (steps - step) / max(1, steps - rising))

    return share


def device_of(name: str) -> torch.device:
    """The device of a name, ``auto`` for a GPU where there is one; UsageError where it is none or is not there."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return cast(torch.device, device_named(torch, name))


def precision_of(name: str, device: torch.device) -> torch.dtype:
    """The type of number to compute with. ``auto``: half the width where the device computes with it itself."""
    if name != "auto":
        return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[name]
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if device.type == "cpu" and torch.backends.mkldnn.is_available():
        # A build for another processor has the library without the question.
        supported = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
        return torch.bfloat16 if supported() else torch.float32
    return torch.float32
