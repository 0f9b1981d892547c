"""What goes wrong is counted once, by its kind, and is never scored; what was done is kept and not paid for twice."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import stat
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from cohortium.eval.baselines.reading.budget import Budget, Prices
from cohortium.eval.baselines.reading.offline_reader import OfflineReader
from cohortium.eval.baselines.systems.contract import Outcome
from cohortium.kb.endpoint.kept import KeptAnswers, key_of
from cohortium.kb.errors import UsageError
from tests.eval.baselines.misbehaviour import MIX, MisbehavingReader, Misbehaviour, drawn
from tests.eval.baselines.reader_stage import QUESTION, SECRET, corpus, reader, truly

KINDS = {
    Misbehaviour.TIMEOUT: "timeout",
    Misbehaviour.REFUSAL: "refusal",
    Misbehaviour.BUSY: "rate_limit",
    Misbehaviour.BROKEN: "connection",
    Misbehaviour.DROPPED: "connection",
    Misbehaviour.TRUNCATED: "nonsense",
    Misbehaviour.HALF_JSON: "nonsense",
    Misbehaviour.PROSE: "nonsense",
    Misbehaviour.INVENTED: "nonsense",
    Misbehaviour.WRONG_TYPES: "nonsense",
    Misbehaviour.HUGE: "nonsense",
}
GOOD = [one for one in Misbehaviour if one not in KINDS]


def patience(kind: Misbehaviour) -> dict[str, float]:
    """Little where the server will be late for sure, plenty where a busy machine might make it so."""
    return {"seconds": 0.2 if kind is Misbehaviour.TIMEOUT else 20.0}


@pytest.mark.parametrize("kind", KINDS)
def test_each_failure_is_counted_once_by_its_kind(kind: Misbehaviour) -> None:
    """When all patients fail the question has failed, whatever the server wrote."""
    with MisbehavingReader(1, [kind]) as server:
        answer = reader(server, corpus(3), limits=patience(kind)).answer(QUESTION)
    assert answer.outcome is Outcome.FAILED
    assert [(one.patient_id, one.kind) for one in answer.failures] == [
        (patient, KINDS[kind]) for patient in ("P0000", "P0001", "P0002")
    ]
    assert f"{KINDS[kind]} 3" in answer.reason
    assert (answer.size, answer.ranking) == (0, ())


@pytest.mark.parametrize("kind", GOOD)
def test_what_goes_wrong_once_is_asked_again(kind: Misbehaviour) -> None:
    """A busy, broken or dropped request is tried again, and counted as a retry."""
    held = corpus(6)
    with MisbehavingReader(1, [kind]) as server:
        answer = reader(server, held).answer(QUESTION)
        again = 0 if kind is Misbehaviour.NONE else 6
        assert (answer.spent.requests, answer.spent.retries) == (6 + again, again)
        assert server.requests == 6 + again
    assert (answer.cohort, answer.failures) == (truly(held), ())


def test_in_a_mix_each_patient_fails_as_the_seed_drew_and_the_rest_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failed patients are neither in the cohort nor in the ranking; the others are as without any failure."""
    drew: dict[str, Misbehaviour] = {}

    def spy(seed: int, message: str, mix: tuple[Misbehaviour, ...]) -> Misbehaviour:
        kind = drawn(seed, message, mix)
        drew[message.split("Patient ")[1].split()[0]] = kind
        return kind

    monkeypatch.setattr("tests.eval.baselines.misbehaviour.drawn", spy)
    held = corpus(60)
    with MisbehavingReader(5) as server:
        answer = reader(server, held, limits={"seconds": 2.0}, threads=8).answer(QUESTION)
    expected = {f"P{int(number):04}": KINDS[kind] for number, kind in drew.items() if kind in KINDS}
    assert len(drew) == 60
    assert len(set(expected.values())) == 5
    assert {one.patient_id: one.kind for one in answer.failures} == expected
    assert len(answer.failures) == len(expected)
    assert answer.cohort == truly(held) - set(expected)
    assert {one.patient_id for one in answer.ranking} == set(held.patients) - set(expected)


def test_the_mix_is_the_same_for_a_seed_in_any_order() -> None:
    """It is drawn from the seed and the message, and all kinds come up."""
    first = [drawn(3, str(number)) for number in range(400)]
    assert first == [drawn(3, str(number)) for number in range(400)]
    assert first != [drawn(4, str(number)) for number in range(400)]
    assert set(first) == set(MIX)


def test_a_server_that_asks_to_be_left_alone_is_left_alone_by_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first 429 nobody sends anything before its Retry-After is over."""
    monkeypatch.setattr("tests.eval.baselines.misbehaviour.RETRY_AFTER", "0.4")
    times: list[float] = []
    real = OfflineReader.respond

    def spy(self: OfflineReader, handler: object) -> None:
        times.append(time.monotonic())
        real(self, handler)  # type: ignore[arg-type]

    monkeypatch.setattr(OfflineReader, "respond", spy)
    with MisbehavingReader(1, [Misbehaviour.BUSY_ONCE]) as server:
        answer = reader(server, corpus(4), threads=2).answer(QUESTION)
    assert len(answer.ranking) == 4
    times.sort()
    # Two threads may have sent before the first answer came; then there is silence.
    assert max(after - before for before, after in itertools.pairwise(times)) >= 0.35


def test_requests_leave_at_the_pace_that_was_set() -> None:
    """Ten in a second: six take half a second at least."""
    with OfflineReader() as server:
        answer = reader(server, corpus(6), per_second=10.0).answer(QUESTION)
    assert answer.spent.seconds >= 0.5


def test_an_endpoint_that_does_not_take_the_key_is_asked_once_and_not_for_everybody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What will not change for the next patient is not tried on them; they are counted all the same."""
    from cohortium.eval.baselines.reading import offline_reader

    asked: list[int] = []

    def refuse(self: OfflineReader, handler: object) -> None:
        asked.append(1)
        offline_reader.send(handler, 401, b"{}")  # type: ignore[arg-type]

    monkeypatch.setattr(OfflineReader, "respond", refuse)
    with OfflineReader() as server:
        answer = reader(server, corpus(20), threads=1).answer(QUESTION)
    assert len(asked) == 1
    assert Counter(one.kind for one in answer.failures) == {"connection": 20}
    assert answer.outcome is Outcome.FAILED


def test_a_server_that_is_gone_is_given_up_after_some_patients() -> None:
    """The rest of the question fails at once, and the next question begins anew."""
    with OfflineReader() as server:
        pass
    gone = reader(server, corpus(50), breaks=3, threads=1)
    answer = gone.answer(QUESTION)
    assert Counter(one.kind for one in answer.failures) == {"connection": 50}
    assert answer.spent.requests == 9
    assert gone.answer(QUESTION).spent.requests == 9


@pytest.mark.parametrize(("status", "requests"), [(429, 9), (302, 1)])
def test_a_server_that_will_not_is_given_up(status: int, requests: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose quota is used up says 429 to everybody, however long we wait; a redirect is one for all."""
    from cohortium.eval.baselines.reading import offline_reader

    def refuse(self: OfflineReader, handler: object) -> None:
        self.requests += 1
        offline_reader.send(handler, status, b"{}", {"Location": "http://127.0.0.1:9/"})  # type: ignore[arg-type]

    monkeypatch.setattr(OfflineReader, "respond", refuse)
    with OfflineReader() as server:
        answer = reader(server, corpus(20), breaks=3, threads=1).answer(QUESTION)
        assert server.requests == requests
    assert len(answer.failures) == 20
    assert answer.outcome is Outcome.FAILED


def test_a_server_that_counts_beyond_all_sense_breaks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers that no file and no sum of dollars can hold are not taken: the answers are, and are kept."""
    real = OfflineReader.chat

    def boast(self: OfflineReader, body: bytes) -> dict[str, object]:
        return {**real(self, body), "usage": {"prompt_tokens": 10**400, "completion_tokens": 10**30}}

    monkeypatch.setattr(OfflineReader, "chat", boast)
    held = corpus(6)
    cache = KeptAnswers(tmp_path / "answers")
    with OfflineReader() as server:
        answer = reader(server, held, cache, prices=Prices(1.0, 1.0), question=Budget(dollars=1.0)).answer(QUESTION)
        assert len(cache) == 6
    assert (answer.cohort, answer.failures) == (truly(held), ())
    assert answer.spent.dollars < 1


# --- budgets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 4])
def test_a_budget_of_requests_stops_exactly(threads: int) -> None:
    """Of ten patients seven are asked about; three fail for want of budget, and are counted."""
    with OfflineReader() as server:
        answer = reader(server, corpus(10), threads=threads, question=Budget(requests=7)).answer(QUESTION)
        assert server.requests == 7
    assert Counter(one.kind for one in answer.failures) == {"budget": 3}
    assert (answer.outcome, len(answer.ranking), answer.spent.requests) == (Outcome.ANSWERED, 7, 7)


def test_a_budget_of_the_run_holds_over_questions() -> None:
    """The second question gets what the first has left, and the third nothing."""
    with OfflineReader() as server:
        system = reader(server, corpus(10), run=Budget(requests=15))
        answers = [system.answer(QUESTION) for _ in range(3)]
        assert server.requests == 15
    assert [one.outcome for one in answers] == [Outcome.ANSWERED, Outcome.ANSWERED, Outcome.FAILED]
    assert [len(one.failures) for one in answers] == [0, 5, 10]


def test_retries_are_paid_from_the_same_budget() -> None:
    """Three requests for one patient are three."""
    with MisbehavingReader(1, [Misbehaviour.BROKEN]) as server:
        answer = reader(server, corpus(10), threads=1, question=Budget(requests=5)).answer(QUESTION)
        assert server.requests == 5
    assert Counter(one.kind for one in answer.failures) == {"connection": 1, "budget": 9}


@pytest.mark.parametrize("bound", ["tokens", "dollars"])
def test_budgets_of_tokens_and_dollars_are_not_passed(bound: str) -> None:
    """What the longest answer may cost is set aside before the request leaves."""
    costs = Prices(prompt=10.0, answer=20.0)
    with OfflineReader() as server:
        limit = Budget(tokens=5_000) if bound == "tokens" else Budget(dollars=0.05)
        answer = reader(server, corpus(30), question=limit, prices=costs).answer(QUESTION)
    spent = answer.spent
    assert 0 < spent.requests < 30
    assert {one.kind for one in answer.failures} == {"budget"}
    assert len(answer.failures) == 30 - spent.requests
    if bound == "tokens":
        assert 5_000 - 600 - 450 < spent.prompt_tokens + spent.answer_tokens <= 5_000
    else:
        assert 0.05 - 0.0165 < spent.dollars <= 0.05


def test_what_is_set_aside_is_free_again_whatever_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that nobody foresaw passes, and those who waited for its tokens do not wait for ever."""

    def broken(self: object, *_: object) -> None:
        time.sleep(0.1)
        raise MemoryError

    monkeypatch.setattr("cohortium.kb.endpoint.chat.ChatEndpoint._reply", broken)
    with OfflineReader() as server:
        system = reader(server, corpus(8), threads=4, question=Budget(tokens=1_300))
        done = threading.Event()

        def ask() -> None:
            with pytest.raises(MemoryError):
                system.answer(QUESTION)
            done.set()

        threading.Thread(target=ask, daemon=True).start()
        assert done.wait(20)


def test_dollars_without_prices_are_no_budget() -> None:
    """It would never stop anything."""
    with OfflineReader() as server, pytest.raises(UsageError, match="prices"):
        reader(server, corpus(1), run=Budget(dollars=1.0))


# --- what is kept ---------------------------------------------------------------------------------------------------


def test_what_is_in_the_cache_costs_nothing(tmp_path: Path) -> None:
    """The second run gives the same answer without a request."""
    held = corpus(12)
    cache = KeptAnswers(tmp_path / "answers")
    with OfflineReader() as server:
        first = reader(server, held, cache).answer(QUESTION)
        system = reader(server, held, cache, question=Budget(requests=0))
        second = system.answer(QUESTION)
        assert server.requests == 12
    assert (second.ranking, second.size, second.failures) == (first.ranking, first.size, ())
    assert (second.spent.requests, second.spent.cached, second.spent.prompt_tokens) == (0, 12, 0)


def test_another_question_model_or_prompt_is_not_found_in_the_cache(tmp_path: Path) -> None:
    """The key is of everything that is asked."""
    asked = [{"role": "user", "content": "a"}]
    with OfflineReader() as server:
        settings = server.settings()
    keys = {
        key_of(settings, asked),
        key_of(replace(settings, model="n"), asked),
        key_of(replace(settings, limits=replace(settings.limits, answer_tokens=7)), asked),
        key_of(settings, [{"role": "user", "content": "b"}]),
        key_of(replace(settings, host="another.example.org"), asked),
    }
    assert len(keys) == 5
    cache = KeptAnswers(tmp_path / "answers")
    with OfflineReader() as server:
        system = reader(server, corpus(3), cache)
        system.answer(QUESTION)
        system.answer(replace(QUESTION, id="q2", text="Find patients with hypertension"))
        assert server.requests == len(cache) == 6


def test_failures_of_the_line_are_asked_again_and_answers_are_not(tmp_path: Path) -> None:
    """A refusal and nonsense are answers that were paid for; a time-out or an empty account is none."""
    held = corpus(4)
    for kind, kept in [
        (Misbehaviour.REFUSAL, 4), (Misbehaviour.PROSE, 4), (Misbehaviour.INVENTED, 4), (Misbehaviour.HALF_JSON, 4),
        (Misbehaviour.TIMEOUT, 0), (Misbehaviour.BUSY, 0), (Misbehaviour.BROKEN, 0), (Misbehaviour.DROPPED, 0),
        (Misbehaviour.TRUNCATED, 0), (Misbehaviour.HUGE, 0),
    ]:  # fmt: skip
        cache = KeptAnswers(tmp_path / kind)
        with MisbehavingReader(1, [kind]) as server:
            system = reader(server, held, cache, limits=patience(kind))
            first = system.answer(QUESTION)
            assert len(cache) == kept, kind
            before = server.requests
            second = system.answer(QUESTION)
            assert (server.requests > before) == (kept == 0)
            assert second.failures == first.failures


def test_after_an_interrupt_only_what_is_missing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """KeyboardInterrupt passes; what was answered is there, what was under way is kept, nothing is paid for twice."""
    held = corpus(40)
    real = OfflineReader.respond
    count = threading.Semaphore(0)

    def spy(self: OfflineReader, handler: object) -> None:
        count.release()
        time.sleep(0.01)
        real(self, handler)  # type: ignore[arg-type]

    monkeypatch.setattr(OfflineReader, "respond", spy)

    def interrupt() -> None:
        for _ in range(10):
            count.acquire()
        os.kill(os.getpid(), signal.SIGINT)

    with OfflineReader() as server:
        cache = KeptAnswers(tmp_path / "answers")
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            reader(server, held, cache).answer(QUESTION)
        asked = server.requests
        assert 10 <= asked < 40
        assert len(cache) == asked
        answer = reader(server, held, KeptAnswers(tmp_path / "answers")).answer(QUESTION)
        assert server.requests == 40
    assert (answer.spent.cached, answer.spent.requests) == (asked, 40 - asked)
    assert answer.cohort == truly(held)


def test_an_interrupt_does_not_wait_for_a_server_that_asks_to_be_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a minute of Retry-After is not sat out."""
    monkeypatch.setattr("tests.eval.baselines.misbehaviour.RETRY_AFTER", "30")
    cache = KeptAnswers(tmp_path / "answers")
    with MisbehavingReader(1, [Misbehaviour.BUSY]) as server:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            reader(server, corpus(8), cache).answer(QUESTION)
        assert time.monotonic() - began < 10
        assert len(cache) == 0


def _run(port: int, path: Path) -> None:
    """What the process that is killed does."""
    server = OfflineReader(port)
    reader(server, corpus(600), KeptAnswers(path)).answer(QUESTION)


def test_after_a_kill_only_what_is_missing_is_asked(tmp_path: Path) -> None:
    """SIGKILL in the middle loses at most the answers that were under way."""
    path = tmp_path / "answers"
    with OfflineReader() as server:
        process = multiprocessing.get_context("spawn").Process(target=_run, args=(server.port, path))
        process.start()
        end = time.monotonic() + 60
        while server.requests < 20 and time.monotonic() < end:
            time.sleep(0.002)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        asked = -1
        while asked != server.requests:
            # What the killed process had sent may still lie before the server.
            asked = server.requests
            time.sleep(0.4)
        assert 20 <= asked < 600
        cache = KeptAnswers(path)
        done = len(cache)
        answer = reader(server, corpus(600), cache).answer(QUESTION)
        assert asked - 4 <= done <= asked
        assert server.requests == asked + 600 - done
    assert (answer.spent.cached, answer.spent.requests) == (done, 600 - done)
    assert answer.cohort == truly(corpus(600))


def test_the_cache_is_its_owners_alone_and_holds_no_passage(tmp_path: Path) -> None:
    """Files have mode 0600, journals too; a note is in them only as far as an answer quotes it."""
    path = tmp_path / "answers"
    cache = KeptAnswers(path)
    with OfflineReader() as server:
        reader(server, corpus(6), cache).answer(QUESTION)
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
        assert set(modes.values()) == {0o600}, modes
    held = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert b"metastatic melanoma of the skin." in held
    for absent in (SECRET, "Here for review", "Blood pressure", "Hypertension", "melanoma?", QUESTION.text, "P0000"):
        assert absent.encode() not in held


def test_a_cache_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    """The mode is set again when the file is opened."""
    path = tmp_path / "answers"
    KeptAnswers(path)
    path.chmod(0o644)
    KeptAnswers(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_two_servers_that_call_a_model_alike_have_answers_of_their_own() -> None:
    """A port of this machine is whichever was free; elsewhere address and path tell servers apart."""
    from cohortium.eval.baselines.reading.reader import _server

    with OfflineReader() as server:
        here = server.settings()
    there = replace(here, host="models.example.org", port=443, encrypted=True)
    assert _server(here) == _server(replace(here, port=here.port + 1))
    others = [here, there, replace(there, host="b.example.org"), replace(there, port=8443), replace(there, path="/v2")]
    assert len({key_of(_server(one), []) for one in others}) == 5


def test_the_rights_of_a_file_that_is_none_of_ours_stay(tmp_path: Path) -> None:
    """Whoever names the wrong file gets an error and no other change."""
    path = tmp_path / "notes.jsonl"
    path.write_text("these are notes of somebody " * 100, encoding="utf-8")
    path.chmod(0o644)
    with pytest.raises(UsageError):
        KeptAnswers(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_file_of_something_else_is_not_taken_for_a_cache(tmp_path: Path) -> None:
    """Neither text nor a folder is written over."""
    text = tmp_path / "text"
    text.write_text("these are notes of somebody " * 100, encoding="utf-8")
    for path in (text, tmp_path, tmp_path / "no" / "folder"):
        with pytest.raises(UsageError):
            KeptAnswers(path)
    assert text.read_text(encoding="utf-8").startswith("these are notes")
