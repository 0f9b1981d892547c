"""JSON as its standard has it: no key twice in an object, no NaN, nothing nested or numbered without end."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any, Final

#: A string, or what begins or parts values: as many matches as there are values at least, each string one.
_PIECES: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|[\[{,]', re.DOTALL)


class BadJson(ValueError):
    """What is no JSON, or none to rely on. ``code`` is its reason in one word; nothing of the text is told."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code


def loads(text: str) -> Any:
    """The value that a text writes. BadJson, without any of the text, when it is none."""
    try:
        return _DECODER.decode(text)
    except BadJson:
        raise
    except json.JSONDecodeError as error:
        raise BadJson("malformed_json", f"not JSON ({error.msg} at column {error.colno})") from error
    except RecursionError as error:
        raise BadJson("nested_too_deep", "nested too deep") from error
    except ValueError as error:  # an integer of thousands of digits
        raise BadJson("number_too_long", "a number of thousands of digits") from error


def check_amount(data: bytes, most: int) -> None:
    """BadJson when a text of JSON holds more values than ``most``; costs nothing where it is too short to.

    An empty list takes two letters and a hundred bytes: a text that fits into memory need not fit as its values.
    """
    if len(data) <= most or data.count(b",") + data.count(b"[") + data.count(b"{") <= most:
        return
    # Commas inside texts are none: what is looked at now stops at the limit, and takes each text as one.
    if sum(1 for _ in itertools.islice(_PIECES.finditer(data), most + 1)) > most:
        raise BadJson("too_many_values", "too many values")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) != len(pairs):
        # Which of two patients a record is about must not depend on who reads it.
        raise BadJson("duplicate_key", "a key stands twice in an object")
    return held


def _no_number(name: str) -> Any:
    raise BadJson("not_a_number", "NaN or Infinity, which are no JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_without_doubles, parse_constant=_no_number)
