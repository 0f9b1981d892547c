"""One chat request against a real server: retries, deadlines, limits, redirects, and a key that is never told."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler

import pytest

from cohortium.kb.endpoint.chat import ChatEndpoint, EndpointError
from cohortium.kb.endpoint.settings import Limits, from_environment
from tests.kb.endpoint.playhouse import KEY, Act, Stage, on_stage, raw, says, send, status

MESSAGES = [{"role": "system", "content": "card"}, {"role": "user", "content": "question"}]


def asked(stage: Stage, slept: list[float] | None = None, **limits: float) -> str:
    pauses = [] if slept is None else slept
    return ChatEndpoint(stage.settings(**limits), pauses.append).ask(MESSAGES).text


def failure(stage: Stage, slept: list[float] | None = None, **limits: float) -> str:
    """What is told when there is no answer; the key and the server's own words are never in it."""
    with pytest.raises(EndpointError) as told:
        asked(stage, slept, **limits)
    seen: BaseException | None = told.value
    while seen is not None:
        assert KEY not in str(seen)
        seen = seen.__cause__
    return str(told.value)


def test_a_request_asks_for_a_steady_short_answer(stage: Stage) -> None:
    """Model, messages, temperature 0, a seed, JSON and a bound on tokens are sent; the key is in its header alone."""
    stage.play(says("answer"))
    assert asked(stage) == "answer"
    (seen,) = stage.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in seen.body
    sent = seen.sent
    assert sent["model"] == "a-model"
    assert sent["messages"] == MESSAGES
    assert sent["temperature"] == 0
    assert isinstance(sent["seed"], int)
    assert sent["response_format"] == {"type": "json_object"}
    assert sent["max_tokens"] > 0


def test_a_server_that_knows_fewer_options_is_asked_with_fewer(stage: Stage) -> None:
    """After 400 or 422 the options go step by step, and what is asked stays."""
    stage.play(status(400), status(422), says("answer"))
    assert asked(stage) == "answer"
    assert [set(seen.sent) - {"model", "messages"} for seen in stage.seen] == [
        {"temperature", "seed", "max_tokens", "response_format"},
        {"temperature", "max_tokens"},
        set(),
    ]
    assert all(seen.sent["messages"] == MESSAGES for seen in stage.seen)


def test_options_that_were_refused_are_not_tried_again(stage: Stage) -> None:
    """The second message to the same endpoint begins with what was accepted."""
    stage.play(status(400), says("one"), says("two"))
    endpoint = ChatEndpoint(stage.settings())
    assert [endpoint.ask(MESSAGES).text, endpoint.ask(MESSAGES).text] == ["one", "two"]
    assert len(stage.seen) == 3


def test_a_message_that_is_refused_whatever_its_options_costs_the_next_none_of_them(stage: Stage) -> None:
    """A filter that answers 400 says nothing of the options: the next message is asked for a steady answer again."""
    stage.play(status(400), status(400), status(400), says("two"))
    endpoint = ChatEndpoint(stage.settings())
    with pytest.raises(EndpointError):
        endpoint.ask(MESSAGES)
    endpoint.ask(MESSAGES)
    assert "temperature" in stage.seen[-1].sent


@pytest.mark.parametrize(
    ("code", "kind"),
    [(401, "connection"), (404, "connection"), (413, "refusal"), (408, "timeout"), (429, "rate_limit"),
     (500, "connection"), (504, "timeout"), (301, "connection")],
)  # fmt: skip
def test_a_failure_tells_its_kind_and_status(stage: Stage, code: int, kind: str) -> None:
    """One word, for those who count failures."""
    stage.play(status(code))
    with pytest.raises(EndpointError) as told:
        ChatEndpoint(stage.settings(), lambda _: None).ask(MESSAGES)
    assert told.value.kind == kind
    assert told.value.status == code


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42}, (40, 2, 42)),
        ({"prompt_tokens": 40, "completion_tokens": 2}, (40, 2, 42)),
        ({"total_tokens": 42}, (41, 1, 42)),
        ({"prompt_tokens": -1, "completion_tokens": True, "total_tokens": "42"}, (3, 1, 4)),
        ([], (3, 1, 4)),
        (None, (3, 1, 4)),
    ],
)
def test_tokens_are_told_as_the_server_reports_them(
    stage: Stage, usage: object, expected: tuple[int, int, int]
) -> None:
    """Sent and received apart; what is not reported, or is no count, is a quarter of the characters."""
    answer = {"choices": [{"message": {"content": "answer"}}], "usage": usage}
    stage.play(raw(json.dumps(answer).encode()))
    endpoint = ChatEndpoint(stage.settings())
    reply = endpoint.ask(MESSAGES)
    assert (reply.prompt_tokens, reply.answer_tokens, endpoint.tokens) == expected


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again_after_a_growing_pause(stage: Stage, slept: list[float], code: int) -> None:
    """Two failures, then the answer: the second pause is twice the first."""
    stage.play(status(code), status(code), says("answer"))
    assert asked(stage, slept, pause=0.5) == "answer"
    assert slept == [0.5, 1.0]


def test_a_server_that_names_a_wait_is_obeyed(stage: Stage, slept: list[float]) -> None:
    """Retry-After goes before our own shorter pause."""
    stage.play(status(429, Retry_After="7"), says("answer"))
    assert asked(stage, slept) == "answer"
    assert slept == [7.0]


@pytest.mark.parametrize("wait", ["3600", "inf"])
def test_a_wait_that_is_too_long_is_not_made(stage: Stage, slept: list[float], wait: str) -> None:
    """Nobody sits before a terminal for an hour."""
    stage.play(status(429, Retry_After=wait), says("answer"))
    assert "wait" in failure(stage, slept)
    assert slept == []
    assert len(stage.seen) == 1


@pytest.mark.parametrize("wait", ["soon", "nan", "-5", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_wait_that_is_no_number_of_seconds_is_our_own(stage: Stage, slept: list[float], wait: str) -> None:
    """An odd header does no harm."""
    stage.play(status(429, Retry_After=wait), says("answer"))
    assert asked(stage, slept, pause=0.5) == "answer"
    assert slept == [0.5]


def test_a_server_that_keeps_failing_is_given_up(stage: Stage, slept: list[float]) -> None:
    """After three tries the status is told."""
    stage.play(status(500))
    assert "answered 500" in failure(stage, slept)
    assert len(stage.seen) == 3


@pytest.mark.parametrize(
    ("code", "meaning"),
    [(401, "key"), (403, "may not use"), (404, "address or model"), (413, "too long"), (418, "418")],
)
def test_what_will_not_change_is_not_tried_again(stage: Stage, code: int, meaning: str) -> None:
    """The message says what the status means; what the server wrote is not shown."""
    stage.play(status(code))
    told = failure(stage)
    assert meaning in told
    assert "wrong key" not in told
    assert len(stage.seen) == 1


def test_all_requests_for_one_question_have_one_budget(stage: Stage) -> None:
    """Retries, fewer options and repairs are counted together."""
    stage.play(status(400), status(500), status(500), says("answer"))
    assert "3 requests" in failure(stage, [], requests=3)
    assert len(stage.seen) == 3


def test_tokens_have_a_budget(stage: Stage) -> None:
    """What the server says that it used counts, and the next request that would go over it is not sent."""
    stage.play(says("answer", tokens=900))
    endpoint = ChatEndpoint(stage.settings(tokens=900))
    endpoint.ask(MESSAGES)
    assert endpoint.tokens == 900
    with pytest.raises(EndpointError, match="900 tokens"):
        endpoint.ask(MESSAGES)
    assert len(stage.seen) == 1


@pytest.mark.parametrize("tokens", [None, 0])
def test_tokens_that_are_not_told_are_estimated(stage: Stage, tokens: int | None) -> None:
    """A server that reports none is not free."""
    stage.play(says("a" * 400, tokens=tokens))
    endpoint = ChatEndpoint(stage.settings())
    endpoint.ask(MESSAGES)
    assert endpoint.tokens == (400 + len("card" + "question")) // 4


def test_tokens_that_nobody_can_have_counted_are_estimated(stage: Stage) -> None:
    """A number beyond all sense would break sums, and files that hold it."""
    stage.play(says("answer", tokens=10**30))
    endpoint = ChatEndpoint(stage.settings())
    endpoint.ask(MESSAGES)
    assert endpoint.tokens == len("card" + "question" + "answer") // 4


# --- time -----------------------------------------------------------------------------------------------------------


def silent(stage: Stage) -> Act:
    """Takes the question and says nothing."""
    return lambda handler: stage.over.wait(20) and None


def dripping(stage: Stage, *, after: bytes) -> Act:
    """Sends a byte now and then, so that no single read ever waits long."""

    def act(handler: BaseHTTPRequestHandler) -> None:
        with contextlib.suppress(OSError):
            handler.wfile.write(after)
            while not stage.over.wait(0.05):
                handler.wfile.write(b"x")
                handler.wfile.flush()

    return act


@pytest.mark.parametrize(
    "kind", ["silent", "drips its headers", "drips its answer", "drips its answer until it hangs up"]
)
def test_no_server_holds_a_question_longer_than_its_time(stage: Stage, kind: str) -> None:
    """Silence and dripping end at the deadline, and are not tried again."""
    begins = {
        "drips its headers": b"HTTP/1.1 200 OK\r\nX: ",
        "drips its answer": b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
        "drips its answer until it hangs up": b"HTTP/1.0 200 OK\r\n\r\n",
    }
    stage.play(dripping(stage, after=begins[kind]) if kind in begins else silent(stage))
    began = time.monotonic()
    assert "no answer in 0.4 seconds" in failure(stage, seconds=0.4)
    assert time.monotonic() - began < 3
    assert len(stage.seen) == 1


def test_a_server_that_drips_while_the_line_is_encrypted_holds_no_longer() -> None:
    """The time of a request bounds what comes before it, too."""
    over = threading.Event()

    def drip(listening: socket.socket) -> None:
        line, _ = listening.accept()
        with line, contextlib.suppress(OSError):
            # A record of 16,384 bytes that comes to no end.
            line.sendall(b"\x16\x03\x03\x40\x00")
            while not over.wait(0.05):
                line.sendall(b"\x02")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=drip, args=(listening,), daemon=True).start()
        base_url = f"https://127.0.0.1:{listening.getsockname()[1]}/v1"
        settings = from_environment(Stage(0).environment(COHORTIUM_LLM_BASE_URL=base_url), Limits(seconds=0.4))
        began = time.monotonic()
        with pytest.raises(EndpointError, match=r"no answer in 0\.4 seconds") as told:
            ChatEndpoint(settings).ask(MESSAGES)
        over.set()
    assert told.value.kind == "timeout"
    assert time.monotonic() - began < 3


# --- lines ----------------------------------------------------------------------------------------------------------


def test_a_line_that_breaks_is_tried_again(stage: Stage, slept: list[float]) -> None:
    """A server that hangs up without a word may be one that restarts."""

    def hang_up(handler: BaseHTTPRequestHandler) -> None:
        handler.connection.shutdown(socket.SHUT_RDWR)

    stage.play(hang_up, says("answer"))
    assert asked(stage, slept) == "answer"
    assert len(slept) == 1


def test_where_nobody_listens_that_is_told(stage: Stage, slept: list[float]) -> None:
    """A port without a server is given up after the usual tries."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        settings = dataclasses.replace(stage.settings(), port=held.getsockname()[1])
        with pytest.raises(EndpointError, match="cannot be reached"):
            ChatEndpoint(settings, slept.append).ask(MESSAGES)
    assert len(slept) == 2


def test_a_server_that_does_not_speak_tls_is_not_asked_in_the_clear(stage: Stage) -> None:
    """An https address stays one: the question is not sent another way."""
    stage.play(says("answer"))
    settings = dataclasses.replace(stage.settings(), encrypted=True)
    with pytest.raises(EndpointError, match=r"cannot be (trusted|reached)"):
        ChatEndpoint(settings, lambda _: None).ask(MESSAGES)
    assert stage.seen == []


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed(stage: Stage, code: int) -> None:
    """Neither question nor key goes to another host; the message names that host and nothing of its address."""
    with on_stage() as other:
        other.play(says("answer"))
        stage.play(raw(b"", code, {"Location": f"http://localhost:{other.port}/v1/secret-path"}))
        told = failure(stage)
    assert "'localhost'" in told
    assert "secret-path" not in told
    assert other.seen == []
    assert len(stage.seen) == 1


@pytest.mark.parametrize("proxy", ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY"])
def test_a_proxy_of_the_environment_sees_nothing(stage: Stage, monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    """What is sent goes to the address that was set, and nowhere else."""
    with on_stage() as other:
        other.play(says("proxied"))
        monkeypatch.setenv(proxy, f"http://127.0.0.1:{other.port}")
        stage.play(says("answer"))
        assert asked(stage) == "answer"
    assert other.seen == []


# --- answers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("declared", [True, False])
def test_a_huge_answer_is_not_read_to_its_end(stage: Stage, declared: bool) -> None:
    """More bytes than any answer has are refused while they come in, whether or not the length is told."""

    def flood(handler: BaseHTTPRequestHandler) -> None:
        with contextlib.suppress(OSError):
            if declared:
                send(handler, 200, b"x" * 3_000_000)
                return
            handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
            for _ in range(3_000):
                handler.wfile.write(b"x" * 1_000)

    stage.play(flood)
    assert "262,144 bytes" in failure(stage)


@pytest.mark.parametrize(
    "body",
    [b"", b"not json", b"[]", b"null", b"{}", b"\xff\xfe", b'{"choices": []}', b'{"choices": [{}]}',
     b'{"choices": "x"}', b'{"choices": [{"message": {"content": 7}}]}', b'{"choices": [{"message": "text"}]}',
     b'{"choices": [', b"[" * 100_000, b'{"choices": [{"message": {"content": ' + b"1" * 5_000 + b"}}]}"],
)  # fmt: skip
def test_what_is_no_chat_answer_is_told_so(stage: Stage, body: bytes) -> None:
    """Whatever the bytes are, there is one clear error."""
    stage.play(raw(body))
    assert "no chat answer" in failure(stage)


def test_an_answer_in_parts_is_joined(stage: Stage) -> None:
    """Some servers send a message as a list of parts."""
    stage.play(says([{"type": "text", "text": "an"}, {"type": "text", "text": "swer"}, "stray"]))
    assert asked(stage) == "answer"


@pytest.mark.parametrize("answer", [says(None, refusal="I cannot"), says("", finish="content_filter")])
def test_a_refusal_of_the_server_is_known_as_one(stage: Stage, answer: Act) -> None:
    """It is no answer, and its words are not used."""
    stage.play(answer)
    assert ChatEndpoint(stage.settings()).ask(MESSAGES).declined


def test_an_answer_that_was_cut_off_is_known_as_one(stage: Stage) -> None:
    """finish_reason tells it."""
    stage.play(says('{"query": "lung', finish="length"))
    assert ChatEndpoint(stage.settings()).ask(MESSAGES).cut_off


def test_letters_of_every_script_arrive(stage: Stage) -> None:
    """Bodies are UTF-8 in both directions."""
    stage.play(
        lambda handler: send(handler, 200, json.dumps({"choices": [{"message": {"content": "μ ≥ é"}}]}).encode())
    )
    assert asked(stage) == "μ ≥ é"
