"""Word pieces that no text uses are dropped: what is left writes every word, and those of the texts as before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.eval.training.export.fewer_pieces import used_pieces, with_pieces, without_unused_pieces
from cohortium.kb.errors import UsageError

TEXTS = ["Larkadol for gout.", "no gouty legs"]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    letters = [chr(at) for at in range(97, 123)] + ["."]
    words = ["[PAD]", "dull", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{one}" for one in letters)]
    words += ["gout", "##out", "legs", "lark", "##adol", "for", "no", "##ache", "unused"]
    made = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({word: at for at, word in enumerate(words)}, unk_token="[UNK]")
    )
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 4), ("[CLS]", 3))
    return made


def test_only_used_pieces_and_letters_stay(tokenizer: Any) -> None:
    """Four pieces are used by no text; the numbers of the others close up, those around a text too."""
    fewer = with_pieces(tokenizer, used_pieces(tokenizer, TEXTS))
    gone = set(tokenizer.get_vocab()) - set(fewer.get_vocab())
    assert gone == {"dull", "unused", "##ache", "##out"}
    assert sorted(fewer.get_vocab().values()) == list(range(fewer.get_vocab_size()))
    assert fewer.encode("gout").tokens == ["[CLS]", "gout", "[SEP]"]
    assert fewer.encode("gout").ids == [fewer.token_to_id(one) for one in ("[CLS]", "gout", "[SEP]")]
    assert fewer.encode("dull", add_special_tokens=False).tokens == ["d", "##u", "##l", "##l"]


@settings(deadline=None)
@given(st.text(alphabet="abglostu. Ü", max_size=20))
def test_every_word_can_still_be_written(tokenizer: Any, text: str) -> None:
    """Nothing becomes unknown that was known."""
    fewer = with_pieces(tokenizer, used_pieces(tokenizer, TEXTS))
    before, after = (one.encode(text, add_special_tokens=False).tokens for one in (tokenizer, fewer))
    assert ("[UNK]" in after) == ("[UNK]" in before)


def test_the_network_gives_the_same_for_the_texts(tokenizer: Any) -> None:
    """Its table is shorter, and what it says of words whose pieces were kept is what it said."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from cohortium.ingest.models.tagging.features import Featurizer
    from cohortium.ingest.models.tagging.network import ENCODER, Network, NetworkSettings

    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    encoder = {"model_type": "bert", **shape, "vocab_size": tokenizer.get_vocab_size(), "max_position_embeddings": 40}
    network = Network(NetworkSettings(ENCODER, 3, 4, 4, 4, width=8, encoder=encoder)).eval()
    fewer, short = without_unused_pieces(network, tokenizer, TEXTS)
    assert fewer.settings.encoder is not None
    assert fewer.settings.encoder["vocab_size"] == short.get_vocab_size() == tokenizer.get_vocab_size() - 4
    assert network.settings.encoder == encoder
    answers = []
    for one, pieces in ((network, tokenizer), (fewer, short)):
        arrays = Featurizer(one.settings.inputs, pieces, 32).batch([text.split() for text in TEXTS])
        with torch.inference_mode():
            answers.append(one(*(torch.from_numpy(arrays[name]) for name in one.settings.inputs)))
    assert torch.equal(*answers)
    again = Network(fewer.settings)
    again.load_state_dict(fewer.state_dict())


def test_other_tokenizers_are_refused() -> None:
    """Of pieces that are no WordPiece it cannot be told which are needed."""
    tokenizers = pytest.importorskip("tokenizers")
    with pytest.raises(UsageError, match="not of BPE"):
        used_pieces(tokenizers.Tokenizer(tokenizers.models.BPE()), TEXTS)
