"""HGNC's complete set: approved genes. A symbol or alias that may be a word is one only beside words of genetics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..ontology.rows import Abbreviation
from .terms import Term, Terms, rows_of, tables, unique

#: Longer names with a digit are no words and no abbreviations of something else.
_SHORT = 4


def read(sources: Sequence[Path]) -> Terms:
    """The genes of HGNC files."""
    found = Terms()
    plan = tables()["hgnc"]
    for path in sources:
        for row in rows_of(path, ("hgnc_id", "symbol", "name")):
            number = row["hgnc_id"].strip().removeprefix("HGNC:")
            if not number:
                continue
            code = f"HGNC:{number}"
            if row.get("status", "Approved").strip() != "Approved":
                found.drop(code, row["symbol"], "obsolete")
                continue
            found.add(_term(code, row, found, plan["cues"]))
    return found


def _term(code: str, row: dict[str, str], found: Terms, cues: Sequence[str]) -> Term:
    plan = tables()["hgnc"]
    symbol = row["symbol"].strip()
    synonyms, shorts = [], []
    for long_name in _cells(row, plan["long_names"]):
        if " " in long_name:
            synonyms.append(long_name)
        else:
            # Insulin and albumin are substances before they are genes.
            found.drop(code, long_name, "word_like")
    for alias in (symbol, *_cells(row, plan["aliases"])):
        if len(alias) > _SHORT and any(letter.isdigit() for letter in alias):
            synonyms.append(alias)
        elif alias == symbol or (len(alias) > _SHORT and alias.isupper()):
            shorts.append(Abbreviation(alias, tuple(cues)))
        else:
            found.drop(code, alias, "short" if len(alias) <= _SHORT else "word_like")
    entrez = row.get("entrez_id", "").strip()
    plain = symbol in synonyms
    return Term(
        code,
        symbol if plain else f"{symbol} gene",
        unique(name for name in synonyms if name != symbol),
        (),
        (f"ENTREZ:{entrez}",) if entrez else (),
        "gene",
        tuple(dict.fromkeys(shorts)),
    )


def _cells(row: dict[str, str], columns: Sequence[str]) -> Iterator[str]:
    for column in columns:
        yield from unique(row.get(column, "").replace('"', "").split("|"))
