"""Words a difference between registry and source. Knows no layout."""

from __future__ import annotations

from archcap.cli.reports import Level, Place, Report
from archcap.model.base import Json
from archcap.model.codec import dumps
from archcap.scanner.drift import Difference

RULES = {
    "drift/architecture": "An entry class that only one of registry and source has.",
    "drift/capability": "An architecture has in the source something else than the registry says.",
    "drift/draft": "A checkpoint that serves as its own draft becomes something else in the source.",
    "drift/list": "A collection of names in the source holds other names than in the registry.",
    "drift/setting": "A launch option is another in the source than in the registry.",
    "drift/flag": "A flag of no setting that only one of registry and source has.",
    "drift/unreadable": "A file of the source that cannot be read: nothing is known of what stands in it.",
}


def report(one: Difference, release: str) -> Report:
    """Return a difference from *release* of the registry as a finding."""
    key = f"{one.kind} {one.subject} {one.what} {one.only}"
    level: Level = "warning" if one.only == "source" and one.kind != "unreadable" else "error"
    return Report(f"drift/{one.kind}", level, said(one, release), Place(one.file, one.line), key=key)


def said(one: Difference, release: str) -> str:
    """Return a difference in words."""
    return _WORDS[one.kind](one, release)


def _architecture(one: Difference, release: str) -> str:
    if one.only == "source":
        return f"{one.subject} is an entry class here; the registry of {release} does not have it"
    return f"the registry of {release} has {one.subject}; no entry class bears the name"


def _capability(one: Difference, release: str) -> str:
    if one.only == "source":
        how = "" if one.source == "yes" else f" ({one.source})"
        return f"{one.subject} has {one.what} here{how}; the registry of {release} says no"
    if one.only == "registry":
        return f"{one.subject} has {one.what} in the registry of {release}; nothing here shows it"
    here, there = _state(one.source), _state(one.registry)
    return f"{one.subject} has {one.what} {here} here, {there} in the registry of {release}"


def _state(value: Json) -> str:
    return "always" if value == "yes" else str(value)


def _draft(one: Difference, release: str) -> str:
    here = _rewrite(one.source)
    if one.only == "source":
        return f"{one.subject} as its own draft {here} here; the registry of {release} knows of no rewrite"
    return f"{one.subject} as its own draft {here} here; in the registry of {release} it {_rewrite(one.registry)}"


def _rewrite(value: Json) -> str:
    assert isinstance(value, dict)
    levels = value["levels"]
    if not isinstance(levels, list) or not levels:
        return f"becomes {value['becomes']}"
    where = " and ".join(str(level) for level in levels)
    return f"becomes {value['becomes']} with its depth written to {where}"


def _list(one: Difference, release: str) -> str:
    if one.what and one.only == "source":
        return f"{one.what} is in {one.subject} here; not in the registry of {release}"
    if one.what:
        return f"the registry of {release} has {one.what} in {one.subject}; it is not in it here"
    if one.only == "source":
        names = one.source if isinstance(one.source, list) else []
        return f"a collection of names that the registry of {release} does not have: {one.subject} ({_few(names)})"
    return f"the registry of {release} has the collection {one.subject}; it is not here"


def _few(names: list[Json]) -> str:
    shown = ", ".join(str(name) for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def _setting(one: Difference, release: str) -> str:
    if one.only == "source":
        return f"the setting {one.subject} is new: the registry of {release} does not have it"
    if one.only == "registry":
        return f"the registry of {release} has the setting {one.subject}; the source has none of that name"
    if one.what == "flag":
        said = f"the flag {one.registry} of the setting {one.subject} is {one.source} here, which writes no setting"
        return f"{said}; the registry of {release} knows the former"
    if one.what == "name":
        return f"the setting {one.registry} is called {one.source} here; the registry of {release} knows the former"
    here, there = _changed(one.source, one.registry)
    return f"{one.what} of the setting {one.subject} is {here} here, {there} in the registry of {release}"


def _changed(here: Json, there: Json) -> tuple[str, str]:
    """Return two values in words; of two objects only what differs."""
    if isinstance(here, dict) and isinstance(there, dict):
        if here.keys() == {"type", "value"} == there.keys():
            return _plain(here["value"]), _plain(there["value"])
        keys = [key for key in here if here[key] != there.get(key)]
        pairs = [(f"{key} {_plain(here[key])}", f"{key} {_plain(there.get(key))}") for key in keys]
        return ", ".join(a for a, _ in pairs), ", ".join(b for _, b in pairs)
    if isinstance(here, dict) and "value" in here:
        here = here["value"]
    if isinstance(there, dict) and "value" in there:
        there = there["value"]
    return _plain(here), _plain(there)


def _plain(value: Json) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_plain(v) for v in value) + "]"
    return value if isinstance(value, str) and value else dumps(value).decode()


def _flag(one: Difference, release: str) -> str:
    if one.only == "source":
        return f"{one.subject} writes no setting, and the registry of {release} does not know it"
    if one.only == "registry":
        return f"the registry of {release} knows {one.subject}; nothing registers it here"
    return f"{one.subject} is {one.source} here, {one.registry} in the registry of {release}"


def _unreadable(one: Difference, release: str) -> str:
    return f"{one.file} cannot be read: {one.source}; what it holds is unknown"


_WORDS = {
    "architecture": _architecture,
    "capability": _capability,
    "draft": _draft,
    "list": _list,
    "setting": _setting,
    "flag": _flag,
    "unreadable": _unreadable,
}
