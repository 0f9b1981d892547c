"""Files as an attacker or a bad disk leaves them: valid ones of every kind, made here, and their bytes changed."""

from __future__ import annotations

import base64
import gzip
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import duckdb
from hypothesis import strategies as st

_NOTES: Final = [
    {"patient_id": f"P{number % 2}", "doc_id": f"d{number}", "date": "2020-01-02", "title": "Visit", "text": text}
    for number, text in enumerate(["ECOG 1.", 'a, "b"\r\nc;d\n', "Größe 3 cm, 中文", "x" * 300])
]
_DOCUMENT: Final = {
    "resourceType": "DocumentReference",
    "id": "d1",
    "status": "current",
    "subject": {"reference": "Patient/P1"},
    "date": "2020-01-02T23:30:00-05:00",
    "type": {"coding": [{"code": "11526-1"}]},
    "content": [
        {"attachment": {"contentType": "text/plain; charset=latin1", "data": base64.b64encode(b"No pain.").decode()}},
        {"attachment": {"contentType": "text/html", "data": base64.b64encode(b"<p>ECOG 1<br>x").decode()}},
        {"attachment": {"contentType": "text/plain", "url": "Binary/b1"}},
    ],
}
_COMPOSITION: Final = {
    "resourceType": "Composition",
    "subject": {"reference": "urn:uuid:1"},
    "section": [{"title": "History", "text": {"div": "<div>x</div>"}, "section": [{"title": "Deep"}]}],
}
_BUNDLE: Final = {
    "resourceType": "Bundle",
    "type": "history",
    "entry": [
        {"fullUrl": "urn:uuid:1", "resource": {"resourceType": "Patient", "id": "P1"}},
        *({"resource": one} for one in (_DOCUMENT, _COMPOSITION, {"resourceType": "Observation"})),
    ],
}
_FACTS: Final = [
    {
        "patient_id": patient,
        "vital_status": "dead",
        "death_date": "2021",
        "facts": [
            {"kind": "diagnosis", "concept": "breast cancer", "value": "stage II", "date": "2020-03", "docs": ["a"]},
            {"kind": "biomarker", "concept": "HER2", "value": "positive", "attributes": {"method": "IHC", "score": 3}},
        ],
    }
    for patient in ("A", "B")
]


def _table(name: str, statement: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        if name.endswith(".duckdb"):
            with duckdb.connect(str(path)) as database:
                database.execute(f"CREATE TABLE note AS {statement}")
        else:
            with duckdb.connect() as database:
                database.execute(f"COPY ({statement}) TO '{path}' (FORMAT parquet)")
        return path.read_bytes()


def _lines(records: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records).encode()


def _rows(delimiter: str) -> bytes:
    def cell(value: object) -> str:
        return '"' + str(value).replace('"', '""') + '"'

    rows = [delimiter.join(_NOTES[0]), *(delimiter.join(map(cell, one.values())) for one in _NOTES)]
    return "\r\n".join(rows).encode()


_SELECT: Final = (
    "SELECT 'P' || (range % 3) AS patient_id, range AS doc_id, DATE '2020-01-02' + range::INT AS date,"
    " 'ECOG ' || range AS text, [range] AS list, now()::TIMESTAMP AS moment FROM range(40)"
)
_OMOP: Final = (
    "SELECT range AS note_id, range % 3 AS person_id, DATE '2020-01-02' AS note_date, 44814645 AS note_type_concept_id,"
    " 'Visit' AS note_title, 'ECOG ' || range AS note_text FROM range(20)"
)

#: Ending of the name → a valid file of that kind.
SEEDS: Final[Mapping[str, bytes]] = {
    ".jsonl": _lines(_NOTES),
    ".csv": _rows(","),
    ".tsv": _rows("\t"),
    ".json": json.dumps(_BUNDLE).encode(),
    ".ndjson": _lines([_DOCUMENT, _COMPOSITION, _BUNDLE]),
    ".txt": "Principal Date....20190304 1345\n\nECOG 1 today. Größe 3 cm.\n".encode(),
    ".parquet": _table("n.parquet", _SELECT),
    ".omop.parquet": _table("n.parquet", _OMOP),
    ".omop.csv": b'note_id,person_id,note_date,note_text\n1,7,2020-01-02,x\n2,7,,"a\nb"\n',
    ".duckdb": _table("n.duckdb", _OMOP),
    ".facts": _lines(_FACTS),
}
#: What parsers stumble over.
_PIECES: Final = [
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\r",
    b"\n\n\n",
    b'"',
    b'""',
    b"\\",
    b"\\ud83d",
    b"\\u0000",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"9" * 5000,
    b"[" * 3000,
    b'{"a":' * 3000,
    b"}",
    b"]",
    b",",
    b":",
    b"\t",
    b";",
    b"null",
    b"true",
    b'{"a":1,"a":2}',
    b'"patient_id":"X",',
    b'"resourceType":"Bundle",',
    b'"status":"entered-in-error",',
    b"<!--",
    b"<" * 500,
    b"%PDF",
    b"charset=punycode",
    b"PAR1",
    b"\x1f\x8b\x08",
    b"2020-02-31",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\x1b]0;x\x07",
    b" " * 900,
]


def _flipped(draw: Callable[..., int], data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 8))):
        place = draw(st.integers(0, len(data) - 1))
        changed[place] ^= 1 << draw(st.integers(0, 7))
    return bytes(changed)


@st.composite
def mutated(draw: st.DrawFn, ending: str) -> bytes:
    """A file of this kind, one to four times changed: bits flipped, cut off, spliced with another, a part doubled or
    moved, a piece put in; then perhaps packed, once or twice, and changed again."""
    data = SEEDS[ending]
    for _ in range(draw(st.integers(1, 4))):
        if not data:
            break
        low = draw(st.integers(0, len(data) - 1))
        high = draw(st.integers(low, min(len(data), low + 400)))
        match draw(st.integers(0, 5)):
            case 0:
                data = _flipped(draw, data)
            case 1:
                data = data[:low]
            case 2:
                other = SEEDS[draw(st.sampled_from(sorted(SEEDS)))]
                data = data[:low] + other[draw(st.integers(0, len(other) - 1)) :][:5_000]
            case 3:
                data = data[:high] + data[low:high] * draw(st.integers(1, 30)) + data[high:]
            case 4:
                data = data[:low] + data[high:]
            case _:
                data = data[:low] + draw(st.sampled_from(_PIECES)) + data[low:]
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2]))):
        data = gzip.compress(data, mtime=0)
        if draw(st.booleans()):
            data = _flipped(draw, data)
    return data
