"""Stand-ins for packages that a machine with the device would have: importable, and able to compute nothing.

What is really installed is always left alone. Knows no engine.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType


class _Kind(type):
    """Makes every attribute of a stand-in class another stand-in class."""

    def __getattr__(cls, name: str) -> _Kind:
        made = _made(name, cls.__module__)
        setattr(cls, name, made)
        return made

    def __iter__(cls) -> Iterator[object]:
        return iter(())


class _Thing(metaclass=_Kind):
    """Takes any arguments; as a decorator it gives back what it decorates."""

    def __init__(self, *args: object, **options: object) -> None:
        del args, options

    def __call__(self, *args: object, **options: object) -> object:
        return args[0] if len(args) == 1 and callable(args[0]) and not options else self

    def __getattr__(self, name: str) -> object:
        _refuse_special(name)
        return _Thing()


def _made(name: str, module: str) -> _Kind:
    _refuse_special(name)
    return _Kind(name, (_Thing,), {"__module__": module})


def _refuse_special(name: str) -> None:
    if name.startswith("__"):
        raise AttributeError(name)


class _Module(ModuleType):
    """A module that has whatever is asked of it."""

    def __getattr__(self, name: str) -> object:
        made = _made(name, self.__name__)
        setattr(self, name, made)
        return made


class Package:
    """One package to stand in for.

    Attributes:
        version: what it says of itself.
        found: whether a check for its presence finds it; otherwise only a real import does.
        filled: whether it has every attribute and submodule asked of it; otherwise it is empty.
        holds: attributes by module, for what the engine looks at more closely.
    """

    def __init__(
        self,
        version: str = "0.0.0",
        found: bool = True,
        filled: bool = True,
        holds: Mapping[str, Mapping[str, object]] | None = None,
        empty: Sequence[str] = (),
    ) -> None:
        self.version = version
        self.found = found
        self.filled = filled
        self.holds = dict(holds or {})
        self.empty = frozenset(empty)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages: Mapping[str, Package]) -> None:
        self._packages = packages

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package = self._packages.get(fullname.partition(".")[0])
        if package is None or ("." in fullname and not package.filled):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        package = self._packages[spec.name.partition(".")[0]]
        filled = package.filled and spec.name not in package.empty
        made = _Module(spec.name) if filled else ModuleType(spec.name)
        made.__dict__.update({"__version__": package.version, **package.holds.get(spec.name, {})})
        return made

    def exec_module(self, module: ModuleType) -> None:
        module.__path__ = []


def install(packages: Mapping[str, Package]) -> tuple[str, ...]:
    """Stand in for those of *packages* that are not installed, and return their names."""
    absent = {name: package for name, package in packages.items() if not _installed(name)}
    sys.meta_path.append(_Finder(absent))
    vars(importlib.util)["find_spec"] = _honest(importlib.util.find_spec, absent)
    return tuple(sorted(absent))


def _installed(name: str) -> bool:
    return name in sys.modules or importlib.util.find_spec(name) is not None


_Find = Callable[[str, "str | None"], "importlib.machinery.ModuleSpec | None"]


def _honest(find: _Find, absent: Mapping[str, Package]) -> _Find:
    """Wrap the check for a package's presence: it denies those that are only imported in passing until somebody has."""

    def find_spec(name: str, package: str | None = None) -> importlib.machinery.ModuleSpec | None:
        top = name.partition(".")[0]
        denied = top in absent and not absent[top].found and top not in sys.modules
        return None if denied else find(name, package)

    return find_spec
