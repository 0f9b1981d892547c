"""The compiled grammar of the query language.

To compile it takes longer than most queries. So its tables are kept beside it (``grammar.json``). They are used where
they were compiled of this very grammar by this very version of Lark; anywhere else it is compiled again. Run as a
module, this writes them (``make grammar``).
"""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path
from typing import Any, Final

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

from ..kb.units import unit_pattern
from .vocabulary import ATTRIBUTES, CRITERION_ATTRIBUTES, KIND_OF_SPELLING

_TABLES: Final = Path(__file__).parent / "grammar.json"


@functools.cache
def grammar() -> Lark:
    """The compiled grammar (made once; safe to share between threads)."""
    text = grammar_text()
    return from_tables(text) or compiled(text)


def grammar_text() -> str:
    """The grammar as Lark reads it, with the kinds and attributes of the vocabulary in their places."""
    text = (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")
    inner = [name for name in ATTRIBUTES if name not in CRITERION_ATTRIBUTES]
    kinds = "|".join(spelling.replace(" ", r"\s+") for spelling in KIND_OF_SPELLING)
    text = text.replace("(?:SPELLINGS_OF_KINDS)", f"(?:{kinds})")
    text = text.replace("(?:CONDITION_ATTRIBUTES)", f"(?:{'|'.join(inner)})")
    text = text.replace("(?:UNITS_OF_VALUES)", f"(?:{unit_pattern(in_queries=True)})".replace("/", r"\/"))
    return text.replace("(?:ALL_ATTRIBUTES)", f"(?:{'|'.join(ATTRIBUTES)})")


def compiled(text: str) -> Lark:
    """The grammar of this text."""
    return Lark(text, parser="lalr", propagate_positions=True, start=["start", "library"])


def from_tables(text: str, path: Path = _TABLES) -> Lark | None:
    """The grammar of this text from the tables that are kept; None if they are of another, or not there."""
    try:
        kept = json.loads(path.read_text(encoding="ascii"))
        if kept["made_of"] != made_of(text):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Lark._load_from_dict(_with_numbers(kept["data"]), {int(key): one for key, one in kept["memo"].items()})


def made_of(text: str) -> str:
    """What tables depend on: the grammar and the version of Lark."""
    return f"{lark.__version__} {hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"


def write_tables(path: Path = _TABLES) -> None:
    """Compile the grammar and keep its tables."""
    text = grammar_text()
    data, memo = compiled(text).memo_serialize([TerminalDef, Rule])
    kept = {"made_of": made_of(text), "data": data, "memo": memo}
    path.write_text(json.dumps(kept, sort_keys=True, separators=(",", ":")) + "\n", encoding="ascii")


def _with_numbers(data: dict[str, Any]) -> dict[str, Any]:
    """JSON has no numbers as keys, which the states and tokens of the tables are."""
    tables = data["parser"]["parser"]
    tables["tokens"] = {int(token): name for token, name in tables["tokens"].items()}
    tables["states"] = {
        int(state): {int(token): tuple(action) for token, action in actions.items()}
        for state, actions in tables["states"].items()
    }
    return data


if __name__ == "__main__":
    write_tables()
