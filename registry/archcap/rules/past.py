"""Conditions as compiled code, at one moment of a run that compiled rules made: much faster than in three values.

Where something unknown is read it raises `NeedsInterpreter`. Knows no statement.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from archcap.rules import expr as x
from archcap.rules.emit import Emitter, Numbers, short_defines
from archcap.rules.ir import Definitions
from archcap.rules.reasons import lasts, remembered
from archcap.rules.run import Inputs, Moment, NeedsInterpreter, Unknown, Values
from archcap.rules.runtime import ABSENT, Assumed, Context, Layout

Compiled = Callable[["Past"], Any]


class Layers(dict[str, Any]):
    """Values by name, looked up where they stand when first read, the first place that has one."""

    __slots__ = ("_layers",)

    def __init__(self, *layers: Values) -> None:
        super().__init__()
        self._layers = layers

    def __missing__(self, name: str) -> Any:
        for layer in self._layers:
            value = layer.get(name, ABSENT)
            if value is not ABSENT:
                self[name] = value
                return value
        raise KeyError(name)


class Named(Layers):
    """Values by name as compiled code reads them: what nobody knows needs the interpreter."""

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        try:
            value = super().__missing__(name)
        except KeyError:
            raise NeedsInterpreter(name) from None
        if type(value) is Unknown:
            del self[name]
            raise NeedsInterpreter(name)
        return value


class Numbered(dict[int, Any]):
    """Settings by number, looked up when first read."""

    __slots__ = ("_names", "_values")

    def __init__(self, names: Sequence[str], values: Values) -> None:
        super().__init__()
        self._names, self._values = names, values

    def __missing__(self, number: int) -> Any:
        value = self[number] = self._values.get(self._names[number], None)
        return value


class Past:
    """What generated code reads, at one moment of a run; made when first read.

    Attributes:
        worth: what was computed already, by what computes it.
    """

    __slots__ = (*(name for name in Context.__slots__ if name.isupper() or name == "fn"), "_made", "worth")

    def __init__(self, made: Callable[[str], Any]) -> None:
        self._made = made
        self.worth: dict[object, Any] = {}

    def __getattr__(self, name: str) -> Any:
        value = self._made(name)
        setattr(self, name, value)
        return value


class Pasts:
    """Conditions of one release as compiled code; compiled when first asked for, because few ever are."""

    def __init__(self, definitions: Definitions, namespace: Mapping[str, Any], layout: Layout) -> None:
        self.defines = {define.name: define for define in definitions.defines}
        self._namespace = dict(namespace)
        self._names = layout.settings
        self._emitter = _PastEmitter(short_defines(definitions.defines), _numbers(layout))
        self._truths: dict[x.Expr, Compiled] = {}
        self._values: dict[x.Expr, Compiled] = {}

    def at(self, moment: Moment, inputs: Inputs, context: Context) -> Past:
        """Return what code reads at a moment of the run that *context* was the state of."""

        def made(name: str) -> Any:
            if name == "S":
                return Numbered(self._names, moment.values("setting"))
            if name == "V":
                return Named(moment.values("var"), self._namespace["DEFAULT_VARS"])
            if name == "F":
                return Named(moment.values("fact"))
            if name == "E":
                return Named(moment.values("env"), self._namespace["DEFAULT_ENV"])
            if name == "N":
                return inputs.env_set
            return Assumed(inputs.assume, []) if name == "A" else getattr(context, name)

        return Past(made)

    def value(self, node: x.Expr) -> Compiled:
        """Return what computes the value of *node*."""
        found = self._values.get(node)
        if found is None:
            found = self._values[node] = self._compiled(node, self._emitter.text(node))
        return found

    def truth(self, node: x.Expr) -> Compiled:
        """Return what computes whether *node* is true."""
        found = self._truths.get(node)
        if found is None:
            text = self._emitter.text(node)
            found = self._truths[node] = self._compiled(node, text if x.is_boolean(node) else f"bool({text})")
        return found

    def _compiled(self, node: x.Expr, text: str) -> Compiled:
        bound = {part.name for part in x.walk(node) if isinstance(part, x.Loop)}
        if any(isinstance(part, x.Local) and part.name not in bound for part in x.walk(node)):
            return _unbound
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            code = compile(f"lambda X: {text}", "<condition>", "eval")
        run: Compiled = eval(code, self._namespace)
        return remembered(run) if lasts(node) else run


def _unbound(past: Past) -> Any:
    raise LookupError("a local name")


class _PastEmitter(Emitter):
    """Writes expressions that read the context in place; what an isolated step has written counts as written."""

    def use(self, name: str) -> str:
        """Return a read of the context."""
        return f"X.{name}"

    def own(self, path: x.Path) -> str:
        """Return a read of a setting or variable."""
        return self.named("V", path[1])[0] if path[0] == "var" else self.setting(path)


def _numbers(layout: Layout) -> Numbers:
    numbers = Numbers(layout.settings)
    numbers.lists = {name: number for number, name in enumerate(layout.asked)}
    return numbers
