"""Answers POSTs about launches from a state: one question, or a batch. Knows bodies as bytes; knows no header."""

from __future__ import annotations

import time

from archcap.errors import ArchcapError, RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.codec import dumps, to_json
from archcap.model.reading import read_json, read_object, request_of
from archcap.model.resolution import Resolution
from archcap.resolver import resolve
from archcap.rules.run import Program
from archcap_service.bodies import check_depth
from archcap_service.documents import release_view
from archcap_service.effective import OVERHEAD, Question, State
from archcap_service.logs import LOGGER
from archcap_service.metrics import Metrics
from archcap_service.problems import ServiceError, Wrong
from archcap_service.settings import Settings

_HEAVY = b'"fixes"'


class Resolving:
    """Resolves against states and counts what it did.

    Args:
        settings: limits.
        metrics: where it counts.
    """

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics

    def remember(self, state: State, question: Question, answer: bytes) -> None:
        """Keep an answer for as long as the state holds; the same bytes get it again."""
        state.answers.put(question, answer, sum(map(len, question)) + len(answer) + OVERHEAD)

    def is_light(self, state: State, engine: str, release: str, body: bytes) -> bool:
        """Return whether the answer takes well under a millisecond: no fixes asked for, rules compiled already."""
        if _HEAVY in body or engine not in state.snapshot.engine_names:
            return False
        if release not in state.snapshot.releases(engine):
            return False
        return "program" in vars(state.snapshot.release(engine, release))

    def answer(self, state: State, engine: str, release: str, body: bytes) -> bytes:
        """Return the resolution as JSON; whoever asks may remember it by the bytes of the question.

        Raises:
            RequestError: the body is no request, or names something nobody knows.
        """
        check_depth(body, self._settings.max_depth)
        value = read_object(body, "the request")
        release_view(state.snapshot, engine, release)
        if "id" in value:
            return self._answer(state, engine, release, value)
        return to_json(self._resolve(state, engine, release, value))

    def batch(self, state: State, engine: str, release: str, body: bytes) -> tuple[bytes, bool]:
        """Return the resolutions, in order, and whether they are a JSON array (else JSON lines, like the body).

        A bad request gets an error object in its place.

        Raises:
            ServiceError: `batch-too-large`.
            RequestError: `bad-json`.
        """
        release_view(state.snapshot, engine, release)
        if body.lstrip()[:1] == b"[":
            check_depth(body, self._settings.max_depth + 1)
            value = read_json(body, "the batch")
            items = value if isinstance(value, list) else []
            self._check_size(len(items))
            return b"[" + b",".join(self._one(state, engine, release, item) for item in items) + b"]", True
        lines = [line for line in body.splitlines() if line.strip()]
        self._check_size(len(lines))
        return b"".join(self._line(state, engine, release, line) + b"\n" for line in lines), False

    def _check_size(self, size: int) -> None:
        most = self._settings.max_batch_requests
        if size > most:
            raise ServiceError(422, "batch-too-large", f"a batch holds at most {most} requests", "send several batches")
        if size == 0:
            hint = "send JSON lines or a JSON array of requests"
            raise RequestError("bad-json", "the batch holds no request", hint)

    def _line(self, state: State, engine: str, release: str, line: bytes) -> bytes:
        try:
            check_depth(line, self._settings.max_depth)
            value: Json = read_object(line, "the line")
        except RequestError as error:
            return _failed(error, None)
        return self._one(state, engine, release, value)

    def _one(self, state: State, engine: str, release: str, value: Json) -> bytes:
        identity = value.get("id") if isinstance(value, dict) else None
        try:
            if not isinstance(value, dict):
                raise RequestError("bad-request", "a request must be an object", "see docs/schemas/request.json")
            return self._answer(state, engine, release, value)
        except RequestError as error:
            return _failed(error, identity)
        except ArchcapError:
            raise
        except Exception:
            LOGGER.exception("a request of a batch failed")
            return _failed(RequestError("internal", "this request could not be answered", "please report it"), identity)

    def _answer(self, state: State, engine: str, release: str, value: JsonObject) -> bytes:
        """Return the answer; the same launch under another id is not computed again."""
        identity = value.get("id")
        if not isinstance(identity, str | int | None) or isinstance(identity, bool):
            return to_json(self._resolve(state, engine, release, value))  # says what is wrong with it
        asked = {key: part for key, part in value.items() if key != "id"}
        question = f"{engine} {release}".encode("utf-8", "surrogatepass"), dumps(asked)
        found = state.answers.get(question)
        if found is None:
            found = to_json(self._resolve(state, engine, release, asked))
            self.remember(state, question, found)
        return found if identity is None else b'{"id":' + dumps(identity) + b"," + found[1:]

    def _resolve(self, state: State, engine: str, release: str, value: JsonObject) -> Resolution:
        for name, said in (("engine", engine), ("release", release)):
            if value.setdefault(name, said) != said:
                wrong = Wrong(field=name, message=f"the path says {said}")
                raise ServiceError(422, "bad-request", f"{name} is not the one in the path", "leave it out", (wrong,))
        start = time.perf_counter()
        found = resolve(request_of(value), state.snapshot)
        self._metrics.resolve_seconds.observe(time.perf_counter() - start)
        self._count(state, found)
        return found

    def _count(self, state: State, found: Resolution) -> None:
        metrics = self._metrics
        metrics.count(metrics.verdicts, found.engine, found.release, found.verdict)
        if found.architecture is not None:
            known = found.architecture in state.snapshot.release(found.engine, found.release).all_architectures
            metrics.count(metrics.architectures, found.engine, found.architecture if known else "(unknown)")
        if found.verdict == "refused":
            metrics.count(metrics.refusals, found.engine, found.release, _step(state, found))


def _step(state: State, found: Resolution) -> str:
    rule = next((one.rule for one in found.findings if one.severity == "error"), "")
    return _steps(state.snapshot.release(found.engine, found.release).program).get(rule, rule)


_steps_of: dict[str, dict[str, str]] = {}


def _steps(program: Program) -> dict[str, str]:
    """Return the step of every statement by its id, put together once per program."""
    key = f"{program.release} {program.digest}"
    if key not in _steps_of:
        _steps_of[key] = {one.id: one.step for one in program.statements}
    return _steps_of[key]


def _failed(error: ArchcapError, identity: Json) -> bytes:
    body: JsonObject = {"code": error.code, "message": error.message, "hint": error.hint}
    return dumps({"id": identity if isinstance(identity, str | int) else None, "error": body})
