"""Adaptation to a domain: an encoder goes on guessing hidden words, on texts like those it is to read (``--adapt``).

After Gururangan et al., ACL 2020. Whole words are hidden (15 in 100; of these 80 by the mask, 10 by a chance piece, 10
left), the head shares the embeddings of the pieces. The result is a Hugging Face folder, the base of a training.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor, nn

from ...ingest.models.tagging.words import word_spans
from ...kb.errors import UsageError
from ...kb.files.text_files import text_of
from .checkpoints import keep, kept
from .examples import chance_of
from .loop import device_of, precision_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer

STATE: Final = "adapting.pt"
_HIDDEN: Final = 0.15
_LEFT_OUT: Final = -100
#: Checkpoints are written so often (steps).
_KEPT_EVERY: Final = 200
_TRAINED: Final = ("encoder", "head", "optimizer")


@dataclass(frozen=True, slots=True)
class AdaptationSettings:
    """How an encoder is adapted. ``batch_pieces``: pieces of a batch, ``window``: pieces of a text at most."""

    epochs: int = 1
    window: int = 128
    batch_pieces: int = 2048
    rate: float = 3e-4
    warmup: float = 0.06
    seed: int = 0
    device: str = "cpu"
    precision: str = "auto"


@dataclass(frozen=True, slots=True)
class Adapted:
    """What came of it: steps, pieces seen, and the loss of hidden pieces over the first and the last tenth."""

    steps: int
    pieces: int
    first_loss: float
    last_loss: float


class GuessingHead(nn.Module):
    """Which piece is hidden, from what the encoder makes of its place; the pieces' own embeddings are the choices."""

    def __init__(self, width: int, embeddings: nn.Embedding) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.choices = embeddings
        self.bias = nn.Parameter(torch.zeros(embeddings.num_embeddings))

    def forward(self, hidden: Tensor) -> Tensor:
        """[N, width] to [N, pieces]."""
        read = self.norm(nn.functional.gelu(self.dense(hidden)))
        return nn.functional.linear(read, self.choices.weight, self.bias)


def texts_in(path: Path) -> list[str]:
    """The texts of a file or folder: ``.txt`` files, ``.jsonl`` with ``text``; UsageError where there are none."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    texts: list[str] = []
    try:
        for file in files:
            if file.suffix == ".jsonl":
                rows = (json.loads(line) for line in text_of(file).splitlines() if line.strip())
                texts.extend(row["text"] for row in rows if isinstance(row, dict) and isinstance(row.get("text"), str))
            elif file.suffix == ".txt":
                texts.append(text_of(file, errors="replace"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read texts of '{path}': {type(error).__name__}. Hint: .txt, or .jsonl") from error
    if not any(text.strip() for text in texts):
        raise UsageError(f"no texts in '{path}'. Hint: a folder of .txt files, or .jsonl with a key 'text'")
    return texts


def pieces_of(texts: Sequence[str], tokenizer: Tokenizer, window: int) -> list[list[tuple[int, ...]]]:
    """Windows of words, each word its pieces; texts of fewer than four words say nothing and are left out."""
    known: dict[str, tuple[int, ...]] = {}
    windows: list[list[tuple[int, ...]]] = []
    for text in texts:
        here: list[tuple[int, ...]] = []
        used = 0
        for start, end in word_spans(text):
            word = text[start:end][:64]
            if word not in known:
                known[word] = tuple(tokenizer.encode(word, add_special_tokens=False).ids[:8])
            pieces = known[word]
            if used + len(pieces) > window - 2:
                windows.append(here)
                here, used = [], 0
            if pieces:
                here.append(pieces)
                used += len(pieces)
        windows.append(here)
    return [one for one in windows if len(one) >= 4]


def _hidden(
    windows: Sequence[Sequence[tuple[int, ...]]], tokenizer: Tokenizer, chance: random.Random
) -> tuple[Tensor, Tensor, Tensor]:
    """(pieces, mask, answers) of a batch, [B, P]; an answer of ``_LEFT_OUT`` is not asked."""
    begin, end, padding, mask = (tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]", "[PAD]", "[MASK]"))
    rows, answers = [], []
    for window in windows:
        row, asked = [begin], [_LEFT_OUT]
        for pieces in window:
            hide = chance.random() < _HIDDEN
            for piece in pieces:
                draw = chance.random() if hide else 1.0
                chosen = mask if draw < 0.8 else chance.randrange(tokenizer.get_vocab_size()) if draw < 0.9 else piece
                row.append(chosen)
                asked.append(piece if hide else _LEFT_OUT)
        rows.append([*row, end])
        answers.append([*asked, _LEFT_OUT])
    longest = max(map(len, rows))
    ids = torch.tensor([row + [padding] * (longest - len(row)) for row in rows])
    seen = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    wanted = torch.tensor([row + [_LEFT_OUT] * (longest - len(row)) for row in answers])
    return ids, seen, wanted


def _batches(
    windows: Sequence[Sequence[tuple[int, ...]]], settings: AdaptationSettings, epoch: int
) -> Iterator[list[int]]:
    """The numbers of the windows of each batch of an epoch, in an order that the seed decides."""
    chance = chance_of(settings.seed, epoch)
    costs = [2 + sum(map(len, window)) for window in windows]
    order = sorted(range(len(windows)), key=lambda at: (costs[at] // 8, chance.random()))
    batches: list[list[int]] = [[]]
    for at in order:
        if batches[-1] and (len(batches[-1]) + 1) * costs[at] > settings.batch_pieces:
            batches.append([])
        batches[-1].append(at)
    chance.shuffle(batches)
    yield from batches


def adapt(
    encoder: nn.Module,
    tokenizer: Tokenizer,
    texts: Sequence[str],
    settings: AdaptationSettings,
    folder: Path,
    advanced: Callable[[int, int, float], None] = lambda *_: None,
) -> Adapted:
    """Adapt ``encoder`` in place. ``advanced``: (step, of steps, loss). A stopped run goes on from its checkpoint in
    ``folder``. UsageError where the texts give no window, or the tokenizer has no piece that masks."""
    if tokenizer.token_to_id("[MASK]") is None:
        raise UsageError(
            "the tokenizer has no piece [MASK]. Hint: an encoder that was trained by guessing hidden words"
        )
    windows = pieces_of(texts, tokenizer, settings.window)
    if not windows:
        raise UsageError("the texts to adapt to have no four words in a row. Hint: more, or longer, texts")
    torch.manual_seed(settings.seed)
    device = device_of(settings.device)
    precision = precision_of(settings.precision, device)
    head = GuessingHead(int(encoder.config.hidden_size), encoder.get_input_embeddings()).to(device)  # type: ignore[operator, union-attr, arg-type]
    encoder.to(device).train()
    own = {id(one) for one in encoder.parameters()}
    fresh = [one for one in head.parameters() if id(one) not in own]
    optimizer = torch.optim.AdamW(
        [{"params": list(encoder.parameters()), "lr": settings.rate}, {"params": fresh, "lr": 3 * settings.rate}],
        weight_decay=0.01,
    )
    plan = [batch for epoch in range(settings.epochs) for batch in _batches(windows, settings, epoch)]
    rising = max(1, int(settings.warmup * len(plan)))
    identity = {**asdict(settings), "steps": len(plan), "texts": _digest(texts)}
    run = _Run(encoder, head, optimizer)
    run.resume(folder, identity)
    while run.step < len(plan):
        step = run.step
        ids, seen, wanted = _hidden([windows[at] for at in plan[step]], tokenizer, chance_of(settings.seed, -1, step))
        share = min((step + 1) / rising, (len(plan) - step) / max(1, len(plan) - rising))
        for group, rate in zip(optimizer.param_groups, (settings.rate, 3 * settings.rate), strict=True):
            group["lr"] = rate * share
        ids, seen, wanted = ids.to(device), seen.to(device), wanted.to(device)
        asked = wanted != _LEFT_OUT
        with torch.autocast(device.type, dtype=precision, enabled=precision is not torch.float32):
            hidden = encoder(input_ids=ids, attention_mask=seen)[0][asked]
            guesses = head(hidden)
        loss = nn.functional.cross_entropy(guesses.float(), wanted[asked]) if asked.any() else guesses.sum() * 0.0
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([*encoder.parameters(), *fresh], 1.0)
        optimizer.step()
        run.losses.append(float(loss.detach()))
        run.pieces += int(seen.sum())
        run.step += 1
        advanced(run.step, len(plan), run.losses[-1])
        if run.step % _KEPT_EVERY == 0 or run.step == len(plan):
            run.keep(folder, identity)
    encoder.eval()
    tenth = max(1, len(run.losses) // 10)
    return Adapted(run.step, run.pieces, sum(run.losses[:tenth]) / tenth, sum(run.losses[-tenth:]) / tenth)


def _digest(texts: Iterable[str]) -> str:
    total = hashlib.sha256()
    for text in texts:
        total.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return total.hexdigest()


@dataclass(slots=True)
class _Run:
    """An adaptation under way: what is trained, the losses of its steps, and the pieces that it has seen."""

    encoder: nn.Module
    head: GuessingHead
    optimizer: torch.optim.Optimizer
    losses: list[float] = field(default_factory=list)
    step: int = 0
    pieces: int = 0

    def keep(self, folder: Path, identity: Mapping[str, Any]) -> None:
        """Write a checkpoint."""
        weights = {name: getattr(self, name).state_dict() for name in _TRAINED}
        keep(folder / STATE, identity, {**weights, "losses": self.losses, "step": self.step, "pieces": self.pieces})

    def resume(self, folder: Path, identity: Mapping[str, Any]) -> None:
        """Go on from the checkpoint of a run that was stopped, where there is one."""
        state = kept(folder / STATE, identity)
        if state is not None:
            for name in _TRAINED:
                getattr(self, name).load_state_dict(state[name])
            self.losses, self.step, self.pieces = list(state["losses"]), int(state["step"]), int(state["pieces"])
