"""The commands of measurement: ``eval acr`` (the query bank against labels), and those of the folders beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..ingest.commands import print_unresolved
from ..kb.errors import UsageError
from ..kb.files.whole_files import write_text_privately
from ..kb.skin.options import FormatOption, NoRowsOption, OutOption
from ..kb.skin.terminal import Format, answer, check_output, counted, print_csv, print_table, three_places
from .bank.consistency.command import consistency
from .extraction.coral.command import COMMANDS as CORAL_COMMANDS
from .extraction.fact_level.command import facts
from .extraction.mednlp.command import mednlp
from .extraction.ner.baselines.command import ner_baseline
from .extraction.ner.command import ner
from .extraction.notation.command import variants
from .report.command import SeedOption

if TYPE_CHECKING:
    from .measures.terms import Terms

_QUERY_COLUMNS: Final = ("id", "tp", "fp", "fn", "abstained", "query")


# Each parameter of a command is an option of it.
def acr(
    labels: Annotated[
        Path,
        typer.Option(
            "--labels",
            help="Labels: JSONL, one patient a line: patient_id, match (ids of the queries that hold), ambiguous (ids"
            " left open). --format csv lists the ids and their queries.",
        ),
    ],
    kb: Annotated[
        Path | None, typer.Option("--kb", help="The knowledge base to ask; with --facts, where to keep theirs.")
    ] = None,
    facts: Annotated[
        Path | None,
        typer.Option(
            "--facts",
            help="Ask a clinical abstraction instead: JSONL, one patient a line: patient_id, facts. What disagrees with"
            " the labels is explained, and facts that name nothing known are listed.",
        ),
    ] = None,
    alpha: Annotated[int | None, typer.Option(min=1, help="Smallest gold of a broad query.")] = None,
    beta: Annotated[int | None, typer.Option(min=1, help="Smallest gold of a narrow query.")] = None,
    seed: SeedOption = 0,
    errors: Annotated[
        bool, typer.Option("--errors", help="List the patients that each query was wrong about.")
    ] = False,
    html: Annotated[Path | None, typer.Option("--html", metavar="OUT", help="Also write the scores as a page.")] = None,
    natural: Annotated[
        bool,
        typer.Option(
            "--natural", help="Ask in plain English: the bank's own words, or those of --queries. Needs --kb."
        ),
    ] = False,
    queries: Annotated[
        Path | None,
        typer.Option("--queries", help='With --natural: questions to ask, JSON: [{"id", "of": bank id, "text"}].'),
    ] = None,
    output: FormatOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Score the query bank on labelled patients: precision, recall, F1, by size and complexity."""
    if queries is not None and not natural:
        raise UsageError("--queries are questions in plain English. Hint: add --natural")
    if natural and (kb is None or facts is not None):
        raise UsageError("--natural asks a knowledge base. Hint: --kb KB, without --facts")
    if kb is None and facts is None:
        raise UsageError("eval acr needs a knowledge base or an abstraction. Hint: --kb KB, or --facts FACTS.jsonl")
    # Before the run, which may keep a knowledge base.
    check_output(output, out, rows=True)
    check_output(Format.TABLE, html, rows=True)
    from .measures.terms import Terms

    terms = Terms(alpha, beta, seed)
    try:
        if natural:
            scores = _natural(kb, labels, queries, terms)
        else:
            scores = _scores(facts, kb, labels, terms, errors)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if html is not None:
        _write_page(html, scores)
    answer(
        scores,
        output=output,
        out=out,
        as_table=lambda: print_scores(scores),
        as_csv=lambda: print_csv(*_query_rows(scores, errors)),
    )


def _query_rows(scores: dict[str, Any], errors: bool) -> tuple[tuple[str, ...], list[list[Any]]]:
    """Heading and a row for each query; with ``errors`` also the patients that it was wrong about."""
    wrong = ("false_positives", "false_negatives") if errors else ()
    rows = [
        [*(row[name] for name in _QUERY_COLUMNS), *(" ".join(row.get(name, ())) for name in wrong)]
        for row in scores["queries"]
    ]
    return (*_QUERY_COLUMNS, *wrong), rows


def negex(
    sentences: Annotated[
        Path,
        typer.Argument(help="The NegEx test sentences: a table of number, condition, sentence and three marks."),
    ],
    errors: Annotated[
        bool, typer.Option("--errors", help="List the sentences whose negation was read wrongly.")
    ] = False,
    output: NoRowsOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Score the context of marked conditions: negation, historical or recent, the patient's or another's."""
    check_output(output, out, rows=False)
    from .extraction.negex import read_marked, score

    scores = score(*read_marked(sentences)).as_dict(errors=errors)
    answer(scores, output=output, out=out, as_table=lambda: print_context(scores))


def print_context(scores: dict[str, Any]) -> None:
    """F1 of negated, the accuracies of the two other parts, and the errors where they are listed."""
    negation = scores["negation"]
    print(
        f"negation: F1 {three_places(negation['f1'])}, precision {three_places(negation['precision'])}, recall"
        f" {three_places(negation['recall'])} ({counted(scores['sentences'], 'sentence')}, {scores['left_out']} left"
        " out whose condition is not in them)"
    )
    for part in ("temporality", "experiencer"):
        print(f"{part}: {scores[part]['right']} of {scores[part]['of']} right")
    for one in scores.get("errors", ()):
        print(f"{one['number']}, {'' if one['negated'] else 'not '}negated: {one['text']}")


def _scores(facts: Path | None, kb: Path | None, labels: Path, terms: Terms, errors: bool) -> dict[str, Any]:
    if facts is not None:
        from .bank.acr.abstraction import run_abstraction

        return run_abstraction(facts, labels, kb=kb, terms=terms).as_dict(errors=errors)
    from .bank.acr.run import run_acr

    assert kb is not None  # one of the two is there
    return run_acr(kb, labels, terms=terms).as_dict(errors=errors)


def _natural(kb: Path | None, labels: Path, queries: Path | None, terms: Terms) -> dict[str, Any]:
    from .bank.natural.questions import load_questions
    from .bank.natural.scores import run_natural

    assert kb is not None  # it was checked
    questions = None if queries is None else load_questions(queries)
    return run_natural(kb, labels, questions, terms)


def print_natural(translations: dict[str, Any]) -> None:
    """How many translations are right, wrong, declined; then each that is not right."""
    parts = [
        f"{name.replace('_', ' ')} {part['count']} ({part['share']:.1%})"
        for name, part in translations.items()
        if isinstance(part, dict)
    ]
    print(f"translations of {counted(translations['questions'], 'question')}: {', '.join(parts)}")
    missed = [row for row in translations["rows"] if row["verdict"] != "right"]
    if missed:
        print_table(
            ("question", "of", "verdict", "text", "why"),
            [(row["id"], row["of"], row["verdict"], row["text"], row["reason"] or row["query"]) for row in missed],
        )


def print_scores(scores: dict[str, Any]) -> None:
    """The scores by size and complexity, what was not answered, and, where listed, the patients it was wrong about."""
    columns = ("", "queries", "precision", "recall", "F1", "fp", "fn")
    fp, fn = (sum(row[name] for row in scores["queries"]) for name in ("fp", "fn"))
    rows: list[tuple[object, ...]] = [
        ("micro", len(scores["queries"]), *_three(scores["micro"]), fp, fn),
        ("macro", len(scores["queries"]), *_three(scores["macro"]), "", ""),
    ]
    for table in ("by_size", "by_complexity"):
        for name, part in scores[table].items():
            rows.append((name, part["queries"], *_three(part), part["false_positives"], part["false_negatives"]))
    print_table(columns, rows)
    bounds, patients = scores["micro"]["ci"], scores["patients"]
    if bounds is not None:
        low, high = map(three_places, bounds)
        print(f"micro F1 {three_places(scores['micro']['f1'])}, 95% interval {low} to {high}")
    print(
        f"kappa {three_places(scores['kappa'])}; coverage {three_places(scores['coverage'])}; "
        f"zero-result false positives {scores['zero_result_false_positives']}; unresolved: {_unresolved(scores)}"
    )
    print(
        f"{counted(patients['labelled'], 'labelled patient')}, {patients['missing_from_kb']} of them not in the"
        f" knowledge base; {patients['unlabelled']} without labels left out"
    )
    if "natural" in scores:
        answered = scores["answered"]
        print(
            f"on what was answered: F1 {three_places(answered['f1'])}, {answered['wrong']} wrongly found patients;"
            f" coverage {three_places(scores['coverage'])}"
        )
        print_natural(scores["natural"])
        return
    for one in scores["unresolved"]:
        if "id" in one:
            print(f"query {one['id']} was not answered: {one['reason']}")
    if "facts" in scores:
        print_facts(scores)
    wrong = [row for row in scores["queries"] if row.get("false_positives") or row.get("false_negatives")]
    if wrong:
        print_table(
            ("id", "found, and not wanted", "wanted, and not found"),
            [(row["id"], " ".join(row["false_positives"]), " ".join(row["false_negatives"])) for row in wrong],
        )


def print_facts(scores: dict[str, Any]) -> None:
    """What became of an abstraction's facts, by kind; those that name nothing known; disagreements, explained."""
    from .bank.acr.report import disagreement_line

    facts = scores["facts"]
    columns = ("facts", "resolved", "kind_only", "unresolved", "share")
    rows = [(kind, *(row[column] for column in columns)) for kind, row in facts["by_kind"].items()]
    print_table(("kind", "facts", "resolved", "to their kind only", "unresolved", "share resolved"), rows)
    print(
        f"{counted(facts['facts'], 'fact')} of {counted(facts['patients'], 'patient')}, {three_places(facts['share'])}"
        f" of them resolved; {counted(scores['pairs'], 'pair')} of patient and query,"
        f" {counted(len(scores['disagreements']), 'disagreement')}"
    )
    print_unresolved([one for one in scores["unresolved"] if "id" not in one])
    for bad in facts["bad"]:
        print(f"not read: {bad['place']}: {bad['reason']}")
    for one in scores["disagreements"]:
        print(disagreement_line(one))
        for line in one["explanation"]:
            print(f"    {line}")


def _unresolved(scores: dict[str, Any]) -> str:
    """``2 queries``; of an abstraction, whose list holds facts as well: ``2 queries, 14 facts``."""
    queries = sum("id" in one for one in scores["unresolved"])
    shown = "1 query" if queries == 1 else f"{queries} queries"
    return f"{shown}, {counted(scores['facts']['unresolved'], 'fact')}" if "facts" in scores else shown


def _three(part: dict[str, Any]) -> tuple[str, str, str]:
    return three_places(part["precision"]), three_places(part["recall"]), three_places(part["f1"])


def _write_page(path: Path, scores: dict[str, Any]) -> None:
    from .bank.acr.page import page

    write_text_privately(path, page(scores))


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (
    ("acr", acr),
    ("consistency", consistency),
    ("facts", facts),
    ("mednlp", mednlp),
    ("negex", negex),
    ("ner", ner),
    ("ner-baseline", ner_baseline),
    ("variants", variants),
    *CORAL_COMMANDS,
)
