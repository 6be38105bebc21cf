"""Compares what the engine said to a launch with what the rules say: values in, values out.

The measures are those of `check_parity`, to the digit:

verdict   the engine's resolution raised, and so do we at parse or resolve, or neither
source    of the launches it refused: our first such finding names the function that raised
settings  of the launches both accept: every setting that either changed ends with the same value
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from archcap.model.base import Json
from archcap.model.resolution import Finding, Resolution, SettingValue

if TYPE_CHECKING:
    from archcap.verify.answers import Answer
    from archcap.verify.launches import Launch

MEANINGLESS = frozenset({
    "random_seed", "tokenizer_path", "served_model_name", "model_path", "speculative_draft_model_path",
    "_speculative_draft_quantization_explicitly_set", "_swa_full_tokens_ratio_explicitly_set", "custom_weight_loader",
})  # fmt: skip
"""Settings whose value says nothing: paths, what is drawn at random, what the engine notes for itself."""
_EARLY = ("parse", "resolve")
_LONG = 12


def compact(value: Json) -> Json:
    """Return *value* with long lists of whole numbers shortened to count, ends and digest."""
    if isinstance(value, dict):
        return {key: compact(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > _LONG and all(isinstance(item, int) for item in value):
        digest = hashlib.sha1(json.dumps(value).encode(), usedforsecurity=False).hexdigest()
        return f"ints[{len(value)}] {value[0]}..{value[-1]} sha1:{digest[:8]}"
    return [compact(item) for item in value]


def same(first: Json, second: Json) -> bool:
    """Tell whether two values are the same: numbers up to rounding, long lists by their short form."""
    first, second = compact(first), compact(second)
    if not (isinstance(first, float) or isinstance(second, float)):
        return first == second
    try:
        one, other = float(first), float(second)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return abs(one - other) <= 1e-6 * max(1.0, abs(one))


@dataclass(frozen=True, slots=True)
class Compared:
    """One setting of a launch that both accept.

    Attributes:
        wanted: the engine's value.
        got: ours.
        writer: the engine's function that wrote it last, None when it did not or nobody knows.
        rule: our statement that wrote it last.
    """

    name: str
    wanted: Json
    got: Json
    agrees: bool
    writer: str | None
    rule: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One launch, both ways.

    Attributes:
        blocker: our first refusal at parse or resolve.
        settings: what was compared, in order of name; nothing where one of the two refuses.
        unanswered: why we have no answer at all, None when we have one.
    """

    launch: Launch
    answer: Answer
    blocker: Finding | None
    settings: tuple[Compared, ...]
    unanswered: str | None = None

    @property
    def refused(self) -> bool:
        """Whether the engine refused."""
        return self.answer.outcome == "error"

    @property
    def verdict(self) -> bool:
        """Whether the verdicts agree."""
        return self.refused == (self.blocker is not None)

    @property
    def source(self) -> bool:
        """Whether both refuse, and for us it is the function that raised."""
        if self.answer.error is None or self.blocker is None:
            return False
        return self.answer.error.function in str(self.blocker.source).rpartition(":")[2]

    @property
    def compared(self) -> bool:
        """Whether both accept, so that the settings count."""
        return self.verdict and not self.refused

    @property
    def agrees(self) -> bool:
        """Whether there is nothing to say."""
        if self.unanswered is not None or self.refused:
            return self.source
        return self.verdict and all(one.agrees for one in self.settings)


def compare(launch: Launch, answer: Answer, ours: Resolution | str, only: Collection[str] = frozenset()) -> Comparison:
    """Compare the two answers to one launch.

    Args:
        launch: what was launched.
        answer: the engine's.
        ours: the resolution, or why there is none.
        only: the settings to look at; empty means all.
    """
    if isinstance(ours, str):
        settings = () if answer.outcome == "error" else tuple(_settings(launch, answer, {}, only))
        return Comparison(launch, answer, None, settings, ours)
    blocker = next((one for one in ours.findings if one.severity == "error" and one.stage in _EARLY), None)
    both = answer.outcome == "ok" and blocker is None
    return Comparison(launch, answer, blocker, tuple(_settings(launch, answer, ours.settings, only)) if both else ())


def _settings(
    launch: Launch, answer: Answer, ours: dict[str, SettingValue], only: Collection[str]
) -> Iterator[Compared]:
    names = {*answer.changed, *(name for name, value in ours.items() if _changed(value))} - MEANINGLESS
    for name in sorted(names.intersection(only) if only else names):
        value = ours.get(name)
        begun = launch.settings.get(name, None if value is None else value.default)
        wanted, got = answer.changed.get(name, begun), None if value is None else value.value
        rule = None if value is None else value.rule
        yield Compared(name, wanted, got, same(got, wanted), answer.writer.get(name), rule)


def _changed(value: SettingValue) -> bool:
    begun = value.requested if value.requested is not None else value.default
    return value.origin == "rule" and not same(value.value, begun)


def as_json(value: Json) -> str:
    """Return *value* in its short form, for counting and showing."""
    return json.dumps(compact(value), sort_keys=True)


def short(value: Json, width: int = 80) -> str:
    """Return *value* on one line of at most *width* characters."""
    text = as_json(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def leaves_of(first: Json, second: Json, path: str = "") -> Iterator[tuple[str, Json, Json]]:
    """Yield the leaves in which two structured values differ: path, first's and second's value."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in sorted({*first, *second}):
            yield from leaves_of(first.get(key), second.get(key), f"{path}.{key}" if path else key)
    elif not same(first, second):
        yield path, first, second
