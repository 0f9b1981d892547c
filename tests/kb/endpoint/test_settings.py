"""The environment names the endpoint; what is missing, unsafe or malformed is refused before anything is sent."""

from __future__ import annotations

import pytest

from cohortium.kb.endpoint.settings import from_environment
from cohortium.kb.errors import UsageError

KEY = "sk-fictional-0123456789"
WHOLE = {
    "COHORTIUM_LLM_BASE_URL": "https://models.example.org/v1/",
    "COHORTIUM_LLM_MODEL": "a-model",
    "COHORTIUM_LLM_API_KEY": KEY,
}


def test_a_whole_environment_is_read() -> None:
    """Host, port, path and model come from the three variables, and a slash at the end makes no difference."""
    settings = from_environment(WHOLE)
    assert (settings.host, settings.port, settings.encrypted) == ("models.example.org", 443, True)
    assert settings.path == "/v1/chat/completions"
    assert settings.model == "a-model"


@pytest.mark.parametrize("missing", WHOLE)
@pytest.mark.parametrize("value", [None, "", "  "])
def test_without_one_of_the_three_there_is_no_endpoint(missing: str, value: str | None) -> None:
    """The message names the variable that is not set."""
    held = {name: text for name, text in WHOLE.items() if name != missing}
    with pytest.raises(UsageError, match=missing):
        from_environment(held if value is None else {**held, missing: value})


@pytest.mark.parametrize(
    "url", ["http://localhost:8000/v1", "http://127.0.0.1/v1", "http://[::1]:9/v1", "http://LOCALHOST"]
)
def test_this_machine_may_be_asked_in_the_clear(url: str) -> None:
    """What does not leave the machine needs no encryption."""
    assert not from_environment({**WHOLE, "COHORTIUM_LLM_BASE_URL": url}).encrypted


@pytest.mark.parametrize(
    "url",
    [
        "http://models.example.org/v1",
        "http://192.168.1.7:8000/v1",
        "http://127.0.0.1.example.org/v1",
        "http://localhost.example.org",
        "http://0.0.0.0/v1",
    ],
)
def test_another_machine_is_asked_encrypted_or_not_at_all(url: str) -> None:
    """A name that only looks local is another machine."""
    with pytest.raises(UsageError, match="not encrypted"):
        from_environment({**WHOLE, "COHORTIUM_LLM_BASE_URL": url})


@pytest.mark.parametrize(
    "url",
    ["models.example.org", "ftp://models.example.org", "https://", "file:///etc/hosts", "https://host:notaport/v1",
     "https://host/v1?x=1", "https://host/v1#x", "https://me:secret@host/v1", "https://host/v 1", "https://[::1/v1",
     "https://host/v1\r\nX: y", "https://host:0/v1"],
)  # fmt: skip
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    """The message names the variable and shows nothing that may be secret."""
    with pytest.raises(UsageError, match="COHORTIUM_LLM_BASE_URL") as told:
        from_environment({**WHOLE, "COHORTIUM_LLM_BASE_URL": url})
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("key", ["a key", "line\nbreak", "clé", "tab\tbed"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key: str) -> None:
    """Neither the message nor its cause holds the key."""
    with pytest.raises(UsageError, match="COHORTIUM_LLM_API_KEY") as told:
        from_environment({**WHOLE, "COHORTIUM_LLM_API_KEY": key})
    assert key not in str(told.value)


def test_the_key_is_not_in_what_is_printed_of_the_settings() -> None:
    """A log or traceback that shows the settings shows no key."""
    assert KEY not in repr(from_environment(WHOLE))


@pytest.mark.parametrize(("seconds", "read"), [("", 60.0), ("90", 90.0), ("2.5", 2.5)])
def test_the_time_of_one_request_can_be_set(seconds: str, read: float) -> None:
    """A slow model on a small machine needs longer."""
    assert from_environment({**WHOLE, "COHORTIUM_LLM_SECONDS": seconds}).limits.seconds == read


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan", "1e9"])
def test_a_time_that_is_none_is_refused(seconds: str) -> None:
    """The message names the variable."""
    with pytest.raises(UsageError, match="COHORTIUM_LLM_SECONDS"):
        from_environment({**WHOLE, "COHORTIUM_LLM_SECONDS": seconds})
