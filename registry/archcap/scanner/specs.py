"""Spec objects that engines register per model: `register(Spec(arch_names=[...], flag=True))` at module level."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from archcap.model.base import Json
from archcap.scanner.index import dotted
from archcap.scanner.modules import Modules, SourceFile, Symbol
from archcap.scanner.static import Evaluator, Items, Ref, Unresolved


@dataclass(frozen=True, slots=True)
class Spec:
    """One registered object: its fields with defaults, the architectures and the config class it names."""

    kind: str
    file: str
    line: int
    architectures: tuple[str, ...]
    config_class: str | None
    fields: dict[str, Json]
    by_predicate: bool = False


@dataclass
class Specs:
    """All spec objects of a source, and those that could not be read."""

    all: list[Spec] = field(default_factory=list)
    unresolved: list[tuple[str, int, str]] = field(default_factory=list)


def scan_specs(modules: Modules, evaluator: Evaluator, names_field: str = "arch_names") -> Specs:
    """Return every spec object that a module-level call registers.

    A spec is an instance of a class of the engine with a field *names_field*, given to a function.
    """
    out = Specs()
    for file in modules.searched:
        if names_field.encode() not in file.content:
            continue
        for span in file.index.calls:
            call = file.expression(span)
            if isinstance(call, ast.Call):
                for argument in call.args:
                    if isinstance(argument, ast.Call):
                        _spec(out, modules, evaluator, file, argument, names_field)
    return out


def _spec(
    out: Specs, modules: Modules, evaluator: Evaluator, file: SourceFile, call: ast.Call, names_field: str
) -> None:
    name = dotted(call.func)
    symbol = modules.resolve(file.module, name) if name else None
    if symbol is None or symbol.kind != "class" or names_field not in modules.classes(symbol)[0].annotations:
        return
    given = {k.arg: k.value for k in call.keywords if k.arg}
    fields = _defaults(modules, evaluator, symbol)
    config_class: str | None = None
    architectures: tuple[str, ...] = ()
    for key, node in given.items():
        try:
            value = evaluator.evaluate(node, file.module)
        except Unresolved as error:
            out.unresolved.append((file.path, node.lineno, f"{key}: {error.reason}"))
            continue
        if key == names_field and isinstance(value, Items):
            architectures = tuple(v for v in value.values if isinstance(v, str))
        elif isinstance(value, Ref):
            config_class = value.symbol.name if value.symbol.kind == "class" else config_class
        elif isinstance(value, bool | int | float | str):
            fields[key] = value
    out.all.append(
        Spec(symbol.name, file.path, call.lineno, architectures, config_class, fields, "config_predicate" in given)
    )


def _defaults(modules: Modules, evaluator: Evaluator, symbol: Symbol) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    for name in modules.classes(symbol)[0].annotations:
        try:
            value = evaluator.class_attribute(symbol, name)
        except Unresolved:
            continue
        if isinstance(value, bool | int | float | str):
            fields[name] = value
    return fields
