"""Short forms written out, so that one record describes both.

`cap: 0.5.18` is `[{added: 0.5.18}]`; `"<=0.5.9"` (the oldest release) is `[{}]`; a single mapping is a list of one.
Values of another shape than expected are left as they are: validation names them. Knows no file and no line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from archcap.load.files import Kind
from archcap.load.strict_yaml import DataPath
from archcap.model.base import Json, JsonObject
from archcap.model.engine import Setting

_SETTING_KEYS = frozenset(Setting.model_fields) - {"spans"}


@dataclass(slots=True)
class Expansion:
    """Writes short forms out, in place.

    Attributes:
        oldest: the oldest release of the engine, or None when it is not known.
        wrong_oldest: places of `<=X` where X is not the oldest release, with X.
    """

    oldest: str | None
    wrong_oldest: list[tuple[DataPath, str]] = field(default_factory=list)

    def file(self, kind: Kind, value: Json) -> None:
        """Write out every short form of a file of *kind*."""
        expand = _BY_KIND.get(kind)
        if expand is not None and isinstance(value, dict):
            expand(self, value)

    def architectures(self, value: JsonObject) -> None:
        """Write out existence and support of every architecture."""
        for name, architecture in _mappings(value.get("architectures")):
            path: DataPath = ("architectures", name)
            self._existence(path, architecture)
            if "draft" in architecture:
                architecture["draft"] = self.intervals((*path, "draft"), architecture["draft"])
            support = _section(architecture, "support")
            for capability in support:
                support[capability] = self.intervals((*path, "support", capability), support[capability])

    def _existence(self, path: DataPath, architecture: JsonObject) -> None:
        if "releases" in architecture:
            if not {"added", "removed"} & architecture.keys():
                architecture["releases"] = self.intervals((*path, "releases"), architecture["releases"])
            return
        bounds: Json = {key: architecture.pop(key) for key in ("added", "removed") if key in architecture}
        if bounds:
            architecture["releases"] = self.intervals(path, bounds)

    def lists(self, value: JsonObject) -> None:
        """Write out the stays of every name of every list."""
        for identifier, entry in _mappings(value.get("lists")):
            names = _section(entry, "names")
            for name in names:
                names[name] = self.intervals(("lists", identifier, "names", name), names[name])

    def settings(self, value: JsonObject) -> None:
        """Write out the spans of every setting."""
        settings = _section(value, "settings")
        for name in settings:
            settings[name] = self._setting(("settings", name), settings[name])

    def _setting(self, path: DataPath, value: Json) -> Json:
        if isinstance(value, list):
            return {"spans": self.intervals(path, value)}
        if not isinstance(value, dict):
            return value
        if "spans" in value:
            return {**value, "spans": self.intervals((*path, "spans"), value["spans"])}
        span = {key: part for key, part in value.items() if key not in _SETTING_KEYS}
        own = {key: part for key, part in value.items() if key in _SETTING_KEYS}
        return {**own, "spans": self.intervals(path, span)}

    def engine(self, value: JsonObject) -> None:
        """Write out the stays of flags that belong to no setting."""
        flags = _section(value, "loose_flags")
        for name in flags:
            flags[name] = self.intervals(("loose_flags", name), flags[name])

    def config_classes(self, value: JsonObject) -> None:
        """Write out the spans of every configuration class."""
        classes = _section(value, "config_classes")
        for name in classes:
            classes[name] = self.intervals(("config_classes", name), classes[name])

    def names(self, value: JsonObject) -> None:
        """Write out the spans of environment variables."""
        for name, variable in _mappings(value.get("env")):
            if "spans" in variable:
                variable["spans"] = self.intervals(("env", name, "spans"), variable["spans"])

    def rules(self, value: JsonObject) -> None:
        """Write out definitions: text is an expression, a mapping is a list of one."""
        defines = _section(value, "define")
        for name in defines:
            defines[name] = _define(defines[name])

    def intervals(self, path: DataPath, value: Json) -> Json:
        """Return *value* as a list of mappings with `added` and `removed`."""
        items = value if isinstance(value, list) else [value]
        single = not isinstance(value, list)
        return [self._interval(path if single else (*path, index), item) for index, item in enumerate(items)]

    def _interval(self, path: DataPath, value: Json) -> Json:
        if isinstance(value, str):
            added = self._bound(path, value)
            return {} if added is None else {"added": added}
        if isinstance(value, dict) and isinstance(value.get("added"), str):
            value["added"] = self._bound((*path, "added"), value["added"])
        return value

    def _bound(self, path: DataPath, value: Json) -> Json:
        """Return a bound; `<=X` is None, and X must be the oldest release."""
        if not isinstance(value, str) or not value.startswith("<="):
            return value
        release = value.removeprefix("<=").strip()
        if self.oldest is not None and release != self.oldest:
            self.wrong_oldest.append((path, value))
        return None


def _section(value: JsonObject, key: str) -> JsonObject:
    """Return the mapping at *key* itself, or an empty one where something else stands."""
    part = value.get(key)
    return part if isinstance(part, dict) else {}


def _mappings(value: Json) -> list[tuple[str, JsonObject]]:
    return [(key, part) for key, part in value.items() if isinstance(part, dict)] if isinstance(value, dict) else []


def _define(value: Json) -> Json:
    if isinstance(value, list):
        return [{"expr": item} if isinstance(item, str) else item for item in value]
    return [{"expr": value} if isinstance(value, str) else value]


_BY_KIND: dict[Kind, Callable[[Expansion, JsonObject], None]] = {
    "architectures": Expansion.architectures,
    "engine": Expansion.engine,
    "lists": Expansion.lists,
    "settings": Expansion.settings,
    "names": Expansion.names,
    "rules": Expansion.rules,
    "config_classes": Expansion.config_classes,
}
