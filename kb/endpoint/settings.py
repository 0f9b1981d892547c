"""Where the chat endpoint is, as the environment tells it, and the limits that every question to it keeps."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ..errors import UsageError

PREFIX: Final = "COHORTIUM_LLM"
BASE_URL: Final = "COHORTIUM_LLM_BASE_URL"
MODEL: Final = "COHORTIUM_LLM_MODEL"
API_KEY: Final = "COHORTIUM_LLM_API_KEY"
SECONDS: Final = "COHORTIUM_LLM_SECONDS"
SEND_NOTES: Final = "COHORTIUM_LLM_SEND_NOTES"

#: Names of this very machine that are no addresses.
_THIS_MACHINE: Final = frozenset({"localhost"})


@dataclass(frozen=True, slots=True)
class Limits:
    """What one question may cost, and how much is taken from an answer.

    ``seconds`` bounds one request, whatever the server does meanwhile. ``requests`` and ``tokens`` bound all requests
    for one question; tokens are those that the server reports, or a quarter of the characters where it reports none.
    ``tries`` is how often one message is sent when the server is busy or fails, with ``pause`` seconds before the
    second, twice that before the third and so on; a longer wait that the server asks for is kept up to
    ``longest_pause``.
    """

    seconds: float = 60.0
    requests: int = 6
    tries: int = 3
    pause: float = 0.5
    longest_pause: float = 20.0
    tokens: int = 30_000
    answer_tokens: int = 1_000
    answer_bytes: int = 262_144
    question_characters: int = 2_000
    query_characters: int = 4_000
    names: int = 80


@dataclass(frozen=True, slots=True)
class Settings:
    """A chat endpoint: its host and path, whether the line is encrypted, the model, and the key (never shown)."""

    host: str
    port: int
    path: str
    encrypted: bool
    model: str
    key: str = field(repr=False)
    limits: Limits = Limits()


def from_environment(
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    *,
    prefix: str = PREFIX,
    place: str = "/chat/completions",
    called: str = "chat endpoint",
    hint: str = "leave the model out (the translator of the program needs no network), or see docs/guide/llm.md",
) -> Settings:
    """The endpoint that the environment names. UsageError when it names none or a wrong one; the key is never shown.

    All three of base URL, model and key must be set; a server that needs no key takes any word. ``prefix`` begins the
    names of the variables, ``place`` is added to the base URL; ``called`` and ``hint`` are said where nothing is set.
    """
    held = os.environ if environment is None else environment
    base_url, named, secret, time = (prefix + name.removeprefix(PREFIX) for name in (BASE_URL, MODEL, API_KEY, SECONDS))
    missing = [name for name in (base_url, named, secret) if not held.get(name, "").strip()]
    if missing:
        raise UsageError(
            f"no {called} is set up: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set. "
            f"Hint: {hint}"
        )
    key = held[secret].strip()
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise UsageError(f"{secret} is no key: it has blanks or characters that a header cannot carry")
    model = held[named].strip()
    if not model.isprintable():
        raise UsageError(f"{named} is no name of a model: it has characters that cannot be printed")
    if limits is None:
        seconds = held.get(time, "").strip()
        limits = Limits(seconds=_seconds(seconds, time)) if seconds else Limits()
    address = _address(held[base_url].strip(), base_url, secret)
    encrypted = address.scheme == "https"
    return Settings(
        host=address.hostname or "",
        port=address.port or (443 if encrypted else 80),
        path=address.path.rstrip("/") + place,
        encrypted=encrypted,
        model=model,
        key=key,
        limits=limits,
    )


def check_leave(
    environment: Mapping[str, str] | None = None, prefix: str = PREFIX, page: str = "docs/reference/baselines.md"
) -> None:
    """UsageError unless the environment says that notes may be sent to the endpoint of the variables with ``prefix``;
    ``page`` tells what is sent.

    The endpoint of ``cohortium ask --llm`` never gets a note; that it is set up is no leave to send it any.
    """
    held = os.environ if environment is None else environment
    name = f"{prefix}_SEND_NOTES"
    if held.get(name, "").strip().casefold() != "yes":
        raise UsageError(
            f"text of clinical notes would be sent to an endpoint, and {name} does not allow it. Hint: set it to 'yes'"
            f" if the endpoint may have these notes; {page} tells what is sent"
        )


def _address(text: str, base_url: str, secret: str) -> SplitResult:
    try:
        address = urlsplit(text)
        host, port = address.hostname, address.port
    except ValueError:
        raise UsageError(f"{base_url} is no address. Hint: {_EXAMPLE}") from None
    plain = text.isascii() and text.isprintable() and " " not in text
    if address.scheme not in ("http", "https") or not host or port == 0 or not plain:
        raise UsageError(f"{base_url} is no web address. Hint: {_EXAMPLE}")
    if address.username is not None or address.password is not None:
        raise UsageError(f"{base_url} has a name or password in it. Hint: the key belongs into {secret}")
    if address.query or address.fragment:
        raise UsageError(f"{base_url} has a '?' or '#' in it. Hint: {_EXAMPLE}")
    if address.scheme == "http" and not is_this_machine(host):
        raise UsageError(
            f"{base_url} is not encrypted, and '{host}' is not this machine. Hint: the address must begin with https"
        )
    return address


def is_this_machine(host: str) -> bool:
    """Whether ``host`` can only be this very machine, so that what is sent to it crosses no network."""
    if host.lower() in _THIS_MACHINE:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _seconds(text: str, name: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3_600:
        raise UsageError(f"{name} is '{text}', and must be a number of seconds from 1 to 3600")
    return seconds


_EXAMPLE: Final = "it looks like https://host/v1, or http://localhost:8000/v1 on this machine"
