"""Word pieces that no text uses are dropped: half of a small encoder is the table of its pieces.

Pieces of one letter stay, all of them, and so do the pieces that are no words (``[CLS]`` …): every word that could be
written can still be written, if in shorter pieces. The vocabulary stays a WordPiece one, its numbers are dealt anew in
the same order.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ....ingest.models.optional import library
from ....ingest.models.tagging.features import Featurizer
from ....ingest.models.tagging.words import word_spans
from ....kb.errors import UsageError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from ....ingest.models.tagging.network import Network

_WORD_PIECE: Final = "WordPiece"
_INPUTS: Final = ("pieces", "piece_mask", "first_piece", "word_mask")
_WINDOW: Final = 64


def used_pieces(tokenizer: Tokenizer, texts: Iterable[str]) -> list[int]:
    """The numbers of the pieces to keep, rising: those of the words of the texts, of one letter, and no words.

    UsageError for a tokenizer that is no WordPiece.
    """
    settings = _as_json(tokenizer)
    prefix = str(settings["model"].get("continuing_subword_prefix", "##"))
    kept = {int(one["id"]) for one in settings["added_tokens"]}
    kept |= {number for piece, number in settings["model"]["vocab"].items() if len(piece.removeprefix(prefix)) == 1}
    featurizer = Featurizer(_INPUTS, tokenizer, _WINDOW)
    for word in {text[start:end] for text in texts for start, end in word_spans(text)}:
        kept.update(featurizer.pieces_of(word))
    unknown = tokenizer.token_to_id(str(settings["model"]["unk_token"]))
    return sorted(kept if unknown is None else {*kept, unknown})


def with_pieces(tokenizer: Tokenizer, kept: Sequence[int]) -> Tokenizer:
    """The tokenizer with these pieces alone, numbered in this order."""
    settings = _as_json(tokenizer)
    number = {old: new for new, old in enumerate(kept)}
    vocabulary = {piece: number[old] for piece, old in settings["model"]["vocab"].items() if old in number}
    settings["model"]["vocab"] = dict(sorted(vocabulary.items(), key=lambda item: item[1]))
    for one in settings["added_tokens"]:
        one["id"] = number[one["id"]]
    # What stands around a text is named by number in two ways; it is not used here, but is to stay true.
    around = settings.get("post_processor") or {}
    for one in (around.get("special_tokens") or {}).values():
        one["ids"] = [number[old] for old in one["ids"]]
    for name in ("sep", "cls"):
        if isinstance(around.get(name), list):
            around[name] = [around[name][0], number[around[name][1]]]
    made: Tokenizer = library("tokenizers", "models").Tokenizer.from_str(json.dumps(settings))
    return made


def without_unused_pieces(network: Network, tokenizer: Tokenizer, texts: Iterable[str]) -> tuple[Network, Tokenizer]:
    """A copy of the network, and its tokenizer, with the pieces that the texts use; the ones given stay as they are."""
    torch = library("torch", "models")
    kept = used_pieces(tokenizer, texts)
    fewer = copy.deepcopy(network)
    encoder: Any = fewer.encoder
    table = encoder.get_input_embeddings()
    rows = table.weight.detach()[torch.tensor(kept, device=table.weight.device)].clone()
    padding = table.padding_idx if table.padding_idx is None else kept.index(table.padding_idx)
    encoder.set_input_embeddings(torch.nn.Embedding.from_pretrained(rows, freeze=False, padding_idx=padding))
    settings = {**(network.settings.encoder or {}), "vocab_size": len(kept)}
    if padding is not None:
        settings["pad_token_id"] = padding
    fewer.settings = replace(network.settings, encoder=settings)
    return fewer, with_pieces(tokenizer, kept)


def _as_json(tokenizer: Tokenizer) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads(tokenizer.to_str())
    kind = settings.get("model", {}).get("type")
    if kind != _WORD_PIECE:
        raise UsageError(f"pieces can be dropped of a WordPiece tokenizer, not of {kind}. Hint: keep all pieces")
    return settings
