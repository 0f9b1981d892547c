"""How an endpoint goes wrong, drawn by a seed: late, refusing, busy, broken, or answering what nobody asked."""

from __future__ import annotations

import enum
import hashlib
import json
from typing import Any, Final

from .lexical_reading import WORDS

__all__ = ["MIX", "ONCE", "Misbehaviour", "drawn", "spoilt"]


class Misbehaviour(enum.StrEnum):
    """What is done to one message, each time it comes (or, for those of ``ONCE``, the first time)."""

    NONE = "none"
    TIMEOUT = "timeout"
    REFUSAL = "refusal"
    BUSY_ONCE = "busy_once"
    BUSY = "busy"
    BROKEN_ONCE = "broken_once"
    BROKEN = "broken"
    DROPPED_ONCE = "dropped_once"
    DROPPED = "dropped"
    TRUNCATED = "truncated"
    HALF_JSON = "half_json"
    PROSE = "prose"
    INVENTED = "invented"
    WRONG_TYPES = "wrong_types"
    HUGE = "huge"


#: Those after which the same message is answered well.
ONCE: Final = frozenset({Misbehaviour.BUSY_ONCE, Misbehaviour.BROKEN_ONCE, Misbehaviour.DROPPED_ONCE})
#: The mix that is drawn from: half of all messages are answered well at once.
MIX: Final[tuple[Misbehaviour, ...]] = (
    *[Misbehaviour.NONE] * (len(Misbehaviour) - 1),
    *[one for one in Misbehaviour if one is not Misbehaviour.NONE],
)


def drawn(seed: int, message: str, mix: tuple[Misbehaviour, ...] = MIX) -> Misbehaviour:
    """What happens to ``message``: the same for one seed, whenever and in whatever order messages come."""
    digest = hashlib.sha256(f"{seed}\n{message}".encode("utf-8", "surrogatepass")).digest()
    return mix[int.from_bytes(digest[:8]) % len(mix)]


def spoilt(kind: Misbehaviour, answer: dict[str, Any]) -> bytes | None:
    """The body of a chat answer gone wrong in this way; None where it is not the body that is wrong."""
    choice = answer["choices"][0]
    message = choice["message"]
    if kind is Misbehaviour.REFUSAL:
        choice["finish_reason"] = "content_filter"
        message["content"] = ""
    elif kind is Misbehaviour.HALF_JSON:
        choice["finish_reason"] = "length"
        message["content"] = message["content"][: len(message["content"]) // 2]
    elif kind is Misbehaviour.PROSE:
        message["content"] = WORDS["prose"]
    elif kind is Misbehaviour.INVENTED:
        quote = {"passage": 1, "quote": WORDS["invented"]}
        message["content"] = json.dumps({"eligible": "yes", "evidence": [quote]})
    elif kind is Misbehaviour.WRONG_TYPES:
        message["content"] = json.dumps({"eligible": True, "evidence": "passage 1"})
    elif kind is Misbehaviour.HUGE:
        message["content"] = "x" * 2_000_000
    elif kind is Misbehaviour.TRUNCATED:
        whole = json.dumps(answer).encode()
        return whole[: len(whole) // 2]
    else:
        return None
    return json.dumps(answer).encode()
