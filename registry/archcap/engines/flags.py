"""Reads and writes launch flags for engines whose command line is argparse.

The standard parser itself is given the release's spellings, so abbreviations, `--flag=value`, several words after one
flag and negative numbers mean what they mean to the engine. Knows no engine.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple, NoReturn

from archcap.engines import Launch, Options
from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.engine import Flag, LooseFlag, SettingSpan
from archcap.suggest import nearest_names, one_of

_SI_INT = re.compile(r"(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T)")
_SI = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_AMBIGUOUS = re.compile(r"ambiguous option: (\S+) could match (.*)")
_NEGATIVE = re.compile(r"-\d+|-\d*\.\d+")
_TRUE, _FALSE = {"true", "1", "yes", "on"}, {"false", "0", "no", "off"}


def parse_flags(words: Sequence[str], options: Options, engine: str) -> Launch:
    """Read *words* as the engine's parser would.

    A value outside a setting's choices is passed on: whether the engine stops there is an answer, not misuse.

    Raises:
        RequestError: `unknown-flag`, `ambiguous-flag`, `wrong-flag-value`, `retired-flag`, `stray-word`,
            `asks-for-help`.
    """
    where = f"{engine} {options.release}"
    parser = _parser(_Taken(options.spans, options.loose), where)
    namespace = argparse.Namespace(settings={}, notes=[], flags={})
    try:
        _, extras = parser.parse_known_args(list(words), namespace)
    except argparse.ArgumentError as error:
        if error.argument_name is None:
            parser.error(error.message)
        flag = error.argument_name.split("/")[0]
        raise RequestError("wrong-flag-value", f"{flag}: {error.message}", f"as in: {flag} VALUE") from error
    if extras:
        raise _unread(extras, options, where)
    return Launch(settings=namespace.settings, notes=tuple(namespace.notes), flags=namespace.flags)


def format_flags(settings: Mapping[str, Json], spans: Mapping[str, SettingSpan]) -> tuple[list[str], list[str]]:
    """Return the words that ask for *settings*, and the settings no flag can say as `name=value`.

    A value equal to the default that no flag can say (False of a plain switch, None) is said by leaving it out.
    """
    words: list[str] = []
    unsaid: list[str] = []
    for name, value in settings.items():
        span = spans.get(name)
        if span is not None and value is None and span.default is None:
            continue
        said = None if span is None else _said(name, span, value)
        if said is not None:
            words += said
        elif span is None or value != span.default:
            unsaid.append(f"{name}={json.dumps(value)}")
    return words, unsaid


def flags_file_words(content: JsonObject, spans: Mapping[str, SettingSpan], nested_json: bool) -> list[str]:
    """Return the words that a file of flags stands for: a key is a spelling without its dashes.

    Args:
        content: the file's mapping.
        spans: the release's settings.
        nested_json: whether a mapping as value becomes JSON; older releases write it as Python would print it.
    """
    switches = {
        flag.name.removeprefix("--").replace("-", "_")
        for name, span in spans.items()
        for flag in _spellings(span)
        if not flag.has_value
    }
    words: list[str] = []
    for key, value in content.items():
        if isinstance(value, bool) and key.replace("-", "_") in switches:
            words += [f"--{key}"] if value else []
        elif isinstance(value, list):
            words += [f"--{key}", *map(str, value)] if value else []
        elif isinstance(value, dict) and nested_json:
            words += [f"--{key}", json.dumps(value)]
        else:
            words += [f"--{key}", str(value).lower() if isinstance(value, bool) else str(value)]
    return words


def shell_text(words: Iterable[str], unsaid: Sequence[str] = ()) -> str:
    """Return *words* quoted for a shell; what no flag can say stands behind it as a comment."""
    text = " ".join(map(_quoted, words))
    return f"{text}  # no flag for {', '.join(unsaid)}" if unsaid else text


_quoted = lru_cache(maxsize=4096)(shlex.quote)
"""Of the same few hundred flags again and again."""


# Reading --------------------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        match = _AMBIGUOUS.match(message)
        if match:
            flag, candidates = match.groups()
            known = one_of(candidates.split(", "), 6)
            raise RequestError("ambiguous-flag", f"{flag} is the beginning of several flags", f"did you mean {known}?")
        raise RequestError("wrong-flag-value", message, "check the launch command")


class _Spelling(NamedTuple):
    """One spelling, in full; see `archcap.model.engine.Flag`."""

    name: str
    value: Json
    has_value: bool
    choices: tuple[str | int, ...] = ()
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True)
class _Target:
    """What one spelling does."""

    setting: str
    flag: _Spelling
    span: SettingSpan


class _Write(argparse.Action):
    """Writes a setting: the flag's own value, or its words read as the setting's type."""

    def __init__(self, target: _Target, where: str, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.target, self.where = target, where

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        flag, span = self.target.flag, self.target.span
        if flag.replaced_by is not None:
            namespace.notes.append(f"{flag.name} is deprecated in {self.where}; use {flag.replaced_by}")
        given = values if isinstance(values, (str, list)) else None
        namespace.flags[flag.name] = self.target.setting
        namespace.settings[self.target.setting] = _value(given, flag, span, option_string or flag.name)


class _Loose(argparse.Action):
    """A flag of no setting: noted, or refused as the engine refuses it."""

    def __init__(self, loose: LooseFlag, where: str, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.loose, self.where = loose, where

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        name = self.option_strings[0]
        namespace.flags[name] = None
        if self.loose.effect == "refused":
            raise RequestError("retired-flag", f"{self.where} refuses {name}", self.loose.says)
        if self.loose.effect == "flags_file":
            namespace.notes.append(f"{self.where} reads a flags file only when spelled `{name} FILE`; it is ignored")
        else:
            says = f"; {self.loose.says}" if self.loose.says else ""
            namespace.notes.append(f"{name} does nothing in {self.where}{says}")


class _Help(argparse.Action):
    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise RequestError("asks-for-help", "the launch command asks the engine for help", "drop --help from it")


class _Taken:
    """What a parser is made from; equal when the settings are the very same ones, so that a parser is made once."""

    __slots__ = ("loose", "spans")

    def __init__(self, spans: Mapping[str, SettingSpan], loose: Mapping[str, LooseFlag]) -> None:
        self.spans, self.loose = spans, loose

    def __hash__(self) -> int:
        return id(self.spans)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Taken) and self.spans is other.spans and self.loose == other.loose


@lru_cache(maxsize=32)
def _parser(options: _Taken, where: str) -> _Parser:
    parser = _Parser(add_help=False, argument_default=argparse.SUPPRESS, exit_on_error=False)
    parser.add_argument("-h", "--help", action=_Help, nargs=0)
    for name, span in options.spans.items():
        for flag in _spellings(span):
            target, nargs = _Target(name, flag, span), _nargs(flag, span)
            parser.add_argument(flag.name, dest=name, action=_Write, nargs=nargs, target=target, where=where)
    for spelling, loose in options.loose.items():
        parser.add_argument(spelling, action=_Loose, nargs=None if loose.words else 0, loose=loose, where=where)
    return parser


def _spellings(span: SettingSpan) -> list[_Spelling]:
    """Return a setting's spellings in full."""
    return _in_full(span.type == "bool", span.flags)


def _in_full(switch: bool, flags: Iterable[str | Flag]) -> list[_Spelling]:
    """Return spellings in full: a plain one is a switch for a boolean and takes a value for the rest."""
    return [
        _Spelling(flag, True if switch else None, not switch)
        if isinstance(flag, str)
        else _Spelling(flag.name, flag.value, flag.has_value, flag.choices, flag.replaced_by)
        for flag in flags
    ]


def _nargs(flag: _Spelling, span: SettingSpan) -> int | str | None:
    if not flag.has_value:
        return 0
    return span.words or ("+" if span.many else None)


def _value(given: str | list[str] | None, flag: _Spelling, span: SettingSpan, spelled: str) -> Json:
    if not flag.has_value:
        return flag.value
    if given is None:
        return span.const
    if isinstance(given, list):
        kind = span.item or "str"
        return [_item(word, kind, spelled) for word in given]
    if flag.choices and given not in map(str, flag.choices):
        raise _wrong(spelled, one_of([str(choice) for choice in flag.choices]), given)
    return flag.value if flag.value is not None else _word(given, span, spelled)


def _item(word: str, kind: str, spelled: str) -> Json:
    if kind == "any":
        text = word.strip()
        return _json(text, spelled) if text.startswith("{") and text.endswith("}") else text
    return _READERS.get(kind, _text)(word, spelled)


def _word(word: str, span: SettingSpan, spelled: str) -> Json:
    return _READERS.get(span.parser or span.type, _text)(word, spelled)


def _text(word: str, spelled: str) -> Json:
    return word


def _int(word: str, spelled: str) -> Json:
    try:
        return int(word)
    except ValueError:
        raise _wrong(spelled, "a whole number", word) from None


def _float(word: str, spelled: str) -> Json:
    try:
        return float(word)
    except ValueError:
        raise _wrong(spelled, "a number", word) from None


def _number(word: str, spelled: str) -> Json:
    try:
        return int(word)
    except ValueError:
        return _float(word, spelled)


def _bool(word: str, spelled: str) -> Json:
    if word.lower() not in _TRUE | _FALSE:
        raise _wrong(spelled, "true or false", word)
    return word.lower() in _TRUE


def _json(word: str, spelled: str) -> Json:
    try:
        value: Json = json.loads(word)
    except (ValueError, RecursionError) as error:
        raise _wrong(spelled, "JSON", word, str(error)) from None
    return value


def _si_int(word: str, spelled: str) -> Json:
    match = _SI_INT.fullmatch(word.strip())
    if match is None:
        return _int(word, spelled)
    number, suffix = match.groups()
    if suffix.endswith("i") and "." in number:
        raise _wrong(spelled, f"a whole number before {suffix}", word)
    return int(Decimal(number) * _SI[suffix])


def _nullable(word: str, spelled: str) -> Json:
    return None if word in ("", "None") else word


_READERS: dict[str, Callable[[str, str], Json]] = {
    "int": _int, "float": _float, "number": _number, "bool": _bool, "struct": _json,
    "json": _json, "si_int": _si_int, "nullable": _nullable,
}


def _wrong(flag: str, expected: str, word: str, hint: str | None = None) -> RequestError:
    shown = word if len(word) <= 60 else word[:59] + "…"
    if "$" in word:
        hint = "put the variable's value in its place"
    return RequestError("wrong-flag-value", f"{flag} takes {expected}, not {shown!r}", hint)


def _unread(extras: Sequence[str], options: Options, where: str) -> RequestError:
    """Word the first thing the parser had no use for."""
    flag = next((word for word in extras if word.startswith("-") and not _NEGATIVE.fullmatch(word)), None)
    if flag is None:
        return RequestError("stray-word", f"{extras[0]!r} belongs to no flag", "quote values that hold spaces")
    name = flag.split("=", 1)[0]
    known = [each.name for span in options.spans.values() for each in _spellings(span)]
    near = nearest_names(name, [*known, *options.loose])
    hint = _elsewhere(name, options) or (f"did you mean {' or '.join(near[:2])}?" if near else "no flag is near it")
    return RequestError("unknown-flag", f"{where} has no flag {name}", hint)


def _elsewhere(name: str, options: Options) -> str | None:
    """Return in which releases a flag is known that this one has not."""
    for setting in options.settings.values():
        for span in setting.spans:
            if name in (flag if isinstance(flag, str) else flag.name for flag in span.flags):
                since = f"from {span.added}" if span.added else "in the oldest releases"
                return f"it is there {since}" + (f" until before {span.removed}" if span.removed else "")
    return None


# Writing --------------------------------------------------------------------------------------------------------------


def _said(name: str, span: SettingSpan, value: Json) -> list[str] | None:
    """Return the words that ask for *value*, or None when no spelling can.

    Current spellings come before deprecated ones, and the one spelled like the setting before the others.
    """
    for flag in _preferred(name, span.type == "bool", span.flags):
        words = _spelled(flag, span, value)
        if words is not None:
            return words
    return None


@lru_cache(maxsize=4096)
def _preferred(name: str, switch: bool, flags: tuple[str | Flag, ...]) -> tuple[_Spelling, ...]:
    own = "--" + name.replace("_", "-")
    spellings = _in_full(switch, flags)
    return tuple(sorted(spellings, key=lambda flag: (flag.replaced_by is not None, flag.name != own)))


def _spelled(flag: _Spelling, span: SettingSpan, value: Json) -> list[str] | None:
    if not flag.has_value:
        return [flag.name] if _same(value, flag.value) else None
    if flag.value is not None:
        return [flag.name, str(flag.choices[0])] if flag.choices and _same(value, flag.value) else None
    if span.words == "?" and _same(value, span.const):
        return [flag.name]
    if span.words in ("*", "+") or span.many:
        return _listed(flag.name, span, value)
    word = _as_word(span, value)
    if word is None or (flag.choices and word not in map(str, flag.choices)):
        return None
    return [f"{flag.name}={word}"] if word.startswith("-") else [flag.name, word]


def _listed(name: str, span: SettingSpan, value: Json) -> list[str] | None:
    if not isinstance(value, list) or (not value and span.words != "*"):
        return None
    words = [json.dumps(item) if isinstance(item, (dict, list)) else str(item) for item in value]
    if not any(word.startswith("-") and not _NEGATIVE.fullmatch(word) for word in words):
        return [name, *words]
    return [f"{name}={words[0]}"] if len(words) == 1 else None


def _as_word(span: SettingSpan, value: Json) -> str | None:
    if value is None and span.parser != "json":
        return "None" if span.parser == "nullable" else None
    if span.parser == "json" or isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _same(left: Json, right: Json) -> bool:
    return type(left) is type(right) and left == right
