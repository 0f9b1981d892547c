"""The settings of a training run: everything that decides the result, in one value that goes into the model card."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, get_args

from ...kb.errors import UsageError

Kind = Literal["encoder", "convolution"]
Precision = Literal["auto", "float32", "bfloat16", "float16"]

#: What the from-scratch network is made of, where it differs from the head over a transformer.
CONVOLUTION_SHAPE: Final[dict[str, Any]] = {
    "filters": 64,
    "hashed": 96,
    "width": 256,
    "dilations": (1, 2, 4, 1),
    "dropout": 0.35,
}


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How a recogniser is trained. Rates are of AdamW; ``encoder_rate`` is of the transformer's own weights.

    ``batch_words``: words of a batch, padding left out; ``window``: pieces (words, without a transformer) of a window;
    ``warmup``: share of the steps in which the rates rise, before they fall to zero on a straight line;
    ``averaging``: decay of the moving average of the weights, which is what is scored and kept (0: the last weights);
    ``balance``: exponent by which windows with rare types are drawn more often (0: all alike);
    ``hidden``: share of the words hidden in training, so that a mention is also told by what stands around it;
    ``frozen_pieces``: the embeddings of word pieces stay as they are: half of a small encoder's weights, so that a step
    costs a quarter less, and pieces that the corpus lacks keep their neighbours;
    ``patience``: epochs without a better score on the development documents before the run ends.
    """

    kind: Kind = "encoder"
    epochs: int = 12
    patience: int = 4
    batch_words: int = 1200
    window: int = 192
    encoder_rate: float = 2e-4
    rate: float = 2e-3
    warmup: float = 0.1
    weight_decay: float = 0.01
    averaging: float = 0.99
    balance: float = 0.2
    hidden: float = 0.0
    frozen_pieces: bool = True
    seed: int = 0
    device: str = "cpu"
    precision: Precision = "auto"
    threads: int = 0

    def __post_init__(self) -> None:
        wrong = {
            "epochs": self.epochs < 1,
            "patience": self.patience < 1,
            "batch_words": self.batch_words < 1,
            "window": not 32 <= self.window <= 510,
            "encoder_rate": not 0 <= self.encoder_rate < 1,
            "rate": not 0 < self.rate < 1,
            "warmup": not 0 <= self.warmup < 1,
            "averaging": not 0 <= self.averaging < 1,
            "balance": not 0 <= self.balance <= 1,
            "hidden": not 0 <= self.hidden < 1,
            "precision": self.precision not in get_args(Precision),
            "threads": self.threads < 0,
        }
        if name := next((name for name, bad in wrong.items() if bad), ""):
            raise UsageError(f"{name} cannot be {getattr(self, name)}. Hint: see 'cohortium train ner --help'")

    def as_dict(self) -> dict[str, Any]:
        """The settings as JSON."""
        return asdict(self)

    @property
    def deciding(self) -> dict[str, Any]:
        """Those that decide the weights: a run resumes only with the same ones."""
        return {name: value for name, value in asdict(self).items() if name not in ("epochs", "patience", "threads")}
