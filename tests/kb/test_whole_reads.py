"""Files that are read whole are bounded: whoever reads one asks ``kb/files``, or reads what is shipped or its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cohortium.engine.commands.verification import read_proofs
from cohortium.eval.bank.natural.questions import load_questions
from cohortium.eval.baselines.retrieval.tuning import load_choice
from cohortium.eval.benchmark.settings import load_settings
from cohortium.eval.extraction.corpora.label_maps import label_map
from cohortium.eval.extraction.corpora.sources import content_of
from cohortium.eval.extraction.corpora.splits import Split
from cohortium.eval.extraction.mednlp.reports import read_reports
from cohortium.eval.extraction.negex import read_marked
from cohortium.eval.extraction.notation.corpora import read_corpus
from cohortium.eval.training.recipe import read_recipe
from cohortium.ingest.coral_schema.standoff import load as load_standoff
from cohortium.kb.endpoint.kept import KeptAnswers
from cohortium.kb.errors import OntologyError, UsageError
from cohortium.kb.files.text_files import bytes_of, json_of, lines_of_text
from cohortium.kb.importers import oncotree
from cohortium.kb.ontology.rows import read_concepts, read_value_sets
from cohortium.kb.ontology.scales import Scales
from tests.places import ROOT

READS = re.compile(r"\.read_text\(|\.read_bytes\(|\.read\(\)|\bjson\.load\(|tomllib\.load\(|\.readlines\(")
#: A reading of the package's own data: beside the code, in the ontology that ships, or in a constant that names it.
SHIPPED = re.compile(r"__file__|resources\.files|_FOLDER|_FILE\b|_FILE\)|_WORDS\b|_MAP\b|FOLDER\b")
#: Who else reads a file whole, and why it may.
OTHERS = {
    "eval/bank/consistency/pairs.py": "pairs that ship",
    "eval/bank/consistency/run.py": "pairs that ship",
    "eval/benchmark/agreement.py": "paraphrases that ship",
    "eval/benchmark/run.py": "the mark of its own run",
    "eval/benchmark/store.py": "the lines of its own run",
    "eval/benchmark/workshop.py": "costs of its own run",
    "eval/baselines/retrieval/kept_index.py": "vectors of its own run",
    "eval/baselines/retrieval/local_encoder.py": "the modules of an encoder, which is loaded whole",
    "eval/baselines/retrieval/vectors.py": "vectors of its own run",
    "eval/extraction/corpora/label_maps.py": "whether a map that ships is one",
    "eval/made_up/synthetic/corpus_files.py": "blocks of its own run",
    "eval/made_up/synthetic/corpus_labels.py": "facts of its own run",
    "eval/made_up/synthetic/courses/tables.py": "tables that ship",
    "eval/made_up/synthetic/second_hand/tables.py": "tables that ship",
    "eval/made_up/synthetic/writing/banks.py": "banks that ship",
    "eval/training/few/resources.py": "answers of its own run",
    "eval/training/linking/mentions.py": "judgements that ship",
    "ingest/run/batches.py": "the code's own version",
    "ingest/single.py": "no file: a word of its help",
    "ingest/run/spool.py": "batches of its own run",
    "ingest/text/zone_words.py": "points that ship",
    "ingest/trust/model.py": "weights that ship",
    "kb/free_sql/worker.py": "a line of /proc",
    "ingest/recognizers/allergies.py": "no file: a reader of text",
    "kb/index/arrays.py": "the index of a knowledge base, proven first",
    "kb/index/holdings.py": "the index of a knowledge base, proven first",
    "kb/index/lists/values.py": "the index of a knowledge base, proven first",
    "kb/ontology/kept_concepts.py": "the code's own version",
    "kb/ontology/normal_forms.py": "the spelling that ships",
    "kb/ontology/regimens.py": "regimens that ship",
    "kb/sql_files.py": "statements that ship",
    "kb/units.py": "units that ship",
    "query_lang/english/chart.py": "the grammar of clauses, which ships",
    "query_lang/english/translate.py": "no file: a parser",
    "query_lang/syntax.py": "the grammar's tables",
}


def test_who_reads_files_whole_is_known() -> None:
    """A new reader of files that users name goes through kb/files, or tells here why it need not."""
    readers = {
        str(path.relative_to(ROOT))
        for folder in ("kb", "ingest", "query_lang", "engine", "eval")
        for path in (ROOT / folder).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if READS.search(line) and not SHIPPED.search(line)
    }
    assert readers == set(OTHERS)


WHOLE = {
    "proofs": read_proofs,
    "questions": load_questions,
    "a choice": load_choice,
    "settings": load_settings,
    "labels.toml": label_map,
    "a corpus": content_of,
    "a split": Split.read,
    "reports": read_reports,
    "marked sentences": read_marked,
    "notations": read_corpus,
    "a recipe": lambda path: read_recipe(path, None),
    "note.ann": load_standoff,
    "concepts.tsv": lambda path: read_concepts(path, []),
    "value_sets.toml": read_value_sets,
    "scales.toml": Scales.from_files,
    "oncotree.json": lambda path: oncotree.read([path]),
    "answers": KeptAnswers,
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_file_without_end_is_refused_by_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Before it is held, and with the variable that raises the limit; nothing of the file is told."""
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(3 << 20)
    monkeypatch.setenv("COHORTIUM_LONGEST_FILE", "1MiB")
    with pytest.raises((UsageError, OntologyError)) as told:
        WHOLE[name](path)
    if name != "a choice":
        assert "longer than 1 MiB" in str(told.value)
        assert "COHORTIUM_LONGEST_FILE" in str(told.value)


def test_what_is_read_whole_is_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To its last byte, under a limit that no memory has; one byte above a limit is refused, none is taken."""
    path = tmp_path / "x.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n')
    monkeypatch.setenv("COHORTIUM_LONGEST_FILE", "3TB")
    assert json_of(path) == {"a": 1}
    assert lines_of_text(path) == '{"a": 1}\n'
    assert len(bytes_of(path, 13)) == 13
    with pytest.raises(UsageError, match="longer than 12 bytes"):
        bytes_of(path, 12)


@pytest.mark.parametrize(("data", "told"), [
    (b"[" * 100_000, "not JSON"), (b"{", "not JSON"), (b"\xff", "not UTF-8"),
    (b"[" + b"1," * 40 + b"1]", "too much JSON"),
])  # fmt: skip
def test_what_is_no_json_is_told_without_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, told: str
) -> None:
    """Nesting and values without end among it."""
    monkeypatch.setenv("COHORTIUM_MOST_VALUES", "200000" if data[:2] == b"[[" else "20")
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=told):
        json_of(path)
