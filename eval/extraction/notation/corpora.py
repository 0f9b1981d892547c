"""Corpora of annotated variants: PubTator files (tmVar) and folders of texts with brat annotations (SETH).

Sources: C. Wei et al., Bioinformatics 29 (2013), for the classes of tmVar; P. Thomas et al., Bioinformatics 32 (2016),
for the SETH corpus, which does not tell changes of proteins from those of DNA.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ....kb.errors import UsageError
from ....kb.files.text_files import lines_of_text

#: Annotated type → class of the score. ``variant`` is a change of which the corpus does not say whether of DNA.
CLASSES: Final = {"ProteinMutation": "protein", "DNAMutation": "dna", "SNP": "dbsnp"}
CLASSES_OF_BRAT: Final = {"SNP": "variant", "RS": "dbsnp"}
_PUBTATOR: Final = re.compile(r"(?P<id>[^|\t]+)\|(?P<part>[ta])\|(?P<text>.*)")
_BRAT: Final = re.compile(r"T\d+\t(?P<type>[^\s:]+)\S* (?P<start>\d+) (?:\d+;\d+ )*(?P<end>\d+)\t")

#: start, end → class
Gold = dict[tuple[int, int], str]


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """One text with its annotated spans. ``left_out`` counts annotations of types that are not scored."""

    id: str
    text: str
    gold: Gold
    left_out: Counter[str]

    @property
    def half(self) -> str:
        """``development`` or ``held_aside``: by the number of the text, even or odd (of other names, a checksum)."""
        number = int(self.id) if self.id.isdigit() else zlib.crc32(self.id.encode("utf-8"))
        return "held_aside" if number % 2 else "development"


def read_corpus(path: Path) -> list[AnnotatedText]:
    """The texts of a corpus: a PubTator file, a folder of such, or a folder with corpus.txt and annotations/.

    UsageError when it is none of these, or an annotation lies outside its text.
    """
    if (path / "corpus.txt").is_file() and (path / "annotations").is_dir():
        texts = list(_brat(path))
    else:
        files = sorted(path.glob("*.txt")) if path.is_dir() else [path]
        texts = [text for file in files for text in _pubtator(file)]
    if not texts:
        raise UsageError(
            f"no annotated text in '{path}'. Hint: a PubTator file (lines ID|t|TITLE, ID|a|ABSTRACT, then annotations),"
            " or a folder with corpus.txt and annotations/"
        )
    for text in texts:
        for start, end in text.gold:
            if not 0 <= start < end <= len(text.text):
                raise UsageError(f"'{path}', text {text.id}: the annotation ({start}, {end}) lies outside the text")
    return texts


def _lines(path: Path) -> list[str]:
    return lines_of_text(path).split("\n")


def _pubtator(path: Path) -> Iterator[AnnotatedText]:
    parts: dict[str, dict[str, str]] = {}
    rows: dict[str, list[list[str]]] = {}
    for line in _lines(path):
        match = _PUBTATOR.match(line)
        if match:
            parts.setdefault(match["id"], {})[match["part"]] = match["text"].rstrip("\r")
            continue
        cells = line.rstrip("\r").split("\t")
        if len(cells) >= 5 and cells[0] in parts and cells[1].isdigit() and cells[2].isdigit():
            rows.setdefault(cells[0], []).append(cells)
    for name, text in parts.items():
        gold: Gold = {}
        left_out: Counter[str] = Counter()
        for cells in rows.get(name, ()):
            if cells[4] in CLASSES:
                gold[int(cells[1]), int(cells[2])] = CLASSES[cells[4]]
            else:
                left_out[cells[4]] += 1
        yield AnnotatedText(name, f"{text.get('t', '')} {text.get('a', '')}", gold, left_out)


def _brat(folder: Path) -> Iterator[AnnotatedText]:
    for line in _lines(folder / "corpus.txt"):
        name, tab, text = line.rstrip("\r").partition("\t")
        if not tab:
            continue
        gold: Gold = {}
        left_out: Counter[str] = Counter()
        file = folder / "annotations" / f"{name}.ann"
        for row in _lines(file) if file.is_file() else ():
            match = _BRAT.match(row)
            if match and match["type"] in CLASSES_OF_BRAT:
                gold[int(match["start"]), int(match["end"])] = CLASSES_OF_BRAT[match["type"]]
            elif match:
                left_out[match["type"]] += 1
        yield AnnotatedText(name, text, gold, left_out)
