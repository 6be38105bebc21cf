"""The values worth trying for each setting: its choices, and what the rules compare it with. Knows no launch."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from archcap.model.base import Json
from archcap.model.engine import SettingSpan
from archcap.model.registry import EngineRegistry
from archcap.verify.compare import MEANINGLESS

_SIZES = (1, 2, 4, 8)
_UNTRIED = frozenset({"trust_remote_code"}) | MEANINGLESS
"""Settings that are never tried: they run a checkpoint's own code, or say nothing."""
_NUMBERS = (ast.Mod, ast.Mult, ast.Add, ast.Sub, ast.FloorDiv)


@dataclass(frozen=True, slots=True)
class Values:
    """What to try for one setting: what people give it, and what lies at the edge of what rules allow."""

    usual: tuple[Json, ...]
    edge: tuple[Json, ...] = ()

    @property
    def all(self) -> tuple[Json, ...]:
        """Both."""
        return self.usual + self.edge


def values_of(registry: EngineRegistry, spans: Mapping[str, SettingSpan]) -> dict[str, Values]:
    """Return the values to try, by setting, for every setting with a flag that some rule reads.

    Args:
        registry: the engine's rules.
        spans: the settings of one release.
    Returns:
        Settings in order of name. Those without a value worth trying (paths, structures, free text) are left out.
    """
    compared = literals(_expressions(registry), spans)
    tried = (name for name in sorted(compared) if spans[name].flags and name not in _UNTRIED)
    made = {name: _values(name, spans[name], compared[name]) for name in tried}
    return {name: values for name, values in made.items() if values.usual}


def _values(name: str, span: SettingSpan, compared: set[Json]) -> Values:
    if span.type == "bool":
        return Values((True, False))
    if span.choices:
        return Values(tuple([choice] if span.type == "list" else choice for choice in span.choices))
    numbers = {value for value in compared if isinstance(value, int | float) and not isinstance(value, bool)}
    if span.type == "int":
        return _whole(name, span, {value for value in numbers if isinstance(value, int)})
    if span.type in ("float", "number"):
        own = span.default if isinstance(span.default, int | float) else 1.0
        usual = {float(value) for value in numbers if value > 0} | {round(own * 0.5, 4), round(own * 0.9, 4)}
        return Values(tuple(sorted(usual - {0.0})), (0.0,))
    texts = {value for value in compared if isinstance(value, str) and value}
    return Values(tuple(sorted(texts)) if span.type == "str" else ())


def _whole(name: str, span: SettingSpan, compared: set[int]) -> Values:
    usual = {value for value in compared if value > 0} | set(_SIZES if name.endswith("_size") else ())
    if not usual:
        own = span.default if isinstance(span.default, int) and span.default > 1 else 32
        usual = {own // 2, own * 2}
    near = {value + 1 for value in compared if value > 0} | {value for value in compared if value <= 0} | {0}
    return Values(tuple(sorted(usual)), tuple(sorted(near - usual)))


def literals(expressions: Iterable[str], spans: Mapping[str, SettingSpan]) -> defaultdict[str, set[Json]]:
    """Return the settings that *expressions* read, each with the literals it is compared or reckoned with."""
    found: defaultdict[str, set[Json]] = defaultdict(set)
    for text in expressions:
        try:
            tree = ast.parse(text, mode="eval")
        except SyntaxError:
            continue  # a plain text, not an expression
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in spans:
                found[node.id].update(())
            elif isinstance(node, ast.Compare):
                _note([node.left, *node.comparators], spans, found)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, _NUMBERS):
                _note([node.left, node.right], spans, found)
    return found


def _note(sides: list[ast.expr], spans: Mapping[str, SettingSpan], found: defaultdict[str, set[Json]]) -> None:
    """Note the literals among *sides* for every setting among them."""
    values = {value for side in sides for value in _constants(side)}
    for side in sides:
        for node in ast.walk(side):
            if isinstance(node, ast.Name) and node.id in spans:
                found[node.id] |= values


def _constants(node: ast.expr) -> Iterator[Json]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | bool):
        yield node.value
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        if isinstance(value, int | float):
            yield -value
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        for item in node.elts:
            yield from _constants(item)


def _expressions(registry: EngineRegistry) -> Iterator[str]:
    """Yield every text in the rules that may be an expression."""
    for step in registry.steps.values():
        yield from _texts(step.model_dump(mode="json", exclude_none=True))
    for defines in registry.defines.values():
        for define in defines:
            yield from _texts(define.model_dump(mode="json", exclude_none=True))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value.removeprefix("=")
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
