"""Turns bytes from outside into JSON values and requests, with one clear line for everything that can be wrong.

Used wherever a question comes in: files, batch lines, request bodies. Opens nothing itself.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from archcap.errors import RequestError
from archcap.model.base import Json, JsonObject
from archcap.model.request import HardwareRequest, PeerRequest, Request
from archcap.suggest import nearest_name

MAX_BYTES = 16 * 1024 * 1024
"""More than any config.json; larger input is something else."""
MAX_DEPTH = 100

_FIELDS = {
    (): tuple(Request.model_fields),
    ("hardware",): tuple(HardwareRequest.model_fields),
    ("peer",): tuple(PeerRequest.model_fields),
    ("peer", "hardware"): tuple(HardwareRequest.model_fields),
}
_CONFIGS = ("config", "draft_config")
_KINDS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false"}


def read_json(data: bytes, name: str) -> Json:
    """Parse *data* strictly.

    `Infinity` is read, because published configurations hold it; `NaN` and a key given twice are refused.

    Args:
        data: the text, UTF-8 with or without byte order mark.
        name: what it is, for messages, as in `config.json`.
    Raises:
        RequestError: `bad-json`, saying what it is instead and where it breaks.
    """
    if len(data) > MAX_BYTES:
        size = f"{len(data) / 1024 / 1024:.0f} MiB"
        raise _bad(f"{name} has {size}, more than any configuration", "give the checkpoint's config.json itself")
    try:
        text = data.removeprefix(BOM_UTF8).decode()  # what utf-8-sig does, in one call of C
    except UnicodeDecodeError as error:
        what = f"{name} is no text (byte {error.start} is not UTF-8)"
        raise _bad(what, "give JSON, not weights or an archive") from error
    _refuse_other_text(text, name)
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        what = f"{name} is no JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        raise _bad(what, "mend it or fetch it again") from error
    except RecursionError:
        raise _too_deep(name) from None
    except ValueError:  # what Python says of a whole number that takes too long to read
        raise _bad(f"{name} holds a number of thousands of digits", "mend it: no engine takes one") from None
    except _Unreadable as error:
        raise _bad(f"{name} {error}", "mend it: the engine would read something else than is meant") from None
    if brackets(data) > MAX_DEPTH and _deeper_than(value, MAX_DEPTH):
        raise _too_deep(name)
    return value


def brackets(data: bytes) -> int:
    """Return how many brackets JSON opens, in texts as well: it nests no deeper. Half the time of two counts."""
    return len(data) - len(data.translate(None, b"[{"))


def read_object(data: bytes, name: str) -> JsonObject:
    """Parse *data* as a JSON object; see `read_json`.

    Raises:
        RequestError: `bad-json`, also when it is another JSON value.
    """
    value = read_json(data, name)
    if isinstance(value, dict):
        return value
    kind = {list: "a list", str: "a string", type(None): "null"}.get(type(value), "a single value")
    raise _bad(f"{name} holds {kind}, not an object", 'a configuration looks like {"architectures": [...], ...}')


def request_of(value: Json) -> Request:
    """Return the request that *value* spells.

    The configurations in it are not looked into: they are JSON already.

    Raises:
        RequestError: `bad-request`, with the first key that is wrong, missing or unknown.
    """
    try:
        if not isinstance(value, dict):
            return Request.model_validate(value)
        configs = {key: value[key] for key in _CONFIGS if isinstance(value.get(key), dict)}
        checked = Request.model_validate({**value, **{key: {} for key in configs}})
        return checked.model_copy(update=configs) if configs else checked
    except ValidationError as error:
        raise _worded(error.errors(include_url=False, include_input=False)) from None
    except RecursionError:
        raise RequestError("bad-request", "the request is nested too deeply", "no launch is") from None


def _deeper_than(value: Json, limit: int) -> bool:
    level: list[Json] = [value]
    for _ in range(limit + 1):
        level = [item for held in level if isinstance(held, (list, dict)) for item in _items(held)]
        if not level:
            return False
    return True


def _items(held: list[Json] | JsonObject) -> list[Json]:
    return held if isinstance(held, list) else list(held.values())


def _too_deep(name: str) -> RequestError:
    return _bad(f"{name} is nested deeper than {MAX_DEPTH} levels", "no configuration is; fetch it again")


class _Unreadable(Exception):
    """What the standard parser lets pass."""


def _unique(pairs: list[tuple[str, Json]]) -> JsonObject:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Unreadable(f"has the key {twice[:60]!r} twice in one object")
    return found


def _constant(word: str) -> float:
    if word == "NaN":
        raise _Unreadable("holds NaN, which is no JSON number")
    return float(word)


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)


def _refuse_other_text(text: str, name: str) -> None:
    """Name what people give by mistake."""
    start = text[:200].lstrip()
    if not start and not text.strip():
        raise _bad(f"{name} is empty", "give the checkpoint's config.json")
    if "\0" in start:
        raise _bad(f"{name} is no text", "give JSON, not weights or an archive")
    if start.startswith("<"):
        raise _bad(f"{name} is a web page, not JSON", "download the raw file")
    if start.startswith("version https://git-lfs"):
        raise _bad(f"{name} is a Git LFS pointer, not the file", "run `git lfs pull` in the checkpoint's folder")


def _bad(message: str, hint: str) -> RequestError:
    return RequestError("bad-json", message, hint)


def _worded(errors: list[ErrorDetails]) -> RequestError:
    first = errors[0]
    at = tuple(str(part) for part in first["loc"])
    kind = first["type"]
    path = ".".join(at) or "the request"
    if kind == "missing":
        return RequestError("bad-request", f"the request lacks {path}", "it needs at least engine and release")
    if kind == "extra_forbidden":
        if at == ("peer", "peer"):
            return RequestError("bad-request", "a peer has no peer of its own", "a pair is two servers")
        near = nearest_name(at[-1], _FIELDS.get(at[:-1], ()))
        return RequestError("bad-request", f"a request has no key {path!r}", near and f"did you mean {near}?")
    if kind == "recursion_loop":
        return RequestError("bad-request", f"{path} is nested too deeply", "no launch is")
    if kind == "value_error":
        return RequestError("bad-request", first["msg"].removeprefix("Value error, "))
    if kind == "model_type":
        return RequestError("bad-request", f"{path} must be an object", "see docs/schemas/request.json")
    return RequestError("bad-request", *_mistyped(errors, at))


def _mistyped(errors: list[ErrorDetails], at: tuple[str, ...]) -> tuple[str, str | None]:
    """Word a value of the wrong type; where several types would do, pydantic names one per error."""
    branches = [_KINDS[str(error["loc"][-1])] for error in errors if str(error["loc"][-1]) in _KINDS]
    same = len(branches) > 1 and all(error["loc"][:-1] == errors[0]["loc"][:-1] for error in errors[: len(branches)])
    if same:
        return f"{'.'.join(at[:-1])} takes {' or '.join(branches)}", None
    return f"{'.'.join(at)}: {errors[0]['msg'].replace('Input should', 'it should')}", None
