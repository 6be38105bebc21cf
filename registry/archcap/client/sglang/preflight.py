"""Resolves a launch before the engine does, says what comes of it, and compares afterwards.

The engine's own hook registry carries it. Only `refuse` stops a launch, and only one that is refused or unsafe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module

from archcap.client.core import Client
from archcap.client.log import say
from archcap.client.sglang.launch import reader, request_of
from archcap.client.sglang.process import told_already

_MEANINGLESS = frozenset({
    "random_seed", "tokenizer_path", "served_model_name", "model_path", "speculative_draft_model_path",
    "custom_weight_loader",
})  # fmt: skip
_ARGUMENTS = "sglang.srt.server_args.ServerArgs"
_VERDICTS = {
    "ok": "starts as asked",
    "adjusted": "starts, but not with everything that was asked for",
    "unsafe": "starts, and a known crash or wrong output follows",
    "refused": "does not start",
    "unknown": "cannot be decided with what is given",
}
_STOPS = ("refused", "unsafe")
Answer = Mapping[str, object]


def prepare(client: Client, mode: str) -> None:
    """Have the first launch of this process resolved; processes below it, and later ones, are left alone.

    Args:
        client: who is asked.
        mode: `warn` or `refuse`.
    """
    if told_already():
        return
    kind = import_module("sglang.srt.server_args").ServerArgs
    hooks = import_module("sglang.srt.plugins.hook_registry")
    method = "resolve_once" if hasattr(kind, "resolve_once") else "__post_init__"
    hooks.HookRegistry.register(f"{_ARGUMENTS}.{method}", _Preflight(client, mode).around, hooks.HookType.AROUND)


class _Preflight:
    """One launch, before and after."""

    def __init__(self, client: Client, mode: str) -> None:
        self._client, self._mode = client, mode
        self._done = False

    def around(self, resolve: Callable[..., object], arguments: object, *given: object, **named: object) -> object:
        """Stand around the engine's own resolution."""
        if self._done:
            return resolve(arguments, *given, **named)
        self._done = True
        answer = self._before(arguments)
        try:
            result = resolve(arguments, *given, **named)
        except Exception as error:
            _guarded(partial(_raised, answer, error))
            raise
        _guarded(partial(_compared, answer, arguments))
        return result

    def _before(self, arguments: object) -> Answer | None:
        answer: Answer | None = None
        try:
            answer = self._client.resolve(request_of(arguments))
        except Exception as error:
            say("warning", f"archcap preflight: the launch could not be asked about: {type(error).__name__}: {error}")
        if answer is None:
            return None
        stops = answer.get("verdict") in _STOPS
        for line in lines(answer):
            say("warning" if stops else "info", f"archcap preflight: {line}")
        if stops and self._mode == "refuse":
            raise SystemExit(f"archcap preflight: {next(lines(answer))}; ARCHCAP_PREFLIGHT=warn starts it all the same")
        return answer


def lines(answer: Answer) -> Iterator[str]:
    """Yield an answer line by line: the verdict, what was found with its causes, what would help."""
    verdict, who = str(answer.get("verdict")), answer.get("architecture") or "the launch"
    words = _VERDICTS.get(verdict, "")
    yield f"{verdict}: {who} on {answer.get('engine')} {answer.get('release')} {words}".rstrip()
    for finding in _rows(answer, "findings"):
        yield f"{finding.get('severity')} at {finding.get('stage')}: {finding.get('rule')}: {finding.get('message')}"
        for cause in _rows(finding, "causes"):
            depth = cause.get("depth")
            yield f"  {'  ' * (depth if isinstance(depth, int) else 0)}← {cause.get('text')}"
    for number, fix in enumerate(_rows(answer, "fixes"), 1):
        changes = fix.get("changes")
        parts = [f"release {fix['release']}"] if fix.get("release") else []
        parts += [f"{name}={value}" for name, value in changes.items()] if isinstance(changes, Mapping) else []
        gives_up = f", gives up {fix['gives_up']}" if fix.get("gives_up") else ""
        yield f"fix {number}: {' '.join(parts)} ({fix.get('verdict')}{gives_up})"


def _compared(answer: Answer | None, arguments: object) -> None:
    """Say in which settings the engine came to something else."""
    if answer is None:
        return
    if answer.get("verdict") == "refused" and any(_early(one) for one in _rows(answer, "findings")):
        say("warning", "archcap preflight: the registry said that this is refused, the engine resolved it")
        return
    read = reader(arguments)
    settings = answer.get("settings")
    for name, one in sorted(settings.items() if isinstance(settings, Mapping) else ()):
        if name in _MEANINGLESS or not isinstance(one, Mapping) or one.get("origin") == "unknown":
            continue
        expected, found = one.get("value"), read(name)
        if not _equal(expected, found):
            text = f"{name} is {found!r} in the engine, {expected!r} in the registry"
            say("warning", f"archcap preflight: {text} ({one.get('rule') or one.get('origin')})")


def _raised(answer: Answer | None, error: Exception) -> None:
    """Say that the engine refuses what the registry did not."""
    if answer is not None and not any(_early(one) for one in _rows(answer, "findings")):
        said = f"{type(error).__name__}: {error}"[:300]
        say("warning", f"archcap preflight: the engine refuses what the registry did not: {said}")


def _early(finding: Answer) -> bool:
    return finding.get("severity") == "error" and finding.get("stage") in ("parse", "resolve")


def _equal(one: object, other: object) -> bool:
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) <= 1e-6 * max(1.0, abs(one))
    return one == other


def _rows(of: Answer, key: str) -> list[Answer]:
    rows = of.get(key)
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _guarded(work: Callable[[], None]) -> None:
    try:
        work()
    except Exception as error:
        say("warning", f"archcap preflight: nothing could be compared: {type(error).__name__}: {error}")
