"""The stand-in for a model: what it says yes to, what it quotes, and that its server is a real one."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.baselines.reading.lexical_reading import content_stems, read
from cohortium.eval.baselines.reading.offline_reader import MODEL, OfflineReader, main


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("patients with metastatic melanoma", "Biopsy: melanoma. Metastases in the liver.", True),
        ("patients with metastatic melanoma", "Biopsy: melanoma, stage I.", False),
        ("Treated with osimertinib", "Treatment with osimertinib was begun.", True),
        ("Treated with osimertinib", "No osimertinib. Treatment with erlotinib.", False),
        ("melanoma", "No evidence of melanoma.", False),
        ("melanoma", "No fever, but melanoma of the back.", True),
        ("melanoma", "No evidence of disease. Melanoma was resected in 2019.", True),
        ("melanoma", "Denies itching\nmelanoma 2018", True),
        ("ECOG 1", "ECOG 1 today", True),
        ("ECOG 1", "ECOG 10 today", False),
        ("ALK", "alkaline phosphatase normal", False),
        ("patients who had", "whatever", False),
        ("", "whatever", False),
        ("melanoma", "", False),
    ],
)
def test_words_are_looked_up_and_what_is_denied_does_not_count(question: str, text: str, expected: bool) -> None:
    """Words of one stem are equal, a negation reaches to the end of its sentence or to a 'but'."""
    assert read(question, [(1, text)]).eligible is expected


def test_the_words_may_stand_in_several_passages_and_each_is_quoted() -> None:
    """The sentences that mention them are the quotes, with the numbers of their passages."""
    found = read(
        "lung cancer treated with osimertinib", [(4, "He has lung cancer. Smoker."), (7, "Osimertinib treatment.")]
    )
    assert found.quotes == ((4, "He has lung cancer."), (7, "Osimertinib treatment."))
    assert found.share == 1


def test_the_threshold_is_a_share_of_the_words() -> None:
    """Two of three words are enough for 0.6 and too few for 0.7."""
    passages = [(1, "lung cancer")]
    assert read("lung cancer osimertinib", passages, 0.6).eligible
    assert not read("lung cancer osimertinib", passages, 0.7).eligible


def test_how_a_question_is_put_is_not_looked_for() -> None:
    """Stop words are left out, and words of one stem are one."""
    assert content_stems("Find all patients who have had a metastasis or metastases") == ("metast",)


@given(st.lists(st.text(max_size=80), max_size=4), st.text(max_size=40))
def test_every_quote_stands_in_its_passage(texts: list[str], question: str) -> None:
    """Letter by letter, whatever the text is; and a yes has a quote."""
    found = read(question, list(enumerate(texts, start=1)), 0.0)
    assert all(quote and quote in texts[number - 1] for number, quote in found.quotes)
    assert found.eligible == bool(found.quotes)


def test_a_long_line_is_quoted_around_the_word() -> None:
    """A note without full stops gives a quote of a few hundred characters, cut between words."""
    text = "word " * 500 + "melanoma " + "word " * 500
    ((_, quote),) = read("melanoma", [(1, text)]).quotes
    assert "melanoma" in quote
    assert len(quote) <= 400
    assert re.fullmatch(r"(word |melanoma )+(word|melanoma)?", quote + " " if quote.endswith("word") else quote)


def posted(server: OfflineReader, body: bytes, path: str = "/v1/chat/completions") -> tuple[int, dict[str, Any]]:
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    line.request("POST", path, body)
    answer = line.getresponse()
    held = answer.status, json.loads(answer.read())
    line.close()
    return held


def test_it_speaks_the_chat_protocol() -> None:
    """Model, choice, message and usage are where any client looks for them."""
    asked = {"question": "melanoma", "passages": [{"passage": 1, "date": "2020-01-01", "text": "Melanoma."}]}
    with OfflineReader() as server:
        status, answer = posted(
            server, json.dumps({"messages": [{"role": "user", "content": json.dumps(asked)}]}).encode()
        )
    assert (status, answer["model"], MODEL) == (200, "lexical-reader", "lexical-reader")
    said = json.loads(answer["choices"][0]["message"]["content"])
    assert (said["eligible"], said["evidence"]) == ("yes", [{"passage": 1, "quote": "Melanoma."}])
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'{"messages": []}', b'{"messages": [{"content": "hello"}]}',
             b'{"messages": [{"content": "{\\"question\\": \\"a\\", \\"passages\\": [7]}"}]}', b"[" * 200_000]
)  # fmt: skip
def test_what_is_no_such_request_is_told_so(body: bytes) -> None:
    """400, and the server goes on."""
    with OfflineReader() as server:
        assert posted(server, body)[0] == 400
        assert posted(server, body, "/v1/elsewhere")[0] == 404


def test_a_wrong_option_is_a_usage_error() -> None:
    """Exit code 2, before anything listens."""
    for wrong in (["--port", "70000"], ["--threshold", "2"], ["--port", "x"]):
        with pytest.raises(SystemExit) as told:
            main(wrong)
        assert told.value.code == 2


def test_help_says_loudly_that_a_reader_sends_notes() -> None:
    """And that this one stays on the machine."""
    done = subprocess.run(
        [sys.executable, "-m", "cohortium.eval.baselines.reading.offline_reader", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "SENDS TEXT OF CLINICAL NOTES" in " ".join(done.stdout.split())


def test_as_a_command_it_prints_the_variables_that_lead_to_it() -> None:
    """They are lines that a shell can run."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cohortium.eval.baselines.reading.offline_reader", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(5)]
    finally:
        process.kill()
        process.communicate()
    assert re.fullmatch(r"export COHORTIUM_LLM_BASE_URL=http://127\.0\.0\.1:\d+/v1", lines[0])
    assert lines[1] == "export COHORTIUM_LLM_MODEL=lexical-reader"
    assert lines[4].startswith("# listening")
