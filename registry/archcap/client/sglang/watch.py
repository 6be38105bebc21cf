"""Calls back when a module has been imported, so that nothing needs to be imported early. Never fails an import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from archcap.client.log import say

Call = Callable[[], None]


def when_imported(module: str, call: Call) -> None:
    """Call *call* once *module* has been executed; its exceptions are logged and go no further."""
    finder = next((one for one in sys.meta_path if isinstance(one, _Finder)), None)
    if finder is None:
        finder = _Finder()
        sys.meta_path.insert(0, finder)
    finder.waiting.setdefault(module, []).append(call)


class _Finder:
    """Lets the other finders find, and wraps the loader of a module that somebody waits for."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[Call]] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self.waiting:
            return None
        found = (one.find_spec(name, path, target) for one in list(sys.meta_path)
                 if one is not self and hasattr(one, "find_spec"))  # fmt: skip
        spec = next((one for one in found if one is not None), None)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, self, name)  # type: ignore[assignment]
        return spec

    def invalidate_caches(self) -> None:
        """Keep none."""


class _Loader:
    """Stands for a loader until the module has been executed, then puts the real one back."""

    def __init__(self, real: object, finder: _Finder, name: str) -> None:
        self._real, self._finder, self._name = real, finder, name

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        create: Callable[[ModuleSpec], ModuleType | None] = getattr(self._real, "create_module")  # noqa: B009
        return create(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._real  # type: ignore[assignment]
        if module.__spec__ is not None:
            module.__spec__.loader = self._real  # type: ignore[assignment]
        execute: Callable[[ModuleType], None] = getattr(self._real, "exec_module")  # noqa: B009
        execute(module)
        for call in self._finder.waiting.pop(self._name, ()):
            try:
                call()
            except Exception as error:
                say("error", f"archcap: {self._name} could not be compared: {type(error).__name__}: {error}")
