"""A question's text in one form: signs as words, tokens with their places, and the key under which phrases meet."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ...kb.ontology.normal_forms import american, without_plural

#: Rewritten before anything is read, in this order: (pattern, what stands instead).
_REWRITES: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"[\u2010-\u2015\u2212]", "-"),
        (r"[‘’`´]", "'"),
        (r"[“”]", '"'),
        (r"≥|=>|⩾", ">="),
        (r"≤|=<|⩽", "<="),
        (r"[\[{]", "("),
        (r"[\]}]", ")"),
        # What is written as columns of a table: "gene=KIT AND exon in (9, 11)", "drug=…", "GIS=positive".
        (r"\.\.+(?=\s?\d)", "-"),
        (r"\b(?:treatment|medication|drug)\.(?=[a-z])", ""),
        (r"\bin\s*[({][^(){};]+;[^(){}]+[)}]", lambda match: match.group().replace(";", " or ")),
        (r"\b(rxcui|cui)\s*=\s*", r"\1 "),
        (r"\b(?:drug|medication)\s*=\s*", ""),
        (r"\bgene\s*=\s*([a-z0-9]+)\s+and\s+", r"\1 "),
        (r"\s+and\s+site\s*=\s*", " of "),
        (r"\s+and\s+histology\s*=\s*", ", histology "),
        (r"(?<=\w)\s?=\s?(?=(?:high|positive|negative|deficient|amplified)\b)", " "),
        (r"\bexons?\s+in\s+\(([\d,\s]+)\)", r"exons \1"),
        (r"(?<=\w)\|(?=\w)", " or "),
        # Short forms that a sentence's end or a hyphen would cut.
        (r"\bloc\.?\s?adv\b\.?", "locally advanced"),
        (r"\bmet\.(?=\s[a-z])", "metastatic"),
        (r"\bb-?nhl\b", "B-cell NHL"),
        (r"\b([a-z]\d{3,4})\s+([a-z](?:\s?/\s?[a-z])+)\b", r"\1\2"),
        (
            r"\b(tkis?|(?:tyrosine kinase )?inhibitors?)\s+(?:directed|targeted|aimed)"
            r"\s+(?:against|at|to)\s+([a-z0-9]+)",
            r"\2 \1",
        ),
        (r"\bw/o\b", "without"),
        (r"\bw/(?=\s|\w)", "with "),
        (r"\bs/p\b", "status post"),
        (r"\bh/o\b", "history of"),
        (r"\bhx\b", "history"),
        (r"\bpca\b", "prostate cancer"),
        (r"(?:>=|\bat least)\s*1\s+(?=(?:of\s+)?[a-z]{4,})", "at least one "),
        (r"\bzero\b", "0"),
        (r"\btwo\b", "2"),
        (r"\bthree\b", "3"),
        (r"\bfour\b", "4"),
        (r"\bgastro-o?esoph", "gastroesoph"),
        (r"\b(excl|incl|dx|tx|hx|pts?|approx)\.", r"\1"),
        (r"(?:^|(?<=[\s;,:]))\((?:[a-h]|i{1,3}|iv)\)\s", " ; "),
        (r"(?:^|(?<=[;,:.]\s))\(\d\)\s", " ; "),
        (r"\bn't\b", " not"),
        (r"\((?:s|es)\)", ""),
        (
            r"\(\s*\+\s*(?:ve)?\s*\)|(?<=[\w)])\s?\+\s?ve\b|(?<=[\w)])\+(?=[\s,;/).|]|$)|(?<=[\w)])\+(?=her2)",
            " positive",
        ),
        (r"\(\s*-\s*(?:ve)?\s*\)|(?<=\w)\s-\s(?=$|[,;/)])|(?<=[\w)])-ve\b|(?<=\w)-(?=[\s,;/).|]|$)", " negative"),
        (r"\s\+\s|(?<=\w)\+(?=\w)", " plus "),
        (r"\|", " ; "),
        (r"[\r\n•]+", " ; "),
        (r"==", "="),
        (r"[?!]+", " "),
        (r"\.(?=\s|$)", " ; "),
        (r"(?<=[a-z]{2})\.(?=[A-Z])", " ; "),
        (r"\s+", " "),
    )
)
_TOKEN: Final = re.compile(
    r"(?:t|del|inv)\(\s?[0-9xy]+[0-9;pqxy.\s]*\)"
    r"|\d{4}-\d{2}(?:-\d{2})?(?!\w)"
    r"|>=|<=|!=|::"
    r"|[A-Za-z0-9_\u00c0-\u024f\u0370-\u03ff]+(?:[.'*][A-Za-z0-9_\u00c0-\u024f]+)*%?"
    r"|\S",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign of the question in its one form, with its place there."""

    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    @property
    def is_word(self) -> bool:
        """Whether it is no bare sign."""
        return self.text[0].isalnum()


def one_form(text: str) -> str:
    """``text`` with one kind of dash, quote and comparison, and with signs against a word spelled out."""
    text = unicodedata.normalize("NFC", text)
    for pattern, instead in _REWRITES:
        text = pattern.sub(instead, text)
    return text.strip()


def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a text that is in its one form."""
    return tuple(Token(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text))


@functools.lru_cache(maxsize=65_536)
def word_key(word: str) -> str:
    """What a word shares with its plural, its capitals and its British spelling."""
    return without_plural(american(word.casefold().replace("'", "")))


def key_of(tokens: tuple[Token, ...]) -> str:
    """The key of a phrase: its words without hyphens and apostrophes."""
    return " ".join(word_key(token.text) for token in tokens if token.text not in ("-", "'", '"'))


@functools.lru_cache(maxsize=32_768)
def phrase_key(phrase: str) -> str:
    """:func:`key_of` a phrase of the data."""
    return key_of(tokens_of(one_form(phrase)))
