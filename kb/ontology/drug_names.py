"""Additions behind a drug's name that make it no other drug: a salt, the suffix of a biological product."""

from __future__ import annotations

import functools
import re
from typing import Final

from .normal_forms import ONTOLOGY_FOLDER, normal_form, read_pairs

#: A biological product's proper name ends in a hyphen and four letters without meaning (FDA, *Nonproprietary naming of
#: biological products*). Only stems of such products carry one, so that "cisplatin-free" names no drug.
_SUFFIX: Final = re.compile(
    r"(?P<name>.*(?:mab|cept|grastim|gramostim|alfa|beta|vedotin|tecan|tansine|mafodotin|tesirine|ozogamicin|diftitox"
    r"|pasudotox|fusp|ase|pegol|chrysanthemi|novec|glargine|aspart))-(?!free|like|type|dose|only|plus|then)[a-z]{4}"
)


@functools.cache
def _salts() -> frozenset[str]:
    return frozenset(word for word, _ in read_pairs(ONTOLOGY_FOLDER / "salts.tsv"))


def without_endings(name: str) -> str:
    """The name without suffix and salts; the same text if it has neither, or consists of nothing else.

    >>> without_endings("trastuzumab-dkst"), without_endings("Nilotinib Hydrochloride Monohydrate")
    ('trastuzumab', 'Nilotinib')
    >>> without_endings("cisplatin-free"), without_endings("sodium chloride")
    ('cisplatin-free', 'sodium chloride')
    """
    suffixed = _SUFFIX.fullmatch(name.strip())
    words = (suffixed["name"] if suffixed else name).split()
    end = len(words)
    while end and normal_form(words[end - 1]) in _salts():
        end -= 1
    return " ".join(words[:end]) if end else name
