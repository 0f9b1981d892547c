"""A linear-chain conditional random field over words whose tags may be known, unknown, or known in part.

Corpora annotate different types: where a corpus does not annotate drugs, a word outside its spans may still be a drug.
So the loss takes, for each word, the set of tags that it may have, and is the negative logarithm of the probability of
all taggings that agree (partial annotation after Tsuboi et al., COLING 2008; with one tag a word it is the usual loss).
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from ...ingest.models.tagging.labels import LabelSet

#: What stands for minus infinity: small enough to forbid, large enough to add up without overflow.
FORBIDDEN = -1e4


class TransitionScores(nn.Module):
    """Scores of a tag at the beginning, behind another, and at the end; the forbidden stay forbidden."""

    def __init__(self, labels: LabelSet) -> None:
        super().__init__()
        tags = len(labels)
        self.between = nn.Parameter(torch.zeros(tags, tags))
        self.first = nn.Parameter(torch.zeros(tags))
        self.last = nn.Parameter(torch.zeros(tags))
        self.register_buffer("allowed", torch.from_numpy(labels.allowed.copy()))
        self.register_buffer("may_begin", torch.from_numpy(labels.may_begin.copy()))

    def scores(self) -> tuple[Tensor, Tensor, Tensor]:
        """(transitions [T, T], start [T], end [T])."""
        allowed, may_begin = cast(Tensor, self.allowed), cast(Tensor, self.may_begin)
        return (
            self.between.masked_fill(~allowed, FORBIDDEN),
            self.first.masked_fill(~may_begin, FORBIDDEN),
            self.last,
        )

    def forward(self, emissions: Tensor, possible: Tensor, mask: Tensor) -> Tensor:
        """The loss of each text, [B]. ``emissions`` [B, W, T] float; ``possible`` [B, W, T] bool; ``mask`` [B, W] bool.

        A text of no words costs nothing. Words lie at the left of their row.
        """
        both = torch.cat([emissions, emissions.masked_fill(~possible, FORBIDDEN)], 0)
        totals = self._totals(both, torch.cat([mask, mask], 0))
        everything, agreeing = totals.chunk(2)
        return (everything - agreeing) * mask.any(1)

    def _totals(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """The logarithm of the sum over all taggings of each text, [B]."""
        transitions, start, end = self.scores()
        so_far = start + emissions[:, 0]
        for at in range(1, emissions.shape[1]):
            onward = torch.logsumexp(so_far.unsqueeze(2) + transitions, 1) + emissions[:, at]
            so_far = torch.where(mask[:, at].unsqueeze(1), onward, so_far)
        return torch.logsumexp(so_far + end, 1)
