"""The settings of a release: fields of the argument record with type, default and choices, and their flags.

Reads the record's annotations (`A[type, Arg(...)]` or plain) and every `add_argument` of its parser; knows argparse and
the shapes in which an engine declares fields, not one setting by name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from archcap.model.base import Json
from archcap.scanner.index import dotted, statements_of
from archcap.scanner.modules import Modules, SourceFile, Symbol
from archcap.scanner.static import Evaluator, Items, Ref, Static, Table, Unresolved

_BASES = {"bool": "bool", "int": "int", "float": "float", "str": "str", "dict": "struct", "Dict": "struct"}
_LISTS = frozenset({"list", "List", "set", "Set", "tuple", "Tuple", "Sequence"})
_PARSERS = {
    "json.loads": "json",
    "orjson.loads": "json",
    "json_list_type": "json",
    "parse_cuda_graph_config_arg": "json",
    "human_readable_int": "si_int",
    "nullable_str": "nullable",
}
_LITERALS = frozenset({"Literal", "typing.Literal"})
_STORE_TRUE = "store_true"


@dataclass(frozen=True, slots=True)
class Spelling:
    """A flag that is more than the setting's plain one; the fields are those of `model.engine.Flag`."""

    name: str
    value: Json = None
    has_value: bool = True
    choices: tuple[Json, ...] = ()
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True)
class ScannedSetting:
    """A setting in one release; the fields are those of `model.engine.SettingSpan`, without the interval."""

    name: str
    line: int
    file: str
    type: str = "any"
    optional: bool = False
    default: Json = None
    choices: tuple[Json, ...] = ()
    open_choices: bool = False
    item: str | None = None
    fields: tuple[str, ...] = ()
    flags: tuple[str | Spelling, ...] = ()
    positional: bool = False
    words: str | None = None
    const: Json = None
    parser: str | None = None
    group: str | None = None
    required: bool = False
    unresolved: tuple[str, ...] = ()
    """What could not be known statically, as in `default: call of is_hip`."""


@dataclass(frozen=True, slots=True)
class LooseFlag:
    """A flag that writes no setting."""

    name: str
    effect: str
    words: int
    line: int
    says: str | None = None


@dataclass(slots=True)
class ScannedSettings:
    """All settings of a release, in the record's order, and the flags of none."""

    settings: dict[str, ScannedSetting] = field(default_factory=dict)
    loose: dict[str, LooseFlag] = field(default_factory=dict)
    registered: dict[str, tuple[str, int]] = field(default_factory=dict)
    """File and line of the first call that registers a flag for a setting, where that is apart from its field."""
    unresolved: list[tuple[str, int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Where:
    """The place an expression stands in: module, local names."""

    file: SourceFile
    local: Mapping[str, ast.expr]


def scan_settings(modules: Modules, evaluator: Evaluator, record: str, parser_method: str) -> ScannedSettings:
    """Return the settings of the record class at the dotted path *record*.

    Args:
        modules: the source.
        evaluator: of the same source.
        record: dotted path below the package, as in `srt.server_args.ServerArgs`.
        parser_method: the method that registers flags by hand, as in `add_cli_args`.
    """
    return _SettingsScan(modules, evaluator, parser_method).run(record)


class _SettingsScan:
    def __init__(self, modules: Modules, evaluator: Evaluator, parser_method: str) -> None:
        self.modules = modules
        self.evaluator = evaluator
        self.parser_method = parser_method
        self.renamed: dict[str, str] = {}
        self.out = ScannedSettings()

    def run(self, record: str) -> ScannedSettings:
        module, _, name = record.rpartition(".")
        symbol = self.modules.resolve(module, name)
        if symbol is None or symbol.kind != "class":
            return self.out
        for owner in [*self._namespaces(symbol), *self.modules.lineage(symbol)[::-1]]:
            self._fields(owner)
        self.renamed = self._renamed(symbol)
        found = self.modules.method(symbol, self.parser_method)
        if found is not None:
            self._registrations(found[0].module, self.modules.file(found[0]).statement(found[1].span))
        return self.out

    def _namespaces(self, record: Symbol) -> Iterator[Symbol]:
        """Yield the classes whose fields are assembled into the record: a module-level list of field classes."""
        for name, values in self.modules.file(record).index.values.items():
            if not name.endswith("NAMESPACES"):
                continue
            value = self.evaluator.evaluate(self.modules.file(record).expression(values[-1].span), record.module)
            if isinstance(value, Items):
                yield from (v.symbol for v in value.values if isinstance(v, Ref))

    def _fields(self, owner: Symbol) -> None:
        group = self._namespace(owner)
        for made in self.modules.classes(owner):
            file = self.modules.file(owner)
            for name, span in made.annotations.items():
                statement = file.statement(span)
                if not name.startswith("_") and isinstance(statement, ast.AnnAssign) and not _shared(statement):
                    found = self._field(name, statement, file)
                    self.out.settings[name] = replace(found, group=found.group or group)

    def _namespace(self, owner: Symbol) -> str | None:
        try:
            path = self.evaluator.class_attribute(owner, "_NS_PATH")
        except Unresolved:
            return None
        return path if isinstance(path, str) else None

    def _field(self, name: str, node: ast.AnnAssign, file: SourceFile) -> ScannedSetting:
        annotation, extras = _unwrapped(node.annotation)
        where = _Where(file, {})
        setting = ScannedSetting(name, node.lineno, file.path)
        setting = self._typed(setting, annotation, where)
        if node.value is None:
            setting = replace(setting, required=True)
        else:
            setting = self._given(setting, "default", node.value, where)
        for extra in extras:
            setting = self._described(setting, extra, where)
        return setting

    def _described(self, setting: ScannedSetting, extra: ast.expr, where: _Where) -> ScannedSetting:
        if not isinstance(extra, ast.Call):
            return self._flagged(setting, {}, where)
        callee = dotted(extra.func)
        keywords = {k.arg: k.value for k in extra.keywords if k.arg}
        if callee == "Arg":
            return self._flagged(setting, keywords, where)
        if callee == "NS" and extra.args:
            path = self.evaluator.evaluate(extra.args[0], where.file.module)
            return replace(setting, group=str(path))
        return setting

    def _flagged(self, setting: ScannedSetting, keywords: dict[str, ast.expr], where: _Where) -> ScannedSetting:
        """Apply `Arg(...)` as the engine's own registration of fields does."""
        if self._true(keywords.get("no_cli"), where):
            return setting
        cli = self._value(setting, keywords.get("cli_name"), where)
        names = [cli if isinstance(cli, str) else "--" + setting.name.replace("_", "-")]
        aliases = self._value(setting, keywords.get("aliases"), where)
        if isinstance(aliases, Items):
            names.extend(str(a) for a in aliases.values)
        keywords = dict(keywords)
        kwargs = keywords.pop("action_kwargs", None)
        if isinstance(kwargs, ast.Dict):
            for key, value in zip(kwargs.keys, kwargs.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    keywords[key.value] = value
        if "type_parser" in keywords:
            keywords["type"] = keywords.pop("type_parser")
        if setting.type == "list" and "type" not in keywords and "nargs" not in keywords and "action" not in keywords:
            keywords["nargs"] = ast.copy_location(ast.Constant("+"), next(iter(keywords.values()), ast.Constant(0)))
        return self._argument(setting, names, keywords, where)

    # what argparse does with the keywords

    def _argument(
        self, setting: ScannedSetting, names: list[str], keywords: dict[str, ast.expr], where: _Where
    ) -> ScannedSetting:
        action = _action(keywords.get("action"))
        flags: list[str | Spelling] = list(names)
        if action == "BooleanOptionalAction":
            flags += [Spelling("--no-" + n.removeprefix("--"), False, False) for n in names if n.startswith("--")]
        setting = replace(setting, flags=tuple(flags), positional=not names[0].startswith("-"))
        if "choices" in keywords:
            setting = self._given(setting, "choices", keywords["choices"], where)
        if "nargs" in keywords:
            words = self._value(setting, keywords["nargs"], where)
            setting = replace(setting, words=words if words in ("?", "*", "+") else None)
        if "const" in keywords:
            setting = self._given(setting, "const", keywords["const"], where)
        parser = dotted(keywords["type"]) if "type" in keywords else None
        if parser is not None:
            setting = replace(setting, parser=_PARSERS.get(parser, setting.parser))
        if action not in (None, _STORE_TRUE, "BooleanOptionalAction"):
            setting = replace(setting, type="list", item="any", words=setting.words or "*")
        return setting

    def _renamed(self, record: Symbol) -> dict[str, str]:
        """Return argparse destinations that the record takes over under another name: `args.tp_size = args.x`."""
        found = self.modules.method(record, "from_cli_args")
        if found is None:
            return {}
        function = self.modules.file(found[0]).statement(found[1].span)
        assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        names: dict[str, str] = {}
        for statement in statements_of(function.body):
            if isinstance(statement, ast.Assign):
                to, of = dotted(statement.targets[0]), dotted(statement.value)
                if to and of and to.startswith("args.") and of.startswith("args."):
                    names[of.removeprefix("args.")] = to.removeprefix("args.")
        return names

    def _registrations(self, module: str, function: ast.stmt) -> None:
        assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        file = self.modules.files[module]
        local: dict[str, ast.expr] = {}
        for statement in statements_of(function.body):
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                local[statement.targets[0].id] = statement.value
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                call = statement.value
                if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument":
                    self._registration(call, _Where(file, local))

    def _registration(self, call: ast.Call, where: _Where) -> None:
        names = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        keywords = {k.arg: k.value for k in call.keywords if k.arg}
        if len(names) != len(call.args) or not names:
            self.out.unresolved.append((where.file.path, call.lineno, "flag whose name is computed"))
            return
        action = _action(keywords.get("action"))
        dest = self._text(keywords.get("dest"), where) or names[0].lstrip("-").replace("-", "_")
        dest = self.renamed.get(dest, dest)
        if action == "DeprecatedAction" or dest not in self.out.settings:
            self._loose(names, keywords, call.args[0].lineno, where, action)
            return
        self.out.registered.setdefault(dest, (where.file.path, call.args[0].lineno))
        if action is not None and action.startswith("Deprecated"):
            self._deprecated(dest, names, keywords, action, where)
        else:
            self._plain(dest, names, keywords, action, where)

    def _plain(
        self, dest: str, names: list[str], keywords: dict[str, ast.expr], action: str | None, where: _Where
    ) -> None:
        setting = self.out.settings[dest]
        if setting.flags:
            if action == _STORE_TRUE and setting.type != "bool":
                added: tuple[str | Spelling, ...] = tuple(Spelling(n, True, False) for n in names)
            else:
                added = tuple(n for n in names if n not in setting.flags)
            self.out.settings[dest] = replace(setting, flags=(*setting.flags, *added))
            return
        default = keywords.get("default")
        if default is not None and not _declared_default(default):
            setting = self._given(setting, "default", default, where)
        self.out.settings[dest] = self._argument(setting, names, keywords, where)

    def _deprecated(
        self, dest: str, names: list[str], keywords: dict[str, ast.expr], action: str, where: _Where
    ) -> None:
        setting = self.out.settings[dest]
        to = self._text(keywords.get("new_flag"), where)
        choices = self._value(setting, keywords.get("choices"), where)
        own = tuple(_json(v) for v in choices.values) if isinstance(choices, Items) else ()
        made: list[Spelling] = []
        for name in names:
            if action == "DeprecatedStoreTrueAction":
                made.append(Spelling(name, True, False, replaced_by=to))
            elif action == "DeprecatedStoreConstAction":
                const = _json(self._value(setting, keywords.get("const_value"), where))
                takes = "nargs" in keywords
                made.append(Spelling(name, const, takes, own if takes else (), to))
            else:
                made.append(Spelling(name, choices=own if own != setting.choices else (), replaced_by=to))
        self.out.settings[dest] = replace(setting, flags=(*setting.flags, *made))

    def _loose(
        self, names: list[str], keywords: dict[str, ast.expr], line: int, where: _Where, action: str | None
    ) -> None:
        message = self._text(keywords.get("error_message"), where)
        if action != "DeprecatedAction":
            self.out.unresolved.append((where.file.path, line, f"{names[0]} writes no setting"))
            return
        text = message or self._text(keywords.get("help"), where) or ""
        instead = [f for f in re.findall(r"--[a-z][a-z0-9-]*", text) if f not in names]
        for name in names:
            says = f"use {' or '.join(instead)}" if instead else None
            self.out.loose[name] = LooseFlag(name, "refused" if message else "ignored", 0, line, says)

    # annotations

    def _typed(self, setting: ScannedSetting, node: ast.expr, where: _Where) -> ScannedSetting:
        parts = _alternatives(node)
        optional = any(_is_none(p) for p in parts)
        kept = [p for p in parts if not _is_none(p)]
        setting = replace(setting, optional=optional)
        literals = [p for p in kept if isinstance(p, ast.Subscript) and dotted(p.value) in _LITERALS]
        if literals and len(literals) == len(kept):
            return self._literal(setting, literals, where)
        kinds = [_kind(p) for p in kept]
        types = {k for k, _ in kinds}
        items = {i for _, i in kinds if i}
        kind = types.pop() if len(types) == 1 else "number" if types == {"int", "float"} else "any"
        item = (items.pop() if len(items) == 1 else "any") if kind == "list" else None
        paths = tuple(leaves(self.modules, where.file.module, node)) if kind == "struct" else ()
        return replace(setting, type=kind, item=item, fields=paths)

    def _literal(self, setting: ScannedSetting, nodes: list[ast.Subscript], where: _Where) -> ScannedSetting:
        values: list[Json] = []
        for node in nodes:
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            values.extend(_json(self.evaluator.evaluate(e, where.file.module)) for e in inner)
        optional = setting.optional or None in values
        values = [v for v in values if v is not None]
        kind = "int" if all(isinstance(v, int) for v in values) else "str"
        return replace(setting, type=kind, optional=optional, choices=tuple(values))

    # values

    def _given(self, setting: ScannedSetting, key: str, node: ast.expr, where: _Where) -> ScannedSetting:
        asked = len(self.evaluator.asked)
        try:
            value = self.evaluator.evaluate(node, where.file.module, where.local)
            for predicate in self.evaluator.asked[asked:]:
                self.out.unresolved.append(
                    (where.file.path, node.lineno, f"{setting.name}: {key} depends on the machine ({predicate})")
                )
            if key == "choices":
                return self._with_choices(setting, node, value, where)
            return replace(setting, default=_json(value)) if key == "default" else replace(setting, const=_json(value))
        except Unresolved as error:
            note = f"{key}: {error.reason}"
            self.out.unresolved.append((where.file.path, node.lineno, f"{setting.name}: {note}"))
            return replace(setting, unresolved=(*setting.unresolved, note))

    def _with_choices(self, setting: ScannedSetting, node: ast.expr, value: Static, where: _Where) -> ScannedSetting:
        if not isinstance(value, Items):
            raise Unresolved("choices are no collection", node.lineno)
        values = list(dict.fromkeys(_json(v) for v in value.values))
        if value.kind == "set":
            values.sort(key=str)
        return replace(setting, choices=tuple(v for v in values if v is not None), open_choices=self._open(node, where))

    def _open(self, node: ast.expr, where: _Where) -> bool:
        """Whether a function of the named choices' module extends them at run time."""
        for one in ast.walk(node):
            symbol = self.modules.resolve(where.file.module, one.id) if isinstance(one, ast.Name) else None
            if symbol is not None and symbol.kind == "value":
                file = self.modules.file(symbol)
                if f"{symbol.name}.extend".encode() in file.content or f"{symbol.name}.update".encode() in file.content:
                    return True
                if f"{symbol.name}.append".encode() in file.content:
                    return True
        return False

    def _value(self, setting: ScannedSetting, node: ast.expr | None, where: _Where) -> Static:
        if node is None:
            return None
        try:
            return self.evaluator.evaluate(node, where.file.module, where.local)
        except Unresolved as error:
            self.out.unresolved.append((where.file.path, node.lineno, f"{setting.name}: {error.reason}"))
            return None

    def _text(self, node: ast.expr | None, where: _Where) -> str | None:
        if node is None:
            return None
        try:
            value = self.evaluator.evaluate(node, where.file.module, where.local)
        except Unresolved:
            return None
        return value if isinstance(value, str) else None

    def _true(self, node: ast.expr | None, where: _Where) -> bool:
        return isinstance(node, ast.Constant) and node.value is True


def _shared(node: ast.AnnAssign) -> bool:
    return "ClassVar" in ast.unparse(node.annotation)


def _unwrapped(node: ast.expr) -> tuple[ast.expr, list[ast.expr]]:
    annotated = isinstance(node, ast.Subscript) and dotted(node.value) in ("A", "Annotated")
    if annotated and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        return node.slice.elts[0], node.slice.elts[1:]
    return node, []


def _alternatives(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_alternatives(node.left), *_alternatives(node.right)]
    if isinstance(node, ast.Subscript):
        head = dotted(node.value)
        if head in ("Optional", "typing.Optional"):
            return [*_alternatives(node.slice), ast.Constant(None)]
        if head in ("Union", "typing.Union"):
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return [one for part in inner for one in _alternatives(part)]
    return [node]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _kind(node: ast.expr) -> tuple[str, str | None]:
    """Return type and item type of one alternative of an annotation."""
    if isinstance(node, ast.Subscript):
        head = (dotted(node.value) or "").rpartition(".")[2]
        if head in _LISTS:
            inner = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
            return "list", _kind(inner)[0]
        return _BASES.get(head, "any"), None
    name = (dotted(node) or "").rpartition(".")[2]
    if name in _LISTS:
        return "list", "any"
    if name in _BASES:
        return _BASES[name], None
    return ("struct" if name.endswith("Config") else "any"), None


def _action(node: ast.expr | None) -> str | None:
    if node is None:
        return None
    if isinstance(node, ast.Constant):
        return str(node.value)
    return (dotted(node) or "?").rpartition(".")[2]


def _declared_default(node: ast.expr) -> bool:
    """Whether a registration's default only repeats the record's: `Record.field`, `_declared_default("field")`."""
    if isinstance(node, ast.Call):
        return (dotted(node.func) or "").endswith("declared_default")
    text = dotted(node) or ""
    return ("." in text and text[:1].isupper()) or text.endswith("SUPPRESS")


def _json(value: Static) -> Json:
    if isinstance(value, Items):
        return [_json(v) for v in value.values]
    if isinstance(value, Table):
        return {str(k): _json(v) for k, v in value.pairs}
    if isinstance(value, Ref):
        raise Unresolved(f"{value.symbol} is no plain value")
    return value


def leaves(modules: Modules, module: str, annotation: ast.expr) -> list[str]:
    """Return the leaf paths of a structured setting: annotated names of its class, nested classes by dotted path."""
    found: list[str] = []
    for part in _alternatives(annotation):
        name = dotted(part)
        symbol = modules.resolve(module, name) if name else None
        if symbol is None or symbol.kind != "class":
            continue
        file = modules.file(symbol)
        for made in modules.classes(symbol):
            for leaf, span in made.annotations.items():
                statement = file.statement(span)
                assert isinstance(statement, ast.AnnAssign)
                inner = leaves(modules, symbol.module, statement.annotation)
                found.extend(f"{leaf}.{one}" for one in inner)
                if not inner:
                    found.append(leaf)
    return found
