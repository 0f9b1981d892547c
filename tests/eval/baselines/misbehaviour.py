"""An endpoint that goes wrong as a seed draws: late, refusing, busy, broken, or answering what nobody asked."""

from __future__ import annotations

import enum
import hashlib
import json
import socket
from collections import Counter
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from cohortium.eval.baselines.reading.offline_reader import OfflineReader, error_body, send

#: What is written where an answer was asked for.
_PROSE: Final = "Thank you for sharing these passages. On balance I would say that this is a close call."
_INVENTED: Final = "seventeen purple umbrellas were prescribed at breakfast"
#: Seconds that a busy endpoint asks to be left alone.
RETRY_AFTER = "0.02"


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
        message["content"] = _PROSE
    elif kind is Misbehaviour.INVENTED:
        quote = {"passage": 1, "quote": _INVENTED}
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


class MisbehavingReader(OfflineReader):
    """The offline reader, going wrong in a mix that the seed and each message draw."""

    def __init__(self, seed: int, mix: Sequence[Misbehaviour] = MIX) -> None:
        super().__init__()
        self._seed = seed
        self._mix = tuple(mix)
        self._times: Counter[str] = Counter()
        #: What was done to the requests.
        self.behaved: Counter[Misbehaviour] = Counter()

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        kind = self._kind(body)
        with self._lock:
            self.behaved[kind] += 1
        if kind is Misbehaviour.TIMEOUT:
            self._over.wait(60)
        elif kind in (Misbehaviour.DROPPED, Misbehaviour.DROPPED_ONCE):
            handler.connection.shutdown(socket.SHUT_RDWR)
        elif kind in (Misbehaviour.BUSY, Misbehaviour.BUSY_ONCE):
            send(handler, 429, error_body("asked too often"), {"Retry-After": RETRY_AFTER})
        elif kind in (Misbehaviour.BROKEN, Misbehaviour.BROKEN_ONCE):
            send(handler, 500, error_body("broken"))
        elif (instead := spoilt(kind, self.chat(body))) is not None:
            send(handler, 200, instead)
        else:
            super().answer(handler, body)

    def _kind(self, body: bytes) -> Misbehaviour:
        # The messages alone: a request with other options is the same message again.
        message = str(json.loads(body)["messages"][-1]["content"])
        kind = drawn(self._seed, message, self._mix)
        if kind in ONCE:
            with self._lock:
                self._times[message] += 1
                if self._times[message] > 1:
                    return Misbehaviour.NONE
        return kind
